"""Colours that colour-blind readers tell apart, the same for a thing wherever it is drawn.

Source: Okabe & Ito, Color Universal Design (2008). Each reads on a light and on a dark ground.
"""

from __future__ import annotations

ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#8C8C8C"
OUTLINE = "rgba(128,128,128,0.7)"

STAGE = {
    "recall": SKY,
    "fuse": BLUE,
    "rerank": PURPLE,
    "floor": ORANGE,
    "nearby": YELLOW,
    "expand": YELLOW,
    "diversify": YELLOW,
    "gate": VERMILLION,
    "select": GREEN,
}
OUTCOME = {"cited": GREEN, "passed": SKY, "fell here": VERMILLION, "fell elsewhere": GREY}
SYMBOL = {"cited": "star", "passed": "circle", "fell here": "x", "fell elsewhere": "circle-open"}
"""Outcomes differ by shape too, so that none depends on colour alone."""
NODE = {
    "Question": GREY,
    "Entity": SKY,
    "Passage": ORANGE,
    "L0": GREEN,
    "L1": BLUE,
    "L2": PURPLE,
}
EDGE = {
    "CITED": GREEN,
    "CLOSEST": VERMILLION,
    "MADE_FROM": GREY,
    "FACT": SKY,
    "CITED_FACT": GREEN,
    "SUPERSEDED": GREY,
}
EDGE_NAME = {
    "CITED": "cited",
    "CLOSEST": "closest",
    "MADE_FROM": "made from",
    "FACT": "fact",
    "CITED_FACT": "cited fact",
    "SUPERSEDED": "superseded fact",
}
