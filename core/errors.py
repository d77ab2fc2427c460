"""Errors a user can act on: what is wrong, which value, why, and what to do. The commands print them in one line."""

from __future__ import annotations


class AssayError(Exception):
    """Base of every error that is the input's fault, not the program's. Commands end with exit code 2."""


class UsageError(AssayError):
    """An option or argument that cannot be taken."""


class NotFoundError(AssayError):
    """A dataset, profile, case or row that does not exist."""


class StoreError(AssayError):
    """A database that cannot be opened, read or written."""


class UnstorableError(StoreError):
    """A value that the database cannot keep; what else there is can be stored."""


class ChangedError(StoreError):
    """A dataset that was written to while it was being read; asking again helps."""


class ProfileError(AssayError):
    """A profile that is malformed: unknown keys, values out of range, missing score spaces."""


class ScoreSpaceError(ProfileError):
    """A threshold tuned in one score space and about to be used in another."""


class ModelError(AssayError):
    """A model that is missing, damaged or refuses its input."""


class DataError(AssayError):
    """A file whose content cannot be taken; the message starts with ``file:line``."""


class RecordingError(AssayError):
    """A recording that is damaged, of another version or dataset, or asked for what it does not hold."""
