"""Sentences that say most, computed by hand."""

from __future__ import annotations

from math import log

import pytest

from core.remember.central import Rarity, central


def chosen(texts: list[str], count: int, among: list[str] | None = None) -> list[str]:
    found = central(texts, count, Rarity(among or texts))
    return [texts[place][start:end] for place, start, end in found]


def test_rarity_by_hand() -> None:
    rarity = Rarity(["pump harbour", "pump pump", "lunch"])
    assert rarity.of("pump") == pytest.approx(log(1 + 3 / 3))
    assert rarity.of("lunch") == pytest.approx(log(1 + 3 / 2))
    assert rarity.of("never") == pytest.approx(log(1 + 3 / 1))
    assert Rarity([]).of("pump") == pytest.approx(log(2))


def test_the_next_sentence_says_something_else() -> None:
    """Frequencies harbour 3, pump 3, repaired 2, others 1, all equally rare: 8, 8, 3, 6; then the said ones at 0.3."""
    text = "Harbour pump repaired. Repaired harbour pump. Lunch served outside. Pump harbour."
    first, again, other, short = (
        "Harbour pump repaired.",
        "Repaired harbour pump.",
        "Lunch served outside.",
        "Pump harbour.",
    )
    assert chosen([text], 4) == [first, other, again, short]
    assert chosen([text], 1) == [first]


def test_what_everybody_says_weighs_less() -> None:
    text = "Caroline, Melanie sounds great. The adoption agency."
    chatter = ["Caroline, Melanie sounds great."] * 20
    assert chosen([text], 1) == ["Caroline, Melanie sounds great."]
    assert chosen([text], 1, [*chatter, "The adoption agency."]) == ["The adoption agency."]


def test_each_text_speaks_once_before_any_speaks_twice() -> None:
    texts = ["Harbour pump repaired. Harbour pump was repaired again.", "Lunch served Friday outside. Ha."]
    assert [place for place, _, _ in central(texts, 9, Rarity(texts))] == [0, 1, 0, 1]


@pytest.mark.parametrize(("texts", "count"), [([], 3), ([" "], 3), (["One two three."], 0)])
def test_nothing_to_choose(texts: list[str], count: int) -> None:
    assert chosen(texts, count) == []
