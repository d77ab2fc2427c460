"""What the killed jobs work on, each with something that waits for something later or was made wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from core.ingest.bringing import bring_in
from core.ingest.folder import read_paths
from tests.faults.jobs import DB, INPUT, OLD, OUT, SCRIPT, TEXTS, eval_, record_
from tests.shipped import part

PROBLEMS = 3
"""Lines of the import that are wrong."""
PEOPLE = 12
OLDER = 3
"""Questions of an older run or recording."""


def for_import(folder: Path) -> None:
    """Documents, a graph, and nodes whose parents stand before and behind them; three lines are wrong."""
    made = folder / INPUT
    made.mkdir()
    for number in range(12):
        text = f"A sentence of {number} and more. " * 90
        (made / f"doc{number:02}.md").write_text(f"# Document {number}\n\n{text}")
    rows = [_line("node", level="L1", text=f"note {n}", source="notes", name=f"n{n}",
                  parents=[f"t{n}", f"t{(n * 7) % 100}"]) for n in range(100)]  # fmt: skip
    rows += [
        _line("node", level="L0", text=f"turn {n}", source="log", turn=f"t{n}", name=f"t{n}")
        for n in range(100)
    ]
    rows += [_line("entity", name=f"person {n}", type="person") for n in range(0, 40, 2)]
    rows += [_line("fact", subject=f"person {n % 40}", relation="knows", object=f"person {(n * 11) % 40}",
                   artifact=f"doc{n % 12:02}.md", valid_at=f"20{n % 90 + 10}") for n in range(100)]  # fmt: skip
    known_by_now = range(1, 40, 2)
    rows += [_line("entity", name=f"person {n}", type="person") for n in known_by_now]
    rows += [_line("case", case_id=f"c{n}", question=f"q{n}?") for n in range(20)]
    rows[40:40] = [
        "{",
        _line("link", child="n1", parent="gone"),
        _line("node", level="L0", text="x", source="s", name="n0"),
    ]
    (made / "graph.jsonl").write_text("\n".join(rows) + "\n")


def for_remember(folder: Path) -> None:
    """People who take a post, and then another: every second text supersedes a fact of the one before."""
    texts, lines = {}, []
    for number in range(PEOPLE):
        for place in ("Harbour", "Quarry"):
            text = f"Person{number:02} now works at {place}{number:02}, says the note."
            texts[f"{place}-{number:02}"] = text
            said = {
                "entities": [{"name": f"Person{number:02}", "type": "person"},
                             {"name": f"{place}{number:02}", "type": "organization"}],
                "facts": [{"source": f"Person{number:02}", "relation": "works_at", "target": f"{place}{number:02}",
                           "valid_at": "2023" if place == "Harbour" else "2024"}],
            }  # fmt: skip
            lines.append({"stage": "extract", "contains": text, "reply": said})
        fact_id = 2 * number + 1
        lines.append({"stage": "supersede", "contains": [f"[{fact_id}] ", f"Quarry{number:02}"],
                      "reply": {"superseded": [{"fact": fact_id, "by": 1}]}})  # fmt: skip
    (folder / TEXTS).write_text(json.dumps(texts))
    (folder / SCRIPT).write_text("\n".join(map(json.dumps, lines)) + "\n")


def for_questions(folder: Path, *, about: int = 10) -> None:
    """A part of the shipped data, brought in and embedded; its index is not made yet."""
    with_cases = part(folder, about=about)
    bring_in([("meridian", read_paths([with_cases]))], db=folder / DB, user_id="local", embedder="wordllama")


def with_older_recording(folder: Path) -> None:
    """The same, with a recording of fewer questions where the new one goes."""
    for_questions(folder)
    record_(folder, lambda _: None, first=OLDER)
    shutil.copytree(folder / OUT, folder / OLD)


def with_older_run(folder: Path) -> None:
    """The same, with a run of fewer questions where the new one goes."""
    for_questions(folder)
    eval_(folder, lambda _: None, first=OLDER)
    shutil.copytree(folder / OUT, folder / OLD)


def nothing(folder: Path) -> None:
    """The job makes all it needs."""


def _line(kind: str, **fields: object) -> str:
    return json.dumps({"kind": kind, **fields})
