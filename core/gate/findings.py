"""What was found for a question, as far as it can be told without a model: what the gate's features are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.gate import asked as questions
from core.gate import texts
from core.gate.asked import Asked
from core.gate.binding import Binding, bind, named
from core.gate.considered import Considered
from core.gate.kinds import holds
from core.index.base import Scores
from core.text import words

READ = 4
"""Best candidates whose texts are read for what they hold."""
NEAR = 4
"""Terms of the question that follow each other are near in a text within so many terms."""
_NOTHING = texts.read("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """``score``, ``cosine`` and ``tfidf`` are (n,) unnormalised and descending, each by itself; ``agree`` and ``agree_5``
    say whether (how far) the best by cosine are the best by TF-IDF. The best candidate is the one with the best score.

    Shares are of the question's idf weight, in [0, 1]: ``text`` in the best candidate and its title, ``next_text`` the
    best of the same in the next three, ``title`` in the title alone, ``sentence`` and ``window`` in the best sentence and
    pair of sentences with the title, ``rest`` in the best sentence of what the title does not hold (1: it holds all),
    ``near`` of neighbouring terms, ``titled`` of the title's terms in the question. ``terms`` are those of the best
    candidate's text, ``mentions`` how many of them are the question's. ``holds_kind``: its best sentence holds what is
    asked for; ``contradicts``: just one of both is negated. ``lacking`` are the question's stems not in the best
    candidate, ``absent`` those in none of those read.
    """

    asked: Asked
    score: Scores
    cosine: Scores
    tfidf: Scores
    agree: bool
    agree_5: float
    text: float
    next_text: float
    title: float
    sentence: float
    window: float
    rest: float
    near: float
    titled: float
    terms: int
    mentions: int
    holds_kind: bool
    contradicts: bool
    lacking: tuple[str, ...]
    absent: tuple[str, ...]
    binding: Binding | None


def find(question: str, considered: Considered, idf: Callable[[str], float]) -> Findings:
    """The findings of a question on its candidates; none at all gives zeros and says that all terms are absent."""
    score = considered.score()
    order = np.argsort(-score, kind="stable")
    persons = named(words(question), set(considered.speakers))
    whole = questions.read(question, idf)
    bare = questions.read(question, idf, persons=persons) if persons else whole
    best = int(order[0]) if len(order) else None
    read = _read(considered, best)
    title = texts.title_stems(considered.titles[best]) if best is not None else frozenset()
    shares = [whole.share(one.stems | title) for one in read.sentences]
    place = int(np.argmax(shares)) if shares else None
    quoted = read.sentences[place].text if place is not None else ""
    held = read.stems | title
    tfidf = considered.tfidf if considered.tfidf is not None else np.zeros(0, dtype=np.float32)
    return Findings(
        asked=whole,
        score=_down(score),
        cosine=_down(considered.cosine),
        tfidf=_down(tfidf),
        agree=_agreement(considered, 1) == 1,
        agree_5=_agreement(considered, 5),
        text=whole.share(held),
        next_text=_next(whole, considered, order),
        title=whole.share(title),
        sentence=max(shares, default=0.0),
        window=_window(whole, read, title),
        rest=_rest(whole, read, title),
        near=_near(whole, read),
        titled=len(title & set(whole.weights)) / len(title) if title else 0.0,
        terms=len(read.order),
        mentions=sum(term in whole.weights for term in read.order),
        holds_kind=holds(whole.kind, quoted, whole.words),
        contradicts=bool(quoted) and whole.negated != questions.is_negated(words(quoted)),
        lacking=whole.missing(held),
        absent=whole.missing(_held(considered, order)),
        binding=bind(bare, persons, considered, order),
    )


def _read(considered: Considered, place: int | None) -> texts.Text:
    return _NOTHING if place is None else texts.read(considered.texts[place], considered.speakers[place])


def _next(asked: Asked, considered: Considered, order: NDArray[np.int64]) -> float:
    return max((asked.share(_stems(considered, place)) for place in order[1:READ].tolist()), default=0.0)


def _stems(considered: Considered, place: int) -> frozenset[str]:
    return _read(considered, place).stems | texts.title_stems(considered.titles[place])


def _held(considered: Considered, order: NDArray[np.int64]) -> frozenset[str]:
    """Stems of the best few with their titles and speakers."""
    held: set[str] = set()
    for place in order[:READ].tolist():
        held |= _stems(considered, place)
        held |= texts.title_stems(considered.speakers[place] or "")
    return frozenset(held)


def _down(scores: Scores) -> Scores:
    return np.asarray(-np.sort(-scores[~np.isnan(scores)]), dtype=np.float32)


def _agreement(considered: Considered, k: int) -> float:
    """Share of the best k by cosine that are among the best k that TF-IDF finds at all; 0 where there is one channel."""
    if considered.tfidf is None or not len(considered):
        return 0.0
    cosine, tfidf = (np.nan_to_num(one, nan=-2.0) for one in (considered.cosine, considered.tfidf))
    by_cosine = np.argsort(-cosine, kind="stable")[:k].tolist()
    by_words = {place for place in np.argsort(-tfidf, kind="stable")[:k].tolist() if tfidf[place] > 0}
    return len(by_words.intersection(by_cosine)) / len(by_cosine)


def _window(asked: Asked, read: texts.Text, title: Collection[str]) -> float:
    sentences = read.sentences
    pairs = (
        one.stems.union(title, sentences[place + 1].stems if place + 1 < len(sentences) else ())
        for place, one in enumerate(sentences)
    )
    return max((asked.share(pair) for pair in pairs), default=0.0)


def _rest(asked: Asked, read: texts.Text, title: Collection[str]) -> float:
    rest = {one: weight for one, weight in asked.weights.items() if one not in title}
    total = sum(rest.values())
    found = (sum(rest[one] for one in rest.keys() & sentence.stems) for sentence in read.sentences)
    return max(found, default=0.0) / total if total else 1.0


def _near(asked: Asked, read: texts.Text) -> float:
    """Share of the question's neighbouring terms that stand within ``NEAR`` terms of each other in the text."""
    listed = list(asked.weights)
    places = {one: [at for at, found in enumerate(read.order) if found == one] for one in listed}
    pairs = list(pairwise(listed))
    close = sum(
        any(abs(here - there) <= NEAR for here in places[first] for there in places[second])
        for first, second in pairs
    )
    return close / len(pairs) if pairs else 0.0
