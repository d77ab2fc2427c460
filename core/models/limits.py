"""Settings of the models that come from the environment, as whole numbers."""

from __future__ import annotations

import os

from core.errors import UsageError


def whole_number(variable: str, default: int) -> int:
    """The environment's value of ``variable``, at least 1; ``default`` where it is unset or empty.

    Raises:
        UsageError: it is not a whole number of at least 1.
    """
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise UsageError(
            f"{variable} must be a whole number of at least 1, got {text!r}; correct it or unset it"
        )
    return int(text)
