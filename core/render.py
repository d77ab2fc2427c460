"""Traces as text for a terminal. Data is printed as it is, but for control characters, which are shown as ``·``."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence

from core.answer.write import WRITER
from core.trace import Answer, Candidate, Evidence, Judgement, Nearby, Stage, Trace

SHORT = 10
"""Characters of a node id that a person is shown; JSON carries it whole."""
SHOWN_NEARBY = 10
"""Nearby entities that a person is shown; JSON carries all."""


def printable(text: str) -> str:
    """``text`` on one line, control characters (also those of a terminal) replaced."""
    return "".join(mark if mark.isprintable() else "·" for mark in " ".join(text.split()))


def short_id(candidate_id: str) -> str:
    """The first characters of a sha256; other ids whole."""
    return candidate_id[:SHORT] if len(candidate_id) == 64 else candidate_id


def answer_text(trace: Trace) -> str:
    """The answer with numbered evidence, or the abstention with what was closest."""
    answer = trace.answer
    lines = [*_abstained(answer)] if answer.abstained else [*_answered(answer)]
    if answer.writer != WRITER:
        lines += ["", f"written by {printable(answer.writer)}"]
    lines += [*_nearby(trace.nearby)] if trace.nearby else []
    lines += ["", f"confidence {_number(answer.confidence)} in {answer.confidence_space}"]
    lines += [f"note: {printable(notice)}" for notice in trace.notices]
    return "\n".join(lines)


def explanation(trace: Trace) -> str:
    """Each stage with the order before and after it, then what fell where and by how much."""
    blocks = [_stage_block(trace, stage) for stage in trace.stages]
    judged = [_judged(trace.judgement)] if trace.judgement else []
    return "\n\n".join([*blocks, *judged, _falls(trace), _times(trace)])


def where(item: Evidence | Candidate) -> str:
    """Where it comes from: level, name, source, turn."""
    parts = [item.level or item.kind, item.name, item.source, item.turn, item.valid_at]
    return printable(" · ".join(part for part in parts if part))


def hits(trace: Trace) -> str:
    """Notes as `mem query` shows them: score, level, id, text, then the provenance lines."""
    if trace.answer.abstained:
        return answer_text(trace)
    blocks = []
    for rank, item in enumerate(trace.answer.evidence, start=1):
        head = f"{rank}. {_number(item.score)}  {item.level}  {short_id(item.candidate_id)}  {item.name or ''}".rstrip()
        lines = [printable(head), *_wrapped(item.text), *map(_provenance_line, _once(item))]
        blocks.append("\n".join(lines))
    return "\n\n".join([f"query {trace.trace_id}", *blocks])


def _once(item: Evidence) -> Iterator[tuple[str, int, str, str | None, str]]:
    seen = set()
    for entry in item.provenance:
        if entry.node_id not in seen:
            seen.add(entry.node_id)
            yield entry.level, entry.hops, entry.source, entry.turn, entry.node_id


def _provenance_line(entry: tuple[str, int, str, str | None, str]) -> str:
    level, hops, source, turn, node_id = entry
    place = f"{source} · {turn}" if turn else source
    return f"   {'  ' * max(0, hops - 1)}{printable(f'← {level} {place}  {short_id(node_id)}')}"


def _answered(answer: Answer) -> Iterator[str]:
    if answer.writer == WRITER:
        for rank, item in enumerate(answer.evidence, start=1):
            yield from _wrapped(item.quote, first=f"[{rank}] ")
    else:
        yield from _wrapped(numbered(answer), first="")
        yield from _doubts(answer)
    yield ""
    yield "Evidence"
    for rank, item in enumerate(answer.evidence, start=1):
        yield f"[{rank}] {where(item)}  {item.citation}"


def numbered(answer: Answer) -> str:
    """A model's text with ``[1]`` for the first piece of evidence in place of its citation, and so on."""
    ranks = {item.candidate_id: rank for rank, item in enumerate(answer.evidence, start=1)}

    def short(match: re.Match[str]) -> str:
        ids = (each.strip() for each in match.group(1).split(","))
        return "".join(f"[{ranks[each]}]" for each in ids if each in ranks)

    return re.sub(r"\[mem:([^\[\]]*)\]", short, answer.text)


def _doubts(answer: Answer) -> Iterator[str]:
    """What of a model's answer nothing stands behind."""
    for sentence in answer.sentences:
        if not sentence.supported:
            yield from _wrapped(f"unsupported: {answer.text[sentence.start : sentence.end]}")
    if answer.invalid_citations:
        yield from _wrapped(f"citations removed, they were not sent: {', '.join(answer.invalid_citations)}")


def _nearby(nearby: Nearby) -> Iterator[str]:
    yield ""
    around = ", ".join(anchor.name for anchor in nearby.anchors)
    yield from _wrapped(f"Nearby (within {nearby.radius_km:g} km of {around})", first="")
    for item in nearby.found[:SHOWN_NEARBY]:
        yield from _wrapped(
            f"{item.distance_km:.1f} km from {item.anchor}: {item.name} ({item.type}) [entity:{item.entity_id}]",
            first="  ",
        )
    if not nearby.found:
        yield "  nothing that is stored"
    if nearby.within > SHOWN_NEARBY:
        yield f"  … {nearby.within - SHOWN_NEARBY} more"


def _abstained(answer: Answer) -> Iterator[str]:
    yield f"{answer.text} (abstained: {answer.reason})"
    if answer.explanation:
        yield from _wrapped(answer.explanation)
    if answer.closest:
        yield ""
        yield "Closest"
        for item in answer.closest:
            yield from _wrapped(f"{where(item)}: {item.quote}", first="  ")


def _stage_block(trace: Trace, stage: Stage) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in stage.settings.items())
    head = f"{stage.name}: {len(stage.before)} → {len(stage.after)}" + (
        f"  by {stage.space}" if stage.space else ""
    )
    ranks = {candidate_id: rank for rank, candidate_id in enumerate(stage.before, start=1)}
    known = {candidate.candidate_id: candidate for candidate in trace.candidates}
    rows = [
        _stage_row(rank, ranks.get(key), known[key]) for rank, key in enumerate(stage.after[:10], start=1)
    ]
    more = [f"  … {len(stage.after) - 10} more"] if len(stage.after) > 10 else []
    note = [f"  {stage.note}"] if stage.note else []
    return "\n".join([head, *([f"  {settings}"] if settings else []), *note, *rows, *more])


def _stage_row(rank: int, before: int | None, candidate: Candidate) -> str:
    scores = "  ".join(f"{space}={value:.4f}" for space, value in candidate.scores.items())
    moved = (
        "  new"
        if before is None
        else f"{before:>4}" + (" ↑" if before > rank else " ↓" if before < rank else "  ")
    )
    text = textwrap.shorten(printable(candidate.text), 60, placeholder="…")
    return f"  {moved} →{rank:>4}  {short_id(candidate.candidate_id)}  {where(candidate)}  {scores}\n        {text}"


def _judged(judgement: Judgement) -> str:
    """What each feature of the learned gate added to the log-odds of answering, the strongest first."""
    strongest = sorted(judgement.contributions.items(), key=lambda item: (-abs(item[1]), item[0]))
    rows = [f"  {moved:+.3f}  {name} = {judgement.values[name]:.4g}" for name, moved in strongest]
    head = f"learned gate: P = {judgement.probability:.4f} against {judgement.cut:.4f} in {judgement.space}"
    return "\n".join([head, *rows])


def _falls(trace: Trace) -> str:
    fallen = [candidate for candidate in trace.candidates if candidate.dropped]
    lines = [f"fell: {len(fallen)} of {len(trace.candidates)}"]
    for candidate in fallen[:30]:
        drop = candidate.dropped
        if drop:
            by = f"{drop.threshold}: {drop.value:.4g} against {drop.cut:.4g} ({drop.margin:+.4g})"
            lines.append(f"  {drop.stage:<9} {short_id(candidate.candidate_id)}  {by}  {where(candidate)}")
    return "\n".join([*lines, *([f"  … {len(fallen) - 30} more"] if len(fallen) > 30 else [])])


def _times(trace: Trace) -> str:
    return "ms: " + ", ".join(f"{name} {value:.1f}" for name, value in trace.times_ms.items())


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _wrapped(text: str, first: str = "   ") -> Sequence[str]:
    width = max(40, min(110, shutil.get_terminal_size((100, 24)).columns))
    return textwrap.wrap(
        printable(text), width, initial_indent=first, subsequent_indent=" " * len(first)
    ) or [first]
