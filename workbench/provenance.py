"""What evidence was made from, L2 → L1 → L0, as nested lists of escaped text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.show.plain import markup, shortened
from core.trace import Evidence, Provenance

PARENTS = 12
PARENT_TEXT = 220


def line(parts: Sequence[str | None]) -> str:
    """The parts there are, escaped, each apart from the others' writing direction."""
    return " · ".join(f"<bdi>{markup(shortened(part, 120))}</bdi>" for part in parts if part)


def tree(shown: Sequence[Evidence]) -> str:
    """The chain of every piece of evidence, open, as one tree."""
    rows = "".join(_root(item, place) for place, item in enumerate(shown, start=1))
    return f'<div class="assay-tree"><ul>{rows}</ul></div>'


def _root(item: Evidence, place: int) -> str:
    above = [entry for entry in item.provenance if entry.hops]
    label = item.level or item.kind
    level = f'<span class="assay-level assay-{item.level or "none"}">{label}</span>'
    where = line((item.source, item.session, item.turn))
    below = _parents(above, item.candidate_id, depth=1) or "<small>raw: made from nothing else</small>"
    said = markup(shortened(item.text or item.quote, PARENT_TEXT))
    return (
        f'<li><b class="assay-number">[{place}]</b> {level}<small>{where}</small>'
        f'<p dir="auto">{said}</p>{below}</li>'
    )


def made_from(entries: Sequence[Provenance], top: str) -> str:
    """What node ``top`` was made from, down to the raw evidence, behind a click; empty for a node of its own."""
    above = [entry for entry in entries if entry.hops]
    if not above:
        return ""
    levels = " → ".join(dict.fromkeys(entry.level for entry in above))
    head = f"Made from {len(above)} {'memory' if len(above) == 1 else 'memories'} ({levels})"
    return f'<details class="assay-made"><summary>{head}</summary>{_parents(above, top, depth=1)}</details>'


def _parents(entries: Sequence[Provenance], child: str, depth: int) -> str:
    here = [entry for entry in entries if entry.hops == depth and (entry.child_id or child) == child]
    rows = list(_parent_rows(entries, here[:PARENTS], depth))
    more = [f"<li>and {len(here) - PARENTS} more</li>"] if len(here) > PARENTS else []
    return f"<ul>{''.join([*rows, *more])}</ul>" if rows else ""


def _parent_rows(entries: Sequence[Provenance], here: Sequence[Provenance], depth: int) -> Iterator[str]:
    for entry in here:
        place = line((entry.source, entry.turn))
        text = markup(shortened(entry.text, PARENT_TEXT))
        level = f'<span class="assay-level assay-{entry.level}">{entry.level}</span>'
        deeper = _parents(entries, entry.node_id, depth + 1)
        yield f'<li>{level}<small>{place}</small><p dir="auto">{text}</p>{deeper}</li>'
