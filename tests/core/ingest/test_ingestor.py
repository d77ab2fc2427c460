"""Storing items: a second time changes nothing, updates replace, contradictions are problems and nothing else."""

from __future__ import annotations

import dataclasses
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DataError
from core.ingest.ingestor import IngestReport, ingest
from core.ingest.items import ArtifactItem, CaseItem, EntityItem, FactItem, Item, LinkItem, NodeItem, Problem
from core.records import node_id
from core.store import Store

TURN = NodeItem(level="L0", text="It broke.", source="log", turn="t1", name="t1")
NOTE = NodeItem(level="L1", text="Why it broke.", source="notes", name="note", parents=("t1",))
SYNTHESIS = NodeItem(level="L2", text="Things break.", source="notes", name="lesson", parents=("note",))
MEMO = ArtifactItem(source="memo", text="First words.", title="Memo")
LONG = ArtifactItem(source="long", text="A sentence that is repeated for its length. " * 60)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "a.db") as opened:
        yield opened


def take(store: Store, *items: Item, name: str = "main", **options: Any) -> IngestReport:
    return ingest(store, name, [(f"in:{n}", item) for n, item in enumerate(items, start=1)], **options)


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def says(report: IngestReport) -> list[str]:
    return [str(problem) for problem in report.problems]


def texts(store: Store, kind: str, name: str = "main") -> list[str]:
    return list(store.texts(kind, [store.dataset(name).dataset_id]))  # type: ignore[arg-type]


def links(store: Store, name: str = "main") -> list[tuple[str | None, str | None]]:
    dataset = [store.dataset(name).dataset_id]
    nodes = store.nodes(store.columns("node", dataset).row_ids.tolist())
    names = {node.node_id: node.name for node in nodes}
    return [(names[link.child_id], names[link.parent_id]) for link in store.links_from(dataset, list(names))]


ALL = (
    MEMO,
    LONG,
    EntityItem(name="Ada", type="person"),
    FactItem(subject="Ada", relation="wrote", object="Memo", artifact="memo"),
    TURN,
    NOTE,
    SYNTHESIS,
    LinkItem(child="lesson", parent="t1"),
    CaseItem(case_id="c", body={"question": "Why?"}),
)


def test_the_report_counts_what_was_done_and_a_second_time_changes_nothing(
    store: Store, tmp_path: Path
) -> None:
    first = take(store, *ALL, batch=2)
    assert first.problems == ()
    kinds = {"artifact": 2, "entity": 1, "fact": 1, "node": 3, "link": 3, "case": 1}
    assert (first.added, first.updated, first.unchanged) == (kinds, {}, {})
    before = dump(tmp_path / "a.db")
    second = take(store, *ALL)
    assert (second.added, second.updated, second.unchanged, second.problems) == ({}, {}, kinds, ())
    assert dump(tmp_path / "a.db") == before


NAMES = st.sampled_from(["Ada", "ADA", "Bob", "ａｄａ"])
SHORT = st.sampled_from(["One.", "Two.", "Words. " * 300])
ANY_ITEM = st.one_of(
    st.builds(ArtifactItem, source=st.sampled_from("st"), text=SHORT, title=st.sampled_from(["", "T"]),
              whole=st.booleans(), as_nodes=st.booleans()),
    st.builds(EntityItem, name=NAMES, type=st.sampled_from(["thing", "person", "place"]),
              description=st.sampled_from(["", "D"])),
    st.builds(FactItem, subject=NAMES, relation=st.just("knows"), object=NAMES,
              artifact=st.sampled_from([None, "s", "t"]), invalid_at=st.sampled_from([None, "2024-01-01T00:00:00Z"])),
    st.builds(NodeItem, level=st.sampled_from(["L0", "L1", "L2"]), text=SHORT, source=st.sampled_from("st"),
              name=st.sampled_from([None, "m", "n"]), parents=st.sampled_from([(), ("m",), ("n", "m")])),
    st.builds(LinkItem, child=st.sampled_from("mn"), parent=st.sampled_from("mn")),
    st.builds(CaseItem, case_id=st.sampled_from("cd"), body=st.sampled_from([{"question": "q"}, {"question": "r"}])),
)  # fmt: skip


def artifacts_first(items: Sequence[Item]) -> list[Item]:
    """A fact names an artifact that came before it."""
    return sorted(items, key=lambda item: not isinstance(item, ArtifactItem))


@settings(max_examples=60, deadline=None)
@given(items=st.lists(ANY_ITEM, max_size=12).map(artifacts_first), batch=st.integers(1, 5))
def test_any_input_a_second_time_changes_nothing_and_repeats_its_problems(
    items: Sequence[Item], batch: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("twice")
    with Store.open(folder / "a.db") as store:
        first = take(store, *items, batch=batch)
        before = dump(folder / "a.db")
        second = take(store, *items)
        assert (second.added, second.updated) == ({}, {})
        assert sorted(says(second)) == sorted(says(first))
        assert dump(folder / "a.db") == before
        assert store.database.rows("PRAGMA foreign_key_check") == []


@settings(max_examples=30, deadline=None)
@given(items=st.lists(ANY_ITEM, max_size=12))
def test_a_dry_run_foretells_the_run_and_leaves_no_trace(
    items: Sequence[Item], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("dry")
    with Store.open(folder / "a.db") as store:
        take(store, *ALL)
        before = dump(folder / "a.db"), store.dataset("main").revision
        foretold = take(store, *items, dry_run=True)
        assert (dump(folder / "a.db"), store.dataset("main").revision) == before
        assert take(store, *items) == foretold
        assert take(store, *items, name="elsewhere", dry_run=True)
        assert [found.name for found in store.datasets()] == ["main"]


def test_another_text_replaces_chunks_and_nodes_and_leaves_the_rest(store: Store) -> None:
    take(store, LONG, MEMO, FactItem(subject="a", relation="r", object="b", artifact="long"))
    assert len(texts(store, "chunk")) == 4
    report = take(store, dataclasses.replace(LONG, text="Short now."))
    assert (report.added, report.updated) == ({}, {"artifact": 1})
    assert (
        sorted(texts(store, "chunk")) == sorted(texts(store, "node")) == ["Memo\nFirst words.", "Short now."]
    )
    dataset = [store.dataset("main").dataset_id]
    assert [(a.source, a.text) for a in store.artifacts(dataset)] == [
        ("long", "Short now."),
        ("memo", "First words."),
    ]
    assert texts(store, "fact") == ["a r b"]
    assert store.facts([1])[0].artifact_id == 1  # the fact still names its artifact


@pytest.mark.parametrize(
    "change",
    [{"title": "T"}, {"session": "s"}, {"valid_at": "2024-01-01T00:00:00Z"}, {"whole": True}, {"as_nodes": False}],
)  # fmt: skip
def test_other_details_of_an_artifact_are_an_update_too(change: dict[str, object], store: Store) -> None:
    take(store, LONG)
    report = take(store, dataclasses.replace(LONG, **change))  # type: ignore[arg-type]
    assert report.updated == {"artifact": 1}
    assert take(store, dataclasses.replace(LONG, **change)).unchanged == {"artifact": 1}  # type: ignore[arg-type]


def test_details_of_a_node_are_updated_in_place(store: Store) -> None:
    take(store, TURN, NOTE)
    report = take(store, dataclasses.replace(NOTE, name="renamed", confidence=0.25, level="L2"))
    assert (report.added, report.updated, report.unchanged) == ({}, {"node": 1}, {"link": 1})
    assert links(store) == [("renamed", "t1")]
    node = store.nodes([2])[0]
    assert (node.name, node.confidence, node.level, node.text) == ("renamed", 0.25, "L2", "Why it broke.")
    other = take(store, dataclasses.replace(NOTE, text="Another text."))
    assert other.added == {"node": 1, "link": 1}  # another text is another node, and the name was free again


def test_closing_a_fact_and_describing_an_entity_are_updates(store: Store) -> None:
    fact = FactItem(subject="Ada", relation="works_at", object="Acme", valid_at="2023-01-01T00:00:00Z")
    take(store, fact, EntityItem(name="Ada", type="person"))
    closed = dataclasses.replace(fact, invalid_at="2024-01-01T00:00:00Z")
    report = take(store, closed, EntityItem(name="ada", type="person", description="Engineer."))
    assert report.updated == {"fact": 1, "entity": 1}
    dataset = [store.dataset("main").dataset_id]
    (found,) = store.facts([1])
    assert found.invalid_at == "2024-01-01T00:00:00Z"
    assert sorted((e.name, e.type, e.description) for e in store.all_entities(dataset)) == [
        ("Acme", "thing", ""), ("ada", "person", "Engineer."),
    ]  # fmt: skip
    case = CaseItem(case_id="c", body={"question": "Why?"})
    assert take(store, case).added == {"case": 1}
    assert take(store, CaseItem(case_id="c", body={"question": "When?"})).updated == {"case": 1}
    assert store.cases(dataset)[0][1].body == {"question": "When?"}


def test_facts_bring_in_their_entities_once_by_normalised_name(store: Store) -> None:
    take(store, FactItem(subject="Ada  Lovelace", relation="knows", object="Bob"),
         FactItem(subject="ADA LOVELACE", relation="met", object="ｂｏｂ"))  # fmt: skip
    take(store, EntityItem(name="Bob", type="person"))
    dataset = [store.dataset("main").dataset_id]
    assert [(e.name, e.type) for e in store.all_entities(dataset)] == [
        ("Ada  Lovelace", "thing"),
        ("Bob", "person"),
    ]
    assert {(f.source_id, f.target_id) for f in store.facts([1, 2])} == {(1, 2)}


REPEATED: dict[str, tuple[Item, Item, str]] = {
    "artifact": (MEMO, dataclasses.replace(MEMO, text="Other."), "artifact 'memo' came before with other content"),
    "entity": (EntityItem(name="Ada", type="person"), EntityItem(name="ADA", type="person", description="D"),
               r"entity 'ada \(person\)' came before with other content"),
    "fact": (FactItem(subject="a", relation="r", object="b"),
             FactItem(subject="a", relation="r", object="b", invalid_at="2024-01-01T00:00:00Z"),
             "fact 'a r b .*' came before with other content"),
    "node": (TURN, dataclasses.replace(TURN, confidence=0.5), "node '[0-9a-f]{64}' came before with other content"),
    "case": (CaseItem(case_id="c", body={"q": 1}), CaseItem(case_id="c", body={"q": 2}), "case 'c' came before with"),
    "a chunk's node": (NodeItem(level="L1", text="First words.", source="memo"), MEMO, "node '.*' came before with"),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second", "expected"), REPEATED.values(), ids=REPEATED)
@pytest.mark.parametrize("batch", [1, 500])
def test_an_id_that_comes_again_with_other_content_is_a_problem_and_the_first_is_kept(
    first: Item, second: Item, expected: str, batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.clock.now", lambda: "2024-01-01T00:00:00Z")
    monkeypatch.setattr("secrets.token_hex", lambda _: "uid")
    with Store.open(tmp_path / "one.db") as store:
        take(store, first, batch=batch)
    with Store.open(tmp_path / "two.db") as store:
        report = take(store, first, second, first, batch=batch)
    (problem,) = report.problems
    assert problem.where == "in:2"
    assert re.search(expected, problem.what)
    assert problem.what.endswith("the first is kept")
    assert dump(tmp_path / "two.db") == dump(tmp_path / "one.db")  # nothing at all of the second was stored


def test_a_node_that_contradicts_a_chunk_is_a_problem_the_second_time_too(store: Store) -> None:
    items = (MEMO, NodeItem(level="L0", text="First words.", source="memo", name="opening"))
    for _ in range(2):
        report = take(store, *items)
        (problem,) = says(report)
        assert problem.startswith("in:2: node '")
        assert report.updated == {}
    assert take(store, items[1]).updated == {"node": 1}  # alone it says something new of the node


def test_an_entity_given_as_a_thing_stays_one(store: Store) -> None:
    items = (EntityItem(name="Mercury", type="thing"), EntityItem(name="Mercury", type="planet"))
    assert take(store, *items).added == {"entity": 2}
    assert take(store, *items).unchanged == {"entity": 2}
    known = (
        FactItem(subject="Venus", relation="orbits", object="Sun"),
        EntityItem(name="Venus", type="planet"),
    )
    assert take(store, *known).updated == {"entity": 1}  # one that only a fact knew takes the type
    assert take(store, *known).unchanged == {"fact": 1, "entity": 1}


def test_a_fact_of_an_unknown_artifact_leaves_no_entities(store: Store) -> None:
    report = take(store, FactItem(subject="a", relation="r", object="b", artifact="nowhere"))
    assert says(report) == ["in:1: artifact 'nowhere' is neither stored nor in this input (skipped)"]
    assert (report.added, texts(store, "entity"), texts(store, "fact")) == ({}, [], [])


def test_a_fact_may_come_before_its_artifact(store: Store) -> None:
    items = (
        FactItem(subject="a", relation="r", object="b", artifact="later"),
        ArtifactItem(source="later", text="In time."),
    )
    report = take(store, *items)
    assert (says(report), report.added) == ([], {"artifact": 1, "fact": 1})
    again = take(store, *items)
    assert (says(again), again.added, again.updated) == ([], {}, {})


def test_a_name_belongs_to_one_node_of_a_dataset(store: Store) -> None:
    other = NodeItem(level="L0", text="Other.", source="log", turn="t9", name="t1")
    expected = ["in:2: the name 't1' belongs to another node; names are unique in a dataset (skipped)"]
    assert says(take(store, TURN, other)) == expected
    assert says(take(store, TURN, other)) == expected
    assert texts(store, "node") == ["It broke."]
    assert take(store, other, name="second").problems == ()


BAD_LINKS: dict[str, tuple[tuple[Item, ...], str]] = {
    "no parent": ((NOTE,), "in:1: link from '[0-9a-f]{64}' to 't1': there is no such node"),
    "no child": ((TURN, LinkItem(child="gone", parent="t1")), "in:2: link from 'gone' to 't1': there is no such node"),
    "same level": ((TURN, dataclasses.replace(NOTE, level="L0")), r"in:2: .*\(L0\) to 't1' \(L0\): a parent stands on"),
    "upside down": ((SYNTHESIS, NOTE, TURN, LinkItem(child="note", parent="lesson")), r"in:4: .*'note' \(L1\) to 'l"),
    "itself": ((TURN, LinkItem(child="t1", parent="t1")), "in:2: .*a parent stands on a lower level"),
    "upside down, ahead": ((dataclasses.replace(TURN, parents=("note",)), dataclasses.replace(NOTE, parents=())),
                           r"in:1: .*\(L0\) to 'note' \(L1\): a parent stands on a lower level"),
}  # fmt: skip


@pytest.mark.parametrize(("items", "expected"), BAD_LINKS.values(), ids=BAD_LINKS)
@pytest.mark.parametrize("batch", [1, 500])
def test_a_link_that_cannot_be_is_a_problem_and_its_node_is_kept(
    items: tuple[Item, ...], expected: str, batch: int, store: Store
) -> None:
    report = take(store, *items, batch=batch)
    (problem,) = says(report)
    assert re.match(expected, problem), problem
    assert report.added["node"] == sum(isinstance(item, NodeItem) for item in items)
    assert all(pair in {("note", "t1"), ("lesson", "note")} for pair in links(store))


@pytest.mark.parametrize("batch", [1, 2, 500])
def test_links_may_point_forward_by_name_or_id(batch: int, store: Store) -> None:
    key = node_id(dataset="main", source="log", turn="t1", text="It broke.")
    by_id = LinkItem(child="lesson", parent=key)
    report = take(store, by_id, SYNTHESIS, NOTE, TURN, by_id, batch=batch)
    assert report.problems == ()
    assert report.added == {"node": 3, "link": 3}
    assert sorted(links(store), key=str) == [("lesson", "note"), ("lesson", "t1"), ("note", "t1")]


def test_a_note_may_be_made_from_an_artifact_and_from_a_chunk(store: Store) -> None:
    """By its source; a long text is named with the chunk, since it is several nodes."""
    notes = [
        dataclasses.replace(NOTE, name=f"n{n}", text=f"Note {n}.", parents=(parent,))
        for n, parent in enumerate(("memo", "long#chunk-1", "long", "memo#chunk-0", "long#chunk-9"))
    ]
    report = take(store, *notes[:2], MEMO, LONG, *notes[2:])  # the first two point forward
    assert says(report) == [
        f"in:{where}: link from {key!r} to {parent!r}: there is no such node (skipped)"
        for where, parent, note in (
            (5, "long", notes[2]),
            (6, "memo#chunk-0", notes[3]),
            (7, "long#chunk-9", notes[4]),
        )
        for key in [node_id(dataset="main", source=note.source, turn=None, text=note.text)]
    ]
    for _ in range(2):  # a second time changes nothing
        made = store.database.rows(
            """SELECT c.name, p.source, p.turn FROM node_link l JOIN node c ON c.row_id = l.child
               JOIN node p ON p.row_id = l.parent ORDER BY 1"""
        )
        assert [tuple(row) for row in made] == [("n0", "memo", None), ("n1", "long", "chunk-1")]
        assert says(take(store, *notes[:2], MEMO, LONG)) == []


def test_a_link_finds_its_ends_from_before(store: Store) -> None:
    take(store, TURN)
    assert take(store, NOTE).added == {"node": 1, "link": 1}
    assert says(take(store, dataclasses.replace(NOTE, parents=()), name="second")) == []
    missing = take(store, LinkItem(child="note", parent="t1"), name="second")  # t1 stands in another dataset
    assert says(missing) == ["in:1: link from 'note' to 't1': there is no such node (skipped)"]


def test_problems_of_reading_are_handed_on_in_order(store: Store) -> None:
    bad = Problem(where="file:7", what="not JSON")
    report = ingest(store, "main", [("file:7", bad), ("file:8", TURN), ("file:9", NOTE), ("file:9", bad)])
    assert report.problems == (bad, bad)
    assert report.added == {"node": 2, "link": 1}


STRICT: dict[str, tuple[Item | Problem, ...]] = {
    "of reading": (TURN, Problem(where="file:2", what="not JSON")),
    "of storing": (TURN, dataclasses.replace(TURN, confidence=0.1)),
    "of linking": (TURN, LinkItem(child="t1", parent="gone")),
}


@pytest.mark.parametrize("items", STRICT.values(), ids=STRICT)
def test_strict_refuses_everything_for_one_problem(
    items: tuple[Item | Problem, ...], store: Store, tmp_path: Path
) -> None:
    before = dump(tmp_path / "a.db")
    with pytest.raises(DataError, match="1 problems and --strict: nothing was written"):
        ingest(store, "main", [(f"file:{n}", item) for n, item in enumerate(items, start=1)], strict=True)
    assert dump(tmp_path / "a.db") == before


def test_strict_takes_what_is_sound(store: Store) -> None:
    items = iter([("1", TURN), ("2", NOTE)])  # read once
    assert ingest(store, "main", items, strict=True).added == {"node": 2, "link": 1}
    assert texts(store, "node") == ["It broke.", "Why it broke."]


def test_an_input_that_cannot_be_opened_leaves_no_dataset(store: Store) -> None:
    def broken() -> Iterator[tuple[str, Item]]:
        raise DataError("gone")
        yield "", TURN

    with pytest.raises(DataError):
        ingest(store, "main", broken())
    assert store.datasets() == []


def test_progress_counts_every_item_once(store: Store) -> None:
    for dry_run in (True, False):
        finished: list[int] = []
        take(store, *ALL, batch=4, dry_run=dry_run, progress=finished.append)
        assert sum(finished) == len(ALL)


def test_a_batch_is_acknowledged_before_the_next_is_read(store: Store, tmp_path: Path) -> None:
    seen: list[int] = []

    def items() -> Iterator[tuple[str, Item]]:
        for number in range(7):
            with closing(sqlite3.connect(tmp_path / "a.db")) as other:
                seen.append(other.execute("SELECT count(*) FROM node").fetchone()[0])
            yield str(number), NodeItem(level="L0", text=str(number), source="s")

    ingest(store, "main", items(), batch=3)
    assert seen == [0, 0, 0, 3, 3, 3, 6]


def test_a_passage_is_an_artifact_a_chunk_and_raw_evidence_on_the_same_words(store: Store) -> None:
    words = "The mill opened in 1999. " * 40
    report = take(store, ArtifactItem(source="p1", title="Mill", text=words, whole=True))
    assert report.added == {"artifact": 1}
    (chunk,), (node,) = store.chunks(range(1, 9)), store.nodes(range(1, 9))
    assert (chunk.text, chunk.position, chunk.source) == (words, 0, "p1")
    assert (node.text, node.level, node.source, node.title) == (words, "L0", "p1", "Mill")
