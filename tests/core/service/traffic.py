"""Fifty callers at once, each of one user and dataset: what they send carries marks, so that a stray row is seen."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx

from core.models.chat import ChatReply, ChatRequest

USERS, DATASETS = ("ann", "bob"), ("main", "second")
MARK = re.compile(r"mark([a-z]+)x([a-z]+)x(\d+)x(\d+)")
"""User, dataset, caller and number of a text."""


class Scribe:
    """A model that finds one person in each text, called by its mark, and cites all it is sent."""

    default_model = "scribe"

    def reply(self, request: ChatRequest) -> ChatReply:
        if request.stage == "extract":
            name = MARK.findall(request.prompt.rpartition("<text>")[2] or request.prompt)
            marks = ["mark" + "x".join(each) for each in dict.fromkeys(name)]
            said = {
                "entities": [*({"name": each, "type": "person"} for each in marks), {"name": "Harbour"}],
                "facts": [{"source": each, "relation": "works_at", "target": "Harbour"} for each in marks],
            }
        elif request.stage == "supersede":
            said = {"superseded": []}
        elif "<graph>" in request.prompt:
            rows = re.findall(r"(?m)^\[(entity|edge|passage) (\d+)\]", request.prompt)
            ids = {
                kind: [int(row) for of, row in rows if of == kind] for kind in ("entity", "edge", "passage")
            }
            said = {
                "answer": "Of all.",
                "entities": ids["entity"],
                "edges": ids["edge"],
                "passages": ids["passage"],
            }
        else:
            cited = dict.fromkeys(re.findall(r"\[mem:(n\d+)\]", request.prompt))
            return ChatReply(text=" ".join(f"So [mem:{each}]." for each in cited) or "None.", model="scribe")
        return ChatReply(text=json.dumps(said), model="scribe")


@dataclass(slots=True, kw_only=True)
class Outcome:
    """``sent`` are the marks whose remembering was acknowledged, by user and dataset; ``strays`` responses that held
    another's, ``refused`` those that were no 200; ``quoted`` how many marks were seen in answers."""

    sent: dict[tuple[str, str], set[str]] = field(
        default_factory=lambda: {(user, dataset): set() for user in USERS for dataset in DATASETS}
    )
    strays: list[str] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    quoted: int = 0


def send(address: str, *, callers: int, seconds: float) -> Outcome:
    """The outcome of that many callers who remember and ask in turn for that long."""
    outcome, until = Outcome(), time.monotonic() + seconds
    with ThreadPoolExecutor(callers) as pool:
        for done in [pool.submit(_call, address, number, until, outcome) for number in range(callers)]:
            done.result()
    return outcome


def _call(address: str, caller: int, until: float, outcome: Outcome) -> None:
    user, dataset = USERS[caller % 2], DATASETS[caller // 2 % 2]
    number = 0
    with httpx.Client(base_url=address, timeout=120) as client:
        while time.monotonic() < until or not number:
            mark = f"mark{user}x{dataset}x{caller}x{number}"
            text = f"{mark} works at the harbour and counts crates."
            if _ok(client, outcome, "/v1/gb/remember", {"user_id": user, "dataset": dataset, "text": text}):
                outcome.sent[user, dataset].add(mark)
            for path, body, datasets in (
                ("/v1/gb/query", {"query": "Who works at the harbour?", "dataset": dataset}, {dataset}),
                ("/v1/brain/ask", {"question": "Who works at the harbour?", "scope": dataset}, {dataset}),
                ("/v1/brain/ask", {"question": "Who counts crates?", "scope": "workspace"}, set(DATASETS)),
            ):
                said = _ok(client, outcome, path, body | {"user_id": user})
                found = MARK.findall(said or "")
                outcome.quoted += len(found)
                if any(whose != user or where not in datasets for whose, where, _, _ in found):
                    outcome.strays.append(said or "")
            number += 1


def _ok(client: httpx.Client, outcome: Outcome, path: str, body: dict[str, str]) -> str | None:
    since = time.monotonic()
    reply = client.post(path, json=body)
    outcome.calls[path] += 1
    outcome.seconds.append(time.monotonic() - since)
    if reply.status_code != 200:
        outcome.refused.append((reply.status_code, reply.text))
        return None
    return reply.text
