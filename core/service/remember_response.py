"""What `remember` answers over HTTP: the row a text became, and how much came of it."""

from __future__ import annotations

from pydantic import BaseModel

from core.remember.report import Remembered


class RememberAnswer(BaseModel):
    """``extracted`` is false where no model read the text: it is stored as chunks with extractive summaries then."""

    artifact_id: int
    chunks: int
    entities: int
    edges: int
    superseded: int
    extracted: bool


def remember_answer(remembered: Remembered) -> RememberAnswer:
    """The response of what was remembered."""
    return RememberAnswer(**{name: getattr(remembered, name) for name in RememberAnswer.model_fields})
