"""The HTTP service: requests checked, questions answered by a workspace, errors as ``{"error": "..."}``."""
