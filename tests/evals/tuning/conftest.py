"""Recordings to tune on: the shipped dataset, and one in which the right cut is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.ingest.ingestor import ingest
from core.ingest.items import NodeItem
from core.workspace import Workspace
from evals.cases import Case, Gold
from evals.record import record
from evals.recording import Recording
from tests.conftest import BagEmbedder
from tests.evals.replaying import meridian, seed


@pytest.fixture(scope="session")
def shipped_recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    """The shipped dataset under recipe brain, with the documents' profile."""
    workspace, cases = meridian(tmp_path_factory.mktemp("shipped"))
    yield record(workspace, cases, recipe="brain", profile=seed("brain"))
    workspace.close()


@pytest.fixture(scope="session")
def planted_recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    """Thirty notes of four words. Of three questions about each, two hold all four (answerable), one holds one of them
    and three words of no note: overlap is 1 or ¼, and a cut between them is right about every case."""
    workspace = Workspace.open(tmp_path_factory.mktemp("planted") / "assay.db", embedder=BagEmbedder())
    notes = [
        NodeItem(level="L1", text=f"amber{n} birch{n} cobalt{n} dune{n}", source=f"note-{n:02}", name=f"note-{n:02}")
        for n in range(30)
    ]  # fmt: skip
    ingest(workspace.store, "planted", [(f"test:{n}", note) for n, note in enumerate(notes)])
    cases = []
    for n in range(30):
        gold, split = (Gold(source=f"note-{n:02}"),), "dev" if n % 2 else "test"
        for turn, words in enumerate(
            (f"amber{n} birch{n} cobalt{n} dune{n}", f"dune{n} cobalt{n} birch{n} amber{n}")
        ):
            cases.append(Case(case_id=f"yes-{n:02}-{turn}", question=words, gold=gold, split=split))
        cases.append(
            Case(
                case_id=f"no-{n:02}", question=f"amber{n} xylo yarrow zinc", answerable=False,
                hides=(f"note-{n:02}",), split=split,
            )
        )  # fmt: skip
    yield record(
        workspace,
        [("planted", case) for case in cases],
        recipe="brain",
        profile=seed("brain", floor__strong_overlap=1.01, floor__min_score=0.0),
    )
    workspace.close()
