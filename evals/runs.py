"""Running a labelled set: every case asked, scored and written down; a case that fails is a failure and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from core.errors import AssayError, UsageError
from core.progress import Progress, quiet
from core.trace import Trace
from evals.cases import Case, Variant
from evals.report import Summary
from evals.scoring import Row, scored, summarised

LabelledCase = tuple[str, Case]
"""A dataset's name and a case of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest:
    """What is asked for one case."""

    case: Case
    dataset: str
    levels: tuple[str, ...] | None
    hide_sources: frozenset[str]


def select_cases(
    cases: Sequence[LabelledCase],
    *,
    split: str | None = None,
    filters: Sequence[str] = (),
    limit: int | None = None,
) -> list[LabelledCase]:
    """Cases of a split whose tags have one of the wanted values (``category=1,2``), the first ``limit``.

    Raises:
        UsageError: an unknown split or tag, or nothing is left; the message lists what there is.
    """
    chosen = list(cases)
    if split is not None:
        _known("split", split, {case.split for _, case in cases if case.split})
        chosen = [(dataset, case) for dataset, case in chosen if case.split == split]
    for condition in filters:
        tag, equals, values = condition.partition("=")
        if not equals:
            raise UsageError(f"a filter is tag=value[,value…], got {condition!r}")
        _known("tag", tag, {name for _, case in cases for name in case.tags})
        wanted = {value.strip() for value in values.split(",")}
        there = {case.tags[tag] for _, case in cases if tag in case.tags}
        for value in sorted(wanted):
            _known(f"value of {tag}", value, there)
        chosen = [(dataset, case) for dataset, case in chosen if case.tags.get(tag) in wanted]
    if not chosen:
        raise UsageError("no case is left by --split and --filter together")
    return chosen[:limit]


def evaluate(
    cases: Sequence[LabelledCase],
    ask: Callable[[EvalRequest], Trace],
    out: Path,
    *,
    manifest: Mapping[str, Any],
    variant: Variant = "near-miss",
    levels: tuple[str, ...] | None = None,
    drop_same_id: bool = False,
    broken: Sequence[Mapping[str, str]] = (),
    progress: Progress = quiet,
    seed: int = 0,
) -> Summary:
    """Asks and scores every case, in order, and writes into ``out``: ``rows.jsonl`` (equal for equal inputs, byte for
    byte), ``failures.jsonl``, ``timings.jsonl``, ``summary.json``, ``summary.md``.

    ``broken`` are cases that could not even be read; they count as failures whatever was selected, since nothing can be
    said of what they would have been.

    Raises:
        AssayError: no case could be scored; the files are written all the same. UsageError: ``out`` can be no folder.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out}: no folder for results: {error.strerror}; choose another --out") from error
    rows: list[Row] = []
    failures = [dict(failure) for failure in broken]
    with _written(out / "rows.jsonl") as row_file, _written(out / "timings.jsonl") as time_file:
        for dataset, case in cases:
            hidden = _hidden(case, variant, drop_same_id=drop_same_id)
            request = EvalRequest(case=case, dataset=dataset, levels=levels, hide_sources=hidden)
            try:
                trace = ask(request)
                row = scored(case, dataset, trace)
                line = _line(row)
            except Exception as error:  # noqa: BLE001 (one broken case never takes a run down)
                failures.append(failure(case.case_id, dataset, error))
            else:
                rows.append(row)
                row_file.write(line)
                time_file.write(
                    _line({"case_id": case.case_id, "dataset": dataset, "ms": dict(trace.times_ms)})
                )
            progress(1)
    excluded = "hits whose id equals the question's" if drop_same_id else "nothing"
    whole = {
        **manifest,
        "excluded": excluded,
        "variant": variant,
        "levels": levels,
        "seed": seed,
        "cases": len(cases),
    }
    summary = Summary(
        manifest=whole, figures=summarised(rows, seed=seed), n_cases=len(rows), failures=failures
    )
    with _written(out / "failures.jsonl") as file:
        file.writelines(map(_line, failures))
    for name, text in (("summary.json", summary.to_json()), ("summary.md", summary.to_markdown())):
        with _written(out / name) as file:
            file.write(text)
    if failures and not rows:
        first = failures[0]
        raise AssayError(
            f"all {len(failures)} cases failed, see {out}/failures.jsonl; the first: {first['message']}"
        )
    return summary


def _hidden(case: Case, variant: Variant, *, drop_same_id: bool) -> frozenset[str]:
    """Sources this question does not see: its own passage where that is asked for, and, for sets whose questions are
    documents themselves (ArguAna, Quora), the document of its own id."""
    own = {case.case_id, case.case_id.rpartition("@")[0]} - {""} if drop_same_id else set()
    return frozenset(own.union(case.hides if variant == "absent" else ()))


def _known(what: str, wanted: str, there: set[str] | set[str | None]) -> None:
    if wanted not in there:
        listed = ", ".join(sorted(str(value) for value in there)[:20]) or "none"
        raise UsageError(f"no {what} {wanted!r} in these cases; there are: {listed}")


def failure(case_id: str, dataset: str, error: Exception) -> dict[str, str]:
    """What ``failures.jsonl`` says of a case that broke."""
    message = " ".join(str(error).split())[:500]
    return {"case_id": case_id, "dataset": dataset, "error": type(error).__name__, "message": message}


def _line(row: Mapping[str, Any]) -> str:
    """One line of JSON. ValueError for NaN or infinity, which JSON has not."""
    return json.dumps(row, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"


@contextmanager
def _written(path: Path) -> Iterator[IO[str]]:
    """A file that appears whole, when the block ends, under its name.

    Raises:
        UsageError: it cannot be written; nothing of it is left then.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written: {error.strerror}; make room for it, or choose another --out"
        ) from error
    finally:
        with suppress(OSError):  # a folder that may not be written holds no draft either
            draft.unlink(missing_ok=True)
