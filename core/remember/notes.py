"""Notes of a window: by a model that says which nodes each was made from, or in the nodes' own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.answer.tags import one_line, tagged
from core.records import Node
from core.remember import prompts
from core.remember.calls import Caller, Reply
from core.remember.central import Rarity, central
from core.remember.windows import Window
from core.remember.words import Said

SENTENCES = 3
"""Sentences of an extractive note."""
MAX_SENTENCE = 300
"""Characters of a sentence in it."""
TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note before it is stored; ``parents`` are ids of nodes of its window, at least one."""

    text: str
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What one window gave. ``invented`` numbers were not in the window; ``dropped`` notes named nothing else."""

    notes: tuple[Note, ...]
    invented: int = 0
    dropped: int = 0


class _Note(Reply):
    text: Said
    turns: list[int]


class _Notes(Reply):
    notes: list[_Note]


def extractive(window: Window, rarity: Rarity) -> Notes:
    """One note: the sentences that say most of the window in their own words and order, each with who said it. It comes
    from the nodes they stand in."""
    texts = [unspoken(node) for node in window.nodes]
    spans = sorted(central(texts, SENTENCES, rarity))
    said = [_spoken(window.nodes[place], texts[place][start:end]) for place, start, end in spans]
    parents = dict.fromkeys(window.nodes[place].node_id for place, _, _ in spans)
    return Notes(notes=(Note(text=" ".join(said), parents=tuple(parents)),) if said else ())


def written(caller: Caller, window: Window) -> Notes:
    """The notes a model makes of the window, equal ones once; what it names that is not there is passed over.

    Raises:
        ChatError: the call failed or its reply cannot be used.
    """
    lines = "\n".join(_line(number, node) for number, node in enumerate(window.nodes, start=1))
    reply = caller.ask(
        "synthesize",
        system=prompts.SYNTHESIZE,
        prompt=tagged("passages", lines),
        shape=_Notes,
        max_tokens=TOKENS,
    )
    made: dict[str, Note] = {}
    for item in reply.notes:
        parents = _parents(item.turns, window.nodes)
        if parents:
            made.setdefault(item.text, Note(text=item.text, parents=parents))
    given = [turn for item in reply.notes for turn in item.turns]
    dropped = sum(not _parents(item.turns, window.nodes) for item in reply.notes)
    invented = sum(not 1 <= turn <= len(window.nodes) for turn in given)
    return Notes(notes=tuple(made.values()), invented=invented, dropped=dropped)


def _parents(turns: Sequence[int], nodes: Sequence[Node]) -> tuple[str, ...]:
    sound = sorted({turn for turn in turns if 1 <= turn <= len(nodes)})
    return tuple(nodes[turn - 1].node_id for turn in sound)


def unspoken(node: Node) -> str:
    """The text without the speaker's name before it, which would make every sentence central that names somebody."""
    return node.text.removeprefix(f"{node.speaker}:").lstrip() if node.speaker else node.text


def _spoken(node: Node, sentence: str) -> str:
    words = " ".join(sentence.split())
    words = words[:MAX_SENTENCE].rstrip()
    return f"{node.speaker}: {words}" if node.speaker else words


def _line(number: int, node: Node) -> str:
    day = node.valid_at.removesuffix("T00:00:00Z") if node.valid_at else None
    who = ", ".join(one_line(part) for part in (node.title, node.speaker, day) if part)
    return f"[{number}] {who + ': ' if who else ''}{one_line(unspoken(node))}"
