"""A chat model that replays a file: what demonstrations, tests and CI use. No service is asked."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from core.models.chat import ChatError, ChatReply, ChatRequest, Usage
from core.models.request_key import request_key
from core.models.script_lines import ScriptLine, read_script

SHOWN = 80
"""Characters of a prompt that an error shows."""


class Scripted:
    """Answers with the first line of the script that matches; see ``script_lines`` for its format.

    Raises:
        DataError: the file cannot be read, or a line of it is malformed (``file:line``).
    """

    provider = "scripted"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = read_script(path)
        self._spent: set[int] = set()
        self._lock = Lock()
        self._asked = list(dict.fromkeys(line.asked for line in self._lines if line.asked))
        self.default_model = self._asked[0].partition(":")[2] if self._asked else self.provider

    def reply(self, request: ChatRequest) -> ChatReply:
        """The reply of the first line that fits.

        Raises:
            ChatError: the line says so, or no line fits: ``bad_request``, with the line to add.
        """
        line = self._line(request)
        usage = Usage(**line.usage.model_dump())
        if line.outcome not in (None, "refused"):
            raise ChatError(
                f"{self._path}: the script ends this {request.stage} call as {line.outcome}",
                line.outcome,
                model=line.model,
                usage=usage,
            )
        return ChatReply(text=line.text, model=line.model, usage=usage, refused=line.outcome == "refused")

    def _line(self, request: ChatRequest) -> ScriptLine:
        keys = {request_key(request, asked) for asked in self._asked}
        with self._lock:
            for place, line in enumerate(self._lines):
                if place in self._spent:
                    continue
                if line.request in keys if line.request else line.takes(request):
                    if line.once:
                        self._spent.add(place)
                    return line
        raise self._nothing_fits(request)

    def _nothing_fits(self, request: ChatRequest) -> ChatError:
        prompt = " ".join(request.prompt.split())
        shown = prompt if len(prompt) <= SHOWN else f"{prompt[:SHOWN]}…"
        spent = f" ({len(self._spent)} lines were for one call and are spent)" if self._spent else ""
        recorded = " or record this request again" if self._asked else ""
        return ChatError(
            f"{self._path} has no reply for this {request.stage} call, whose prompt begins {shown!r}{spent}; "
            f'add a line {{"stage": "{request.stage}", "contains": "…", "reply": "…"}}{recorded}',
            "bad_request",
            model=self.default_model,
        )
