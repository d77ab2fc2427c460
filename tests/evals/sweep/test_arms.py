"""What is varied, every combination of it, and what is refused."""

from __future__ import annotations

import pytest

from core.errors import UsageError
from core.profile import load
from evals.sweep.arms import Arm, arms_of, parse_axes
from evals.sweep_cli import seconds_of


def test_every_combination_the_last_name_fastest() -> None:
    axes = parse_axes(["fusion.method=blend, rrf", "rerank.depth=20,50", "embedder=minilm"], "brain")
    arms = arms_of(axes)
    assert [arm.name for arm in arms] == [
        "fusion.method=blend rerank.depth=20 embedder=minilm", "fusion.method=blend rerank.depth=50 embedder=minilm",
        "fusion.method=rrf rerank.depth=20 embedder=minilm", "fusion.method=rrf rerank.depth=50 embedder=minilm",
    ]  # fmt: skip
    profile = arms[3].profile(load("seed", "brain"))
    assert (profile.choice("fusion.method"), profile.count("rerank.depth")) == ("rrf", 50)
    assert arms[3].embedder == "minilm"
    assert arms_of({}) == [Arm(values={})]


def test_an_overlap_leaves_room_in_its_chunk() -> None:
    arms = arms_of(parse_axes(["chunk=100,400", "overlap=0,100"], "memory"))
    assert [arm.chunking for arm in arms] == [(100, 0), (400, 0), (400, 100)]
    assert arms_of(parse_axes(["overlap=60"], "brain"))[0].chunking == (1200, 60)
    with pytest.raises(UsageError, match="no combination is left"):
        arms_of(parse_axes(["chunk=100", "overlap=200"], "brain"))


@pytest.mark.parametrize(
    ("written", "recipe", "message"),
    [
        ("chunk", "brain", r"--vary is name=value\[,value…\], got 'chunk'"),
        ("chunk=", "brain", "--vary is name=value"),
        ("chunk=x", "brain", "a whole number of characters from 50 to 100000, got 'x'"),
        ("chunk=10", "brain", "from 50 to 100000, got '10'"),
        ("chunk=600", "graph", "recipe graph reads facts"),
        ("fusion.methd=rrf", "brain", r"nothing is called 'fusion\.methd'; there are chunk, overlap, embedder, recall"),
        ("rerank.depth=2.5", "brain", r"--vary rerank\.depth: '2\.5' is no whole number"),
        ("mmr.lambda=much", "brain", "is no number"),
    ],
)  # fmt: skip
def test_what_cannot_be_varied_is_one_line(written: str, recipe: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_axes([written], recipe)


def test_a_name_stands_once_and_combinations_are_bounded() -> None:
    with pytest.raises(UsageError, match="--vary names chunk twice"):
        parse_axes(["chunk=600", "chunk=700"], "brain")
    with pytest.raises(UsageError, match="that is 10,100 combinations; name fewer values"):
        arms_of({"a": tuple(range(101)), "b": tuple(range(100))})


def test_a_budget_is_a_time() -> None:
    assert [seconds_of(text) for text in (None, "90", "90s", "1.5m", "2h")] == [None, 90, 90, 90, 7200]
    with pytest.raises(UsageError, match="--budget is a time such as 90s, 10m or 2h, got 'soon'"):
        seconds_of("soon")
