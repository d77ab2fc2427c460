"""Labels: acknowledged means committed, the latest of a labeller counts, and what is no label is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import UsageError
from core.store import Store
from core.store.labels import VERDICTS, JudgedCitation, Label


def label(**changes: object) -> Label:
    return Label(
        **({"case_id": "c1", "labeller": "Ada", "verdict": "correct", "question": "Why?"} | changes)  # type: ignore[arg-type]
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store.open(tmp_path / "a.db") as opened:
        opened.ensure_dataset("main")
        yield opened


def test_a_label_is_read_back_whole(store: Store) -> None:
    dataset_id = store.dataset("main").dataset_id
    cited = (
        JudgedCitation(source="log", turn="t1", supports=True),
        JudgedCitation(source="<b>", supports=None),
    )
    kept = store.labels.add(
        dataset_id, label(labeller="  Ada \n L ", citations=cited, note="<script>", recipe="brain")
    )
    assert store.labels.latest([dataset_id]) == [kept]
    assert kept.labeller == "Ada L"
    assert kept.citations == cited
    assert kept.created_at


def test_the_latest_of_each_labeller_and_case_counts(store: Store) -> None:
    dataset_id = store.dataset("main").dataset_id
    for labeller, case_id, verdict in [
        ("Ada", "c1", "wrong"),
        ("Ben", "c1", "partly"),
        ("Ada", "c2", "correct"),
        ("Ada", "c1", "correct"),
    ]:
        store.labels.add(dataset_id, label(labeller=labeller, case_id=case_id, verdict=verdict))
    found = [(one.case_id, one.labeller, one.verdict) for one in store.labels.latest([dataset_id])]
    assert found == [("c1", "Ada", "correct"), ("c1", "Ben", "partly"), ("c2", "Ada", "correct")]
    assert store.labels.latest([]) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"labeller": " "}, "a labeller's name"),
        ({"labeller": "x" * 101}, "a labeller's name"),
        ({"labeller": "a\x00b"}, "a labeller's name"),
        ({"verdict": "maybe"}, "one of correct, partly, wrong, should-abstain, got 'maybe'"),
        ({"note": "x" * 4001}, "at most 4000 characters, got 4001"),
    ],
)
def test_what_is_no_label_is_refused_and_nothing_kept(
    store: Store, changes: dict[str, object], said: str
) -> None:
    dataset_id = store.dataset("main").dataset_id
    with pytest.raises(UsageError, match=said):
        store.labels.add(dataset_id, label(**changes))
    assert store.labels.latest([dataset_id]) == []


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_can_be_kept(store: Store, verdict: str) -> None:
    dataset_id = store.dataset("main").dataset_id
    store.labels.add(dataset_id, label(verdict=verdict))
    assert [one.verdict for one in store.labels.latest([dataset_id])] == [verdict]


def test_labels_go_with_their_dataset(store: Store) -> None:
    dataset_id = store.dataset("main").dataset_id
    store.labels.add(dataset_id, label())
    store.delete_dataset("main")
    assert store.database.rows("SELECT count(*) FROM label") == [(0,)]
