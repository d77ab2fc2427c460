"""Bringing data in, whole: dry runs and strict runs leave no trace, and the report says what was done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import DataError, UsageError
from core.ingest.bringing import bring_in
from core.ingest.folder import read_paths
from core.ingest.items import ArtifactItem, EntityItem, Item, LinkItem, NodeItem, Problem
from core.store import Store

TURN = NodeItem(level="L0", text="It broke.", source="log", turn="t1", name="t1")
BAD = Problem(where="in:9", what="not JSON")


def stream(*items: Item | Problem) -> Iterator[tuple[str, Item | Problem]]:
    return ((f"in:{n}", item) for n, item in enumerate(items, start=1))


def names(db: Path) -> list[str]:
    with Store.open(db, create=False) as store:
        return [found.name for found in store.datasets()]


def test_several_datasets_come_in_one_call_and_one_report(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    entity = EntityItem(name="Ada", type="person")
    brought = bring_in(
        [("one", stream(TURN, BAD)), ("two", stream(TURN, entity))], db=db, user_id="local", embed=False
    )
    assert names(db) == ["one", "two"]
    assert brought.problems == [BAD]
    assert brought.to_text().splitlines() == [
        "added to 2 dataset(s)", "  one: 1 nodes", "  two: 1 nodes, 1 entities", "  total: 2 nodes, 1 entities",
        "problem: in:9: not JSON (skipped)",
    ]  # fmt: skip
    assert json.loads(brought.to_json()) == {
        "dry_run": False,
        "datasets": {"one": {"added": {"node": 1}, "updated": {}, "unchanged": {}},
                     "two": {"added": {"node": 1, "entity": 1}, "updated": {}, "unchanged": {}}},
        "embedded": None,
        "problems": [{"where": "in:9", "what": "not JSON", "action": "skipped"}],
    }  # fmt: skip
    again = bring_in([("two", stream(TURN, EntityItem(name="Ada", type="person", description="D")))],
                     db=db, user_id="local", embed=False)  # fmt: skip
    assert "  total: 1 entities updated, 1 nodes unchanged" in again.to_text().splitlines()


def test_everything_is_embedded_with_the_model_asked_for(tmp_path: Path) -> None:
    items = (TURN, ArtifactItem(source="memo", text="Words."), ArtifactItem(source="dots", text="…"))
    first = bring_in([("main", stream(*items))], db=tmp_path / "a.db", user_id="local", embedder="wordllama")
    assert first.embedded is not None
    assert (first.embedded.embedded, first.embedded.cached) == (
        3,
        2,
    )  # two chunks and their nodes share texts
    second = bring_in([("main", stream(*items))], db=tmp_path / "a.db", user_id="local", embedder="wordllama")
    assert second.embedded is not None
    assert (second.embedded.embedded, second.embedded.cached) == (0, 5)
    assert "  embedded 0 texts, 5 already were, 0 have no words to embed" in second.to_text().splitlines()


def test_a_dry_run_leaves_not_even_a_file(tmp_path: Path) -> None:
    brought = bring_in(
        [("main", stream(TURN, BAD))], db=tmp_path / "sub" / "a.db", user_id="local", dry_run=True
    )
    assert list(tmp_path.iterdir()) == []
    assert brought.to_text().startswith("would add to 1 dataset(s)\n  main: 1 nodes\n")
    assert brought.embedded is None


def test_a_dry_run_leaves_a_database_as_it_was(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    bring_in([("main", stream(TURN))], db=db, user_id="local", embed=False)
    before = db.read_bytes()
    other = NodeItem(level="L0", text="More.", source="log")
    brought = bring_in(
        [("new", stream(TURN)), ("main", stream(TURN, other))], db=db, user_id="local", dry_run=True
    )
    assert dict(brought.reports["main"].added) == {"node": 1}
    assert dict(brought.reports["main"].unchanged) == {"node": 1}
    assert db.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db"]


@pytest.mark.parametrize(
    "bad",
    [BAD, NodeItem(level="L0", text="Other.", source="log", name="t1"), LinkItem(child="t1", parent="gone")],
    ids=["reading", "storing", "linking"],
)
@pytest.mark.parametrize("there", [True, False], ids=["a database", "none yet"])
def test_strict_writes_nothing_in_any_dataset(bad: Item | Problem, there: bool, tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    if there:
        bring_in([("old", stream(TURN))], db=db, user_id="local", embed=False)
    before = db.read_bytes() if there else None
    streams = [("one", stream(TURN)), ("two", stream(TURN, bad))]
    with pytest.raises(DataError, match=r"1 problems and --strict: nothing was written. in:") as caught:
        bring_in(streams, db=db, user_id="local", strict=True, embed=False)
    assert "\n" not in str(caught.value)
    assert (db.read_bytes() if db.exists() else None) == before


def test_strict_takes_what_is_sound(tmp_path: Path) -> None:
    bring_in([("one", stream(TURN)), ("two", stream(TURN))], db=tmp_path / "a.db", user_id="local", strict=True,
             embed=False)  # fmt: skip
    assert names(tmp_path / "a.db") == ["one", "two"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_nothing_readable_is_an_error_with_the_first_reason(dry_run: bool, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "in" / "b.md").write_bytes(b"")
    with pytest.raises(
        DataError, match=r"nothing could be read from the input: .*a\.md: not UTF-8 at byte 1"
    ):
        bring_in(
            [("main", read_paths([tmp_path / "in"]))], db=tmp_path / "a.db", user_id="local", dry_run=dry_run
        )
    if not dry_run:
        assert names(tmp_path / "a.db") == []


def test_one_of_several_datasets_may_have_nothing_readable(tmp_path: Path) -> None:
    brought = bring_in([("one", stream(BAD)), ("two", stream(TURN))], db=tmp_path / "a.db", user_id="local",
                       embedder="wordllama")  # fmt: skip
    assert brought.problems == [BAD]
    assert names(tmp_path / "a.db") == ["two"]
    assert brought.embedded is not None
    assert brought.embedded.embedded == 1


def test_a_missing_path_makes_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        bring_in([("main", read_paths([tmp_path / "gone"]))], db=tmp_path / "a.db", user_id="local")
    assert names(tmp_path / "a.db") == []


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_name_that_is_none_is_refused(dry_run: bool, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="printable characters"):
        bring_in([(" ", stream(TURN))], db=tmp_path / "a.db", user_id="local", dry_run=dry_run)


def test_a_problem_is_printed_without_control_characters(tmp_path: Path) -> None:
    bad = Problem(where="a\x1b[31m.md", what="the name\nis not UTF-8")
    brought = bring_in(
        [("one", stream(TURN, bad))], db=tmp_path / "a.db", user_id="local", dry_run=True, embed=False
    )
    assert brought.to_text().splitlines()[-1] == "problem: a·[31m.md: the name is not UTF-8 (skipped)"
