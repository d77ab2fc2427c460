"""A small real database for the page: the log of the shared fixture, a fact, and two labelled questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.ingest.ingestor import ingest
from core.ingest.items import CaseItem, FactItem, Item, NodeItem
from core.store import Store
from workbench import data

ANSWERABLE = "Why did requests over 10KB fail?"
UNANSWERABLE = "Who won the chess final in Reykjavik?"
HOSTILE_DATASET = "<img src=x onerror=alert(1)> [a](http://evil.example) :red[b]"


@pytest.fixture
def database(tmp_path: Path, turns: list[NodeItem]) -> Callable[..., Path]:
    """``database(hostile=False)`` makes the store and returns its path; the page embeds what it asks."""

    def make(*, hostile: bool = False) -> Path:
        path = tmp_path / "page.db"
        items: list[Item] = [
            *turns,
            FactItem(
                subject="Priya",
                relation="works_at",
                object="Meridian",
                description="Priya works at Meridian.",
            ),
            CaseItem(case_id="c1", body={"case_id": "c1", "question": ANSWERABLE}),
            CaseItem(case_id="c2", body={"case_id": "c2", "question": UNANSWERABLE, "answerable": False}),
        ]
        with Store.open(path) as store:
            ingest(store, "meridian", [(f"test:{n}", item) for n, item in enumerate(items)])
            if hostile:
                text = "<script>document.title='owned'</script> ![x](http://evil.example/x.png) pumps fail"
                node = NodeItem(level="L1", text=text, source=HOSTILE_DATASET, name="<b>n</b>", title="**t**")
                case = CaseItem(case_id="h", body={"case_id": "h", "question": "<b>pumps</b> fail?"})
                ingest(store, HOSTILE_DATASET, [("test:h", node), ("test:c", case)])
        return path

    return make


@pytest.fixture
def nothing_shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The page without the data set that comes with the project."""
    monkeypatch.setattr(data, "SHIPPED", tmp_path / "absent")
