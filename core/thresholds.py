"""Every number and choice a profile holds, declared once: unit, range, direction, stage, score space and recipes.

Threshold values are replayed without a new search; a setting (a method or a model) is another recording.
"""

from __future__ import annotations

from core.graph_thresholds import GRAPH, GRAPH_THRESHOLDS
from core.knob import COSINE, LEVELLED, SHARE, Setting, Threshold, count
from core.trace import RECIPES, Recipe

__all__ = ["BY_NAME", "SETTINGS", "THRESHOLDS", "Setting", "Threshold", "for_recipe"]

THRESHOLDS: tuple[Threshold, ...] = (
    # recall of nodes
    count(
        "recall.lexical_k",
        1000,
        "best nodes taken by the lexical index; 0 switches the channel off",
        LEVELLED,
        low=0,
    ),
    count(
        "recall.dense_k",
        1000,
        "best nodes taken by embedding cosine; 0 switches the channel off",
        LEVELLED,
        low=0,
    ),
    count(
        "recall.k_factor",
        100,
        "recall is at least this many times select.k, so that reranking has a choice",
        LEVELLED,
        low=0,
    ),
    count(
        "recall.keep",
        1000,
        "candidates kept in the Trace after fusion; retrieval metrics see this many",
        LEVELLED,
    ),
    # fusion
    Threshold(
        name="fusion.weight",
        stage="fuse",
        unit=SHARE,
        low=0,
        high=1,
        direction="neither",
        recipes=LEVELLED,
        about="share of the lexical score in convex fusion; the rest is the embedding's",
    ),
    Threshold(
        name="blend.weight",
        stage="fuse",
        unit=SHARE,
        low=0,
        high=1,
        direction="neither",
        recipes=LEVELLED,
        about="share of TF-IDF in the blended score that floors and confidence read; the rest is the cosine's",
    ),
    Threshold(
        name="fusion.rrf_k",
        stage="fuse",
        unit="ranks",
        low=1,
        high=1000,
        integer=True,
        direction="neither",
        recipes=LEVELLED,
        about="constant of reciprocal rank fusion",
    ),
    Threshold(
        name="fusion.neighbour_weight",
        stage="fuse",
        unit="weight",
        low=0,
        high=1,
        direction="neither",
        recipes=LEVELLED,
        about="share of each neighbouring turn's score (same session) added to a turn's own",
    ),
    Threshold(
        name="fusion.confidence_weight",
        stage="fuse",
        unit="weight",
        low=0,
        high=1,
        direction="neither",
        recipes=LEVELLED,
        about="added to the ranking score times the node's confidence; never to a floor's score",
    ),
    # rerank
    count("rerank.depth", 200, "best candidates the reranker scores", LEVELLED),
    Threshold(
        name="rerank.weight",
        stage="rerank",
        unit=SHARE,
        low=0,
        high=1,
        direction="neither",
        recipes=LEVELLED,
        about="share of the reranker's score in the order; the rest is the fused score",
    ),
    # floor
    Threshold(
        name="floor.min_overlap",
        stage="floor",
        unit=SHARE,
        low=0,
        high=1,
        direction="higher drops more",
        space="overlap",
        recipes=LEVELLED,
        about="share of the question's terms a node must hold",
    ),
    Threshold(
        name="floor.min_score",
        stage="floor",
        unit="blended score in [0, 1]",
        low=0,
        high=1,
        direction="higher drops more",
        space="tfidf+cosine",
        recipes=LEVELLED,
        about="a node passes above this score, or by strong overlap instead",
    ),
    Threshold(
        name="floor.strong_overlap",
        stage="floor",
        unit=SHARE,
        low=0,
        high=1.01,
        direction="higher drops more",
        space="overlap",
        recipes=LEVELLED,
        about="overlap that stands in for the score; above 1 nothing stands in",
    ),
    Threshold(
        name="floor.min_cosine",
        stage="floor",
        unit=COSINE,
        low=-1,
        high=1,
        direction="higher drops more",
        space="cosine",
        about="least embedding cosine with the question",
    ),
    # diversify
    Threshold(
        name="mmr.lambda",
        stage="diversify",
        unit=SHARE,
        low=0,
        high=1,
        direction="neither",
        recipes=LEVELLED,
        about="share of relevance against novelty in maximal marginal relevance; 1 keeps the order",
    ),
    # gate
    Threshold(
        name="gate.min_rerank",
        stage="gate",
        unit="reranker score",
        low=-1000,
        high=1000,
        direction="higher drops more",
        space="rerank",
        recipes=LEVELLED,
        about="least reranker score of a reranked node; without a reranker nothing is gated",
    ),
    Threshold(
        name="gate.min_best_cosine",
        stage="gate",
        unit=COSINE,
        low=-1,
        high=1,
        direction="higher drops more",
        space="cosine",
        recipes=("memory",),
        about="least cosine of the best node, its confidence; below it nothing is answered",
    ),
    Threshold(
        name="gate.min_probability",
        stage="gate",
        unit="probability in [0, 1]",
        low=0,
        high=1,
        direction="higher drops more",
        space="probability",
        about="least probability, by the learned gate, that the evidence suffices; without a gate nothing falls",
    ),
    # select
    count("select.k", 100, "items an answer may cite", RECIPES),
    *GRAPH_THRESHOLDS,
)

SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="recall.lexical",
        stage="recall",
        choices=("tfidf", "bm25"),
        recipes=LEVELLED,
        about="the lexical index that recalls and, in convex and rank fusion, is fused",
    ),
    Setting(
        name="fusion.method",
        stage="fuse",
        choices=("blend", "convex", "rrf", "lexical", "dense"),
        recipes=LEVELLED,
        about="blend: weighted raw scores, as the documents do; convex: weighted per-query min-max scores; "
        "rrf: reciprocal ranks; lexical or dense: one channel alone",
    ),
    Setting(
        name="rerank.method",
        stage="rerank",
        choices=("none", "overlap", "maxsim"),
        open_prefix="cross-encoder:",
        recipes=LEVELLED,
        about="none, overlap (terms of the question, no model), maxsim, or cross-encoder:NAME of a sentence-transformers "
        "model",
    ),
    Setting(
        name="geo.anchors",
        stage="nearby",
        choices=("matched", "named"),
        recipes=GRAPH,
        about="entities with coordinates that are searched around beside the places of the question: matched, those "
        "found by keyword or similarity, as the document does; named, those whose whole name stands in the question",
    ),
    Setting(
        name="graph.future_facts",
        stage="recall",
        choices=("keep", "drop"),
        recipes=GRAPH,
        about="drop: facts whose valid_at is still to come are left out of questions about now",
    ),
)

_ALL: tuple[Threshold | Setting, ...] = (*THRESHOLDS, *SETTINGS)
BY_NAME: dict[str, Threshold | Setting] = {knob.name: knob for knob in _ALL}


def for_recipe(recipe: Recipe) -> tuple[Threshold | Setting, ...]:
    """The thresholds and settings a recipe reads, in declaration order."""
    return tuple(knob for knob in BY_NAME.values() if recipe in knob.recipes)
