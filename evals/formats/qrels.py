"""Relevance judgements, one a line: BEIR's ``query-id  corpus-id  score`` under a header, and other layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.ingest.items import Problem
from evals.formats.lines import text_lines

Known = Callable[[str], str | None]
"""From an id to what is wrong with it (``"unknown document 'd9'"``), None if nothing is."""
Layout = Callable[[str], tuple[str, str, int] | None]
"""From a line to query, document and relevance; None for a header. Raises ValueError saying what is wrong."""


def tabbed(line: str) -> tuple[str, str, int] | None:
    """BEIR's layout: three columns between tabs, under a header that begins with ``query-id``."""
    cells = line.split("\t")
    if cells[0] == "query-id":
        return None
    if len(cells) != 3:
        raise ValueError(f"expected query-id, corpus-id and score, got {len(cells)} columns")
    return cells[0], cells[1], whole_score(cells[2])


def whole_score(text: str) -> int:
    """Raises ValueError: ``text`` is no whole number."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"score must be a whole number, got {text!r}") from None


def judgements(
    file: Path, query_fault: Known, document_fault: Known, layout: Layout = tabbed
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
        try:
            row = layout(line) if line else None
            if row is None and line and number:
                raise ValueError("a header stands here again")
            if row is not None:
                _take(row, query_fault, document_fault, judged, contradicted)
        except ValueError as error:
            problems.append(Problem(where=where, what=str(error)))
    taken: dict[str, dict[str, int]] = {}
    for (query_id, doc_id), score in judged.items():
        if (query_id, doc_id) not in contradicted:
            taken.setdefault(query_id, {})[doc_id] = max(0, score)
    return taken, problems


def _take(
    row: tuple[str, str, int],
    query_fault: Known,
    document_fault: Known,
    judged: dict[tuple[str, str], int],
    contradicted: set[tuple[str, str]],
) -> None:
    """Raises ValueError: the judgement is not new, or of something unknown."""
    query_id, doc_id, score = row
    if fault := query_fault(query_id) or document_fault(doc_id):
        raise ValueError(f"judgement of {fault}")
    pair = query_id, doc_id
    fault = _repeated(pair, score, judged, contradicted)
    judged.setdefault(pair, score)
    if fault:
        raise ValueError(fault)


def _repeated(
    pair: tuple[str, str], score: int, judged: dict[tuple[str, str], int], contradicted: set[tuple[str, str]]
) -> str | None:
    if pair not in judged:
        return None
    if judged[pair] == score:
        return f"{pair[0]!r} and {pair[1]!r}: judged again alike; counted once"
    contradicted.add(pair)
    return f"{pair[0]!r} and {pair[1]!r}: judged otherwise before; neither is used"
