"""A comparison as Markdown for people and as JSON for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from core.render import printable
from evals.case_changes import CaseChange, RankChange
from evals.compare import ALPHA, Change, Comparison
from evals.row_reading import CaseKey


def to_json(comparison: Comparison) -> str:
    """Everything: figures, McNemar's tables, changed cases, by tag, rankings. Unrounded, null where there is nothing."""
    runs = {"before": comparison.before.source, "after": comparison.after.source}
    body: dict[str, Any] = {
        **runs,
        "cases": comparison.cases,
        "only_before": [_key(case) for case in comparison.only_before],
        "only_after": [_key(case) for case in comparison.only_after],
        "settings": {name: list(values) for name, values in comparison.settings.items()},
        "figures": {change.name: _change_json(change) for change in comparison.changes},
        "abstention": [asdict(table) for table in comparison.abstained],
        "by_case": {name: [_record(one) for one in changes] for name, changes in comparison.by_case.items()},
        "by_tag": {
            tag: {change.name: _change_json(change) for change in changes}
            for tag, changes in comparison.by_tag.items()
        },
        "rankings": None if comparison.rankings is None else [_record(one) for one in comparison.rankings],
    }
    return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)


def to_markdown(comparison: Comparison, *, cases: int = 10) -> str:
    """Tables, and of changed cases and rankings the first ``cases`` of each kind."""
    sections = [
        _head(comparison),
        _figures(comparison),
        _abstention(comparison),
        _by_tag(comparison),
        _wins_and_losses(comparison, cases),
        _rankings(comparison.rankings, cases),
    ]
    return "\n\n".join(text for section in sections if (text := "\n".join(section).strip())) + "\n"


def _head(comparison: Comparison) -> Iterator[str]:
    yield f"# {_plain(comparison.before.source)} → {_plain(comparison.after.source)}"
    yield ""
    yield f"{comparison.cases} cases in both."
    for side, alone in (("first", comparison.only_before), ("second", comparison.only_after)):
        if alone:
            yield f"{len(alone)} cases only in the {side} run, left out: {_listed(alone)}."
    for name, (old, new) in comparison.settings.items():
        yield f"- {name}: {_plain(old)} → {_plain(new)}"


def _figures(comparison: Comparison) -> Iterator[str]:
    yield "| figure | A | B | difference | 95 % interval | p | p (Holm) | wins | losses | smallest seen | finding |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for change in comparison.changes:
        yield (
            f"| {change.name} | {_number(change.before)} | {_number(change.after)} | {_signed(change.difference)} | "
            f"{_interval(change)} | {_chance(change.p)} | {_chance(change.p_holm)} | {change.wins} | {change.losses} | "
            f"{_number(change.detectable)} | {change.sentence} |"
        )
    tests = sum(change.p is not None for change in comparison.changes) + len(comparison.abstained)
    yield ""
    yield (
        f"Intervals draw whole source documents; p by exchanging the runs within documents, Holm's over all {tests} "
        f"tests here, a finding at {ALPHA}. *Smallest seen*: the smallest true difference so many cases would show in "
        "4 of 5 such comparisons."
    )
    for change in comparison.changes:
        if change.unpaired:
            yield f"- {change.name}: {change.unpaired} cases have it in one run only, and are left out"


def _abstention(comparison: Comparison) -> Iterator[str]:
    yield "## Abstention (McNemar)"
    yield ""
    yield "| cases | n | abstained only in A | only in B | p | p (Holm) | finding |"
    yield "|---|---|---|---|---|---|---|"
    for table in comparison.abstained:
        yield (
            f"| {table.group} | {table.n} | {table.only_before} | {table.only_after} | {_chance(table.p)} | "
            f"{_chance(table.p_holm)} | {table.sentence} |"
        )


def _by_tag(comparison: Comparison) -> Iterator[str]:
    if not comparison.by_tag:
        return
    yield "## By tag"
    yield ""
    yield "| tag | figure | n | A | B | difference | 95 % interval | wins | losses |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for tag, changes in comparison.by_tag.items():
        for change in changes:
            yield (
                f"| {_plain(tag)} | {change.name} | {change.n} | {_number(change.before)} | {_number(change.after)} | "
                f"{_signed(change.difference)} | {_interval(change)} | {change.wins} | {change.losses} |"
            )
    yield ""
    yield "Groups are small and many: read these as where to look, not as findings."


def _wins_and_losses(comparison: Comparison, cases: int) -> Iterator[str]:
    figures = {change.name: change for change in comparison.changes}
    for name, moved in comparison.by_case.items():
        if name not in figures:
            continue
        lost = moved[: figures[name].losses]
        won = sorted(moved[figures[name].losses :], key=lambda one: (-abs(one.after - one.before), one.case))
        yield f"## {name}: {len(won)} wins, {len(lost)} losses"
        yield ""
        for title, changes in (("won", won), ("lost", lost)):
            yield from (f"- {title} {_case(change)}" for change in changes[:cases])
            if len(changes) > cases:
                yield f"- {title} {len(changes) - cases} more: --cases, or --format json"
        yield ""


def _rankings(rankings: Sequence[RankChange] | None, cases: int) -> Iterator[str]:
    if rankings is None:
        yield "Rankings are not compared: a baseline file has none."
        return
    counts: Counter[str] = Counter()
    for change in rankings:
        counts += Counter(
            {kind: len(getattr(change, kind)) for kind in ("promoted", "demoted", "dropped", "new")}
        )
    told = ", ".join(f"{counts[kind]} {kind}" for kind in ("promoted", "demoted", "dropped", "new"))
    yield f"## Rankings (first 10): {len(rankings)} changed; {told}"
    yield ""
    for change in rankings[:cases]:
        yield f"- {_plain(change.case[1])}: {'; '.join(_moves(change))}"
    if len(rankings) > cases:
        yield f"- {len(rankings) - cases} more: --cases, or --format json"


def _moves(change: RankChange) -> Iterator[str]:
    for kind, moved in (("promoted", change.promoted), ("demoted", change.demoted)):
        if moved:
            yield f"{kind} " + ", ".join(f"{_plain(key)} {old}→{new}" for key, (old, new) in moved.items())
    for kind, ranks in (("dropped", change.dropped), ("new", change.new)):
        if ranks:
            yield f"{kind} " + ", ".join(f"{_plain(key)} (rank {rank})" for key, rank in ranks.items())


def _case(change: CaseChange) -> str:
    return f"{_plain(change.case[1])} ({_plain(change.case[0])}): {change.before:.3f} → {change.after:.3f}"


def _record(change: CaseChange | RankChange) -> dict[str, Any]:
    fields = asdict(change)
    return {**_key(fields.pop("case")), **fields}


def _change_json(change: Change) -> dict[str, Any]:
    return {**asdict(change), "sentence": change.sentence}


def _key(case: CaseKey) -> dict[str, Any]:
    return {"dataset": case[0], "case_id": case[1], **({"repeat": case[2]} if case[2] else {})}


def _listed(cases: Sequence[CaseKey]) -> str:
    more = f" and {len(cases) - 5} more" if len(cases) > 5 else ""
    return ", ".join(_plain(case[1]) for case in cases[:5]) + more


def _interval(change: Change) -> str:
    return (
        "–" if change.interval is None else f"{_signed(change.interval[0])} to {_signed(change.interval[1])}"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+z.3f}"


def _chance(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _plain(value: object) -> str:
    return printable(str(value)).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
