"""Colours that colour-blind readers tell apart, in the order they are given out.

Source: Okabe & Ito, Color Universal Design (2008). Each reads on a light and on a dark ground.
"""

ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#8C8C8C"
ORDER = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
"""Lines differ by dash too, so that none depends on colour alone."""
SCALE = "Viridis"
"""For heat maps: even in lightness, and in order without colour."""
