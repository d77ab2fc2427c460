"""Answers written by a model: its citations are resolved against what it was sent, and nothing else of it is believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from core.answer.abstain import SENTENCES
from core.answer.citations import cited
from core.answer.graph_reply import GraphReply, parse
from core.answer.prompts import NOT_ANSWERABLE
from core.models.chat import ChatError, ChatReply
from core.trace import Answer, Evidence, ReasonCode

STAGE = "query"
"""The stage of the call that writes an answer."""
EvidenceOf = Callable[[Sequence[str]], tuple[Evidence, ...]]
"""Candidate ids to the evidence they are."""


def aliases(evidence: Sequence[Evidence]) -> dict[str, Evidence]:
    """Short ids to show a model: n1, n2 … in rank order."""
    return {f"n{place}": item for place, item in enumerate(evidence, start=1)}


def cited_answer(listed: Answer, reply: ChatReply) -> Answer:
    """What a model wrote out of the evidence of ``listed``, the deterministic answer to the same question.

    Its evidence is what it cited of that, in rank order. A refusal, or a reply that is only ``NOT_ANSWERABLE``, is an
    abstention (``model_declined``), and so is a text without one valid citation (``not_supported``).

    Raises:
        ChatError: the reply is empty.
    """
    if reply.refused or reply.text.strip() == NOT_ANSWERABLE:
        return _abstained(listed, "model_declined", reply)
    sent = aliases(listed.evidence)
    ids = {alias: item.candidate_id for alias, item in sent.items()}
    found = cited(reply.text, ids | {full: full for full in ids.values()})
    if not reply.text.strip():
        raise ChatError(
            "the model's reply is empty; ask again", "empty", model=reply.model, usage=reply.usage
        )
    if not found.cited:
        return replace(_abstained(listed, "not_supported", reply), invalid_citations=found.invalid)
    return replace(
        listed,
        text=found.text,
        evidence=tuple(item for item in listed.evidence if item.candidate_id in found.cited),
        writer=reply.model,
        sentences=found.sentences,
        invalid_citations=found.invalid,
    )


def graph_answer(
    listed: Answer, reply: ChatReply, sent: Mapping[str, Sequence[str]], evidence_of: EvidenceOf
) -> Answer:
    """What a model wrote out of a subgraph. ``sent`` maps each candidate id it was given to those its citation brings
    along: a fact's own and the entities at its ends.

    Its evidence is what it cited of that, facts, passages, then entities, each kind by id. Without any the answer is an
    abstention (``not_supported``) that keeps what the model said as its draft.

    Raises:
        ChatError: the reply cannot be parsed, or its answer is empty.
    """
    if reply.refused:
        return _abstained(listed, "model_declined", reply)
    said = parse(reply.text)
    wanted = _candidate_ids(said)
    invalid = tuple(wanted_id for wanted_id in wanted if wanted_id not in sent)
    brought = dict.fromkeys(each for wanted_id in wanted for each in sent.get(wanted_id, ()))
    if not brought:
        declined = replace(_abstained(listed, "not_supported", reply), draft=said.answer)
        return replace(declined, invalid_citations=invalid)
    evidence = evidence_of(sorted(brought, key=_by_kind_and_id))
    return replace(listed, text=said.answer, evidence=evidence, writer=reply.model, invalid_citations=invalid)


_KINDS = ("fact", "chunk", "entity")


def _candidate_ids(said: GraphReply) -> list[str]:
    named = {"fact": said.edges, "chunk": said.passages, "entity": said.entities}
    return [f"{kind}:{row_id}" for kind, row_ids in named.items() for row_id in row_ids]


def _by_kind_and_id(candidate_id: str) -> tuple[int, int]:
    kind, row_id = candidate_id.split(":")
    return _KINDS.index(kind), int(row_id)


def _abstained(listed: Answer, reason: ReasonCode, reply: ChatReply) -> Answer:
    return replace(
        listed,
        text=SENTENCES[reason],
        abstained=True,
        reason=reason,
        evidence=(),
        writer=reply.model,
        draft=reply.text or None,
    )
