"""One error of each kind is planted in a sound set and found; the sound set, and the one that ships, have none."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.ingest.ingestor import ingest
from core.ingest.items import FactItem, NodeItem
from core.store import Store
from evals.contents import contents
from evals.datasets_cli import findings_of_path
from evals.validate import ABOUT, CHECKS, INPUT, LINKS, Finding, counted, validate

Row = dict[str, Any]
MERIDIAN = Path(__file__).parents[2] / "datasets" / "meridian"


def case(case_id: str, source: str, **changes: Any) -> Row:
    return {"kind": "case", "case_id": case_id, "question": f"What of {case_id}?", "gold": [{"source": source}],
            "split": "dev"} | changes  # fmt: skip


def sound() -> list[Row]:
    """Two splits, each with an answerable and an unanswerable case, on documents and turns of their own."""
    text = "The red valve closes clockwise. The blue one does not."
    quote = {"source": "a", "start": 4, "end": 13, "quote": "red valve"}
    return [
        {"kind": "artifact", "source": "a", "text": text},
        {"kind": "artifact", "source": "b", "text": "Lunch is at noon."},
        {"kind": "artifact", "source": "c", "text": "Dinner is at eight."},
        {"kind": "node", "level": "L0", "text": "Ann: hello", "source": "log", "turn": "t1", "name": "t1"},
        {"kind": "node", "level": "L1", "text": "Ann greets.", "source": "notes", "name": "n1", "parents": ["t1"]},
        {"kind": "fact", "subject": "Ann", "relation": "works_at", "object": "Delft", "valid_at": "2020",
         "invalid_at": "2021", "created_at": "2020", "expired_at": "2022"},
        case("dev-1", "a", citations=[quote]),
        case("dev-2", "a", answerable=False, why_unanswerable="absent", gold=[], hides=["b"]),
        case("test-1", "log", gold=[{"source": "log", "turn": "t1"}], split="test", as_of="2020-05"),
        case("test-2", "c", answerable=False, gold=[], split="test"),
    ]  # fmt: skip


def changed(case_id: str, **changes: Any) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [row | changes if row.get("case_id") == case_id else row for row in rows]


def added(*more: Any) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [*rows, *more]


QUOTE = {"source": "a", "start": 4, "end": 13, "quote": "red valve"}
PLANTED: Mapping[str, tuple[str, Callable[[list[Row]], list[Row]], str]] = {
    "a line that is no JSON": (INPUT, added('{"kind": "case", '), "in.jsonl:11: not JSON"),
    "NaN": (INPUT, added('{"kind": "node", "confidence": NaN}'), "in.jsonl:11: NaN is not JSON"),
    "a wrong type": (INPUT, added({"kind": "artifact", "source": "x", "text": 7}), "in.jsonl:11: text"),
    "an id twice": (
        INPUT,
        added(case("dev-1", "b")),
        "in.jsonl:11: case 'dev-1' came before with other content",
    ),
    "a fact that ends early": (
        INPUT,
        added(
            {
                "kind": "fact",
                "subject": "A",
                "relation": "r",
                "object": "B",
                "valid_at": "2021",
                "invalid_at": "2020",
            }
        ),
        "in.jsonl:11: Value error, invalid_at 2020-01-01T00:00:00Z lies before valid_at",
    ),
    "a link to nothing": (
        LINKS,
        added({"kind": "link", "child": "n1", "parent": "gone"}),
        "in.jsonl:11: link from 'n1' to 'gone'",
    ),
    "a parent that is none": (
        LINKS,
        added({"kind": "node", "level": "L1", "text": "x", "source": "notes", "parents": ["nobody"]}),
        "in.jsonl:11: link",
    ),
    "a parent on no lower level": (
        LINKS,
        added({"kind": "link", "child": "t1", "parent": "n1"}),
        "a parent stands on a lower level",
    ),
    "a case of another shape": (
        "shape",
        added(case("dev-3", "a", gold=[{"sauce": "a"}])),
        "in.jsonl:11: case 'dev-3': gold.0.sauce",
    ),
    "gold evidence of nothing": (
        "shape",
        added(case("dev-3", "a", gold=[{"relevance": 1}])),
        "gold evidence names a source or a fact",
    ),
    "a stretch of a fact": (
        "shape",
        added(case("dev-3", "a", gold=[{"fact": ["a", "b", "c"], "quote": "b"}])),
        "the gold fact ['a', 'b', 'c'] is no stretch of a text",
    ),
    "a fact that is not there": (
        "dangling-evidence",
        added(case("dev-3", "a", gold=[{"source": "a"}, {"fact": ["a", "b", "c"]}])),
        "case 'dev-3': there is no fact 'a --b--> c'",
    ),
    "an alternative of nothing": (
        "shape",
        added(case("dev-3", "a", alternatives=[[3]])),
        "no places among the 0 citations",
    ),
    "a question twice": (
        "duplicate-question",
        changed("dev-2", question="WHAT  of dev-1"),
        "in.jsonl:8: the question of 'dev-2' is that of 'dev-1'",
    ),
    "a question in both splits": (
        "leak-question",
        changed("test-2", question="what of dev-1?"),
        "in.jsonl:10: the question of 'test-2' (test) is that of 'dev-1' (dev)",
    ),
    "a document in both splits": (
        "leak-source",
        changed("test-2", hides=["a"]),
        "in.jsonl:10: the document 'a' is evidence in dev ('dev-1'), test ('test-2')",
    ),
    "gold of no source": (
        "dangling-evidence",
        changed("dev-1", gold=[{"source": "z"}]),
        "in.jsonl:7: case 'dev-1': there is no source 'z'",
    ),
    "gold of no turn": (
        "dangling-evidence",
        changed("test-1", gold=[{"source": "log", "turn": "t9"}]),
        "in.jsonl:9: case 'test-1': the source 'log' has no turn 't9'",
    ),
    "hidden, and not there": ("dangling-evidence", changed("dev-2", hides=["y"]), "case 'dev-2' hides 'y'"),
    "a quote that does not occur": (
        "quote",
        changed("dev-1", citations=[{"source": "a", "quote": "green valve"}]),
        "in.jsonl:7: case 'dev-1', 'a': the quote 'green valve' does not",
    ),
    "a quote elsewhere": (
        "quote",
        changed("dev-1", citations=[QUOTE | {"start": 5, "end": 14}]),
        "[5:14] is 'ed valve ', not the quote",
    ),
    "a stretch of nothing": (
        "quote",
        changed("dev-1", citations=[{"source": "a", "start": 50, "end": 90}]),
        "start 50 and end 90 are no stretch",
    ),
    "half a stretch": (
        "quote",
        changed("dev-1", citations=[{"source": "a", "start": 5}]),
        "start 5 and end None",
    ),
    "one class only": (
        "single-class",
        changed("test-2", answerable=True),
        "all 2 cases of split test are answerable",
    ),
    "a note of one split from turns of the other": (
        "leak-note",
        changed("dev-1", gold=[{"source": "notes"}], citations=[]),
        "in.jsonl:7: the note 'n1' (dev) is made from 'log', which is evidence in test",
    ),
    "a note of an artifact of the other split": (
        "leak-note",
        added(
            {"kind": "node", "level": "L1", "text": "x", "source": "late", "name": "n2", "parents": ["a"]},
            case("test-3", "late", split="test"),
        ),
        "in.jsonl:12: the note 'n2' (test) is made from 'a', which is evidence in dev",
    ),
    "a note before its turn": (
        "note-dates",
        added(
            {
                "kind": "node",
                "level": "L0",
                "text": "Bob: hi",
                "source": "l2",
                "turn": "t1",
                "name": "t2",
                "valid_at": "2024-05-02",
            },
            {
                "kind": "node",
                "level": "L1",
                "text": "Bob greets.",
                "source": "n2",
                "name": "n2",
                "valid_at": "2024-05-01",
                "parents": ["t2"],
            },
        ),
        "note n2: made on 2024-05-01T00:00:00Z from 't2' of 2024-05-02T00:00:00Z, which is later",
    ),
    "a time that is none": (
        "dates",
        changed("test-1", as_of="soon"),
        "in.jsonl:9: case 'test-1': as_of: not a date or time: 'soon'",
    ),
}


def write(folder: Path, rows: list[Any]) -> Path:
    file = folder / "in.jsonl"
    file.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    return file


def said(finding: Finding) -> str:
    return f"{finding.where}: {finding.what}"


def test_a_sound_set_has_no_finding(tmp_path: Path) -> None:
    assert findings_of_path(write(tmp_path, sound()), None) == []


def test_what_ships_is_sound() -> None:
    assert findings_of_path(MERIDIAN, None) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_is_found_and_nothing_else(tmp_path: Path, name: str) -> None:
    check, plant, what = PLANTED[name]
    (finding,) = findings_of_path(write(tmp_path, plant(sound())), None)
    assert finding.check == check
    assert what in said(finding), said(finding)
    assert finding.dataset == "in.jsonl"


def test_each_check_has_a_planted_error() -> None:
    assert {check for check, _, _ in PLANTED.values()} == {INPUT, LINKS, *CHECKS} == set(ABOUT)


def test_facts_that_reached_a_store_in_the_wrong_order_are_found(tmp_path: Path) -> None:
    """The native format refuses such a line; a loader's fact is checked where it is stored."""
    facts = [
        FactItem(subject="A", relation="r", object="B", valid_at="2021-01-01T00:00:00Z",
                 invalid_at="2020-01-01T00:00:00Z"),
        FactItem(subject="A", relation="s", object="B", created_at="2021-01-01T00:00:00Z",
                 expired_at="2020-01-01T00:00:00Z"),
    ]  # fmt: skip
    with Store.open(tmp_path / "a.db") as store:
        ingest(store, "main", [("x", fact) for fact in facts])
        findings = validate(contents(store, store.dataset("main")))
    assert [said(one) for one in findings] == [
        "fact A r B: invalid_at 2020-01-01T00:00:00Z lies before valid_at 2021-01-01T00:00:00Z",
        "fact A s B: expired_at 2020-01-01T00:00:00Z lies before created_at 2021-01-01T00:00:00Z",
    ]
    assert counted(findings) == {"dates": 2}


def test_hidden_labels_and_no_split_are_no_finding(tmp_path: Path) -> None:
    rows = [{"kind": "artifact", "source": "a", "text": "A text."},
            case("c1", "a", answerable=None, split=None), case("c2", "a", answerable=None, split=None)]  # fmt: skip
    assert findings_of_path(write(tmp_path, rows), None) == []


def test_a_question_as_of_another_time_is_another_question(tmp_path: Path) -> None:
    rows = [*sound(), case("dev-3", "a", question="What of dev-1?", as_of="2021")]
    assert findings_of_path(write(tmp_path, rows), None) == []


def test_gold_may_name_a_source_that_has_turns_only(tmp_path: Path) -> None:
    rows = changed("test-1", gold=[{"source": "log", "quote": "hello"}])(sound())
    assert findings_of_path(write(tmp_path, rows), None) == []
    nodes = [NodeItem(level="L0", text="other", source="log", turn="t2")]
    with Store.open(tmp_path / "a.db") as store:
        ingest(store, "main", [("x", node) for node in nodes])
        assert contents(store, store.dataset("main")).sources == {"log"}


@pytest.mark.parametrize(
    ("name", "folder", "counts"),
    [
        ("clapnq", "clapnq", {"input": 3 + 10 + 1}),
        ("wice", "wice", {"input": 39}),
        ("timeqa", "timeqa_human", {"input": 2, "duplicate-question": 2}),
    ],
)
def test_public_sets_have_the_findings_they_are_known_for(
    public_data: Path, name: str, folder: str, counts: dict[str, int]
) -> None:
    assert counted(findings_of_path(public_data / folder, name)) == counts
