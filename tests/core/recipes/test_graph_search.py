"""What recipe `graph` finds: which entities are seeds, what each index adds, and what is dropped on the way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core import profile as profiles
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, EntityItem, FactItem, Item
from core.profile import Profile
from core.records import Fact
from core.trace import Trace
from core.workspace import Workspace

MakeWorkspace = Callable[..., Workspace]


def seed(**changes: float) -> Profile:
    values = {name.replace("__", "."): value for name, value in changes.items()}
    return profiles.load("seed", "graph").with_values(values)


def ask(workspace: Workspace, question: str, **changes: float) -> Trace:
    return workspace.ask(question, dataset="main", recipe="graph", profile=seed(**changes))


def given(trace: Trace, stage: str = "expand") -> list[str]:
    """Names of entities and relations of facts after a stage, in its order."""
    found = trace.stage(stage)
    assert found is not None
    candidates = [trace.candidate(key) for key in found.after]
    return [one.fact.relation if one.fact else one.name or one.source for one in candidates]


def fact(relation: str, source: str = "Ann", target: str = "Bo", **more: str) -> FactItem:
    return FactItem(subject=source, relation=relation, object=target, **more)


def dated(
    make_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch, items: dict[int, Item]
) -> Workspace:
    """A workspace in which each item was stored on its day of January 2024."""
    workspace = make_workspace([])
    for day, item in items.items():
        monkeypatch.setattr("core.clock.now", lambda day=day: f"2024-01-{day:02}T00:00:00Z")
        ingest(workspace.store, "main", [("x", item)])
    return workspace


def test_the_ten_best_by_points_are_seeds_and_the_latest_update_wins_a_tie(
    make_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ties: dict[int, Item] = {
        day: EntityItem(name=f"Pump {day}", type="thing") for day in (3, 12, 1, 7, 9, 2, 11, 5, 8, 4)
    }
    named: dict[int, Item] = {
        6: EntityItem(name="Pump", type="thing"),
        10: EntityItem(name="Valve", type="thing", description="beside a pump"),
        13: EntityItem(name="Canal", type="place"),
    }
    workspace = dated(make_workspace, monkeypatch, ties | named)
    trace = ask(workspace, "Which pump?", similar__entities=0)
    assert given(trace, "floor") == ["Pump", *(f"Pump {day}" for day in (12, 11, 9, 8, 7, 5, 4, 3, 2))]
    assert {one.name for one in trace.candidates if one.dropped} >= {"Pump 1", "Valve"}


def test_seeds_are_those_by_words_then_those_by_meaning_each_once(make_workspace: MakeWorkspace) -> None:
    items = [EntityItem(name="Failing", type="request"), EntityItem(name="Requests", type="fail"),
             EntityItem(name="Lunch", type="canal")]  # fmt: skip
    trace = ask(make_workspace(items), "failed request", floor__min_cosine=0.9)
    failing, requests = (
        next(one for one in trace.candidates if one.name == name) for name in ("Failing", "Requests")
    )
    assert all(one.scores["cosine/bag-64"] > 0.9 for one in (failing, requests))
    assert ("graph-points" in requests.scores, "graph-points" in failing.scores) == (True, False)
    assert given(trace) == ["Requests", "Failing"]


def test_a_similar_fact_is_found_by_its_own_text_and_brings_both_ends(make_workspace: MakeWorkspace) -> None:
    items = [fact("repairs", "Ann", "Mill", description="mended broken sails"), fact("likes", "Cy", "Tea")]
    trace = ask(make_workspace(items), "Who mended broken sails?", floor__min_cosine=0.6)
    entities = [one for one in trace.candidates if one.kind == "entity"]
    assert not any("graph-points" in one.scores for one in entities)
    assert all(one.scores.get("cosine/bag-64", 0) < 0.6 for one in entities)
    assert given(trace) == ["repairs", "Ann", "Mill"]


def test_a_seed_brings_its_facts_in_and_out_with_the_other_end(make_workspace: MakeWorkspace) -> None:
    items = [
        fact("employs", "Acme", "Alice"),
        fact("visits", "Alice", "Rome"),
        fact("adjoins", "Rome", "Ostia"),
    ]
    trace = ask(make_workspace(items), "Who is Alice?", floor__min_cosine=1.0)
    assert set(given(trace)) == {"employs", "visits", "Alice", "Acme", "Rome"}, "one hop, no further"


def test_similar_facts_come_beyond_the_cap(make_workspace: MakeWorkspace) -> None:
    items = [
        fact("mended", "Alice", "Sail", created_at="2020-01-01"),
        *(fact(f"r{n}", "Alice", f"T{n}") for n in range(4)),
    ]
    question = "Alice mended sail"
    trace = ask(make_workspace(items), question, floor__min_cosine=0.95, graph__hop_facts=2)
    assert {name for name in given(trace) if name == "mended" or name[0] == "r"} == {"mended", "r3", "r2"}
    trace = ask(make_workspace(items), question, similar__facts=0, graph__hop_facts=2)
    assert "mended" not in given(trace)


@pytest.mark.parametrize(("kind", "index"), [("entity", "similar.entities"), ("fact", "similar.facts")])
def test_ten_of_an_index_are_taken(make_workspace: MakeWorkspace, kind: str, index: str) -> None:
    entities = [EntityItem(name=f"Canal{n}", type="lunch") for n in range(12)]
    facts = [fact("lunch", f"A{n}", f"B{n}", description="canal lunch") for n in range(12)]
    trace = ask(make_workspace(entities if kind == "entity" else facts), "lunch", floor__min_cosine=0.3)
    passed = trace.stage("floor")
    assert passed is not None
    assert sum(key.startswith(kind) for key in passed.after) == 10
    fallen = [one.dropped.threshold for one in trace.candidates if one.kind == kind and one.dropped]
    assert fallen.count(index) == 2


def test_a_passage_ranks_by_the_better_of_text_and_summary(make_workspace: MakeWorkspace) -> None:
    texts = {"by-text": ("proxy buffer limit", "lunch"), "by-summary": ("lunch canal Friday proxy", "proxy buffer"),
             "neither": ("lunch canal", "Friday")}  # fmt: skip
    items = [
        ArtifactItem(source=source, text=text, summary=summary, whole=True)
        for source, (text, summary) in texts.items()
    ]
    trace = ask(make_workspace(items), "proxy buffer", floor__min_cosine=0.5)
    assert given(trace) == ["by-summary", "by-text"]
    cosine = {one.source: one.scores["cosine/bag-64"] for one in trace.candidates if one.kind == "chunk"}
    assert cosine["by-summary"] == pytest.approx(1, abs=1e-6)
    assert [next(one.source for one in trace.candidates if one.candidate_id == key) for key in trace.ranking] == [
        "by-summary", "by-text", "neither"]  # fmt: skip


@pytest.mark.parametrize("question", ["what about her?", "and them?", "What do you know?"])
def test_a_question_of_pronouns_falls_back_to_the_latest_entities(
    make_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    items: dict[int, Item] = {day: EntityItem(name=f"Thing {day}", type="thing") for day in range(1, 31)}
    trace = ask(dated(make_workspace, monkeypatch, items), question)
    assert given(trace) == [f"Thing {day}" for day in range(30, 5, -1)]


@pytest.mark.parametrize(
    ("times", "found"),
    [({}, True),
     ({"invalid_at": "2022-01-01"}, True),
     ({"expired_at": "2022-01-02"}, False),
     ({"invalid_at": "2022-01-01", "expired_at": "2022-01-02"}, False)],
)  # fmt: skip
def test_live_and_ended_facts_are_context_and_superseded_ones_are_not(
    make_workspace: MakeWorkspace, times: dict[str, str], found: bool
) -> None:
    item = fact("works_at", "Alice", "Acme", valid_at="2020-01-01", created_at="2020-01-02", **times)
    workspace = make_workspace([item])
    for cut in (-1.0, 1.0):  # by similarity too, and by keywords alone
        trace = ask(workspace, "Where does Alice work?", floor__min_cosine=cut)
        assert ("works_at" in given(trace)) is found
        kept = [one.fact for one in trace.answer.evidence if isinstance(one.fact, Fact)]
        assert [(one.invalid_at is not None, one.expired_at) for one in kept] == [
            ("invalid_at" in times, None)
        ] * found


def test_the_words_of_a_superseded_fact_may_come_back_as_a_passage(make_workspace: MakeWorkspace) -> None:
    items = [ArtifactItem(source="old", text="Alice works at Acme.", whole=True),
             fact("works_at", "Alice", "Acme", artifact="old", created_at="2020-01-01", expired_at="2021-01-01"),
             fact("works_at", "Alice", "Globex", created_at="2021-01-01")]  # fmt: skip
    trace = ask(make_workspace(items), "Where works Alice?", floor__min_cosine=0.5)
    kept = trace.stage("expand")
    assert kept is not None
    candidates = [trace.candidate(key) for key in kept.after]
    assert [one.fact.target for one in candidates if one.fact] == ["Globex"]
    assert [one.text for one in candidates if one.kind == "chunk"] == ["Alice works at Acme."]


@pytest.mark.parametrize(("table", "kind"), [("fact", "fact"), ("chunk", "chunk"), ("entity", "entity")])
def test_a_vector_whose_row_was_deleted_is_dropped(
    make_workspace: MakeWorkspace, table: str, kind: str
) -> None:
    items = [ArtifactItem(source="cv", text="proxy buffer", whole=True), EntityItem(name="Proxy", type="buffer"),
             EntityItem(name="Lone", type="proxy buffer"), fact("buffers", "Proxy", "Buffer")]  # fmt: skip
    workspace = make_workspace(items)
    before = ask(workspace, "proxy buffer", floor__min_cosine=-1.0)
    gone = next(
        one.candidate_id for one in before.candidates if one.kind == kind and one.name in (None, "Lone")
    )
    with workspace.store.database.transaction() as connection:
        connection.execute(f"DELETE FROM {table} WHERE {table}_id = ?", (int(gone.split(":")[1]),))  # noqa: S608
    after = ask(workspace, "proxy buffer", floor__min_cosine=-1.0)  # out of the indexes of before
    assert {one.candidate_id for one in before.candidates} - {
        one.candidate_id for one in after.candidates
    } == {gone}
    assert gone not in {item.candidate_id for item in after.answer.evidence}
