"""Relevance judgements as tab-separated lines ``query-id  corpus-id  score``, under a header of those names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.ingest.items import Problem
from evals.formats.lines import text_lines

Known = Callable[[str], str | None]
"""From an id to what is wrong with it (``"unknown document 'd9'"``), None if nothing is."""


def judgements(
    file: Path, query_fault: Known, document_fault: Known
) -> tuple[dict[str, dict[str, int]], list[Problem]]:
    """``{query: {document: relevance}}`` in the file's order, and what could not be taken.

    A pair judged again alike counts once; a pair judged in contradiction is left out altogether, as nobody can say
    which judgement was meant. Relevance below 0 becomes 0 (judged and not relevant).
    """
    judged: dict[tuple[str, str], int] = {}
    contradicted: set[tuple[str, str]] = set()
    problems = []
    for number, (where, line) in enumerate(text_lines(file)):
        if isinstance(line, Problem):
            problems.append(line)
            continue
        cells = line.split("\t")
        if not line or (number == 0 and cells[0] == "query-id"):
            continue
        what = _fault(cells, query_fault, document_fault)
        if what is None:
            pair, score = (cells[0], cells[1]), int(cells[2])
            what = _repeated(pair, score, judged, contradicted)
            judged.setdefault(pair, score)
        if what is not None:
            problems.append(Problem(where=where, what=what))
    taken: dict[str, dict[str, int]] = {}
    for (query_id, doc_id), score in judged.items():
        if (query_id, doc_id) not in contradicted:
            taken.setdefault(query_id, {})[doc_id] = max(0, score)
    return taken, problems


def _fault(cells: list[str], query_fault: Known, document_fault: Known) -> str | None:
    if len(cells) != 3:
        return f"expected query-id, corpus-id and score, got {len(cells)} columns"
    try:
        int(cells[2])
    except ValueError:
        return f"score must be a whole number, got {cells[2]!r}"
    fault = query_fault(cells[0]) or document_fault(cells[1])
    return f"judgement of {fault}" if fault else None


def _repeated(
    pair: tuple[str, str], score: int, judged: dict[tuple[str, str], int], contradicted: set[tuple[str, str]]
) -> str | None:
    if pair not in judged:
        return None
    if judged[pair] == score:
        return f"{pair[0]!r} and {pair[1]!r}: judged again alike; counted once"
    contradicted.add(pair)
    return f"{pair[0]!r} and {pair[1]!r}: judged otherwise before; neither is used"
