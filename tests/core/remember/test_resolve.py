"""Which stored entity a name stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from core.errors import ScoreSpaceError, UsageError
from core.ingest.items import EntityItem, Item
from core.models.minilm import MiniLM
from core.remember.cut import RESOLVE, SAME_ENTITY, Cut
from core.remember.extract import Entity
from core.remember.remember import remember
from core.remember.resolve import Resolved, resolve
from core.remember.texts import Vectors
from core.workspace import Workspace

Resolve = Callable[..., list[Resolved]]


@pytest.fixture
def resolved(make_workspace: Callable[..., Workspace]) -> Resolve:
    """``resolved(stored, mentions)`` with the cut of the document."""

    def run(
        stored: Iterable[Item], mentions: list[Entity], *, min_cosine: float = 0.75, embedder: Any = None
    ) -> list[Resolved]:
        workspace = make_workspace(stored)
        vectors = Vectors(store=workspace.store, embedder=embedder or workspace.embedder)
        dataset = workspace.store.dataset("main") if workspace.store.datasets() else None
        return resolve(mentions, dataset, vectors, min_cosine=min_cosine)

    return run


def stored(*names: str) -> list[EntityItem]:
    """``"Alice (person): engineer"`` and so on."""
    made = []
    for name in names:
        head, _, description = name.partition(": ")
        bare, _, kind = head.rstrip(")").partition(" (")
        made.append(EntityItem(name=bare, type=kind, description=description))
    return made


@pytest.mark.parametrize(
    ("there", "mention", "entity_id"),
    [
        (["Alice (person)"], ("Alice", "person"), 1),
        (["Alice (person)"], ("  ALICE ", "Person"), 1),
        (["Straße (place)"], ("straße", "place"), 1),
        (["İstanbul (place)"], ("istanbul", "place"), 1),
        (["Paris (person)", "Paris (place)"], ("Paris", "place"), 2),
        (["Paris (person)"], ("Paris", "place"), None),
        (["Alice (thing)"], ("Alice", "person"), 1),
        (["Alice (person)"], ("Alice", "thing"), 1),
        (["Alice (thing)", "Alice (person)"], ("Alice", "person"), 2),
        ([], ("Alice", "person"), None),
        (["Big Acme Corp (organization)"], ("Acme Corp", "organization"), 1),  # cosine some 2/√6 = 0.82
        (["Big Acme Corp (place)"], ("Acme Corp", "organization"), None),
        (["North Sea Trade Union (organization)"], ("Trade", "organization"), None),
        (["Big Apollo Mission 11 (event)"], ("Big Apollo Mission 12", "event"), None),
        (["Big Apollo Mission 11 (event)"], ("Apollo Mission 11", "event"), 1),
    ],
)
def test_by_name_and_type_then_by_near_names(
    resolved: Resolve, there: list[str], mention: tuple[str, str], entity_id: int | None
) -> None:
    [found] = resolved(stored(*there), [Entity(name=mention[0], type=mention[1])])
    assert found.entity_id == entity_id


def test_the_cut_decides(resolved: Resolve) -> None:
    """Acme and Acme Corp share one of two directions; the exact value is the embedder's."""
    [found] = resolved(
        stored("Acme Corp (organization)"), [Entity(name="Acme", type="organization")], min_cosine=0
    )
    assert found.cosine is not None
    for step, expected in ((-1e-4, 1), (1e-4, None)):
        [again] = resolved([], [Entity(name="Acme", type="organization")], min_cosine=found.cosine + step)
        assert again.entity_id == expected


def test_two_names_of_one_text_are_two_entities(resolved: Resolve) -> None:
    """The exact one takes the stored entity first, however the text orders them; the next one is new."""
    mentions = [
        Entity(name="Big Acme Corp", type="organization"),
        Entity(name="Acme Corp", type="organization"),
    ]
    found = resolved(stored("Acme Corp (organization)"), mentions)
    assert [one.entity_id for one in found] == [None, 1]


def test_the_nearest_pair_comes_first(resolved: Resolve) -> None:
    mentions = [Entity(name="North Sea Trade Union", type="organization"),
                Entity(name="North Sea Trade Union Club", type="organization")]  # fmt: skip
    found = resolved(stored("North Sea Trade Union Club House (organization)"), mentions)
    assert [one.entity_id for one in found] == [None, 1]


def test_what_is_stored_stays_and_gaps_are_filled(resolved: Resolve) -> None:
    mentions = [
        Entity(name="alice", type="person", description="now a director"),
        Entity(name="Acme", type="organization", description="a maker of anvils"),
    ]
    found = resolved(stored("Alice (person): engineer", "Acme (thing)"), mentions)
    assert [one.text for one in found] == [
        "Alice (person): engineer",
        "Acme (organization): a maker of anvils",
    ]


def test_descriptions_do_not_make_two_people_one(resolved: Resolve) -> None:
    """Under MiniLM the two whole texts have cosine 0.99, the names 0.35."""
    [found] = resolved(
        stored("Caroline (person): friend of Melanie"),
        [Entity(name="Melanie", type="person", description="friend of Caroline")],
        embedder=MiniLM(),
    )
    assert found.entity_id is None


@pytest.mark.parametrize(
    ("there", "name"),
    [
        ("New York (place)", "New York City"),
        ("Acme (organization)", "Acme Corp"),
        ("Alice (person)", "Alice Smith"),
    ],
)
def test_near_names_are_one_entity_under_minilm(resolved: Resolve, there: str, name: str) -> None:
    [kind] = [item.type for item in stored(there)]
    [found] = resolved(stored(there), [Entity(name=name, type=kind)], embedder=MiniLM())
    assert found.entity_id == 1
    assert found.cosine is not None
    assert found.cosine >= 0.75


def test_never_across_datasets_or_users(
    make_workspace: Callable[..., Workspace], scripted: Any, said: Callable[..., dict[str, Any]]
) -> None:
    make_workspace(stored("Alice (person)"), dataset="other")
    workspace = make_workspace(stored("Alice (person)"), user_id="somebody")
    done = remember(workspace, "Alice works at Acme.", chat=scripted(extract=[said("Alice works_at Acme")]))
    assert done.entities == 2
    names = workspace.store.database.rows(
        "SELECT user_id, d.name, count(*) FROM entity e JOIN dataset d USING (dataset_id) GROUP BY 1, 2 ORDER BY 1, 2"
    )
    assert names == [("local", "main", 2), ("local", "other", 1), ("somebody", "main", 1)]


def test_a_cut_belongs_to_its_space() -> None:
    assert SAME_ENTITY.value == 0.75
    assert SAME_ENTITY.bound("any") == 0.75
    tuned = Cut(knob=RESOLVE, value=0.9, space="cosine/minilm-l6-int8")
    assert tuned.bound("minilm-l6-int8") == 0.9
    with pytest.raises(ScoreSpaceError, match=r"'cosine/minilm-l6-int8'.*'cosine/bag-64'"):
        tuned.bound("bag-64")


@pytest.mark.parametrize("value", [1.5, -2.0, float("nan")])
def test_a_cut_out_of_range_is_refused(value: float) -> None:
    with pytest.raises(UsageError, match=r"resolve\.min_cosine must be"):
        Cut(knob=RESOLVE, value=value)
