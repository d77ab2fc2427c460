"""Curves of a run and of a recording: as tables (``of_run``, ``of_profiles``) and as figures (``drawn``)."""
