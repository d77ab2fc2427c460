"""What a profile holds one value of: a threshold (a number that is tuned) or a setting (a choice)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.trace import RECIPES, Recipe

Direction = Literal["higher drops more", "higher keeps more", "neither"]
LEVELLED: tuple[Recipe, ...] = ("memory", "brain")
SHARE = "share in [0, 1]"
COSINE = "cosine in [-1, 1]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A tunable number in [low, high]. ``space`` is the family of the score it is compared with, None if with none."""

    name: str
    stage: str
    unit: str
    low: float
    high: float
    direction: Direction
    about: str
    space: str | None = None
    integer: bool = False
    recipes: tuple[Recipe, ...] = RECIPES


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A choice among named methods. ``open_prefix`` allows further values that start with it (a model's name)."""

    name: str
    stage: str
    choices: tuple[str, ...]
    about: str
    open_prefix: str | None = None
    recipes: tuple[Recipe, ...] = RECIPES


def count(name: str, high: int, about: str, recipes: tuple[Recipe, ...], *, low: int = 1) -> Threshold:
    """A threshold that counts items; more keeps more."""
    return Threshold(
        name=name,
        stage=name.split(".")[0],
        unit="items",
        low=low,
        high=high,
        direction="higher keeps more",
        integer=True,
        recipes=recipes,
        about=about,
    )
