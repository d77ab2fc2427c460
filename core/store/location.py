"""Where a store lies: a file, or a PostgreSQL server. A server's password is never shown."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from core.errors import UsageError

SCHEMES = ("postgresql", "postgres")
_SERVER = re.compile(r"(postgres|postgresql):/", re.IGNORECASE)


def default_path() -> Path | str:
    """``ASSAY_DB`` (a file or a ``postgresql://`` address), else ``.assay/assay.db`` in the working folder."""
    given = os.environ.get("ASSAY_DB")
    return (given if is_server(given) else Path(given)) if given else Path(".assay") / "assay.db"


def is_server(location: Path | str) -> bool:
    """Whether it is the address of a server, not a file."""
    return isinstance(location, str) and _SERVER.match(location) is not None


def resolved(location: Path | str) -> str:
    """The same place, named so that it may be opened from another folder."""
    return str(location) if is_server(location) else str(Path(location).resolve())


def shown(location: Path | str) -> str:
    """A file's path; of a server ``postgresql://host:port/database`` and nothing else.

    Raises:
        UsageError: not an address; the message does not repeat it, as it may hold a password.
    """
    if not is_server(location):
        return str(location)
    try:
        parts = urlsplit(str(location))
        host, port = parts.hostname, parts.port
        asked = parse_qs(parts.query)
    except ValueError:
        parts, host, port, asked = None, None, None, {}
    if (
        parts is None
        or parts.scheme.lower() not in SCHEMES
        or not str(location)[len(parts.scheme) :].startswith("://")
    ):
        raise UsageError(
            "the database's address cannot be read; expected postgresql://USER@HOST:PORT/DATABASE, "
            "with special characters of a password written as %XX"
        )
    host = host or (asked.get("host") or ["localhost"])[0]
    port = port or next((int(one) for one in asked.get("port", []) if one.isdigit()), None)
    return f"postgresql://{host}{f':{port}' if port else ''}{parts.path or '/'}"


def index_folder(location: Path | str) -> Path:
    """Where the index files of a store are kept: beside the file; a server's under ``.assay`` in the working folder."""
    if is_server(location):
        key = sha256(shown(location).encode()).hexdigest()[:12]
        return Path(".assay") / f"server-{key}.index"
    path = Path(location)
    return path.with_name(path.name + ".index")
