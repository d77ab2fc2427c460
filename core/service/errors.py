"""Refusals: the only way a request ends otherwise than with its answer."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Mapping

from core.errors import AssayError, ModelError, NotFoundError, StoreError, UsageError
from core.models.faults import KEYS
from core.render import printable

LOG = logging.getLogger("assay.service")
INTERNAL = "the server failed on this request; its log says where"


class Refusal(Exception):  # noqa: N818 - not every refusal is an error of the server
    """A response of ``status`` (400 to 503) whose body is ``{"error": message}``."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


BY_KIND: tuple[tuple[type[AssayError], int], ...] = (
    (NotFoundError, 404),
    (UsageError, 400),
    (ModelError, 502),
)
"""Status of each kind of error that a caller may read as it stands."""
STORE_FAILED = "the store could not be searched or written; the server's log says why"
RETRY = {"Retry-After": "1"}


def refusal_of(error: Exception) -> Refusal:
    """The refusal that stands for ``error``. What a caller may not see, paths and code, goes to the log alone."""
    if isinstance(error, Refusal):
        return error
    for kind, status in BY_KIND:
        if isinstance(error, kind):
            return Refusal(status, without_keys(str(error)))
    if isinstance(error, StoreError):
        LOG.error("store: %s", printable(str(error)))
        return Refusal(502, STORE_FAILED)
    LOG.error("%s at %s", type(error).__name__, _place(error))
    return Refusal(500, INTERNAL)


def without_keys(message: str) -> str:
    """``message`` without the keys of the environment, whoever put them there."""
    for key in filter(None, (os.environ.get(name, "").strip() for name in KEYS)):
        message = message.replace(key, "…")
    return message


def _place(error: Exception) -> str:
    """``file:line`` where it was raised, without the values that were at hand."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
