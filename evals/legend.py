"""What each figure says, in which part of a report it stands, and why cases are missing from it."""

from __future__ import annotations

from collections.abc import Mapping

from evals.figures import COVERAGE, RISK
from evals.metrics.decision import HEADLINE

RAGAS = {
    "id_based_context_precision": "share of the first 10 that is gold, by id",
    "id_based_context_recall": "share of the gold that is among the first 10, by id",
    "non_llm_context_precision": "rank-weighted share of the first 10 whose words are like gold evidence's",
    "non_llm_context_recall": "share of the gold evidence whose words are like a text's among the first 10",
    "rouge_score": "ROUGE-L of the answer and the first gold one",
    "faithfulness": "share of the answer's statements that a model sees in the first 10",
    "context_precision": "rank-weighted share of the first 10 that a model finds useful",
    "context_recall": "share of the gold answer's statements that a model sees in the first 10",
    "factual_correctness": "F1 of the answer's and the gold one's statements, as a model sees it",
}
"""What ragas' metrics say."""


def ragas_name(name: str) -> str:
    """What a metric of ragas is called in a row: ``ragas_…``."""
    return f"ragas_{name}"


ABOUT = {
    "balanced_correct": "mean of the share correct of the answerable and of the unanswerable; ½ for abstaining always",
    "decision_f1": "mean F1 of deciding to answer and to abstain; at most ½ for deciding always the same",
    "g_mean": "geometric mean of the same two; 0 for abstaining, and for answering, always",
    "correct": "answered citing gold, or rightly abstained",
    "reliability": "right answers less wrong ones, both kinds weighed alike; 0 for abstaining always, at most ½",
    "coverage": "share answered",
    "selective_risk": "share of the answered that is wrong, lower is better",
    "answered_answerable": "share answered of the answerable; the rest is over-refusal",
    "answered_unanswerable": "share answered of the unanswerable (false answers), lower is better",
    "false_answer_rate": "share answered of the unanswerable, lower is better",
    "over_refusal_rate": "share abstained from of the answerable, lower is better",
    "balanced_accuracy": "mean of the shares rightly answered and rightly abstained, whatever the answers say",
    "abstention_precision": "share of the abstentions that were due",
    "abstention_recall": "share of the unanswerable that was abstained from",
    "abstention_f1": "harmonic mean of both",
    "auroc": "chance that an answerable case has more confidence than an unanswerable one",
    "aurc": "area under the risk-coverage curve, lower is better",
    "e_aurc": "that above the best order of the same cases, lower is better",
    f"coverage@risk{RISK}": f"largest share answered at a cut with at most {RISK} of it wrong",
    f"risk@coverage{COVERAGE}": f"share wrong at the strictest cut that answers {COVERAGE}, lower is better",
    "brier": "squared error of confidence as the probability of being right, lower is better",
    "calibration_error": "how far confidence is from how often it is right, 10 bins of equal mass, lower is better",
    "ndcg@10": "ranking quality of the first 10, 1 is ideal",
    "recall@5": "share of the gold evidence among the first 5",
    "recall@10": "share of the gold evidence among the first 10",
    "recall_all@10": "all gold evidence is among the first 10",
    "precision@10": "share of the first 10 that is gold",
    "mrr": "1 / rank of the first gold evidence",
    "mrr@10": "the same, 0 beyond the first 10",
    "map": "mean precision at the gold evidence",
    "hit@1": "the first is gold",
    "hit@10": "any gold evidence is among the first 10",
    "citation_precision": "share of the cited evidence that is gold, of answerable cases that were answered",
    "citation_recall": "share of the gold evidence that is cited, of answerable cases that were answered",
    "citation_f1": "harmonic mean of both",
    "support": "mean support of the sentences by what is cited for them",
    "unsupported_sentence_rate": "share of the sentences that what is cited does not support, lower is better",
    "invalid_citation_rate": "share of the citations that name nothing the model was sent, lower is better",
    "exact_match": "the answer is a gold one (SQuAD 2.0: an abstention is the empty answer)",
    "token_f1": "words shared with the nearest gold answer (SQuAD 2.0)",
    "rouge_l": "longest common subsequence with the nearest gold answer",
    "contains_gold": "a gold answer stands in the answer",
    "stale": "says what was true once and not what is true now, lower is better",
    **{ragas_name(name): about for name, about in RAGAS.items()},
}
DECISIONS = (
    "correct", "reliability", "coverage", "selective_risk", "answered_answerable", "answered_unanswerable",
    "false_answer_rate", "over_refusal_rate", "balanced_accuracy", "abstention_precision", "abstention_recall",
    "abstention_f1",
)  # fmt: skip
CONFIDENCE = (
    "auroc", "aurc", "e_aurc", f"coverage@risk{RISK}", f"risk@coverage{COVERAGE}", "brier", "calibration_error",
)  # fmt: skip
CITATIONS = (
    "citation_precision", "citation_recall", "citation_f1", "support", "unsupported_sentence_rate",
    "invalid_citation_rate",
)  # fmt: skip
ANSWERS = ("exact_match", "token_f1", "rouge_l", "contains_gold", "stale")
RETRIEVAL = tuple(
    name for name in ABOUT if name.startswith(("ndcg", "recall", "precision", "mrr", "map", "hit"))
)
PARTS: Mapping[str, tuple[str, ...]] = {
    "Headline": HEADLINE,
    "Decisions": DECISIONS,
    "Confidence": CONFIDENCE,
    "Retrieval": RETRIEVAL,
    "Citations": CITATIONS,
    "Answers": ANSWERS,
    "ragas": tuple(map(ragas_name, RAGAS)),
}
"""The tables of a report, in order."""
OPTIONAL = frozenset((*ANSWERS, *CITATIONS[3:], "brier", "calibration_error"))
"""Figures that many runs cannot have: left out of the tables where there is no value."""

_NO_GOLD = "have no relevant gold evidence"
_NOT_CITED = "are unanswerable, were abstained from, or have no gold evidence"
_UNKNOWN = "have hidden labels, or can be answered but have no gold evidence"
_HIDDEN = "have hidden labels"
_NO_PROBABILITY = "have no confidence that is a probability, or no judgement"
_NO_TEXT = "were not answered by a model, or have hidden labels or no gold answer"
_NO_SENTENCES = "were not answered by a model, or cite nothing"
_NO_OUTDATED = "were abstained from, or have no outdated answer"
_BOTH = "needs both answerable and unanswerable cases"
_MISSING: Mapping[str, str] = {
    **dict.fromkeys(("correct", "selective_risk", "balanced_correct", "g_mean", "reliability"), _UNKNOWN),
    **dict.fromkeys((name for name in CONFIDENCE if name != "auroc"), _UNKNOWN),
    **dict.fromkeys(("brier", "calibration_error"), _NO_PROBABILITY),
    **dict.fromkeys(("auroc", "decision_f1", *DECISIONS[6:]), _HIDDEN),
    **dict.fromkeys(RETRIEVAL, _NO_GOLD),
    **dict.fromkeys(CITATIONS[:3], _NOT_CITED),
    **dict.fromkeys(CITATIONS[3:], _NO_SENTENCES),
    **dict.fromkeys(ANSWERS[:4], _NO_TEXT),
    "stale": _NO_OUTDATED,
    **dict.fromkeys(map(ragas_name, RAGAS), "have nothing that ragas judges by it, or it broke on them"),
}
_NO_VALUE: Mapping[str, str] = {
    **dict.fromkeys((*HEADLINE, "reliability", "auroc", "balanced_accuracy"), _BOTH),
    "selective_risk": "nothing was answered",
    f"risk@coverage{COVERAGE}": "no cut answers as many",
    "abstention_precision": "nothing was abstained from",
    "brier": "confidence is no probability here",
    "calibration_error": "confidence is no probability here",
}


def why_missing(name: str) -> str:
    """What is the matter with cases that a figure does not count: "… have hidden labels"."""
    return _MISSING.get(name, _NO_GOLD)


def why_no_value(name: str) -> str:
    """Why a figure has no value at all."""
    return _NO_VALUE.get(name, "no case to judge")
