"""Passages that several questions share: stored once, named by title and content, sentences as stretches of the text."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from core.ingest.items import ArtifactItem
from evals.cases import Gold
from evals.formats.lines import words

Span = tuple[int, int]


def joined(sentences: Sequence[object]) -> tuple[str, list[Span | None]]:
    """The sentences as one text, a blank between two, and the stretch of each; None for a blank one, which keeps its
    number, since evidence counts sentences.

    Raises:
        ValueError: a sentence is no text.
    """
    text, spans = "", list[Span | None]()
    for sentence in sentences:
        if isinstance(sentence, str) and not sentence.strip():
            spans.append(None)
            continue
        bare = words(sentence, "a sentence").strip()
        text += " " if text else ""
        spans.append((len(text), len(text) + len(bare)))
        text += bare
    return text, spans


def quoted(source: str, text: str, span: Span, turn: str | None = None) -> Gold:
    """The stretch of a text as gold evidence."""
    return Gold(source=source, turn=turn, start=span[0], end=span[1], quote=text[span[0] : span[1]])


class Passages:
    """Passages by content. Equal ones are one, whichever question brings them; equal titles stay apart."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def take(self, title: str, text: str) -> tuple[str, ArtifactItem | None]:
        """The passage's source, and the item to store where it was not there yet."""
        source = f"{title}#{sha256(chr(10).join((title, text)).encode()).hexdigest()[:12]}"
        if source in self._seen:
            return source, None
        self._seen.add(source)
        return source, ArtifactItem(source=source, text=text, title=title, whole=True)
