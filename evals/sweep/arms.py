"""The combinations a sweep tries: what is varied, in the words of the command line, and every combination of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from core.errors import UsageError
from core.ingest.chunk import CHUNK_SIZE
from core.profile import Profile, Value
from core.thresholds import Setting, Threshold, for_recipe
from core.trace import Recipe

CHUNK, OVERLAP, EMBEDDER = "chunk", "overlap", "embedder"
CORPUS = (CHUNK, OVERLAP, EMBEDDER)
"""What is varied of the corpus and not of the profile."""
MOST = 10_000
Axes = Mapping[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One combination: a value for each name that is varied."""

    values: Mapping[str, Value]

    @property
    def name(self) -> str:
        """``fusion.method=rrf embedder=minilm``, as it is told; ``as it is`` where nothing is varied."""
        return " ".join(f"{name}={_said(value)}" for name, value in self.values.items()) or "as it is"

    @property
    def chunking(self) -> tuple[int, int] | None:
        """Size and overlap of chunks where either is varied."""
        if CHUNK not in self.values and OVERLAP not in self.values:
            return None
        return int(self.values.get(CHUNK, CHUNK_SIZE)), int(self.values.get(OVERLAP, 0))

    @property
    def embedder(self) -> str | None:
        """The embedder's name where it is varied."""
        return str(self.values[EMBEDDER]) if EMBEDDER in self.values else None

    def profile(self, base: Profile) -> Profile:
        """The base profile with the arm's methods and thresholds in it."""
        return base.with_values({name: value for name, value in self.values.items() if name not in CORPUS})


def parse_axes(written: Sequence[str], recipe: Recipe) -> Axes:
    """``name=a,b,c`` each: ``chunk`` and ``overlap`` (characters), ``embedder`` (a model, or ``tfidf``), a method of the
    recipe such as ``fusion.method``, or a threshold that is held and not tuned, such as ``rerank.depth``.

    Raises:
        UsageError: nothing is varied, an unknown name, a value it does not take, or one name twice.
    """
    axes: dict[str, tuple[Value, ...]] = {}
    for text in written:
        name, equals, values = (part.strip() for part in text.partition("="))
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not equals or not name or not listed:
            raise UsageError(f"--vary is name=value[,value…], got {text!r}")
        if name in axes:
            raise UsageError(f"--vary names {name} twice; give it one list")
        axes[name] = tuple(dict.fromkeys(_value(name, value, recipe) for value in listed))
    if recipe == "graph" and {CHUNK, OVERLAP} & set(axes):
        raise UsageError(
            "recipe graph reads facts that belong to the chunks they came from: chunk and overlap are varied for "
            "brain and memory only"
        )
    return axes


def arms_of(axes: Axes) -> list[Arm]:
    """Every combination, the last name changing fastest; overlaps that leave no room in their chunk are left out.

    Raises:
        UsageError: none is left, or there are more than ``MOST``.
    """
    arms = [Arm(values=dict(zip(axes, values, strict=True))) for values in product(*axes.values())]
    arms = [arm for arm in arms if arm.chunking is None or arm.chunking[1] < arm.chunking[0]]
    if not arms:
        raise UsageError("no combination is left: every overlap is as large as its chunk")
    if len(arms) > MOST:
        raise UsageError(f"that is {len(arms):,} combinations; name fewer values (at most {MOST:,} together)")
    return arms


def _value(name: str, text: str, recipe: Recipe) -> Value:
    if name == EMBEDDER:
        return text
    if name in (CHUNK, OVERLAP):
        low = 50 if name == CHUNK else 0
        if not text.isdecimal() or not low <= int(text) <= 100_000:
            raise UsageError(
                f"--vary {name}: a whole number of characters from {low} to 100000, got {text!r}"
            )
        return int(text)
    knobs = {knob.name: knob for knob in for_recipe(recipe)}
    knob = knobs.get(name)
    if isinstance(knob, Setting):
        return text  # checked where it is put into the profile
    if isinstance(knob, Threshold):
        try:
            return int(text) if knob.integer else float(text)
        except ValueError as error:
            raise UsageError(
                f"--vary {name}: {text!r} is no {'whole ' if knob.integer else ''}number"
            ) from error
    raise UsageError(f"--vary: nothing is called {name!r}; there are {', '.join((*CORPUS, *knobs))}")


def _said(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
