"""The data set that ships: every line is sound, every name resolves, every quote stands where it is said to stand."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import fields
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from core import clock
from core.ingest.items import ArtifactItem, EntityItem, FactItem, NodeItem
from core.records import LEVELS
from evals.cases import Case, Gold
from evals.datasets_cli import findings_of_path
from evals.validate import ABOUT

DATASETS = Path(__file__).parents[1] / "datasets"
MERIDIAN = DATASETS / "meridian"
MANIFEST: dict[str, Any] = json.loads((MERIDIAN / "manifest.json").read_text(encoding="utf-8"))
KINDS: dict[str, dict[str, type[Any]]] = {
    "artifacts.jsonl": {"artifact": ArtifactItem},
    "graph.jsonl": {"entity": EntityItem, "fact": FactItem},
    "log.jsonl": {"node": NodeItem},
    "cases.jsonl": {"case": Case},
}
ANSWERABLE = {"direct", "paraphrase", "multi-hop", "temporal-now", "temporal-as-of", "temporal-superseded",
              "aggregation", "geo", "policy", "follow-up"}  # fmt: skip
UNANSWERABLE = {"out-of-domain", "near-miss", "false-premise", "wrong-person", "expired", "other-user"}
OTHERS = ("kingfisher", "ruth-notebook")
"""A confidential project and another user's notebook, beside it and never in it."""


def rows(kind: str, folder: Path = MERIDIAN) -> list[dict[str, Any]]:
    """The objects of one kind without their ``kind``, in file order."""
    file = next(name for name, kinds in KINDS.items() if kind in kinds)
    lines = (folder / file).read_text(encoding="utf-8").splitlines()
    return [row for line in lines if (row := json.loads(line)).pop("kind") == kind]


def cases() -> list[Case]:
    return [Case.from_body(row) for row in rows("case")]


def texts() -> dict[tuple[str, str | None], str]:
    """Every text by what gold evidence names it by."""
    stored = [*rows("artifact"), *rows("node")]
    return {(row["source"], row.get("turn")): row["text"] for row in stored}


def made_from(parent: str, named: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What a note names as its parent: an earlier node, or an artifact (a chunk of it) as an L0 node."""
    if parent in named:
        return named[parent]
    (artifact,) = [row for row in rows("artifact") if row["source"] == parent.partition("#")[0]]
    return {"level": "L0", **artifact}


def evidence(case: Case) -> list[Gold]:
    return [*case.gold, *case.citations]


@pytest.mark.parametrize("file", KINDS)
def test_every_line_parses_with_exact_fields(file: str) -> None:
    for number, line in enumerate((MERIDIAN / file).read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        assert next(iter(row)) == "kind", f"{file}:{number}"
        item = KINDS[file][row.pop("kind")]
        assert set(row) <= {field.name for field in fields(item)}, f"{file}:{number}"
        TypeAdapter(item).validate_json(json.dumps(row), strict=True)


def test_manifest_names_the_files_and_counts_them() -> None:
    assert MANIFEST["files"] == list(KINDS)
    assert (MANIFEST["name"], MANIFEST["licence"]) == ("meridian", "Apache-2.0")
    counts = MANIFEST["counts"]
    assert {kind: len(rows(kind)) for kind in ("artifact", "entity", "fact")} == {
        kind: counts[kind] for kind in ("artifact", "entity", "fact")
    }
    assert Counter(row["level"] for row in rows("node")) == counts["node"]
    assert sum(len(row.get("parents", ())) for row in rows("node")) == counts["link"]


def test_manifest_counts_the_cases_by_split() -> None:
    found = Counter((case.split, case.answerable) for case in cases())
    for split, expected in MANIFEST["counts"]["case"].items():
        assert found.pop((split, True)) == expected["answerable"]
        assert found.pop((split, False)) == expected["unanswerable"]
    assert not found


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("artifact", ("source",)),
        ("entity", ("name",)),
        ("fact", ("subject", "relation", "object", "valid_at", "created_at")),
        ("node", ("name",)),
        ("node", ("source", "turn")),
        ("case", ("case_id",)),
        ("case", ("question", "as_of", "known_at")),
    ],
)
def test_names_are_unique(kind: str, key: tuple[str, ...]) -> None:
    repeated = [
        name
        for name, count in Counter(tuple(row.get(k) for k in key) for row in rows(kind)).items()
        if count > 1
    ]
    assert repeated == []


def test_nothing_is_blank_or_padded() -> None:
    for row in [*rows("artifact"), *rows("node")]:
        assert row["text"] == row["text"].strip() != "", row["source"]


def test_log_turns_stand_in_order_of_time() -> None:
    turns = [row for row in rows("node") if row["level"] == "L0"]
    for row in turns:
        assert row["text"].startswith(f"{row['speaker']}: "), row["name"]
        assert row["name"] == f"{row['session']}/{row['turn']}"
        assert row["turn"] == f"t{row['position'] + 1}"
    assert turns == sorted(turns, key=lambda row: (row["session"], row["position"]))
    assert turns == sorted(turns, key=lambda row: clock.parse(row["valid_at"]))


def test_parents_come_before_and_stand_one_level_lower() -> None:
    seen: dict[str, dict[str, Any]] = {}
    for row in rows("node"):
        parents = row.get("parents", [])
        assert bool(parents) == (row["level"] != "L0"), row["name"]
        assert len(parents) == len(set(parents)), row["name"]
        for parent in parents:
            before = made_from(parent, seen)
            assert LEVELS.index(before["level"]) == LEVELS.index(row["level"]) - 1, row["name"]
            assert clock.parse(before["valid_at"]) <= clock.parse(row["valid_at"]), row["name"]
        seen[row["name"]] = row


def test_facts_name_stored_entities_and_artifacts() -> None:
    names = {row["name"] for row in rows("entity")}
    sources = {row["source"] for row in rows("artifact")}
    used: set[str] = set()
    for row in rows("fact"):
        used |= {row["subject"], row["object"]}
        assert row["relation"] == row["relation"].lower().replace(" ", "_")
        assert row["description"].endswith("."), row["description"]
        assert row.get("artifact") in {None, *sources}, row["artifact"]
    assert used == names


def test_coordinates_belong_to_places() -> None:
    for row in rows("entity"):
        assert ("latitude" in row) == ("longitude" in row) == (row["type"] == "place"), row["name"]
        assert -90 <= row.get("latitude", 0) <= 90, row["name"]
        assert -180 <= row.get("longitude", 0) <= 180, row["name"]


def test_times_of_facts_are_ordered() -> None:
    for row in rows("fact"):
        times = {key: clock.parse(row[key]) for key in row if key.endswith("_at")}
        assert times["valid_at"] < times.get("invalid_at", "9999"), row["description"]
        assert times["created_at"] <= times.get("expired_at", "9999"), row["description"]


def test_spells_of_one_live_fact_do_not_overlap() -> None:
    live = [row for row in rows("fact") if "expired_at" not in row]
    spells = set()
    for one, other in combinations(live, 2):
        if all(one[key] == other[key] for key in ("subject", "relation", "object")):
            first, second = sorted((one, other), key=lambda row: str(row["valid_at"]))
            assert first["invalid_at"] <= second["valid_at"], first["description"]
            spells.add((one["subject"], one["relation"]))
    assert ("Samuel Adeyemi", "works_at") in spells  # who came back to a company
    assert ("Jonas Beck", "has_duty") in spells  # whose turn it is every few weeks
    assert len(spells) > 5


def test_a_superseded_fact_has_a_successor_from_that_day() -> None:
    facts = rows("fact")
    superseded = [row for row in facts if "expired_at" in row]
    assert len(superseded) >= 10
    for old in superseded:
        later = {
            (end, row["relation"])
            for row in facts
            for end in (row["subject"], row["object"])
            if row["created_at"] == old["expired_at"]
        }
        assert {(old["subject"], old["relation"]), (old["object"], old["relation"])} & later, old[
            "description"
        ]


@pytest.mark.parametrize(
    ("as_of", "known_at", "town"),
    [
        ("2023-06-01", "2024-06-01", "Amersfoort"),
        ("2024-02-01", "2024-04-01", "Amersfoort"),
        ("2024-02-01", "2024-06-01", "Utrecht"),
        ("2024-03-02", "2024-04-01", "Utrecht"),
    ],
)
def test_the_correction_of_the_move_depends_on_when_it_is_known(as_of: str, known_at: str, town: str) -> None:
    found = [
        row["object"]
        for row in rows("fact")
        if row["relation"] == "has_head_office_in"
        and row["valid_at"] <= as_of < row.get("invalid_at", "9999")
        and row["created_at"] <= known_at < row.get("expired_at", "9999")
    ]
    assert found == [town]


def test_gold_names_stored_texts_and_quotes_equal_their_spans() -> None:
    stored = texts()
    for case in cases():
        for gold in evidence(case):
            assert (gold.source, gold.turn) in stored, f"{case.case_id}: {gold.key}"
        for cited in case.citations:
            text = stored[cited.source, cited.turn]
            assert cited.quote, case.case_id
            assert text[cited.start : cited.end] == cited.quote, case.case_id
        assert {gold.key for gold in case.gold} == {cited.key for cited in case.citations}, case.case_id


def test_hidden_sources_are_stored() -> None:
    sources = {source for source, _ in texts()}
    assert {source for case in cases() for source in case.hides} <= sources


def test_labels_fit_together() -> None:
    for case in cases():
        assert case.split in {"dev", "test"}, case.case_id
        assert set(case.tags) in ({"kind"}, {"kind", "session", "turn"}), case.case_id
        assert case.tags["kind"] in (ANSWERABLE if case.answerable else UNANSWERABLE), case.case_id
        assert bool(case.answers) == bool(case.gold) == case.answerable, case.case_id
        assert bool(case.why_unanswerable) == (not case.answerable), case.case_id
        assert bool(case.hides) == (case.tags["kind"] in UNANSWERABLE - {"out-of-domain", "other-user"}) or (
            case.case_id == "ood-apple-tree"  # plants are spoken of
        ), case.case_id


def test_each_split_has_every_kind() -> None:
    found = {(case.split, case.tags["kind"]) for case in cases()}
    assert found == {(split, kind) for split in ("dev", "test") for kind in ANSWERABLE | UNANSWERABLE}


def test_what_was_known_then_had_been_written_by_then() -> None:
    dated = {row["source"]: row["valid_at"] for row in rows("artifact") if "valid_at" in row}
    known = [case for case in cases() if case.known_at]
    assert len(known) > 10
    for case in known:
        first = min(clock.parse(dated.get(gold.source, "0001")) for gold in case.gold)
        assert first <= clock.parse(case.known_at or ""), case.case_id


def test_a_follow_up_comes_after_the_question_it_leans_on() -> None:
    sessions: dict[str, dict[str, Case]] = {}
    for case in cases():
        if "session" in case.tags:
            turns = sessions.setdefault(case.tags["session"], {})
            assert case.tags["turn"] not in turns, case.case_id
            turns[case.tags["turn"]] = case
    assert len(sessions) >= 15
    for name, turns in sessions.items():
        assert "1" in turns, name
        assert len({case.split for case in turns.values()}) == 1, name
        assert turns["1"].tags["kind"] != "follow-up", name
        assert len(turns) > 1, name
    told = {case.case_id for turns in sessions.values() for case in turns.values()}
    assert {case.case_id for case in cases() if case.tags["kind"] == "follow-up"} <= told


def test_it_is_large_enough_to_tell_figures_apart() -> None:
    counts = MANIFEST["counts"]
    assert counts["artifact"] >= 150
    assert counts["entity"] >= 200
    assert counts["fact"] >= 500
    labelled = counts["case"]
    assert sum(sum(split.values()) for split in labelled.values()) >= 400
    assert all(split["unanswerable"] >= 100 for split in labelled.values())


PLANTED = {
    "a line broken off": (
        "log.jsonl",
        '"parents": ["2025-03-04/t5", ',
        '"parents": ["2025-03-04/t5" ',
        "input",
    ),
    "a parent that is not there": ("log.jsonl", '"2025-03-04/t8", ', '"2025-03-04/t88", ', "links"),
    "an artifact that is not there": ("log.jsonl", '["policies/money"]', '["policies/honey"]', "links"),
    "a fact that ends before it begins": (
        "graph.jsonl",
        '"valid_at": "2025-03-26", "invalid_at": "2025-04-02"',
        '"valid_at": "2025-04-26", "invalid_at": "2025-04-02"',
        "input",
    ),
    "a fact of no artifact": (
        "graph.jsonl",
        '"artifact": "policies/gifts"',
        '"artifact": "policies/gift"',
        "input",
    ),
    "a name twice": ("log.jsonl", '"name": "large-uploads-recap"', '"name": "infra-root-causes"', "input"),
    "a case twice": ("cases.jsonl", '"case_id": "salesforce-seats"', '"case_id": "salesforce-end"', "input"),
    "a question twice": (
        "cases.jsonl",
        "With how many seats does the Salesforce project start?",
        "how long are raw sensor readings kept",
        "duplicate-question",
    ),
    "a question in both splits": (
        "cases.jsonl",
        "With how many seats does the Salesforce project start?",
        "For how long is access to production given?",
        "leak-question",
    ),
    "evidence in both splits": (
        "cases.jsonl",
        '"hides": ["policies/data-retention"]',
        '"hides": ["policies/money"]',
        "leak-source",
    ),
    "a note over the split": ("log.jsonl", '["policies/gifts"]', '["policies/money"]', "leak-note"),
    "a note before its source": (
        "log.jsonl",
        '"valid_at": "2025-03-05T15:00:00Z"',
        '"valid_at": "2025-02-05T15:00:00Z"',
        "note-dates",
    ),
    "evidence of nowhere": (
        "cases.jsonl",
        '{"source": "policies/contractors"}',
        '{"source": "policies/contracts"}',
        "dangling-evidence",
    ),
    "a quote that is not there": ("cases.jsonl", '"quote": "We go ahead', '"quote": "We went ahead', "quote"),
    "a quote elsewhere": ("cases.jsonl", '"start": 620, "end": 775', '"start": 621, "end": 776', "quote"),
    "another field": (
        "cases.jsonl",
        '"case_id": "salesforce-seats", "question"',
        '"case_id": "salesforce-seats", "query": "", "question"',
        "shape",
    ),
    "a time that is none": ("cases.jsonl", '"as_of": "2024-09-01"', '"as_of": "in September"', "dates"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_an_error_planted_in_it_is_found(name: str, tmp_path: Path) -> None:
    file, before, after, check = PLANTED[name]
    for kept in KINDS:
        shutil.copy(MERIDIAN / kept, tmp_path)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert before in text
    (tmp_path / file).write_text(text.replace(before, after, 1), encoding="utf-8")
    assert check in {finding.check for finding in findings_of_path(tmp_path, None)}


def test_every_check_has_an_error_planted_in_it() -> None:
    assert {check for *_, check in PLANTED.values()} | {"single-class"} == set(ABOUT)


@pytest.mark.parametrize("other", OTHERS)
def test_what_lies_beside_it_is_sound(other: str) -> None:
    assert findings_of_path(DATASETS / other, None) == []


@pytest.mark.parametrize("other", OTHERS)
def test_what_others_own_is_not_told_here(other: str) -> None:
    """No text, fact or entity of theirs stands here, nor does what answers their questions."""
    folder = DATASETS / other
    here = [row["text"] for row in (*rows("artifact"), *rows("node"))]
    here += [row["description"] for row in (*rows("entity"), *rows("fact"))]
    assert not {row["source"] for row in rows("artifact", folder)} & {
        row["source"] for row in rows("artifact")
    }
    for row in rows("case", folder):
        for cited in row.get("citations", ()):
            assert not any(cited["quote"] in text for text in here), row["case_id"]
    for word in ("Kingfisher", "Graham Halden", "Domkoor", "Bilthoven", "walnut"):
        assert not any(word in text for text in here), word


def test_dev_and_test_share_no_source() -> None:
    used: dict[str | None, set[str]] = {"dev": set(), "test": set()}
    for case in cases():
        used[case.split] |= {gold.source for gold in evidence(case)} | set(case.hides)
    assert used["dev"] & used["test"] == set()


def test_notes_stay_on_one_side_of_the_split() -> None:
    """A note of one split made from turns of the other would tell the tuner what the test asks."""
    split = {gold.source: case.split for case in cases() for gold in evidence(case)}
    by_name = {row["name"]: row for row in rows("node")}
    for row in by_name.values():
        family = {row["source"], *(made_from(parent, by_name)["source"] for parent in row.get("parents", ()))}
        assert len({split[source] for source in family if source in split}) <= 1, row["name"]


def test_datasets_is_no_package() -> None:
    """``import datasets`` must find the library of that name."""
    assert list(DATASETS.rglob("*.py")) == []
