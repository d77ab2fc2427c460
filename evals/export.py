"""Labelled questions and runs as other tools read them: TREC qrels and runs, ragas' JSON Lines, CSV.

TREC separates by blanks: those (and ``%``) inside a name are percent-encoded, ``unquote`` gives the name back. A TREC
run has no scores of ours, as rows hold none: ``1/rank`` keeps the order. It is as deep as the ranking of the rows (100).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from evals.cases import Case, Gold
from evals.contents import Contents
from evals.formats.csv_file import COLUMNS, TAG
from evals.formats.ragas import OWN

RunRow = Mapping[str, Any]
"""One line of a run's ``rows.jsonl``."""


def trec_name(text: str) -> str:
    """``text`` without blanks: they and ``%`` are percent-encoded."""
    return re.sub(r"[\s%]", lambda mark: quote(mark.group(), safe=""), text)


def trec_qrels(cases: Iterable[Case]) -> Iterator[str]:
    """``case 0 source relevance`` lines of what retrieval is judged on; nothing for a case without gold."""
    for case in cases:
        relevance: dict[str, int] = {}
        for gold in case.gold:
            relevance[gold.key] = max(gold.relevance, relevance.get(gold.key, gold.relevance))
        for key, score in relevance.items():
            yield f"{trec_name(case.case_id)} 0 {trec_name(key)} {score}\n"


def trec_run(rows: Iterable[RunRow], tag: str) -> Iterator[str]:
    """``case Q0 source rank score tag`` lines of each row's ranking, best first. A topic has one ranking: of repeats the
    first."""
    for row in (row for row in rows if not row.get("repeat")):
        for rank, key in enumerate(row["ranking"], start=1):
            yield f"{trec_name(row['case_id'])} Q0 {trec_name(key)} {rank} {1 / rank:.6f} {trec_name(tag)}\n"


def cases_csv(cases: Sequence[Case]) -> Iterator[str]:
    """The columns of the ``csv`` format; reading them again gives equal cases."""
    tags = list(dict.fromkeys(f"{TAG}{name}" for case in cases for name in case.tags))
    names = [name for name in COLUMNS if name not in ("source", "quote")]
    yield _line([*names, *tags])
    for case in cases:
        cells = _cells(case) | {f"{TAG}{name}": value for name, value in case.tags.items()}
        yield _line([cells.get(name, "") for name in (*names, *tags)])


def rows_csv(rows: Sequence[RunRow]) -> Iterator[str]:
    """A run's rows as they are, one a line; lists and objects as JSON, no value as an empty cell."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    yield _line(names)
    for row in rows:
        yield _line([_cell(row.get(name)) for name in names])


def ragas_samples(datasets: Sequence[Contents], rows: Sequence[RunRow] | None = None) -> Iterator[str]:
    """One single-turn sample a case, or a row of a run: then with what was retrieved, and what was answered where the row
    holds it. A row whose case is not among ``datasets`` raises KeyError."""
    known = {(one.name, case.case_id): (one, case) for one in datasets for case in one.cases}
    asked = (
        [(key, None) for key in known]
        if rows is None
        else [((row["dataset"], row["case_id"]), row) for row in rows]
    )
    for key, row in asked:
        dataset, case = known[key]
        sample = _sample(dataset, case) | (_retrieved(dataset, row) if row is not None else {})
        yield json.dumps(sample | {OWN: case.to_body()}, ensure_ascii=False, allow_nan=False) + "\n"


def _sample(dataset: Contents, case: Case) -> dict[str, Any]:
    sample: dict[str, Any] = {"user_input": case.question}
    if case.answers:
        sample["reference"] = case.answers[0]
    judged = (gold for gold in case.gold if gold.relevance > 0)
    contexts = {gold.key: text for gold in judged if (text := dataset.text_of(gold)) is not None}
    return sample | _contexts("reference", contexts)


def _retrieved(dataset: Contents, row: RunRow) -> dict[str, Any]:
    texts = {key: _text_of(dataset, key) for key in row["ranking"]}
    found = {key: text for key, text in texts.items() if text is not None}
    said = {"response": row["response"]} if isinstance(row.get("response"), str) else {}
    return said | _contexts("retrieved", found)


def _text_of(dataset: Contents, key: str) -> str | None:
    """The text of a ranking's key, ``source`` or ``source#turn``."""
    source, _, turn = key.rpartition("#")
    if source and (source, turn) in dataset.texts:
        return dataset.text_of(Gold(source=source, turn=turn))
    return dataset.text_of(Gold(source=key))


def _contexts(kind: str, texts: Mapping[str, str]) -> dict[str, Any]:
    if not texts:
        return {}
    return {f"{kind}_contexts": list(texts.values()), f"{kind}_context_ids": list(texts)}


def _cells(case: Case) -> dict[str, str]:
    """Each field that is not its default, as the ``csv`` format reads it."""
    body = case.to_body()
    body.pop("tags", None)
    answers = body.pop("answers", [])
    if len(answers) == 1:
        body["answer"] = answers[0]
    elif answers:
        body["answers"] = answers
    if case.answerable is not True:
        body["answerable"] = "unknown" if case.answerable is None else "false"
    return {name: _cell(value) for name, value in body.items()}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)


def _line(cells: Sequence[str]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow(cells)
    return written.getvalue()
