"""Running a labelled set: every case asked, scored and written down; a case that fails is a failure and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core.errors import AssayError, UsageError
from core.models.chat import Usage
from core.progress import Progress, quiet
from core.trace import Trace
from evals.budget import BudgetSpentError
from evals.cases import Case, Variant
from evals.concurrent import in_order
from evals.judging import Judges
from evals.report import Summary
from evals.run_files import Entry, Key, RunLog, line, written
from evals.scoring import Row, detailed, summarised
from evals.spending import spent

Cost = Callable[[str, Usage], float | None]
"""US dollars of one call by model and tokens; None where its price is not known."""


WORDS = Judges()
"""Support by words alone, and nothing beside our own metrics."""


def no_cost(model: str, usage: Usage) -> float | None:
    """No price is known."""
    return None


LabelledCase = tuple[str, Case]
"""A dataset's name and a case of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest:
    """What is asked for one case."""

    case: Case
    dataset: str
    levels: tuple[str, ...] | None
    hide_sources: frozenset[str]
    repeat: int = 0

    @property
    def key(self) -> Key:
        """What tells this request from every other of its run."""
        return self.dataset, self.case.case_id, self.repeat


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
    repeats: int = 1,
    concurrency: int = 1,
    cost: Cost = no_cost,
    judges: Judges = WORDS,
) -> Summary:
    """Asks and scores every case, in order, and writes into ``out``: ``rows.jsonl`` (equal for equal inputs, byte for
    byte), ``failures.jsonl``, ``timings.jsonl`` (times, and what models were asked and cost), ``spending.json`` (these
    summed up), ``summary.json``, ``summary.md``. A run that is stopped goes on where it was when it is started again
    with the same settings.

    ``broken`` are cases that could not even be read; they count as failures whatever was selected, since nothing can be
    said of what they would have been. ``repeats`` asks each case that often (rows then carry ``repeat``, from 0);
    ``concurrency`` cases are asked at once, which changes no row. ``judges`` judge beside the metrics of ours.

    Raises:
        AssayError: no case could be scored; the files are written all the same. UsageError: ``out`` can be no folder.
        BudgetSpentError: the money is spent; what was asked is kept for the next run.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out}: no folder for results: {error.strerror}; choose another --out") from error
    whole = {
        **manifest,
        **judges.manifest(),
        "excluded": "hits whose id equals the question's" if drop_same_id else "nothing",
        "variant": variant,
        "levels": levels,
        "seed": seed,
        "cases": len(cases),
        **({"repeats": repeats} if repeats > 1 else {}),
    }
    requests = [
        EvalRequest(
            case=case,
            dataset=dataset,
            levels=levels,
            hide_sources=hidden_sources(case, variant, drop_same_id=drop_same_id),
            repeat=repeat,
        )
        for repeat in range(repeats)
        for dataset, case in cases
    ]
    log = RunLog(out, whole)
    try:
        entries = _asked(
            requests,
            partial(_entry, ask=ask, cost=cost, judges=judges, numbered=repeats > 1),
            log,
            concurrency,
            progress,
        )
    finally:
        log.close()
    rows = [entry["row"] for entry in entries if "row" in entry]
    failures = [*map(dict, broken), *(entry["failure"] for entry in entries if "failure" in entry)]
    summary = Summary(
        manifest=whole,
        figures=summarised(rows, seed=seed),
        n_cases=len(rows),
        failures=failures,
        details=detailed(rows, seed=seed),
    )
    _write(out, rows, [entry["timing"] for entry in entries if "row" in entry], summary)
    log.finish()
    if failures and not rows:
        first = failures[0]
        raise AssayError(
            f"all {len(failures)} cases failed, see {out}/failures.jsonl; the first: {first['message']}"
        )
    return summary


def _asked(
    requests: Sequence[EvalRequest],
    entry_of: Callable[[EvalRequest], Entry],
    log: RunLog,
    concurrency: int,
    progress: Progress,
) -> list[Entry]:
    """What came of every request, in their order; what the log has is not asked again."""
    waiting = [request for request in requests if request.key not in log.done]
    progress(len(requests) - len(waiting))
    for request, entry in zip(waiting, in_order(entry_of, waiting, concurrency), strict=True):
        log.add(request.key, entry)
        log.done[request.key] = entry
        progress(1)
    return [log.done[request.key] for request in requests]


def _entry(
    request: EvalRequest, *, ask: Callable[[EvalRequest], Trace], cost: Cost, judges: Judges, numbered: bool
) -> Entry:
    """A case's row and times, or its failure: one broken case never takes a run down."""
    case, dataset = request.case, request.dataset
    number = {"repeat": request.repeat} if numbered else {}
    try:
        trace = ask(request)
        row = judges.row(case, dataset, trace) | number
        line(row)  # a number that JSON has not is a failure of its case
    except BudgetSpentError:
        raise
    except Exception as error:  # noqa: BLE001 (one broken case never takes a run down)
        return {"failure": failure(case.case_id, dataset, error)}
    calls = [
        {
            **asdict(call.usage),
            "stage": call.stage,
            "model": call.model,
            "ms": call.latency_ms,
            "usd": cost(call.model, call.usage),
        }
        for call in trace.calls
        if call.stage != "embed"
    ]
    timing = {"case_id": case.case_id, "dataset": dataset, "ms": dict(trace.times_ms), **number}
    return {"row": row, "timing": timing | ({"calls": calls} if calls else {})}


def _write(out: Path, rows: Sequence[Row], timings: Sequence[Mapping[str, Any]], summary: Summary) -> None:
    files = {
        "rows.jsonl": map(line, rows),
        "timings.jsonl": map(line, timings),
        "spending.json": (line(spent(timings).to_dict()),),
        "failures.jsonl": map(line, summary.failures),
        "summary.json": (summary.to_json(),),
        "summary.md": (summary.to_markdown(),),
    }
    for name, texts in files.items():
        with written(out / name) as file:
            file.writelines(texts)


def hidden_sources(case: Case, variant: Variant, *, drop_same_id: bool) -> frozenset[str]:
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
