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
    "citation_precision": "share of the cited evidence that is gold, of answered cases",
    "citation_recall": "share of the gold evidence that is cited, of answered cases",
    "correct": "answered citing gold, or rightly abstained",
    "answered_answerable": "share answered of the answerable",
    "answered_unanswerable": "share answered of the unanswerable, lower is better",
    "auroc": "chance that an answerable case has more confidence than an unanswerable one",
    "aurc": "area under the risk-coverage curve, lower is better",
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
        lines += [
            "",
            "Cases without a judgement of a figure are counted under *not judged* and never as a zero.",
        ]
        if self.failures:
            lines += ["", "## Failed", ""]
            lines += [
                f"- `{_plain(f['case_id'])}`: {_plain(f['error'])}: {_plain(f['message'])}"
                for f in self.failures
            ]
        return "\n".join(lines) + "\n"


def _line(name: str, figure: Estimate) -> str:
    if figure.value is None or figure.low is None or figure.high is None:
        return f"| {name} | – | – | {figure.n} | {figure.missing} | {ABOUT[name]} |"
    interval = f"{figure.low:.3f} to {figure.high:.3f}"
    return f"| {name} | {figure.value:.3f} | {interval} | {figure.n} | {figure.missing} | {ABOUT[name]} |"


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("`", "'").split())[:300]
