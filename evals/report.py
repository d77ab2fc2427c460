"""A run's summary as JSON for machines and as Markdown for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.stats import Estimate

ABOUT = {
    "ndcg@10": "ranking quality of the first 10, 1 is ideal",
    "recall@5": "share of the gold evidence among the first 5",
    "recall@10": "share of the gold evidence among the first 10",
    "precision@10": "share of the first 10 that is gold",
    "mrr": "1 / rank of the first gold evidence",
    "map": "mean precision at the gold evidence",
    "hit@1": "the first is gold",
    "citation_precision": "share of the cited evidence that is gold, of answerable cases that were answered",
    "citation_recall": "share of the gold evidence that is cited, of answerable cases that were answered",
    "correct": "answered citing gold, or rightly abstained",
    "coverage": "share answered",
    "selective_risk": "share of the answered that is wrong, lower is better",
    "answered_answerable": "share answered of the answerable; the rest is over-refusal",
    "answered_unanswerable": "share answered of the unanswerable (false answers), lower is better",
    "auroc": "chance that an answerable case has more confidence than an unanswerable one",
    "aurc": "area under the risk-coverage curve, lower is better",
}

NO_GOLD = "have no relevant gold evidence"
_NOT_CITED = "are unanswerable, were abstained from, or have no gold evidence"
_UNKNOWN = "have hidden labels, or can be answered but have no gold evidence"
_WHY = {
    "citation_precision": _NOT_CITED,
    "citation_recall": _NOT_CITED,
    "correct": _UNKNOWN,
    "selective_risk": _UNKNOWN,
    "aurc": _UNKNOWN,
    "auroc": "have hidden labels",
}
_NO_VALUE = {
    "auroc": "needs both answerable and unanswerable cases",
    "selective_risk": "nothing was answered",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run came to. Failures are no cases of any figure."""

    manifest: Mapping[str, Any]
    figures: Mapping[str, Estimate]
    n_cases: int
    failures: Sequence[Mapping[str, str]]

    def to_json(self) -> str:
        """Each figure at the top level: ``value``, ``interval`` [low, high] (95 %), ``n``, ``missing``."""
        body: dict[str, Any] = {
            name: {
                "value": figure.value,
                "interval": [figure.low, figure.high],
                "n": figure.n,
                "missing": figure.missing,
            }
            for name, figure in self.figures.items()
        }
        body["cases"] = {"scored": self.n_cases, "failed": len(self.failures)}
        body["manifest"] = dict(self.manifest)
        return json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)

    def to_markdown(self) -> str:
        """A table, what is missing and why, and the failures."""
        manifest = self.manifest
        head = f"# {manifest.get('dataset')} · {manifest.get('recipe')} · profile {manifest.get('profile')}"
        lines = [head, "", f"{self.n_cases} cases scored, {len(self.failures)} failed.", ""]
        lines += [
            "| figure | value | 95 % interval | n | not judged | what it is |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_line(name, figure) for name, figure in self.figures.items()]
        lines += ["", *_missing(self.figures)]
        if self.failures:
            lines += ["", "## Failed", ""]
            lines += [
                f"- `{_plain(f['case_id'])}`: {_plain(f['error'])}: {_plain(f['message'])}"
                for f in self.failures
            ]
        return "\n".join(lines) + "\n"


def _missing(figures: Mapping[str, Estimate]) -> list[str]:
    """What was not judged, and why."""
    lines = ["Cases without a judgement of a figure are counted under *not judged* and never as a zero."]
    gaps: dict[str, list[str]] = {}
    for name, figure in figures.items():
        if figure.missing:
            gaps.setdefault(f"{figure.missing} cases {_WHY.get(name, NO_GOLD)}", []).append(name)
        if figure.value is None:
            gaps.setdefault(_NO_VALUE.get(name, "no case to judge"), []).append(name)
        elif figure.low is None:
            gaps.setdefault("no interval: all cases are about one document", []).append(name)
    return [*lines, *([""] if gaps else []), *(f"- {', '.join(names)}: {why}" for why, names in gaps.items())]


def _line(name: str, figure: Estimate) -> str:
    value = "–" if figure.value is None else f"{figure.value:.3f}"
    interval = "–" if figure.low is None or figure.high is None else f"{figure.low:.3f} to {figure.high:.3f}"
    return f"| {name} | {value} | {interval} | {figure.n} | {figure.missing} | {ABOUT[name]} |"


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("`", "'").split())[:300]
