"""Datasets of a store: names, owners, counts, deletion, and the hash of what they hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import NotFoundError, UsageError
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, CaseItem, EntityItem, FactItem, Item, LinkItem, NodeItem
from core.store import Store
from core.store.connection import SqliteDatabase
from tests.backends import Place

BASE: tuple[Item, ...] = (
    ArtifactItem(source="memo", text="Prices rise in May. Nobody knows why.", title="Memo",
                 valid_at="2024-05-01T00:00:00Z"),
    ArtifactItem(source="long", text="A sentence that is repeated for its length. " * 60),
    EntityItem(name="Ada", type="person", description="Engineer."),
    EntityItem(name="Leeds", type="place", latitude=53.8, longitude=-1.5),
    FactItem(subject="Ada", relation="lives_in", object="Leeds", artifact="memo", valid_at="2023-01-01T00:00:00Z"),
    NodeItem(level="L0", text="We moved.", source="log", turn="t1", name="t1", session="s", position=0),
    NodeItem(level="L1", text="The move.", source="notes", name="move", confidence=0.5, parents=("t1",)),
    CaseItem(case_id="c1", body={"question": "Where does Ada live?"}),
)  # fmt: skip


def stored(store: Store, items: Sequence[Item], name: str = "main") -> int:
    """The number of the dataset that holds ``items``, which are all sound."""
    report = ingest(store, name, [(str(n), item) for n, item in enumerate(items)], batch=3)
    assert report.problems == ()
    return store.dataset(name).dataset_id


def hashed(location: Path | str, items: Sequence[Item], name: str = "main") -> str:
    with Store.open(location) as store:
        return store.content_hash(stored(store, items, name))


@pytest.mark.parametrize("name", ["a", "locomo/conv-26", "notes [old]", "Ümläut 数据", "x" * 200])
def test_names_that_may_be(name: str, tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        made = store.ensure_dataset(name)
        assert made.name == name
        assert store.ensure_dataset(name) == made == store.dataset(name)


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x00b", "x" * 201, "\ud800"])
def test_names_that_may_not(name: str, tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        with pytest.raises(UsageError, match="1 to 200 printable characters"):
            store.ensure_dataset(name)
        for dry_run in (True, False):
            with pytest.raises(UsageError, match="1 to 200 printable characters"):
                ingest(store, name, [], dry_run=dry_run)
        assert store.datasets() == []


def test_each_user_has_datasets_of_their_own(tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        mine, theirs = store.ensure_dataset("main"), store.ensure_dataset("main", "ruth")
        assert mine.dataset_id != theirs.dataset_id
        assert mine.uid != theirs.uid
        assert store.datasets("ruth") == [theirs]
        with pytest.raises(NotFoundError, match="there are none yet"):
            store.matching("*", "nobody")


def test_an_unknown_name_lists_ten_of_what_there_is(tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        for number in range(12):
            store.ensure_dataset(f"d{number:02}")
        with pytest.raises(NotFoundError, match=r"'gone': there are d00, .*, d09 and 2 more; `assay ingest"):
            store.dataset("gone")


def test_a_pattern_minds_case_and_sorts_by_name(tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        for name in ("b/2", "b/10", "B/1", "a"):
            store.ensure_dataset(name)
        assert [found.name for found in store.matching("b/*")] == ["b/10", "b/2"]
        assert [found.name for found in store.matching("[ab]")] == ["a"]


def test_counts_say_what_is_there(tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        empty = store.ensure_dataset("empty").dataset_id
        counts = store.counts(stored(store, BASE))
        chunks = counts.pop("chunks")
        assert (
            chunks == counts["nodes"] - 2 > 2
        )  # every chunk has its L0 node, beside the two that were given
        assert counts == {"artifacts": 2, "entities": 2, "facts": 1, "nodes": chunks + 2, "cases": 1, "links": 1,
                          "nodes_L0": chunks + 1, "nodes_L1": 1, "nodes_L2": 0}  # fmt: skip
        assert set(store.counts(empty).values()) == {0}


def test_deleting_takes_all_rows_of_a_dataset_and_no_others(tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        stored(store, BASE, "gone")
        kept = stored(store, BASE, "kept")
        before = store.counts(kept), store.content_hash(kept)
        old = store.dataset("gone")
        store.delete_dataset("gone")
        tables = ("artifact", "chunk", "entity", "fact", "node", "labelled_case")
        for table in tables:
            assert store.database.rows(f"SELECT DISTINCT dataset_id FROM {table}") == [(kept,)]  # noqa: S608
        assert store.database.rows("SELECT count(*) FROM node_link") == [(1,)]
        assert (store.counts(kept), store.content_hash(kept)) == before
        if isinstance(store.database, SqliteDatabase):
            assert store.database.rows("PRAGMA foreign_key_check") == []
        again = store.ensure_dataset("gone")
        assert again.uid != old.uid
        assert again.dataset_id > max(old.dataset_id, kept)  # numbers are never given twice
        with pytest.raises(NotFoundError):
            store.delete_dataset("never")


def test_the_revision_grows_with_changes_only(tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        stored(store, BASE)
        first = store.dataset("main").revision
        assert first > 0
        stored(store, BASE)
        assert store.dataset("main").revision == first
        stored(store, [EntityItem(name="Ada", type="person", description="Chief engineer.")])
        assert store.dataset("main").revision == first + 1


def orders() -> st.SearchStrategy[list[Item]]:
    """BASE in any order in which the artifact a fact names stands before the fact."""
    permuted = st.permutations(list(BASE))
    return permuted.filter(lambda items: items.index(BASE[0]) < items.index(BASE[4]))


@pytest.fixture(scope="module")
def base_hash(tmp_path_factory: pytest.TempPathFactory, at: Place) -> str:
    return hashed(at(tmp_path_factory.mktemp("base") / "hash.db"), BASE)


@settings(max_examples=15, deadline=None)
@given(order=orders())
def test_the_content_hash_does_not_depend_on_order(
    order: list[Item], base_hash: str, tmp_path_factory: pytest.TempPathFactory, at: Place
) -> None:
    assert hashed(at(tmp_path_factory.mktemp("order") / "hash.db"), order) == base_hash


def test_the_content_hash_does_not_depend_on_time_or_numbers(
    base_hash: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: Place
) -> None:
    monkeypatch.setattr("core.clock.now", lambda: "2001-01-01T00:00:00Z")
    with Store.open(at(tmp_path / "a.db")) as store:
        stored(store, [*BASE, NodeItem(level="L0", text="other", source="s")], "first")
        store.delete_dataset("first")  # so that all row numbers are other ones
        assert store.content_hash(stored(store, BASE)) == base_hash


CHANGES: list[tuple[int, dict[str, object]]] = [
    (0, {"source": "memo-2"}), (0, {"text": "Prices fall in May."}), (0, {"title": "Note"}), (0, {"session": "s"}),
    (0, {"valid_at": None}), (0, {"whole": True, "summary": "Prices."}), (0, {"as_nodes": False}), (1, {"whole": True}),
    (2, {"name": "Eva"}), (2, {"name": "ADA"}), (2, {"type": "robot"}), (2, {"description": ""}),
    (3, {"latitude": 53.9}), (3, {"longitude": -1.6}),
    (4, {"subject": "Leeds"}), (4, {"relation": "left"}), (4, {"object": "Ada"}), (4, {"description": "d"}),
    (4, {"artifact": "long"}), (4, {"valid_at": None}), (4, {"invalid_at": "2024-01-01T00:00:00Z"}),
    (4, {"created_at": "2024-01-01T00:00:00Z"}), (4, {"expired_at": "2099-01-01T00:00:00Z"}),
    (5, {"text": "We stayed."}), (5, {"source": "log-2"}), (5, {"turn": "t9"}), (5, {"session": "s2"}),
    (5, {"position": 1}), (5, {"speaker": "Ada"}), (5, {"title": "T"}), (5, {"valid_at": "2024-01-01T00:00:00Z"}),
    (5, {"confidence": 1.0}), (6, {"name": "moved"}), (6, {"level": "L2"}), (6, {"confidence": 0.6}),
    (6, {"parents": ()}), (7, {"case_id": "c2"}), (7, {"body": {"question": "Where does Ada work?"}}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "change"), CHANGES, ids=[f"{type(BASE[p]).__name__}-{'-'.join(c)}" for p, c in CHANGES]
)
def test_the_content_hash_changes_with_any_change(
    place: int, change: dict[str, object], base_hash: str, tmp_path: Path, at: Place
) -> None:
    items = list(BASE)
    items[place] = dataclasses.replace(items[place], **change)  # type: ignore[arg-type]
    if place == 0 and "source" in change:
        items[4] = dataclasses.replace(BASE[4], artifact="memo-2")  # type: ignore[arg-type]
    assert hashed(at(tmp_path / "hash.db"), items) != base_hash


@pytest.mark.parametrize("place", range(len(BASE)), ids=[type(item).__name__ for item in BASE])
def test_the_content_hash_changes_with_less(place: int, base_hash: str, tmp_path: Path, at: Place) -> None:
    changed = [item for at, item in enumerate(BASE) if at != place]
    changed = [dataclasses.replace(item, artifact=None) if place == 0 and isinstance(item, FactItem) else item
               for item in changed]  # fmt: skip
    changed = [
        dataclasses.replace(item, parents=()) if place == 5 and item == BASE[6] else item for item in changed
    ]
    assert hashed(at(tmp_path / "hash.db"), changed) != base_hash


def test_the_content_hash_changes_with_more(base_hash: str, tmp_path: Path, at: Place) -> None:
    with Store.open(at(tmp_path / "a.db")) as store:
        dataset = stored(store, BASE)
        seen = [base_hash, store.content_hash(dataset)]
        for item in (
            NodeItem(level="L0", text="We stayed.", source="log", turn="t2", name="t2"),
            LinkItem(child="move", parent="t2"),
            CaseItem(case_id="c2", body={"question": "Why?"}),
        ):
            stored(store, [item])
            seen.append(store.content_hash(dataset))
    assert seen[0] == seen[1]
    assert len(set(seen[1:])) == 4


def test_cases_come_back_in_their_order(tmp_path: Path, at: Place) -> None:
    items = [CaseItem(case_id=f"c{n}", body={"question": f"q{n}", "tags": {"n": n}}) for n in (3, 1, 2)]
    with Store.open(at(tmp_path / "a.db")) as store:
        one, two = stored(store, items, "one"), stored(store, items[:1], "two")
        assert store.cases([one]) == [(one, item) for item in items]
        assert [dataset for dataset, _ in store.cases([one, two])] == [one, one, one, two]
