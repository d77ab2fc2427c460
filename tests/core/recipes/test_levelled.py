"""`memory` and `brain` over a small real store."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import profile as profiles
from core.errors import NotFoundError, ScoreSpaceError, StoreError, UsageError
from core.ingest.items import NodeItem
from core.trace import Trace

QUESTION = "why did requests over 10KB fail?"


def seed(recipe, **changes):
    loaded = profiles.load("seed", recipe)
    return loaded.with_values({key.replace("__", "."): value for key, value in changes.items()})


def names(trace: Trace) -> list[str | None]:
    return [item.name for item in trace.answer.evidence]


def test_brain_answers_with_citations_that_resolve(make_workspace, turns):
    workspace = make_workspace(turns)
    trace = workspace.ask(QUESTION, dataset="main", recipe="brain", profile=seed("brain"))
    assert not trace.answer.abstained
    stored = {
        node.node_id
        for node in workspace.store.nodes_by_id([1], [e.candidate_id for e in trace.answer.evidence])
    }
    assert [item.candidate_id for item in trace.answer.evidence if item.candidate_id not in stored] == []
    for item in trace.answer.evidence:
        assert f"[mem:{item.candidate_id}]" in trace.answer.text
        assert item.text[item.start : item.end] == item.quote
    assert trace.answer.writer == "deterministic"


def test_brain_abstains_out_of_domain_and_says_what_was_closest(make_workspace, turns):
    trace = make_workspace(turns).ask(
        "Which opera opened in Vienna?", dataset="main", recipe="brain", profile=seed("brain")
    )
    assert trace.answer.abstained
    assert trace.answer.reason == "below_floor"
    assert trace.answer.closest
    assert "floor." in trace.answer.explanation


def test_a_confident_stranger_never_answers(make_workspace, turns):
    trace = make_workspace(turns).ask(
        QUESTION, dataset="main", recipe="brain", profile=seed("brain", fusion__confidence_weight=1.0)
    )
    assert "lunch" not in names(trace)
    stranger = next(c for c in trace.candidates if c.name == "lunch")
    assert stranger.dropped
    assert stranger.dropped.stage == "floor"


def test_question_of_stop_words(make_workspace, turns):
    trace = make_workspace(turns).ask("what is the", dataset="main", recipe="brain", profile=seed("brain"))
    assert trace.answer.reason == "no_terms"


def test_empty_dataset_has_no_evidence(make_workspace):
    workspace = make_workspace([])
    workspace.store.ensure_dataset("empty")
    for recipe in ("brain", "memory", "graph"):
        trace = workspace.ask(QUESTION, dataset="empty", recipe=recipe, profile=seed(recipe))
        assert (trace.answer.abstained, trace.answer.reason, trace.answer.confidence) == (
            True,
            "no_evidence",
            None,
        )


def test_memory_leaves_raw_turns_out_unless_asked(make_workspace, turns):
    workspace = make_workspace(turns)
    profile = seed("memory", rerank__method="none")
    notes = workspace.ask(QUESTION, dataset="main", recipe="memory", profile=profile)
    assert {item.level for item in notes.answer.evidence} <= {"L1", "L2"}
    assert names(notes)[0] == "infra-root-causes"
    raw = workspace.ask(QUESTION, dataset="main", recipe="memory", profile=profile, levels=("L0",))
    assert {item.level for item in raw.answer.evidence} == {"L0"}


def test_provenance_goes_down_to_the_turns(make_workspace, turns):
    workspace = make_workspace(turns)
    trace = workspace.ask(
        QUESTION, dataset="main", recipe="memory", profile=seed("memory", rerank__method="none")
    )
    by_name = {item.name: item for item in trace.answer.evidence}
    assert [(p.level, p.turn, p.hops) for p in by_name["infra-root-causes"].provenance] == [
        ("L0", "t1", 1),
        ("L0", "t2", 1),
    ]
    assert [(p.level, p.hops) for p in by_name["lessons"].provenance] == [("L1", 1), ("L0", 2), ("L0", 2)]


def test_the_best_cosine_gates_memory_as_a_whole(make_workspace, turns):
    workspace = make_workspace(turns)
    plain = seed("memory", rerank__method="none")
    open_gate = workspace.ask(QUESTION, dataset="main", recipe="memory", profile=plain)
    best = open_gate.answer.confidence
    assert best == max(c.scores["cosine/bag-64"] for c in open_gate.candidates)
    assert len(open_gate.answer.evidence) == 3
    for cut, answered in ((best - 1e-4, True), (best + 1e-4, False)):
        profile = plain.with_values({"gate.min_best_cosine": cut})
        trace = workspace.ask(QUESTION, dataset="main", recipe="memory", profile=profile)
        assert trace.answer.abstained is not answered
        assert len(trace.answer.evidence) == (3 if answered else 0)
        assert trace.answer.confidence == best
    assert {c.dropped.threshold for c in trace.candidates if c.dropped} == {"gate.min_best_cosine"}
    assert "gate.min_best_cosine" in trace.answer.explanation


def test_a_near_duplicate_waits_for_something_new(make_workspace):
    texts = {
        "first": "Proxy buffer refuses large requests.",
        "again": "Proxy buffer refuses large requests today.",
        "other": "Large requests need a bigger disk quota at the site.",
    }
    items = [NodeItem(level="L0", text=text, source=name, name=name) for name, text in texts.items()]
    workspace = make_workspace(items)
    question = "why does the proxy buffer refuse large requests?"
    order = {}
    for trade_off in (1.0, 0.3):
        profile = seed("brain", mmr__lambda=trade_off, floor__min_overlap=0.0, floor__strong_overlap=0.0)
        order[trade_off] = names(workspace.ask(question, dataset="main", recipe="brain", profile=profile))
    assert order[1.0] == ["first", "again", "other"]
    assert order[0.3] == ["first", "other", "again"]


def test_hidden_sources_are_never_seen(make_workspace, turns):
    trace = make_workspace(turns).ask(
        QUESTION, dataset="main", recipe="brain", profile=seed("brain"), hide_sources=frozenset({"log"})
    )
    assert {candidate.source for candidate in trace.candidates} == {"notes"}


def test_datasets_do_not_leak(make_workspace, turns):
    workspace = make_workspace(turns)
    secret = NodeItem(
        level="L1", text="Requests over 10KB fail because of the secret.", source="secret", name="s"
    )
    make_workspace([secret], dataset="other")
    make_workspace([secret], dataset="main", user_id="somebody")
    for recipe in ("brain", "memory"):
        trace = workspace.ask(QUESTION, dataset="main", recipe=recipe, profile=seed(recipe))
        assert "secret" not in {candidate.source for candidate in trace.candidates}


def test_every_stage_passes_on_what_the_next_receives(make_workspace, turns):
    trace = make_workspace(turns).ask(QUESTION, dataset="main", recipe="brain", profile=seed("brain"))
    assert [stage.name for stage in trace.stages] == [
        "recall",
        "fuse",
        "rerank",
        "floor",
        "diversify",
        "gate",
        "select",
    ]
    fallen = {candidate.candidate_id for candidate in trace.candidates if candidate.dropped}
    assert set(trace.stages[-1].after) | fallen == {candidate.candidate_id for candidate in trace.candidates}
    assert set(trace.stages[-1].after).isdisjoint(fallen)
    assert tuple(item.candidate_id for item in trace.answer.evidence) == trace.stages[-1].after


def test_a_trace_survives_json(make_workspace, turns):
    workspace = make_workspace(turns)
    for recipe in ("brain", "memory", "graph"):
        trace = workspace.ask(QUESTION, dataset="main", recipe=recipe, profile=seed(recipe))
        assert Trace.from_json(trace.to_json()) == trace
        assert "NaN" not in trace.to_json()


def test_equal_questions_leave_equal_traces(make_workspace, turns):
    workspace = make_workspace(turns)
    first, second = (
        workspace.ask(QUESTION, dataset="main", recipe="brain", profile=seed("brain")) for _ in range(2)
    )
    assert first.trace_id == second.trace_id
    assert first.candidates == second.candidates
    assert first.answer == second.answer


@pytest.mark.parametrize("question", ["", "   ", "x" * 70_000])
def test_questions_that_cannot_be_taken(make_workspace, turns, question):
    with pytest.raises(UsageError):
        make_workspace(turns).ask(question, dataset="main", recipe="brain", profile=seed("brain"))


def test_unknown_dataset_and_level(make_workspace, turns):
    workspace = make_workspace(turns)
    with pytest.raises(NotFoundError, match="nowhere"):
        workspace.ask(QUESTION, dataset="nowhere", recipe="brain", profile=seed("brain"))
    with pytest.raises(UsageError, match="L7"):
        workspace.ask(QUESTION, dataset="main", recipe="brain", profile=seed("brain"), levels=("L7",))


def test_a_profile_of_another_embedder_is_refused(make_workspace, turns, tmp_path):
    file = tmp_path / "tuned.toml"
    file.write_text('[brain.floor]\nmin_score = { value = 0.4, space = "tfidf+cosine/minilm-l6-int8" }')
    with pytest.raises(ScoreSpaceError, match="bag-64"):
        make_workspace(turns).ask(
            QUESTION, dataset="main", recipe="brain", profile=profiles.load(file, "brain")
        )


WORDS = ["pump", "valve", "proxy", "buffer", "request", "fail", "canal", "lunch", "upgrade", "the", "of"]
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(SENTENCE, min_size=1, max_size=12, unique=True),
    question=SENTENCE,
    overlap=st.floats(0, 1),
    score=st.floats(0, 1),
    strong=st.floats(0, 1),
)
def test_nothing_below_the_floor_is_ever_cited(make_workspace, texts, question, overlap, score, strong):
    dataset = f"d{abs(hash((tuple(texts), question)))}"
    workspace = make_workspace(
        [NodeItem(level="L0", text=text, source=f"s{n}") for n, text in enumerate(texts)], dataset=dataset
    )
    profile = seed("brain", floor__min_overlap=overlap, floor__min_score=score, floor__strong_overlap=strong)
    trace = workspace.ask(question, dataset=dataset, recipe="brain", profile=profile)
    space = trace.spaces["tfidf+cosine"]
    for item in trace.answer.evidence:
        scores = trace.candidate(item.candidate_id).scores
        assert scores["overlap"] >= overlap - 1e-6
        assert scores[space] > score - 1e-6 or scores["overlap"] >= strong - 1e-6


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE node SET text = 'x' WHERE name = 't1'",
        "UPDATE node SET source = 'x' WHERE name = 't1'",
        "UPDATE node SET turn = NULL WHERE name = 't1'",
        "UPDATE node SET node_id = 'x' WHERE name = 't1'",
    ],
)
def test_nothing_is_quoted_from_a_node_that_is_not_as_it_was_stored(damage, make_workspace, turns):
    workspace = make_workspace(turns)
    with workspace.store.database.transaction() as connection:
        connection.execute(damage)
    with pytest.raises(
        StoreError, match=r"of dataset 'main' is not as it was stored: the database is damaged"
    ):
        workspace.ask(QUESTION, dataset="main", recipe="brain", profile=seed("brain"))
