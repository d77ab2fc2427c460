"""The thresholds of recipe `graph` alone: keywords, the four vector indexes, expansion and the gate on evidence."""

from __future__ import annotations

from core.knob import COSINE, Threshold, count
from core.trace import Recipe

GRAPH: tuple[Recipe, ...] = ("graph",)

GRAPH_THRESHOLDS: tuple[Threshold, ...] = (
    # graph: keywords
    count("keywords.max_terms", 100, "distinct terms of the question that are matched", GRAPH),
    count("keywords.min_length", 10, "characters a term must have", GRAPH),
    Threshold(
        name="keywords.name_points",
        stage="recall",
        unit="points",
        low=0,
        high=100,
        direction="neither",
        recipes=GRAPH,
        about="points for an entity whose whole name stands in the question",
    ),
    Threshold(
        name="keywords.term_points",
        stage="recall",
        unit="points",
        low=0,
        high=100,
        direction="neither",
        recipes=GRAPH,
        about="points for each term in an entity's name",
    ),
    Threshold(
        name="keywords.description_points",
        stage="recall",
        unit="points",
        low=0,
        high=100,
        direction="neither",
        recipes=GRAPH,
        about="points for each term in an entity's description",
    ),
    count("keywords.seeds", 100, "entities taken by points", GRAPH, low=0),
    # graph: similarity
    count("similar.entities", 50, "entities taken by cosine", GRAPH, low=0),
    count("similar.facts", 50, "facts taken by cosine", GRAPH, low=0),
    count("similar.chunks", 50, "chunks taken by cosine of their text", GRAPH, low=0),
    count("similar.summaries", 50, "chunks taken by cosine of their summary", GRAPH, low=0),
    count("graph.fallback_entities", 1000, "most recent entities taken when nothing matched", GRAPH, low=0),
    count("graph.hop_facts", 10_000, "live facts around the seeds, newest first", GRAPH, low=0),
    count("graph.passages_with_text", 100, "best passages given with their text", GRAPH, low=0),
    count("graph.passages_with_summary", 100, "further passages given with their summary", GRAPH, low=0),
    # graph: nearby, only where places are asked for
    Threshold(
        name="geo.radius_km",
        stage="nearby",
        unit="km along a great circle",
        low=0,
        high=20015,
        direction="higher keeps more",
        recipes=GRAPH,
        about="how far from a place of the question an entity may lie to be nearby; 20015 is everywhere",
    ),
    Threshold(
        name="geo.entities",
        stage="nearby",
        unit="items",
        low=0,
        high=1000,
        integer=True,
        direction="higher keeps more",
        recipes=GRAPH,
        about="nearest entities within the radius that are given as context",
    ),
    Threshold(
        name="gate.min_cosine",
        stage="gate",
        unit=COSINE,
        low=-1,
        high=1,
        direction="higher drops more",
        space="cosine",
        recipes=GRAPH,
        about="least cosine of a fact, passage or entity that an answer may cite",
    ),
)
