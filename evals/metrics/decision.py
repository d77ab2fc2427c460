"""What was decided: abstentions against what could be answered, and the scores in which no constant decision does well.

``answerable`` (n,) is what could be answered, ``abstained`` (n,) what was not. Abstaining is the positive class of
abstention precision, recall and F1. Every figure is NaN where it has no case to judge.

``HEADLINE`` names the figures a system may be ranked by. Each weighs answerable and unanswerable cases alike, so that
neither extreme does well whatever the mix of a data set is: abstaining from everything scores ½, at most ½ and 0,
answering everything at most ½, ½ and 0. Coverage, selective risk, AUROC, AURC and the abstention F1 are not among them:
each is perfect, or the same, for one of the two. Nor are plain accuracy (``correct``), of which abstaining from
everything has the share that cannot be answered, and ``reliability``, of which it has 0 and a fair system hardly more
where half of its answers are wrong.
"""

from __future__ import annotations

import numpy as np

from evals.metrics.abstention import Flags

HEADLINE = ("balanced_correct", "decision_f1", "g_mean")


def abstention_precision(answerable: Flags, abstained: Flags) -> float:
    """Share of the abstentions that were due, in [0, 1]. Source: van Rijsbergen, Information Retrieval, 1979, ch. 7."""
    return _share(~answerable[abstained])


def abstention_recall(answerable: Flags, abstained: Flags) -> float:
    """Share of the unanswerable that was abstained from, in [0, 1]. Source: van Rijsbergen 1979, ch. 7."""
    return _share(abstained[~answerable])


def abstention_f1(answerable: Flags, abstained: Flags) -> float:
    """Harmonic mean of both, in [0, 1]; NaN where nothing is unanswerable and nothing was abstained from.

    Source: van Rijsbergen 1979, ch. 7, with β = 1. It favours abstaining: of n cases half of which cannot be answered,
    abstaining from all has 2/3, answering all 0.
    """
    return _f1(~answerable, abstained)


def false_answer_rate(answerable: Flags, abstained: Flags) -> float:
    """Share of the unanswerable that was answered, in [0, 1], lower is better: 1 − abstention recall.

    Source: Rajpurkar, Jia & Liang, Know What You Don't Know (SQuAD 2.0), ACL 2018 (its NoAns accuracy is the
    complement).
    """
    return _share(~abstained[~answerable])


def over_refusal_rate(answerable: Flags, abstained: Flags) -> float:
    """Share of the answerable that was abstained from, in [0, 1], lower is better.

    Source: Röttger et al., XSTest, NAACL 2024 (full refusal rate on what should be answered).
    """
    return _share(abstained[answerable])


def balanced_accuracy(answerable: Flags, abstained: Flags) -> float:
    """Mean of the share answered of the answerable and abstained from of the unanswerable, in [0, 1]; any constant
    decision has ½. Whether answers are right does not enter.

    Source: Brodersen et al., The Balanced Accuracy and Its Posterior Distribution, ICPR 2010.
    """
    return (_share(~abstained[answerable]) + _share(abstained[~answerable])) / 2


def decision_f1(answerable: Flags, abstained: Flags) -> float:
    """Mean of the F1 of abstaining and the F1 of answering, in [0, 1]; NaN unless both kinds of case are there.

    Abstaining from all, or answering all, has at most ½ and nears it only as the other kind vanishes. Source: Sokolova
    & Lapalme, Information Processing & Management 2009, table 3 (macro-averaged Fscore).
    """
    if answerable.all() or not answerable.any():
        return float("nan")
    return (_f1(answerable, ~abstained) + _f1(~answerable, abstained)) / 2


def balanced_correct(answerable: Flags, correct: Flags) -> float:
    """Mean of the share correct of the answerable and of the unanswerable, in [0, 1]: balanced accuracy in which an
    answer must also be right. Abstaining from all has ½, answering all at most ½.

    Source: Brodersen et al., ICPR 2010, with ``citation.correct`` as the judgement.
    """
    return (_share(correct[answerable]) + _share(correct[~answerable])) / 2


def g_mean(answerable: Flags, correct: Flags) -> float:
    """Geometric mean of the share correct of the answerable and of the unanswerable, in [0, 1]. Abstaining from all
    has 0, and so has answering all: each is never right about one of the two.

    Source: Kubat & Matwin, Addressing the Curse of Imbalanced Training Sets, ICML 1997, with ``citation.correct`` as the
    judgement.
    """
    return float(np.sqrt(_share(correct[answerable]) * _share(correct[~answerable])))


def reliability(answerable: Flags, abstained: Flags, correct: Flags) -> float:
    """Effective reliability in [−1, ½]: a right answer gains 1, a wrong one costs 1, an abstention neither; the mean
    over the answerable and the mean over the unanswerable weigh the same. Abstaining from all has 0, answering all at
    most 0.

    Source: Whitehead et al., Reliable Visual Question Answering, ECCV 2022 (Φ with cost 1), balanced over both kinds.
    """
    gain = np.where(abstained, 0.0, np.where(correct, 1.0, -1.0))
    return (_share(gain[answerable]) + _share(gain[~answerable])) / 2


def _f1(positive: Flags, chosen: Flags) -> float:
    either = int(positive.sum()) + int(chosen.sum())
    return 2 * int((positive & chosen).sum()) / either if either else float("nan")


def _share(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
