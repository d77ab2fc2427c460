"""Who may ask for whom: bearer tokens, kept as hashes, each tied to user ids."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from core.bounded import MAX_SETTINGS, read_whole
from core.errors import DataError, UsageError
from core.service.errors import Refusal

SCHEME = "sha256:"
_DIGITS = frozenset("0123456789abcdef")
CHALLENGE = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True, slots=True)
class Tokens:
    """Hash (hex) of a token → the user ids it speaks for, in the order written."""

    users: Mapping[str, tuple[str, ...]]

    def holder(self, authorization: str | None) -> tuple[str, ...]:
        """The user ids of the request's token, from its ``Authorization`` header.

        Raises:
            Refusal: 401, there is none, or none that is known.
        """
        scheme, _, token = (authorization or "").strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Refusal(401, "a token is required: send Authorization: Bearer TOKEN", CHALLENGE)
        sent = hashed(token.strip())
        found: tuple[str, ...] | None = None
        for known, users in self.users.items():  # all of them, so that the time taken tells nothing
            found = users if hmac.compare_digest(known, sent) else found
        if found is None:
            raise Refusal(401, "this token is not known", CHALLENGE)
        return found


def admitted(user_id: str, holder: Sequence[str]) -> str:
    """``user_id``, where the token of the request speaks for it.

    Raises:
        Refusal: 403, it does not.
    """
    if user_id not in holder:
        raise Refusal(403, f"this token does not speak for user {user_id[:60]!r}")
    return user_id


def hashed(token: str) -> str:
    """sha256 (hex). A token is 256 random bits, so nothing slower is needed to keep it from being guessed."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token(users: Sequence[str]) -> tuple[str, str]:
    """A new token, and the line of a tokens file that knows it.

    Raises:
        UsageError: no user, or one that cannot stand in the file.
    """
    for user in users:
        if not user or any(mark.isspace() or mark in ",#" or not mark.isprintable() for mark in user):
            raise UsageError(f"a user id in a tokens file has no blanks, commas or '#', got {user!r}")
    if not users:
        raise UsageError("a token speaks for at least one user; give --user ID")
    token = f"assay_{secrets.token_urlsafe(32)}"
    return token, f"{SCHEME}{hashed(token)} {','.join(users)}"


def read_tokens(path: Path) -> Tokens:
    """A tokens file: on each line ``sha256:HEX USER[,USER…]``; ``#`` begins a comment.

    Raises:
        DataError: a line that is none of these, or no token at all. UsageError: the file cannot be read.
    """
    try:
        lines = read_whole(path, MAX_SETTINGS).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a tokens file: {error}") from error
    users: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines, start=1):
        parts = line.partition("#")[0].split()
        if not parts:
            continue
        digest = parts[0].removeprefix(SCHEME).lower()
        names = tuple(filter(None, parts[1].split(","))) if len(parts) == 2 else ()
        if not names or not parts[0].startswith(SCHEME) or len(digest) != 64 or set(digest) - _DIGITS:
            raise DataError(
                f"{path}:{number}: not a token: write {SCHEME}HEX USER[,USER]; `assay token create --user ID` makes one"
            )
        if digest in users:
            raise DataError(f"{path}:{number}: this token stands in the file twice; keep one line")
        users[digest] = names
    if not users:
        raise UsageError(f"{path}: holds no token; `assay token create --user ID` makes one")
    return Tokens(users)
