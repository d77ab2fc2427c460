"""Traces written by hand: one answered by each recipe, abstentions, and one whose every word is hostile."""

from __future__ import annotations

from dataclasses import replace

from core.profile import load
from core.records import Fact
from core.trace import Answer, Candidate, Drop, Evidence, Provenance, Recipe, Stage, Trace

COSINE, BLEND, RERANK = "cosine/minilm-l6-int8", "tfidf+cosine/minilm-l6-int8", "maxsim/minilm-l6-int8"
SPACES = {"overlap": "overlap", "cosine": COSINE, "tfidf+cosine": BLEND, "graph-points": "graph-points"}
QUESTION = "Why did requests over 10KB fail?"
CAUSE = (
    "Root causes this quarter. Requests over 10KB failed because the ingress proxy's body buffer was left at its "
    "default after the upgrade. The retry queue hid it for two days."
)
QUOTE = "Requests over 10KB failed because the ingress proxy's body buffer was left at its default after the upgrade."
TEXTS = {
    "n1": CAUSE,
    "n2": "The proxy upgrade of 3 March changed the default of client_body_buffer to 10 KB.",
    "n3": "Uploads larger than ten kilobytes came back with status 413 until the limit was raised.",
    "n4": "The office plants need more light.",
    "n5": "Priya: the cafeteria menu changes on Monday.",
}
HOSTILE = (
    "<script>document.title='owned'</script> ![x](http://evil.example/x.png) "
    "[click](javascript:alert(1)) 🚰 :red[no]"
)


def node(
    key: str, cosine: float, blend: float, overlap: float, *, rerank: float | None = None, **more: object
) -> Candidate:
    """A node candidate with the scores `memory` and `brain` know."""
    scores = {COSINE: cosine, BLEND: blend, "overlap": overlap, "fused": blend}
    made = Candidate(
        candidate_id=key,
        kind="node",
        text=TEXTS[key],
        source="eng-log/notes",
        session="2025-03-04",
        level="L1",
        name=f"note-{key}",
        scores=scores | ({RERANK: rerank} if rerank is not None else {}),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def evidence(candidate: Candidate, quote: str, score: float, **more: object) -> Evidence:
    """Evidence that quotes ``quote`` out of a candidate."""
    start = candidate.text.index(quote)
    made = Evidence(
        candidate_id=candidate.candidate_id,
        kind=candidate.kind,
        citation=f"[{'mem' if candidate.kind == 'node' else 'passage'}:{candidate.candidate_id}]",
        text=candidate.text,
        quote=quote,
        start=start,
        end=start + len(quote),
        source=candidate.source,
        session=candidate.session,
        name=candidate.name,
        level=candidate.level,
        score=score,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def trace(
    recipe: Recipe, candidates: tuple[Candidate, ...], stages: tuple[Stage, ...], answer: Answer
) -> Trace:
    """A Trace of profile ``seed`` around the parts given; the ranking is the candidates' order."""
    profile = load("seed", recipe)
    return Trace(
        trace_id=f"{recipe}-0123456789abcdef",
        question=QUESTION,
        datasets=("meridian",),
        recipe=recipe,
        profile=profile.name,
        fingerprint=profile.fingerprint,
        values=dict(profile.values),
        spaces=SPACES | ({"rerank": RERANK} if recipe == "memory" else {}),
        candidates=candidates,
        stages=stages,
        ranking=tuple(candidate.candidate_id for candidate in candidates),
        answer=answer,
        notices=("floor.min_cosine = -1.0 names no model; it is read in cosine/minilm-l6-int8.",),
        times_ms={stage.name: 1.5 for stage in stages} | {"write": 0.5},
    )


def brain_answered() -> Trace:
    """Two of five cited; one fell at select, two at the floor."""
    floor = {"stage": "floor", "space": "overlap", "threshold": "floor.min_overlap", "cut": 0.12}
    third = Drop(stage="select", threshold="select.k", cut=2, value=3)
    candidates = (
        node("n1", 0.71, 0.62, 0.75),
        node("n2", 0.55, 0.41, 0.5),
        node("n3", 0.52, 0.36, 0.25, dropped=third),
        node("n4", 0.08, 0.05, 0.0, dropped=Drop(value=0.0, **floor)),  # type: ignore[arg-type]
        node("n5", 0.02, 0.02, 0.0, dropped=Drop(value=0.0, **floor), level="L0", name=None, turn="t5"),  # type: ignore[arg-type]
    )
    cited = (
        evidence(candidates[0], QUOTE, 0.62, provenance=_parents()),
        evidence(candidates[1], TEXTS["n2"], 0.41),
    )
    every, kept = ("n1", "n2", "n3", "n4", "n5"), ("n1", "n2", "n3")
    stages = (
        Stage(name="recall", before=(), after=("n3", "n1", "n5", "n2", "n4")),
        Stage(name="fuse", before=("n3", "n1", "n5", "n2", "n4"), after=every, space="fused"),
        Stage(name="rerank", before=every, after=every, note="rerank.method is none: the fused order stands"),
        Stage(name="floor", before=every, after=kept),
        Stage(name="diversify", before=kept, after=kept, settings={"mmr.lambda": 0.72}),
        Stage(name="gate", before=kept, after=kept),
        Stage(name="select", before=kept, after=kept[:2], settings={"select.k": 2}),
    )
    text = f"{QUOTE} [mem:n1]\n{TEXTS['n2']} [mem:n2]"
    answer = Answer(
        text=text, abstained=False, evidence=cited, closest=cited, confidence=0.62, confidence_space=BLEND
    )
    return trace("brain", candidates, stages, answer)


def memory_answered() -> Trace:
    """Reranking lifts the third to the first place and drops what it did not read."""
    beyond = Drop(stage="rerank", threshold="rerank.depth", cut=3, value=4)
    candidates = (
        node("n2", 0.55, 0.41, 0.5, rerank=0.61),
        node("n3", 0.52, 0.36, 0.25, rerank=0.58),
        node("n1", 0.5, 0.62, 0.75, rerank=0.83),
        node("n4", 0.08, 0.05, 0.0, dropped=beyond),
    )
    cited = (
        evidence(candidates[2], QUOTE, 1.0, provenance=_parents()),
        evidence(candidates[0], TEXTS["n2"], 0.12),
    )
    fused, order = ("n2", "n3", "n1", "n4"), ("n1", "n2", "n3")
    stages = (
        Stage(name="recall", before=(), after=fused),
        Stage(name="fuse", before=fused, after=fused, space="fused"),
        Stage(name="rerank", before=fused, after=(*order, "n4"), space=RERANK, settings={"rerank.depth": 3}),
        Stage(name="floor", before=order, after=order),
        Stage(name="diversify", before=order, after=order),
        Stage(name="gate", before=order, after=order, space=RERANK),
        Stage(name="select", before=order, after=order[:2]),
    )
    text = f"{QUOTE} [mem:n1]\n{TEXTS['n2']} [mem:n2]"
    answer = Answer(
        text=text, abstained=False, evidence=cited, closest=cited, confidence=0.55, confidence_space=COSINE
    )
    return trace("memory", candidates, stages, answer)


def graph_answered() -> Trace:
    """One fact and one passage cited, one more fact in the context, two entities."""
    works = fact(12, (1, "Ines Duarte"), "works_at", (2, "Meridian"), valid_at="2023-01-01T00:00:00Z")
    lives = fact(13, (1, "Ines Duarte"), "lives_in", (3, "Porto"))
    passage = Candidate(
        candidate_id="chunk:4", kind="chunk", text=CAUSE, source="log.md", title="Log", scores={COSINE: 0.44}
    )
    candidates = (
        _fact_candidate(works, 0.78),
        passage,
        _fact_candidate(lives, 0.31),
        Candidate(
            candidate_id="entity:1",
            kind="entity",
            text="Ines Duarte (person)",
            source="",
            scores={"graph-points": 8.0},
        ),
    )
    cited = (
        Evidence(
            candidate_id="fact:12",
            kind="fact",
            citation="[fact:12]",
            text=works.description,
            quote="Ines Duarte works at Meridian (valid from 2023-01-01)",
            start=0,
            end=len(works.description),
            source="people.md",
            score=0.78,
            fact=works,
        ),
        evidence(passage, QUOTE, 0.44, citation="[passage:4]", title="Log"),
    )
    found, context = ("entity:1", "fact:12", "chunk:4"), ("fact:12", "fact:13", "chunk:4", "entity:1")
    citable = ("fact:12", "chunk:4", "fact:13")
    stages = (
        Stage(name="recall", before=(), after=found),
        Stage(name="fuse", before=found, after=found, space=COSINE),
        Stage(name="floor", before=found, after=found, space=COSINE),
        Stage(name="expand", before=found, after=context),
        Stage(name="gate", before=context, after=citable, space=COSINE),
        Stage(name="select", before=citable, after=citable[:2], space=COSINE),
    )
    text = f"{cited[0].quote} [fact:12]\n{QUOTE} [passage:4]"
    answer = Answer(
        text=text, abstained=False, evidence=cited, closest=cited, confidence=0.78, confidence_space=COSINE
    )
    made = trace("graph", candidates, stages, answer)
    return replace(made, ranking=("fact:12", "chunk:4", "fact:13"))  # entities are not ranked


def below_floor() -> Trace:
    """The closest scored 0.310 where the floor asks for 0.340."""
    fell = Drop(stage="floor", threshold="floor.min_score", cut=0.34, value=0.31, space=BLEND)
    candidates = (node("n3", 0.5, 0.31, 0.15, dropped=fell),)
    closest = (evidence(candidates[0], TEXTS["n3"], 0.31),)
    stages = (
        Stage(name="recall", before=(), after=("n3",)),
        Stage(name="fuse", before=("n3",), after=("n3",), space="fused"),
        Stage(name="floor", before=("n3",), after=()),
        Stage(name="select", before=(), after=()),
    )
    answer = Answer(
        text="I found nothing relevant enough in memory to answer that.",
        abstained=True,
        reason="below_floor",
        explanation="The closest candidate scored 0.310.",
        closest=closest,
        confidence=0.31,
        confidence_space=BLEND,
    )
    return trace("brain", candidates, stages, answer)


def nothing_found() -> Trace:
    """No candidate at all."""
    stages = (Stage(name="recall", before=(), after=()), Stage(name="select", before=(), after=()))
    answer = Answer(
        text="I don't have any information in memory to answer that.", abstained=True, reason="no_evidence"
    )
    return trace("memory", (), stages, answer)


def hostile() -> Trace:
    """Tags, Markdown, emoji, right-to-left text, a formula, control characters, 1 MB of text and missing fields."""
    long = "x " * 300_000 + HOSTILE + " ثلاثة مضخات في الخدمة." + " y" * 300_000
    texts = {"n1": HOSTILE, "n2": long, "n3": '=HYPERLINK("http://evil.example")\x00\x1b[31m'}
    candidates = tuple(
        Candidate(
            candidate_id=key,
            kind="node",
            text=text,
            source=HOSTILE if key == "n1" else "",
            title=HOSTILE if key == "n1" else "",
            name=HOSTILE if key == "n1" else None,
            scores={COSINE: 0.5, HOSTILE: 0.1},
        )
        for key, text in texts.items()
    )
    cited = tuple(
        evidence(item, HOSTILE if key != "n3" else item.text, 0.5, source=item.source, title=item.title)
        for key, item in zip(texts, candidates, strict=True)
    )
    stages = (
        Stage(name="recall", before=(), after=tuple(texts)),
        Stage(name="select", before=tuple(texts), after=tuple(texts), note=HOSTILE),
    )
    lines = [f"{HOSTILE} [mem:n1]", f"{HOSTILE} [mem:n2] [mem:n9]", f"{texts['n3']} [mem:n3]"]
    answer = Answer(text="\n".join(lines), abstained=False, evidence=cited, closest=cited)
    made = trace("brain", candidates, stages, answer)
    return replace(made, question=HOSTILE, datasets=(HOSTILE,), notices=(HOSTILE,), times_ms={})


def fact(fact_id: int, source: tuple[int, str], relation: str, target: tuple[int, str], **more: str) -> Fact:
    """A live fact between two entities given as (number, name)."""
    return Fact(
        fact_id=fact_id,
        source_id=source[0],
        target_id=target[0],
        source=source[1],
        target=target[1],
        relation=relation,
        description=f"{source[1]} {relation} {target[1]}.",
        created_at="2025-01-01T00:00:00Z",
        **more,
    )


def _fact_candidate(given: Fact, cosine: float) -> Candidate:
    return Candidate(
        candidate_id=f"fact:{given.fact_id}",
        kind="fact",
        text=given.description,
        source="people.md",
        fact=given,
        scores={COSINE: cosine},
    )


def _parents() -> tuple[Provenance, ...]:
    turns = (
        ("p1", "t1", "Priya: uploads over 10KB fail since the upgrade."),
        ("p2", "t2", "Tomas: the buffer is at 10k."),
    )
    return tuple(
        Provenance(
            node_id=key, level="L0", source="eng-log/2025-03-04", turn=turn, text=text, hops=1, child_id="n1"
        )
        for key, turn, text in turns
    )
