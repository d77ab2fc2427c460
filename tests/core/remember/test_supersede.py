"""What a new fact does to those before it: in valid time, and in the time it was known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.ingest.ingestor import ingest
from core.ingest.items import FactItem
from core.profile import load
from core.records import Fact
from core.remember.remember import Remembered, remember
from core.remember.supersede import OFFERED
from core.workspace import Workspace

Said = Callable[..., dict[str, Any]]
Tell = Callable[..., Remembered]


@pytest.fixture
def tell(workspace: Workspace, scripted: Any, said: Said, clock_at: Callable[[str], None]) -> Tell:
    """``tell(now, fact, closes={fact: 1})`` remembers a fact at a moment; ``asked`` holds what the model was asked."""
    counter = iter(range(1000))

    def run(now: str, *facts: Any, closes: Any = (), valid_at: str | None = None) -> Remembered:
        clock_at(f"{now}T12:00:00Z")
        verdicts = [{"fact": old, "by": 1} if isinstance(old, int) else old for old in closes]
        model = scripted(extract=[said(*facts)], supersede=[{"superseded": verdicts}])
        done = remember(workspace, f"Text {next(counter)}", chat=model, valid_at=valid_at)
        tell_asked[:] = [request.prompt for request in model.requests["supersede"]]
        return done

    tell_asked: list[str] = []
    run.asked = tell_asked  # type: ignore[attr-defined]
    return run


def spell(relation: str, target: str, start: str | None = None, end: str | None = None) -> dict[str, Any]:
    return {"source": "Alice", "relation": relation, "target": target, "valid_at": start, "invalid_at": end}


def times(workspace: Workspace) -> list[tuple[str, str | None, str | None, str | None]]:
    """(target, valid_at, invalid_at, expired_at) as days, by fact."""
    facts = workspace.store.facts(range(1, 100))
    return [(f.target, *(t and t[:10] for t in (f.valid_at, f.invalid_at, f.expired_at))) for f in facts]


def believed(workspace: Workspace, *, as_of: str | None, known_at: str | None) -> list[str]:
    facts = workspace.store.facts_around([1], [1], 100, as_of=as_of, known_at=known_at)
    return sorted(fact.target for fact in facts)


def test_a_replaced_fact_is_closed_and_kept(workspace: Workspace, tell: Tell) -> None:
    tell("2023-01-10", spell("works_at", "Acme", "2020"))
    done = tell("2024-03-05", spell("works_at", "Globex", "2024-03-01"), closes=[1])
    assert (done.superseded, done.edges) == (1, 1)
    assert times(workspace) == [
        ("Acme", "2020-01-01", "2024-03-01", "2024-03-05"),
        ("Globex", "2024-03-01", None, None),
    ]
    trace = workspace.ask(
        "Where does Alice work?", dataset="main", recipe="graph", profile=load("seed", "graph")
    )
    assert {item.fact.target for item in trace.answer.evidence if item.fact} == {"Globex"}
    assert "[1] Alice works at Acme (valid_at=2020-01-01T00:00:00Z, invalid_at=none)" in tell.asked[0]  # type: ignore[attr-defined]
    assert "[1] Alice works at Globex" in tell.asked[0].split("<new_facts>")[1]  # type: ignore[attr-defined]


def test_without_a_word_of_the_model_nothing_is_closed(workspace: Workspace, tell: Tell) -> None:
    tell("2023-01-10", spell("works_at", "Acme", "2020"))
    done = tell("2024-03-05", spell("works_at", "Globex", "2024-03-01"))
    assert done.superseded == 0
    assert [row[2:] for row in times(workspace)] == [(None, None)] * 2


def test_a_fact_of_unknown_date_closes_when_it_was_said(workspace: Workspace, tell: Tell) -> None:
    tell("2023-01-10", "Alice works_at Acme")
    tell("2024-03-05", "Alice works_at Globex", closes=[1], valid_at="2024-02-02")
    assert times(workspace) == [
        ("Acme", "2023-01-10", "2024-02-02", "2024-03-05"),
        ("Globex", "2024-02-02", None, None),
    ]


def test_two_spells_are_never_merged(workspace: Workspace, tell: Tell) -> None:
    tell("2025-01-01", spell("works_at", "Acme", "2019", "2020"))
    tell("2025-01-02", spell("works_at", "Globex", "2020", "2023"), closes=[1])
    third = tell("2025-01-03", spell("works_at", "Acme", "2023"), closes=[1, 2])
    assert third.superseded == 0
    assert any("other times" in notice for notice in third.notices)
    assert times(workspace) == [
        ("Acme", "2019-01-01", "2020-01-01", None),
        ("Globex", "2020-01-01", "2023-01-01", None),
        ("Acme", "2023-01-01", None, None),
    ]
    for moment, target in [("2019-06-01", "Acme"), ("2021-06-01", "Globex"), ("2024-06-01", "Acme")]:
        assert believed(workspace, as_of=f"{moment}T00:00:00Z", known_at=None) == [target]


def test_two_spells_that_were_told_as_they_came(workspace: Workspace, tell: Tell) -> None:
    """The same words again are a spell of their own once the first was closed."""
    tell("2019-01-01", "Alice works_at Acme")
    tell("2021-01-01", "Alice works_at Globex", closes=[1])
    done = tell("2023-01-01", "Alice works_at Acme", closes=[2])
    assert (done.edges, done.superseded) == (1, 1)
    assert times(workspace) == [
        ("Acme", "2019-01-01", "2021-01-01", "2021-01-01"),
        ("Globex", "2021-01-01", "2023-01-01", "2023-01-01"),
        ("Acme", "2023-01-01", None, None),
    ]
    for moment, target in [("2019-06-01", "Acme"), ("2021-06-01", "Globex"), ("2023-06-01", "Acme")]:
        at = f"{moment}T00:00:00Z"
        assert believed(workspace, as_of=at, known_at=at) == [target]


def test_a_correction_about_the_past_keeps_both_times(workspace: Workspace, tell: Tell) -> None:
    """Told in April that she moved in March, corrected in May to January."""
    tell("2024-04-02", spell("lives_in", "Lyon", "2024-03-01"))
    done = tell("2024-05-02", spell("lives_in", "Lyon", "2024-01-01"), closes=[1])
    assert (done.edges, done.superseded) == (1, 1)
    assert times(workspace) == [
        ("Lyon", "2024-03-01", "2024-05-02", "2024-05-02"),
        ("Lyon", "2024-01-01", None, None),
    ]
    february, march = "2024-02-15T00:00:00Z", "2024-03-15T00:00:00Z"
    april, june = "2024-04-20T00:00:00Z", "2024-06-20T00:00:00Z"
    assert believed(workspace, as_of=february, known_at=april) == []
    assert believed(workspace, as_of=february, known_at=june) == ["Lyon"]
    assert believed(workspace, as_of=march, known_at=april) == ["Lyon"]
    assert believed(workspace, as_of=march, known_at=june) == ["Lyon"]


def test_what_only_ended_keeps_its_start(workspace: Workspace, tell: Tell) -> None:
    tell("2023-01-10", spell("works_at", "Acme", "2020"))
    tell("2024-06-05", spell("works_at", "Acme", None, "2024-03-01"), closes=[1])
    assert times(workspace)[1] == ("Acme", "2020-01-01", "2024-03-01", None)
    assert times(workspace)[0][3] == "2024-06-05"
    assert believed(workspace, as_of="2024-05-01T00:00:00Z", known_at=None) == []
    assert believed(workspace, as_of="2024-05-01T00:00:00Z", known_at="2023-06-01T00:00:00Z") == ["Acme"]


def test_what_had_ended_before_it_was_told_has_an_unknown_start(workspace: Workspace, tell: Tell) -> None:
    tell("2024-06-05", spell("works_at", "Acme", None, "2024-03-01"))
    assert times(workspace) == [("Acme", None, "2024-03-01", None)]


def test_a_change_to_come_leaves_the_fact_live_until_then(workspace: Workspace, tell: Tell) -> None:
    tell("2024-01-10", spell("works_at", "Acme", "2020"))
    done = tell("2024-03-05", spell("works_at", "Globex", "2024-06-01"), closes=[1])
    assert done.superseded == 0
    assert any("2024-06-01" in notice for notice in done.notices)
    assert times(workspace) == [
        ("Acme", "2020-01-01", "2024-06-01", None),
        ("Globex", "2024-06-01", None, None),
    ]
    assert believed(workspace, as_of="2024-04-01T00:00:00Z", known_at=None) == ["Acme"]
    assert believed(workspace, as_of="2024-07-01T00:00:00Z", known_at=None) == ["Globex"]


def test_a_plan_that_changes_is_superseded_at_once(workspace: Workspace, tell: Tell) -> None:
    tell("2024-01-10", spell("works_at", "Acme", "2024-06-01"))
    done = tell("2024-02-10", spell("works_at", "Globex", "2024-07-01"), closes=[1])
    assert done.superseded == 1
    assert believed(workspace, as_of="2024-06-15T00:00:00Z", known_at=None) == []


def test_an_earlier_end_that_was_known_stays(workspace: Workspace, tell: Tell) -> None:
    tell("2023-01-10", spell("works_at", "Acme", "2020", "2022"))
    tell("2023-02-10", spell("works_at", "Acme", "2021", "2023"), closes=[1])
    assert times(workspace)[0] == ("Acme", "2020-01-01", "2021-01-01", "2023-02-10")
    tell("2023-03-10", spell("works_at", "Acme", "2021", "2022-06-01"), closes=[2])
    assert times(workspace)[1] == ("Acme", "2021-01-01", "2023-01-01", "2023-03-10")


@pytest.mark.parametrize(
    "verdict", [{"fact": 99, "by": 1}, {"fact": 1, "by": 0}, {"fact": 1, "by": 2}, {"fact": -1, "by": 1}]
)
def test_numbers_that_were_not_sent_are_passed_over(
    workspace: Workspace, tell: Tell, verdict: dict[str, int]
) -> None:
    tell("2023-01-10", spell("works_at", "Acme", "2020"))
    done = tell("2024-03-05", spell("works_at", "Globex", "2024"), closes=[verdict])
    assert done.superseded == 0
    assert done.notices == ("The model named 1 facts it was not shown; they were passed over.",)
    assert times(workspace)[0][3] is None


def test_a_fact_is_closed_once(workspace: Workspace, tell: Tell) -> None:
    tell("2023-01-10", spell("works_at", "Acme", "2020"))
    new = (spell("works_at", "Globex", "2023"), spell("works_at", "Initech", "2024"))
    done = tell("2024-03-05", *new, closes=[{"fact": 1, "by": 2}, {"fact": 1, "by": 1}])
    assert done.superseded == 1
    assert times(workspace)[0][2] == "2024-01-01"


def test_a_superseded_fact_is_not_offered_again(workspace: Workspace, tell: Tell) -> None:
    tell("2023-01-10", spell("works_at", "Acme", "2020"))
    tell("2024-03-05", spell("works_at", "Globex", "2024"), closes=[1])
    tell("2025-03-05", spell("works_at", "Initech", "2025"), closes=[2])
    known = tell.asked[0].split("<known_facts>")[1].split("</known_facts>")[0]  # type: ignore[attr-defined]
    assert "Globex" in known
    assert "Acme" not in known


def test_facts_of_others_are_not_offered(workspace: Workspace, tell: Tell) -> None:
    tell("2023-01-10", "Bob works_at Initech")
    tell("2023-01-11", "Alice works_at Acme")
    assert tell.asked == []  # type: ignore[attr-defined]


def test_around_a_busy_entity_the_nearest_facts_are_offered(workspace: Workspace, tell: Tell) -> None:
    facts = [FactItem(subject="Alice", relation="met", object=f"Somebody{n}") for n in range(OFFERED * 2)]
    items = [
        *facts[:OFFERED],
        FactItem(subject="Alice", relation="works_at", object="Acme"),
        *facts[OFFERED:],
    ]
    ingest(workspace.store, "main", [(f"x:{n}", item) for n, item in enumerate(items)])
    tell("2024-03-05", spell("works_at", "Globex", "2024"), closes=[OFFERED + 1])
    known = tell.asked[0].split("<known_facts>\n")[1].split("\n</known_facts>")[0].splitlines()  # type: ignore[attr-defined]
    assert len(known) == OFFERED
    assert any("Acme" in line for line in known)
    assert [fact.target for fact in _expired(workspace)] == ["Acme"]


def _expired(workspace: Workspace) -> list[Fact]:
    return [fact for fact in workspace.store.facts(range(1, 1000)) if fact.expired_at]


def test_the_same_text_again_supersedes_nothing_again(
    workspace: Workspace, scripted: Any, said: Said, clock_at: Callable[[str], None]
) -> None:
    clock_at("2023-01-01T00:00:00Z")
    remember(workspace, "Alice is at Acme.", chat=scripted(extract=[said("Alice works_at Acme")]))
    clock_at("2024-01-01T00:00:00Z")
    second = {
        "extract": [said("Alice works_at Globex")],
        "supersede": [{"superseded": [{"fact": 1, "by": 1}]}],
    }
    remember(workspace, "Alice is at Globex.", chat=scripted(**second))
    before = times(workspace)
    clock_at("2025-01-01T00:00:00Z")
    for text in ("Alice is at Acme.", "Alice is at Globex."):
        assert remember(workspace, text, chat=scripted()).superseded == 0
    assert times(workspace) == before


def test_a_fact_closed_meanwhile_is_judged_again(workspace: Workspace, scripted: Any, said: Said) -> None:
    """Between the model's word and the write somebody else closes the fact: the word no longer holds."""
    remember(
        workspace, "Alice is at Acme.", valid_at="2020", chat=scripted(extract=[said("Alice works_at Acme")])
    )

    def meanwhile(request: object) -> dict[str, Any]:
        with workspace.store.database.transaction() as connection:
            connection.execute(
                "UPDATE fact SET expired_at = '2023-01-01T00:00:00Z', invalid_at = '2022-01-01T00:00:00Z'"
            )
            connection.execute("UPDATE dataset SET revision = revision + 1")
        return {"superseded": [{"fact": 1, "by": 1}]}

    model = scripted(extract=[said("Alice works_at Globex")], supersede=[meanwhile])
    done = remember(workspace, "Alice is at Globex.", valid_at="2024", chat=model)
    assert done.superseded == 0
    assert times(workspace)[0] == ("Acme", "2020-01-01", "2022-01-01", "2023-01-01")
