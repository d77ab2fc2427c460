"""TREC runs: ``topic Q0 docno rank score tag``, one hit a line."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path

from core.ingest.items import Problem
from evals.formats.lines import text_lines

Run = dict[str, list[tuple[str, float]]]
"""Topic → documents with their scores, best first."""


def read_run(
    file: Path, topics: Collection[str] | None = None, documents: Collection[str] | None = None
) -> tuple[Run, list[Problem]]:
    """The hits by topic, best first (by score, ties by docno descending), and what could not be taken: wrong columns, a
    score that is no finite number, a document twice, or what is not among ``topics`` and ``documents``.

    Source: trec_eval, whose ordering ignores the rank column and breaks ties by docno.
    """
    found: dict[str, dict[str, float]] = {}
    problems = []
    for where, line in text_lines(file):
        if isinstance(line, Problem):
            problems.append(line)
            continue
        try:
            if line:
                _hit(line.split(), found, topics, documents)
        except ValueError as error:
            problems.append(Problem(where=where, what=str(error)))
    run = {
        topic: sorted(hits.items(), key=lambda hit: (hit[1], hit[0]), reverse=True)
        for topic, hits in found.items()
    }
    return run, problems


def _hit(
    cells: list[str],
    found: dict[str, dict[str, float]],
    topics: Collection[str] | None,
    documents: Collection[str] | None,
) -> None:
    if len(cells) != 6:
        raise ValueError(f"expected topic, Q0, docno, rank, score and tag, got {len(cells)} columns")
    topic, _, doc_id, _, text, _ = cells
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"score must be a finite number, got {text!r}")
    if topics is not None and topic not in topics:
        raise ValueError(f"a hit of the unknown topic {topic!r}")
    if documents is not None and doc_id not in documents:
        raise ValueError(f"topic {topic!r}: the unknown document {doc_id!r}")
    hits = found.setdefault(topic, {})
    if doc_id in hits:
        raise ValueError(f"topic {topic!r}: document {doc_id!r} stands here again; the first is kept")
    hits[doc_id] = score
