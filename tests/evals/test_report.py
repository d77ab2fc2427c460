"""Reports: every figure is explained and has a place; nothing breaks the tables; JSON holds what the tables hold."""

from __future__ import annotations

import json

from evals import legend
from evals.figures import Extremes
from evals.report import Details, Summary
from evals.scoring import summarised
from evals.stats import Estimate

KNOWN = Estimate(value=0.5, low=0.25, high=0.75, n=8, missing=2)
NONE = Estimate(value=None, low=None, high=None, n=0, missing=10)
MANIFEST = {"dataset": "main", "recipe": "brain", "profile": "seed"}
FIGURES = dict.fromkeys(legend.ABOUT, KNOWN) | {"exact_match": NONE, "brier": NONE, "auroc": NONE}
DETAILS = Details(
    extremes={
        "g_mean": Extremes(abstaining=0.0, answering=0.25), "correct": Extremes(abstaining=None, answering=None),
    },
    by_kind={"near|miss": {"answered": KNOWN, "auroc": NONE}},
    metric_errors={"map": [{"case_id": "c1", "dataset": "main", "message": "KeyError: 'gone'"}] * 3},
)  # fmt: skip
SUMMARY = Summary(manifest=MANIFEST, figures=FIGURES, n_cases=10, failures=[], details=DETAILS)


def test_every_figure_is_explained_and_has_one_place() -> None:
    names = list(summarised([], seed=0))
    names += map(legend.ragas_name, legend.RAGAS)
    assert set(names) == set(legend.ABOUT)
    assert sorted(name for part in legend.PARTS.values() for name in part) == sorted(names)


def test_tables_for_people() -> None:
    text = SUMMARY.to_markdown()
    assert text.index("## Headline") < text.index("## Decisions") < text.index("## Retrieval")
    assert f"| g_mean | 0.500 | 0.250 to 0.750 | 8 | 2 | {legend.ABOUT['g_mean']} |" in text
    assert "| g_mean | 0.500 | 0.000 | 0.250 |" in text
    assert "| auroc | – | – | 0 | 10 |" in text
    assert "| exact_match |" not in text  # no model wrote: said below, not as an empty line
    assert (
        "- exact_match: 10 cases were not answered by a model, or have hidden labels or no gold answer"
        in text
    )
    assert "- brier: confidence is no probability here" in text
    assert "| near\\|miss | 8 | 0.500 (0.250 to 0.750) | – |" in text
    assert "- map: 3 cases, none of them counted; the first is `c1`: KeyError: 'gone'" in text
    widths = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("| figure")}
    assert widths == {7}


def test_json_holds_the_same() -> None:
    body = json.loads(SUMMARY.to_json())
    told = {"value": 0.5, "interval": [0.25, 0.75], "n": 8, "missing": 2}
    assert body["map"] == told
    assert body["g_mean"] == told | {"extremes": {"abstaining": 0.0, "answering": 0.25}}
    assert body["by_kind"]["near|miss"]["answered"] == told
    assert body["metric_errors"]["map"][2]["case_id"] == "c1"
    assert body["cases"] == {"scored": 10, "failed": 0}


def test_a_summary_without_details_is_one() -> None:
    plain = Summary(manifest=MANIFEST, figures=FIGURES, n_cases=10, failures=[])
    assert "## By kind" not in plain.to_markdown()
    assert json.loads(plain.to_json())["by_kind"] == {}
