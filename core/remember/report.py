"""What remembering says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.remember.supersede import Closing
from core.remember.write import Stored

NOTHING_EXTRACTED = (
    "No model read this text: it is stored as chunks with extractive summaries, and nothing was extracted. Entities "
    "and facts come from imports, or from remembering it again with a model."
)
AGAIN = "This text was remembered before, with the same session and moment: nothing was stored again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a text became. ``chunks`` it has, ``entities`` its stored facts and its mentions relate to, ``edges`` facts
    stored with it, ``superseded`` facts that this call closed. ``extracted``: a model read its facts, now or before."""

    artifact_id: int
    chunks: int
    entities: int
    edges: int
    superseded: int
    extracted: bool
    session_id: str | None = None
    notices: tuple[str, ...] = ()


def unchanged(there: Stored, session: str | None) -> Remembered:
    """The report of a text that was remembered before."""
    return Remembered(
        artifact_id=there.artifact_id,
        chunks=there.chunks,
        entities=there.entities,
        edges=there.facts,
        superseded=0,
        extracted=there.extracted,
        session_id=session,
        notices=(AGAIN,) if there.extracted else (AGAIN, NOTHING_EXTRACTED),
    )


def repeated(count: int) -> list[str]:
    """Says how many facts were known already; [] for none."""
    return [f"{count} of the text's facts were known already and were not stored again."] if count > 0 else []


def passed_over(invented: int, apart: int, closed: Sequence[Closing]) -> list[str]:
    """Says which of a model's verdicts were not taken, or only later; [] where all were."""
    later = [closing.invalid_at for closing in closed if not closing.expires]
    said = [
        (invented, f"The model named {invented} facts it was not shown; they were passed over."),
        (
            apart,
            f"{apart} facts hold of other times than the new ones that should close them, and stay as they are.",
        ),
        (
            len(later),
            f"{len(later)} facts hold until a moment still to come ({', '.join(later)}), and end then.",
        ),
    ]
    return [text for count, text in said if count]
