"""Recipe `graph` over a small real store: keywords, similarity, hops, time, passages."""

import pytest

from core import profile as profiles
from core.ingest.items import ArtifactItem, EntityItem, FactItem

ITEMS = [
    ArtifactItem(source="hr", text="Alice Weber joined Acme as an engineer. She lives in Paris.", title="HR", whole=True),
    EntityItem(name="Alice Weber", type="person", description="engineer"),
    EntityItem(name="Acme", type="organization"),
    EntityItem(name="Globex", type="organization"),
    EntityItem(name="Paris", type="place", description="a city in France"),
    FactItem(subject="Alice Weber", relation="works_at", object="Acme", description="Alice Weber works at Acme.",
             artifact="hr", valid_at="2019-01-01", invalid_at="2020-12-31", created_at="2019-01-02"),
    FactItem(subject="Alice Weber", relation="works_at", object="Globex", description="Alice Weber works at Globex.",
             valid_at="2021-01-01", invalid_at="2022-12-31", created_at="2021-01-02"),
    FactItem(subject="Alice Weber", relation="works_at", object="Acme", description="Alice Weber works at Acme again.",
             valid_at="2023-01-01", created_at="2023-01-02"),
    FactItem(subject="Alice Weber", relation="lives_in", object="Paris", description="Alice Weber lives in Paris.",
             valid_at="2018-01-01", created_at="2018-01-02"),
    FactItem(subject="Alice Weber", relation="moves_to", object="Paris", description="Alice Weber moves office to Paris.",
             valid_at="2999-01-01", created_at="2023-01-02"),
]  # fmt: skip


def seed(**changes):
    loaded = profiles.load("seed", "graph")
    return loaded.with_values({key.replace("__", "."): value for key, value in changes.items()})


def objects(trace, relation="works_at"):
    kept = set(trace.stage("expand").after)
    return [
        c.fact.description
        for c in trace.candidates
        if c.fact and c.candidate_id in kept and c.fact.relation == relation
    ]


def test_a_named_entity_brings_its_facts(make_workspace):
    trace = make_workspace(ITEMS).ask(
        "Where does Alice Weber work?", dataset="main", recipe="graph", profile=seed()
    )
    assert not trace.answer.abstained
    best = trace.candidate(trace.stage("fuse").after[0])
    assert (best.name, best.scores["graph-points"]) == ("Alice Weber", 5 + 3 + 3)
    assert {item.kind for item in trace.answer.evidence} <= {"fact", "chunk"}
    assert "works at Acme" in trace.answer.text
    for item in trace.answer.evidence:
        assert item.citation in trace.answer.text


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        ("2019-06-01", ["Alice Weber works at Acme."]),
        ("2021-06-01", ["Alice Weber works at Globex."]),
        ("2024-06-01", ["Alice Weber works at Acme again."]),
        ("2018-06-01", []),
    ],
)
def test_two_spells_are_never_merged(make_workspace, as_of, expected):
    trace = make_workspace(ITEMS).ask(
        "Where does Alice Weber work?", dataset="main", recipe="graph", profile=seed(), as_of=as_of
    )
    assert objects(trace) == expected


def test_a_correction_about_the_past(make_workspace):
    items = [
        FactItem(subject="Bo", relation="moved_to", object="Lyon", description="Bo moved to Lyon in March.",
                 valid_at="2024-03-01", created_at="2024-04-01", expired_at="2024-05-10", invalid_at="2024-03-01"),
        FactItem(subject="Bo", relation="moved_to", object="Lyon", description="Bo moved to Lyon in January.",
                 valid_at="2024-01-01", created_at="2024-05-10"),
    ]  # fmt: skip
    workspace = make_workspace(items)
    asked = {
        known: workspace.ask(
            "Where is Bo?", dataset="main", recipe="graph", profile=seed(), as_of="2024-02-15", known_at=known
        )
        for known in ("2024-04-15", "2024-06-01")
    }
    assert objects(asked["2024-04-15"], "moved_to") == []
    assert objects(asked["2024-06-01"], "moved_to") == ["Bo moved to Lyon in January."]


def test_facts_of_the_future(make_workspace):
    workspace = make_workspace(ITEMS)
    ask = {"dataset": "main", "recipe": "graph"}
    question = "Where does Alice Weber move?"
    kept = workspace.ask(question, profile=seed(), **ask)
    assert objects(kept, "moves_to") == ["Alice Weber moves office to Paris."]
    now = workspace.ask(question, profile=seed(graph__future_facts="drop"), **ask)
    assert objects(now, "moves_to") == []
    later = workspace.ask(question, profile=seed(graph__future_facts="drop"), as_of="2999-06-01", **ask)
    assert objects(later, "moves_to") == ["Alice Weber moves office to Paris."]


def test_a_superseded_fact_is_never_retrieved(make_workspace):
    items = [
        FactItem(
            subject="Alice",
            relation="works_at",
            object="Acme",
            created_at="2020-01-01",
            expired_at="2021-01-01",
        ),
        FactItem(subject="Alice", relation="works_at", object="Globex", created_at="2021-01-01"),
    ]
    trace = make_workspace(items).ask(
        "Where does Alice work?", dataset="main", recipe="graph", profile=seed(floor__min_cosine=-1.0)
    )
    assert {c.fact.target for c in trace.candidates if c.fact} == {"Globex"}


def test_the_hop_cap_counts_live_facts_newest_first(make_workspace):
    live = [
        FactItem(subject="Hub", relation="knows", object=f"P{n}", created_at=f"2024-01-{n:02d}")
        for n in range(1, 6)
    ]
    gone = [
        FactItem(
            subject="Hub",
            relation="knew",
            object=f"Q{n}",
            created_at=f"2024-02-{n:02d}",
            expired_at="2024-03-01",
        )
        for n in range(1, 6)
    ]
    profile = seed(graph__hop_facts=3, similar__facts=0, floor__min_cosine=1.0)
    trace = make_workspace([*live, *gone]).ask("Who is Hub?", dataset="main", recipe="graph", profile=profile)
    kept = set(trace.stage("expand").after)
    assert {c.fact.target for c in trace.candidates if c.fact and c.candidate_id in kept} == {
        "P5",
        "P4",
        "P3",
    }


def test_a_question_that_matches_nothing_falls_back_to_recent_entities(make_workspace):
    workspace = make_workspace(ITEMS)
    trace = workspace.ask("What do you know?", dataset="main", recipe="graph", profile=seed())
    assert not trace.answer.abstained
    nothing = workspace.ask(
        "Quels chevaux?", dataset="main", recipe="graph", profile=seed(graph__fallback_entities=0)
    )
    assert nothing.answer.abstained
    assert nothing.answer.text == "I don't have any information in memory to answer that."
    assert nothing.answer.closest


def test_the_cosine_cut_says_by_how_much(make_workspace):
    trace = make_workspace(ITEMS).ask(
        "engineer in Paris", dataset="main", recipe="graph", profile=seed(floor__min_cosine=0.99)
    )
    drops = [c.dropped for c in trace.candidates if c.kind == "chunk" and c.dropped]
    assert drops[0].threshold == "floor.min_cosine"
    assert drops[0].margin == pytest.approx(drops[0].value - 0.99)
    assert drops[0].space == "cosine/bag-64"


def test_passages_are_ranked_and_capped(make_workspace):
    items = [
        ArtifactItem(source=f"a{n}", text=f"pump maintenance number {n} " * (n + 1), whole=True)
        for n in range(8)
    ]
    profile = seed(floor__min_cosine=0.1)
    trace = make_workspace(items).ask("pump maintenance", dataset="main", recipe="graph", profile=profile)
    kept = [key for key in trace.stage("expand").after if key.startswith("chunk:")]
    assert len(kept) == 3
    assert list(trace.ranking)[:3] == kept


def test_hidden_sources_hide_passages_and_facts(make_workspace):
    trace = make_workspace(ITEMS).ask(
        "Where does Alice Weber work?", dataset="main", recipe="graph",
        profile=seed(floor__min_cosine=0.1), hide_sources=frozenset({"hr"}),
    )  # fmt: skip
    assert "hr" not in {candidate.source for candidate in trace.candidates}
    assert "Alice Weber works at Acme." not in {candidate.text for candidate in trace.candidates}
