"""Reading rows: columns and texts in one order, records in the order asked, and which facts pass the filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, EntityItem, FactItem, Item, NodeItem
from core.store import CORPUS_KINDS, CorpusKind, Store
from tests.backends import Place

ITEMS: list[Item] = [
    ArtifactItem(source="b", title="Title B", text="Second in name. First in row.", session="s2", summary="Sum B",
                 whole=True),
    ArtifactItem(source="a", text="Whole sentences of some length stand here. " * 70),
    EntityItem(name="Zoe", type="person"),
    EntityItem(name="Ann", type="person", description="Plumber."),
    FactItem(subject="Zoe", relation="works_with", object="Ann", description="since May", artifact="a"),
    FactItem(subject="Ann", relation="knows", object="Zoe"),
    NodeItem(level="L1", text="A note.", source="notes", title="Head", session="s", position=4),
    NodeItem(level="L0", text="A turn.", source="log", turn="t1"),
]  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, at: Place) -> Iterator[Store]:
    with Store.open(at(tmp_path_factory.mktemp("read") / "a.db")) as opened:
        for name in ("one", "two", "one"):  # the second "one" changes nothing
            ingest(opened, name, [(str(n), item) for n, item in enumerate(ITEMS)])
        ingest(opened, "one", [("x", NodeItem(level="L0", text="Late.", source="log", turn="t2"))])
        yield opened


def plain(store: Store, kind: CorpusKind, dataset_ids: list[int]) -> list[tuple[int, str, str | None, str]]:
    """(row, source, level, text) of a kind, put together row by row from the records: the slow, plain way."""

    def titled(title: str, text: str) -> str:
        return f"{title}\n{text}" if title else text

    table, key = {"summary": ("chunk", "chunk_id"), "node": ("node", "row_id")}.get(
        kind, (kind, f"{kind}_id")
    )
    marks = ", ".join(map(str, dataset_ids))
    sql = f"SELECT {key} FROM {table} WHERE dataset_id IN ({marks})"  # noqa: S608
    ids = sorted(int(str(row[0])) for row in store.database.rows(sql))
    rows: list[tuple[int, str, str | None, str]] = []
    for row in ids:
        if kind == "node":
            node = store.nodes([row])[0]
            rows.append((row, node.source, node.level, titled(node.title, node.text)))
        elif kind == "entity":
            entity = store.entities([row])[0]
            about = f": {entity.description}" if entity.description else ""
            rows.append((row, "", None, f"{entity.name} ({entity.type}){about}"))
        elif kind == "fact":
            fact = store.facts([row])[0]
            about = f": {fact.description}" if fact.description else ""
            source = store.artifact_sources([fact.artifact_id])[fact.artifact_id] if fact.artifact_id else ""
            words = fact.relation.replace("_", " ")
            rows.append((row, source, None, f"{fact.source} {words} {fact.target}{about}"))
        else:
            chunk = store.chunks([row])[0]
            if kind == "chunk":
                rows.append((row, chunk.source, None, titled(chunk.title, chunk.text)))
            elif chunk.summary is not None:
                rows.append((row, chunk.source, None, chunk.summary))
    return rows


@pytest.mark.parametrize("kind", CORPUS_KINDS)
@pytest.mark.parametrize("names", [["one"], ["two"], ["two", "one"]], ids=["one", "two", "both"])
def test_columns_and_texts_agree_in_order(kind: CorpusKind, names: list[str], store: Store) -> None:
    ids = [store.dataset(name).dataset_id for name in names]
    columns, texts = store.columns(kind, ids), list(store.texts(kind, ids))
    found = list(zip(columns.row_ids.tolist(), columns.sources, columns.levels, texts, strict=True))
    assert found == plain(store, kind, ids)
    assert len(found) >= 2 * len(names)
    assert set(columns.dataset_ids.tolist()) == set(ids)
    assert len(columns.sessions) == len(columns.positions) == len(texts)


def test_places_in_a_run_come_along(store: Store) -> None:
    one = [store.dataset("one").dataset_id]
    nodes = store.columns("node", one)
    places = dict(zip(nodes.sources, zip(nodes.sessions, nodes.positions, strict=True), strict=True))
    assert places["notes"] == ("s", 4)
    assert places["b"] == ("s2", None)  # a single chunk stands in no run, yet keeps its session
    chunks = store.columns("chunk", one)
    assert [p for p, source in zip(chunks.positions, chunks.sources, strict=True) if source == "a"] == [
        0,
        1,
        2,
    ]


def test_a_kind_without_rows_has_empty_columns(tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as empty:
        dataset = empty.ensure_dataset("main").dataset_id
        for kind in CORPUS_KINDS:
            columns = empty.columns(kind, [dataset])
            assert (len(columns.row_ids), columns.sources, columns.positions) == (0, [], [])
            assert list(empty.texts(kind, [dataset])) == []


@pytest.mark.parametrize("read", [Store.nodes, Store.chunks, Store.entities, Store.facts])
def test_records_come_in_the_order_asked_and_unknown_ones_are_left_out(
    read: Callable[[Store, list[int]], list[object]], store: Store
) -> None:
    one, two = read(store, [1])[0], read(store, [2])[0]
    assert one != two
    assert read(store, [2, 999_999, 1]) == [two, one]
    assert read(store, []) == []


def test_nodes_by_id_keep_to_their_dataset(store: Store) -> None:
    one, two = store.dataset("one").dataset_id, store.dataset("two").dataset_id
    first, second = store.nodes([1, 2])
    asked = [second.node_id, "unknown", first.node_id, second.node_id]
    assert store.nodes_by_id([one], asked) == [second, first]
    assert store.nodes_by_id([two], asked) == []


def day(number: int) -> str:
    return f"2024-01-{number:02}T00:00:00Z"


def known(name: str, created: int, valid: int | None = None, invalid: int | None = None, expired: int | None = None,
          artifact: str | None = None, ends: tuple[str, str] = ("hub", "spoke")) -> FactItem:  # fmt: skip
    return FactItem(subject=ends[0], relation=name, object=ends[1], artifact=artifact, created_at=day(created),
                    valid_at=day(valid) if valid else None, invalid_at=day(invalid) if invalid else None,
                    expired_at=day(expired) if expired else None)  # fmt: skip


FACTS = [
    ArtifactItem(source="memo", text="A memo."),
    known("always", 1),
    known("spell", 2, valid=5, invalid=10),
    known("superseded", 3, valid=5, expired=6),
    known("later", 4, valid=20),
    known("in-memo", 5, artifact="memo"),
    known("inward", 6, ends=("spoke", "hub")),
    known("elsewhere", 7, ends=("spoke", "rim")),
    known("same-day", 5),
]


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory, at: Place) -> Iterator[Store]:
    with Store.open(at(tmp_path_factory.mktemp("facts") / "a.db")) as opened:
        report = ingest(opened, "main", [(str(n), item) for n, item in enumerate(FACTS)])
        assert report.problems == ()
        ingest(opened, "other", [("x", known("foreign", 9))])
        yield opened


def around(facts: Store, limit: int = 100, **filters: object) -> list[str]:
    dataset = facts.dataset("main").dataset_id
    hub = [entity.entity_id for entity in facts.all_entities([dataset]) if entity.name == "hub"]
    found = facts.facts_around([dataset], hub, limit, **filters)  # type: ignore[arg-type]
    return [fact.relation for fact in found]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "inward same-day in-memo later spell always"),  # newest first, ties by the later row; superseded is hidden
        ({"as_of": day(4)}, "inward same-day in-memo always"),
        ({"as_of": day(5)}, "inward same-day in-memo spell always"),  # valid from the first moment …
        ({"as_of": day(9)}, "inward same-day in-memo spell always"),
        ({"as_of": day(10)}, "inward same-day in-memo always"),  # … up to, not including, the last
        ({"as_of": day(25)}, "inward same-day in-memo later always"),
        ({"known_at": day(2)}, "spell always"),  # what was recorded by then
        ({"known_at": day(3)}, "superseded spell always"),  # and not yet superseded
        ({"known_at": day(5)}, "same-day in-memo later superseded spell always"),
        ({"known_at": day(6)}, "inward same-day in-memo later spell always"),
        ({"known_at": day(4), "as_of": day(6)}, "superseded spell always"),
        ({"not_after": day(10)}, "inward same-day in-memo spell always"),  # past spells stay, what comes later goes
        ({"not_after": day(20)}, "inward same-day in-memo later spell always"),
        ({"hide_sources": ["memo"]}, "inward same-day later spell always"),
        ({"hide_sources": ["memo", "x"], "as_of": day(6)}, "inward same-day spell always"),
        ({"hide_sources": ["memo"], "limit": 3}, "inward same-day later"),  # the cap counts what passed
        ({"limit": 2}, "inward same-day"),
        ({"known_at": day(3), "limit": 1}, "superseded"),
        ({"limit": 0}, ""),
    ],
)  # fmt: skip
def test_facts_around_an_entity(filters: dict[str, object], expected: str, facts: Store) -> None:
    assert around(facts, **filters) == expected.split()  # type: ignore[arg-type]


def test_superseded_facts_do_not_use_up_the_cap(tmp_path: Path, at: Place) -> None:
    items = [known(f"old{n}", 20, expired=21) for n in range(50)] + [known(f"live{n}", 2) for n in range(5)]
    with Store.open(at(tmp_path / "a.db")) as store:
        ingest(store, "main", [("x", item) for item in items])
        assert around(store, 5) == ["live4", "live3", "live2", "live1", "live0"]


def test_facts_around_thousands_of_entities(tmp_path: Path, at: Place) -> None:
    items = [known("has", 1 + n % 28, ends=("hub", f"part {n}")) for n in range(2_500)]
    with Store.open(at(tmp_path / "a.db")) as store:
        ingest(store, "main", [("x", item) for item in items])
        dataset = store.dataset("main").dataset_id
        entities = store.all_entities([dataset])
        ids = [entity.entity_id for entity in entities]
        assert len(ids) == 2_501
        found = store.facts_around([dataset], ids, 10_000)
        assert len(found) == 2_500 == len({fact.fact_id for fact in found})  # touched at both ends, yet once
        order = [(fact.created_at, fact.fact_id) for fact in found]
        assert order == sorted(order, reverse=True)
        assert store.entities(ids) == entities
        assert [fact.fact_id for fact in store.facts([fact.fact_id for fact in found])] == [
            f.fact_id for f in found
        ]
        assert len(store.facts_around([dataset], ids[1:1_200], 10_000)) == 1_199


def test_recent_entities_are_the_latest_with_ties_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: Place
) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        for number, name in ((1, "a"), (3, "b"), (2, "c"), (3, "d")):
            monkeypatch.setattr("core.clock.now", lambda number=number: day(number))
            ingest(store, "main", [("x", EntityItem(name=name, type="t"))])
        monkeypatch.setattr("core.clock.now", lambda: day(9))
        ingest(store, "main", [("x", EntityItem(name="a", type="t"))])  # unchanged: not touched
        dataset = store.dataset("main").dataset_id
        assert [entity.name for entity in store.recent_entities([dataset], 3)] == ["d", "b", "c"]
