"""A chat model that answers by stage from a script, and a workspace to remember in."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from core.models.chat import ChatReply, ChatRequest, Usage
from core.workspace import Workspace


class ScriptedModel:
    """Replies in order, by stage: an object (sent as JSON), a text, an exception, or a function of the request."""

    default_model = "scripted"

    def __init__(self, **replies: list[Any]) -> None:
        self._replies = {stage: list(said) for stage, said in replies.items()}
        self.requests: dict[str, list[ChatRequest]] = defaultdict(list)

    def reply(self, request: ChatRequest) -> ChatReply:
        self.requests[request.stage].append(request)
        said = self._replies[request.stage].pop(0)
        said = said(request) if callable(said) else said
        if isinstance(said, Exception):
            raise said
        if isinstance(said, ChatReply):
            return said
        text = said if isinstance(said, str) else json.dumps(said)
        return ChatReply(
            text=text, model=request.model or self.default_model, usage=Usage(input_tokens=7, output_tokens=3)
        )


@pytest.fixture
def scripted() -> type[ScriptedModel]:
    return ScriptedModel


@pytest.fixture
def workspace(make_workspace: Callable[..., Workspace]) -> Workspace:
    """An empty database, open."""
    return make_workspace([])


@pytest.fixture
def rows(workspace: Workspace) -> Callable[..., list[tuple[object, ...]]]:
    """``rows(sql)``: what the database holds."""
    return lambda sql, *values: workspace.store.database.rows(sql, values)


def fact(source: str, relation: str, target: str, **more: Any) -> dict[str, Any]:
    return {"source": source, "relation": relation, "target": target, **more}


@pytest.fixture
def said() -> Callable[..., dict[str, Any]]:
    """``said("Alice works_at Acme", ...)``: an extraction of these facts, people and organizations named once each."""

    def make(*facts: str | dict[str, Any]) -> dict[str, Any]:
        whole = [fact(*one.split(" ", 2)) if isinstance(one, str) else one for one in facts]
        subjects = dict.fromkeys(one["source"] for one in whole)
        objects = dict.fromkeys(one["target"] for one in whole if one["target"] not in subjects)
        return {
            "entities": [{"name": name, "type": "person"} for name in subjects]
            + [{"name": name, "type": "organization"} for name in objects],
            "facts": whole,
        }

    return make


@pytest.fixture
def clock_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """``clock_at("2024-05-01T00:00:00Z")`` sets the time it is."""
    return lambda moment: monkeypatch.setattr("core.clock.now", lambda: moment)
