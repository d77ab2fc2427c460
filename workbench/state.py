"""A view of the workbench as a link: what is asked, of what, by which recipe and profile, with which changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlencode

from core import clock
from core import profile as profiles
from core.errors import AssayError, UsageError
from core.geo.sphere import check_radius
from core.profile import Profile, Value
from core.records import LEVELS
from core.thresholds import BY_NAME, Setting, for_recipe
from core.trace import RECIPES, Recipe

CHANGE = "set."
"""Prefix of a changed threshold in a link, e.g. ``set.floor.min_score=0.41``."""
DEFAULT_RECIPE: Recipe = "memory"  # the one that shows every part: notes, their provenance and a reranker
Name = TypeVar("Name", bound=str)
SECTIONS = ("path", "candidates", "compare")
PICTURES = ("graph", "provenance", "timeline", "map")
MAX_LINKED_QUESTION = 2000
"""Characters of a question that a link carries; browsers cut longer addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the page shows. ``levels`` empty: the recipe's own; ``changes`` only what differs from the profile.

    ``section`` is what stands below the evidence, ``picture`` what stands beside it; ``beside`` the profile that is
    compared with; ``superseded`` also draws facts that no longer hold; ``nearby_km`` 0: nothing is searched nearby.
    """

    dataset: str
    recipe: Recipe
    profile: str
    question: str
    levels: tuple[str, ...] = ()
    as_of: str = ""
    known_at: str = ""
    section: str = SECTIONS[0]
    picture: str = PICTURES[0]
    beside: str = ""
    superseded: bool = False
    nearby_km: float = 0.0
    changes: Mapping[str, Value] = field(default_factory=dict)

    def tuned(self) -> Profile:
        """The profile with the changes in it; its name says that it was changed.

        Raises:
            AssayError: no such profile, or a value out of range.
        """
        base = profiles.load(self.profile, self.recipe)
        return base.with_values(self.changes, name=f"{self.profile}-changed") if self.changes else base

    def moments(self) -> tuple[str | None, str | None]:
        """``as_of`` and ``known_at`` in UTC; None where empty.

        Raises:
            UsageError: not a date or time.
        """
        try:
            return (
                clock.parse(self.as_of) if self.as_of else None,
                clock.parse(self.known_at) if self.known_at else None,
            )
        except ValueError as error:
            raise UsageError(str(error)) from error


def to_query(view: View) -> dict[str, str]:
    """Query parameters of ``view``; what is empty is left out."""
    plain = {
        "dataset": view.dataset,
        "recipe": view.recipe,
        "profile": view.profile,
        "q": view.question[:MAX_LINKED_QUESTION],
        "levels": ",".join(view.levels),
        "as_of": view.as_of,
        "known_at": view.known_at,
        "section": view.section if view.section != SECTIONS[0] else "",
        "picture": view.picture if view.picture != PICTURES[0] else "",
        "beside": view.beside,
        "superseded": "1" if view.superseded else "",
        "nearby_km": f"{view.nearby_km:g}" if view.nearby_km else "",
    }
    changes = {CHANGE + name: str(value) for name, value in view.changes.items()}
    return {key: value for key, value in plain.items() if value} | changes


def address(view: View) -> str:
    """The relative address of a view of Ask, from any page of the app."""
    return f"./?{urlencode(to_query(view))}"


def from_query(params: Mapping[str, str], datasets: Sequence[str]) -> tuple[View, list[str]]:
    """The view a link asks for and a sentence for each part that could not be taken; ``datasets`` must not be empty."""
    said: list[str] = []
    recipe = _one_of("recipe", params.get("recipe"), RECIPES, DEFAULT_RECIPE, said)
    name = _one_of("profile", params.get("profile"), profiles.shipped(), default_profile(), said)
    levels = tuple(level for level in params.get("levels", "").split(",") if level in LEVELS)
    view = View(
        dataset=_one_of("dataset", params.get("dataset"), datasets, datasets[0], said),
        recipe=recipe,
        profile=name,
        question=params.get("q", ""),
        levels=levels,
        as_of=params.get("as_of", ""),
        known_at=params.get("known_at", ""),
        section=_one_of("section", params.get("section"), SECTIONS, SECTIONS[0], said),
        picture=_one_of("picture", params.get("picture"), PICTURES, PICTURES[0], said),
        beside=_beside(params.get("beside"), name, said),
        superseded=params.get("superseded") == "1",
        nearby_km=_radius(params.get("nearby_km"), said),
        changes=_changes(params, profiles.load(name, recipe), said),
    )
    return view, said


def default_profile() -> str:
    """``default`` where it is shipped, else the first there is."""
    names = profiles.shipped()
    return "default" if "default" in names else names[0]


def other_profile(name: str) -> str:
    """The profile a first comparison is with: ``seed``, or of ``seed`` itself the default one."""
    names = profiles.shipped()
    return "seed" if name != "seed" and "seed" in names else default_profile()


def differing(profile: Profile, values: Mapping[str, Value]) -> dict[str, Value]:
    """Those of ``values`` that are not what ``profile`` says, in declaration order."""
    order = [knob.name for knob in for_recipe(profile.recipe)]
    return {name: values[name] for name in order if name in values and values[name] != profile.values[name]}


def _one_of(what: str, given: str | None, known: Sequence[Name], default: Name, said: list[str]) -> Name:
    for name in known:
        if name == given:
            return name
    if given:
        said.append(f"The link names {what} {given!r}, which is not here; {default!r} is shown.")
    return default


def _beside(given: str | None, name: str, said: list[str]) -> str:
    return _one_of("profile", given, profiles.shipped(), other_profile(name), said) if given else ""


def _radius(given: str | None, said: list[str]) -> float:
    try:
        return check_radius(float(given)) if given else 0.0
    except (AssayError, ValueError) as error:
        said.append(f"The link's nearby_km={given} was left out: {error}")
        return 0.0


def _changes(params: Mapping[str, str], profile: Profile, said: list[str]) -> dict[str, Value]:
    changes: dict[str, Value] = {}
    for key, text in params.items():
        if not key.startswith(CHANGE):
            continue
        name = key.removeprefix(CHANGE)
        try:
            changes |= {name: profile.with_values({name: _value(name, text)}).values[name]}
        except (AssayError, ValueError) as error:
            said.append(f"The link's {key}={text} was left out: {error}")
    return differing(profile, changes)


def _value(name: str, text: str) -> Value:
    knob = BY_NAME.get(name)
    return text if knob is None or isinstance(knob, Setting) else float(text)
