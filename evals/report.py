"""A run's summary as JSON for machines and as Markdown for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.figures import Extremes
from evals.legend import ABOUT, OPTIONAL, PARTS, why_missing, why_no_value
from evals.stats import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What stands beside the figures. ``extremes``: what figures would be for one who always abstains and one who
    always answers; ``by_kind``: figures by kind of unanswerable case; ``metric_errors``: for each metric that broke, the
    cases on which it did and how."""

    extremes: Mapping[str, Extremes] = field(default_factory=dict)
    by_kind: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    metric_errors: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run came to. Failures are no cases of any figure."""

    manifest: Mapping[str, Any]
    figures: Mapping[str, Estimate]
    n_cases: int
    failures: Sequence[Mapping[str, str]]
    details: Details = Details()

    def to_json(self) -> str:
        """Each figure at the top level: ``value``, ``interval`` [low, high] (95 %), ``n``, ``missing``, and under
        ``extremes`` what abstaining and answering always would come to. ``by_kind`` has figures by kind of unanswerable
        case, ``metric_errors`` what broke."""
        body: dict[str, Any] = {name: _as_json(figure) for name, figure in self.figures.items()}
        for name, extreme in self.details.extremes.items():
            body[name]["extremes"] = {"abstaining": extreme.abstaining, "answering": extreme.answering}
        body["by_kind"] = {
            kind: {name: _as_json(figure) for name, figure in figures.items()}
            for kind, figures in self.details.by_kind.items()
        }
        body["metric_errors"] = {
            name: [dict(one) for one in errors] for name, errors in self.details.metric_errors.items()
        }
        body["cases"] = {"scored": self.n_cases, "failed": len(self.failures)}
        body["manifest"] = dict(self.manifest)
        return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)

    def to_markdown(self) -> str:
        """A table for each part, what is missing and why, and what failed."""
        manifest = self.manifest
        head = f"# {manifest.get('dataset')} · {manifest.get('recipe')} · profile {manifest.get('profile')}"
        lines = [head, "", f"{self.n_cases} cases scored, {len(self.failures)} failed."]
        for part, names in PARTS.items():
            lines += _part(part, {name: self.figures[name] for name in names if name in self.figures})
            if part == "Headline":
                lines += self._extremes()
        lines += self._kinds()
        lines += ["", *_missing(self.figures)]
        lines += self._broken()
        return "\n".join(lines) + "\n"

    def _extremes(self) -> Iterator[str]:
        """The headline beside those who do not look; nothing where no case tells."""
        known = {
            name: extreme
            for name, extreme in self.details.extremes.items()
            if extreme.abstaining is not None and extreme.answering is not None
        }
        if known:
            yield from (
                "",
                "| on the same cases | here | abstaining always | answering always |",
                "|---|---|---|---|",
            )
        for name, extreme in known.items():
            values = (self.figures[name].value, extreme.abstaining, extreme.answering)
            yield f"| {name} | {' | '.join(map(_number, values))} |"

    def _kinds(self) -> Iterator[str]:
        kinds = self.details.by_kind
        if not kinds:
            return
        names = list(next(iter(kinds.values())))
        yield from ("", "## By kind of unanswerable case, beside all answerable ones", "")
        yield f"| kind | n | {' | '.join(names)} |"
        yield "|---|---|" + "---|" * len(names)
        for kind, figures in kinds.items():
            shown = (f"{_number(each.value)}{_in_brackets(each)}" for each in figures.values())
            yield f"| {_plain(kind)} | {figures[names[0]].n} | {' | '.join(shown)} |"

    def _broken(self) -> Iterator[str]:
        if self.failures:
            yield from ("", "## Failed", "")
        for one in self.failures:
            yield f"- `{_plain(one['case_id'])}`: {_plain(one['error'])}: {_plain(one['message'])}"
        if self.details.metric_errors:
            yield from ("", "## Metrics that failed", "")
        for name, errors in self.details.metric_errors.items():
            first = errors[0]
            yield (
                f"- {name}: {len(errors)} cases, none of them counted; "
                f"the first is `{_plain(first['case_id'])}`: {_plain(first['message'])}"
            )


def _as_json(figure: Estimate) -> dict[str, Any]:
    return {
        "value": figure.value,
        "interval": [figure.low, figure.high],
        "n": figure.n,
        "missing": figure.missing,
    }


def _part(part: str, figures: Mapping[str, Estimate]) -> Iterator[str]:
    shown = {
        name: figure for name, figure in figures.items() if figure.value is not None or name not in OPTIONAL
    }
    if shown:
        yield from ("", f"## {part}", "")
        yield "| figure | value | 95 % interval | n | not judged | what it is |"
        yield "|---|---|---|---|---|---|"
        yield from (_line(name, figure) for name, figure in shown.items())


def _missing(figures: Mapping[str, Estimate]) -> list[str]:
    """What was not judged, and why."""
    lines = ["Cases without a judgement of a figure are counted under *not judged* and never as a zero."]
    gaps: dict[str, list[str]] = {}
    for name, figure in figures.items():
        if figure.missing:
            gaps.setdefault(f"{figure.missing} cases {why_missing(name)}", []).append(name)
        if figure.value is None:
            gaps.setdefault(why_no_value(name), []).append(name)
        elif figure.low is None:
            gaps.setdefault("no interval: all cases are about one document", []).append(name)
    return [*lines, *([""] if gaps else []), *(f"- {', '.join(names)}: {why}" for why, names in gaps.items())]


def _line(name: str, figure: Estimate) -> str:
    interval = "–" if figure.low is None or figure.high is None else f"{figure.low:.3f} to {figure.high:.3f}"
    return (
        f"| {name} | {_number(figure.value)} | {interval} | {figure.n} | {figure.missing} | {ABOUT[name]} |"
    )


def _in_brackets(figure: Estimate) -> str:
    known = figure.low is not None and figure.high is not None
    return f" ({figure.low:.3f} to {figure.high:.3f})" if known else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("`", "'").split())[:300]
