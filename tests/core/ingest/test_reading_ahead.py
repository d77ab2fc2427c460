"""Bringing data in, whole."""

import pytest

from core.errors import DataError
from core.ingest import bringing
from core.ingest.items import NodeItem, Problem
from core.store import Store


def nodes(count: int) -> list:
    return [(f"f:{n}", NodeItem(level="L0", text=f"note number {n}", source=f"s{n}")) for n in range(count)]


@pytest.mark.parametrize("counted", [2, 5, 100])
def test_nothing_is_lost_by_reading_ahead(tmp_path, monkeypatch, counted):
    monkeypatch.setattr(bringing, "COUNTED", counted)
    brought = bringing.bring_in([("a", iter(nodes(5)))], db=tmp_path / "a.db", user_id="local", embed=False)
    assert brought.reports["a"].added == {"node": 5}
    with Store.open(tmp_path / "a.db") as store:
        assert store.text_count([1]) == len(list(store.texts("node", [1]))) == 5


def test_the_report_counts_and_names_problems(tmp_path):
    rows = [*nodes(2), ("f:9", Problem(where="f:9", what="not JSON"))]
    brought = bringing.bring_in([("a", rows)], db=tmp_path / "a.db", user_id="local", embed=False)
    assert "2 nodes" in brought.to_text()
    assert "problem: f:9: not JSON (skipped)" in brought.to_text()
    with pytest.raises(DataError, match=r"1 problems and --strict: nothing was written\. f:9: not JSON"):
        bringing.bring_in([("b", rows)], db=tmp_path / "b.db", user_id="local", strict=True, embed=False)
    assert not (tmp_path / "b.db").exists()


def test_an_input_of_nothing_sound_is_an_error(tmp_path):
    with pytest.raises(DataError, match="nothing could be read from the input: f:1: cut off"):
        bringing.bring_in(
            [("a", [("f:1", Problem(where="f:1", what="cut off"))])], db=tmp_path / "a.db", user_id="local"
        )
