"""Cuts on cosine that remembering uses, each in a score space of its own."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import ScoreSpaceError, UsageError
from core.knob import COSINE, Threshold

RESOLVE = Threshold(
    name="resolve.min_cosine",
    stage="resolve",
    unit=COSINE,
    low=-1,
    high=1,
    direction="higher drops more",
    space="cosine",
    recipes=(),
    about="least cosine of two names to be the same entity; higher merges less",
)
TOPIC = Threshold(
    name="topic.min_cosine",
    stage="synthesize",
    unit=COSINE,
    low=-1,
    high=1,
    direction="higher drops more",
    space="cosine",
    recipes=(),
    about="least cosine of a note with the centre of a topic to belong to it",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A value of a threshold, and the space it was set in; ``cosine/*`` binds to whichever embedder runs."""

    knob: Threshold
    value: float
    space: str = "cosine/*"

    def __post_init__(self) -> None:
        if not self.knob.low <= self.value <= self.knob.high:  # NaN is in no range
            raise UsageError(
                f"{self.knob.name} must be a number in [{self.knob.low}, {self.knob.high}], got {self.value!r}"
            )

    def bound(self, model_id: str) -> float:
        """The value, where cosines of that model are what it was set for.

        Raises:
            ScoreSpaceError: it was set in another space.
        """
        actual = f"cosine/{model_id}"
        if self.space not in ("cosine/*", actual):
            raise ScoreSpaceError(
                f"{self.knob.name} = {self.value} was set in score space {self.space!r}, but names are compared in "
                f"{actual!r}, where the same number means something else; use that model, or set it again for this one"
            )
        return self.value


SAME_ENTITY = Cut(knob=RESOLVE, value=0.75)
SAME_TOPIC = Cut(knob=TOPIC, value=0.6)
