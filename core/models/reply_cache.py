"""Replies kept in a folder, so that the same request is answered once and a run can be repeated.

A file for each request, named by the request's sha256: no prompt is in it, only the reply. What was kept can be written
as a script (``export``) that the scripted model replays anywhere, which is how CI scores text a model wrote.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from core.errors import DataError
from core.models.chat import ChatReply, ChatRequest, ProvidedChat, Usage
from core.models.request_key import request_key
from core.models.script_lines import UsageLine

_log = logging.getLogger(__name__)


class Kept(BaseModel):
    """One kept reply; ``asked`` is ``PROVIDER:MODEL`` and ``model`` the one that answered."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    request: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
    asked: str
    stage: str
    model: str
    text: str
    refused: bool
    usage: UsageLine

    @property
    def sound(self) -> bool:
        return self.refused != bool(self.text.strip())


class CachedChat:
    """A chat model that asks ``model`` only what it was not asked before. Replies and refusals are kept, errors never.

    An entry that is damaged counts as absent, is named in a warning, and is replaced by the new reply. A reply that
    cannot be kept (a full disk) is returned all the same, with a warning.
    """

    def __init__(self, model: ProvidedChat, folder: Path) -> None:
        self.provider = model.provider
        self._model, self._folder = model, folder

    @property
    def default_model(self) -> str:
        return self._model.default_model

    def reply(self, request: ChatRequest) -> ChatReply:
        """The kept reply (``cached``, at no usage), else the model's.

        Raises:
            ChatError: as the model does.
        """
        asked = f"{self.provider}:{request.model or self.default_model}"
        key = request_key(request, asked)
        kept = read(self._file(key))
        if kept is not None and kept.request == key:
            return ChatReply(text=kept.text, model=kept.model, refused=kept.refused, cached=True)
        reply = replace(self._model.reply(request), cached=False)
        self._keep(key, asked, request.stage, reply)
        return reply

    def _file(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def _keep(self, key: str, asked: str, stage: str, reply: ChatReply) -> None:
        row = {"request": key, "asked": asked, "stage": stage, "model": reply.model, "text": reply.text,
               "refused": reply.refused, "usage": asdict(reply.usage)}  # fmt: skip
        try:
            _write(self._file(key), json.dumps(row, indent=1, allow_nan=False))
        except OSError as error:
            _log.warning("%s: the reply cannot be kept: %s", self._folder, error.strerror or error)


def read(file: Path) -> Kept | None:
    """The reply kept in a file; None where there is none, or, with a warning, where it is damaged."""
    try:
        kept = Kept.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.warning("%s: the kept reply cannot be read: %s; asking anew", file, error.strerror or error)
        return None
    except ValidationError as error:
        _log.warning("%s: the kept reply is damaged (%s); asking anew", file, error.errors()[0]["msg"])
        return None
    if file.stem != kept.request or not kept.sound:
        _log.warning("%s: the kept reply is damaged (it belongs to another request, or is empty)", file)
        return None
    return kept


def export(folder: Path, script: Path) -> int:
    """Writes every sound reply of ``folder`` as a script, by stage and request, and returns how many there are.

    Raises:
        DataError: the folder holds no reply, or the script cannot be written.
    """
    found = [kept for file in sorted(folder.glob("??/*.json")) if (kept := read(file)) is not None]
    if not found:
        raise DataError(f"{folder}: no kept replies; run once with ASSAY_CHAT_CACHE={folder}")
    ordered = sorted(found, key=lambda kept: (kept.asked, kept.stage, kept.request))
    lines = [json.dumps(_line(kept), ensure_ascii=False, allow_nan=False) for kept in ordered]
    try:
        _write(script, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise DataError(f"{script}: cannot be written: {error.strerror or error}") from error
    return len(lines)


def _line(kept: Kept) -> dict[str, Any]:
    how = {"outcome": "refused"} if kept.refused else {"reply": kept.text}
    spent = Usage(**kept.usage.model_dump())
    return {
        "stage": kept.stage, "asked": kept.asked, "request": kept.request, "model": kept.model, **how,
        "usage": asdict(spent),
    }  # fmt: skip


def _write(path: Path, text: str) -> None:
    """Whole or not at all, so that a reader never finds half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, suffix=".part", encoding="utf-8", delete=False) as file:
        try:
            file.write(text)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
