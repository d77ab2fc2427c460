"""Thresholds moved one at a time and two against each other, over figures that are known functions of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from core.errors import UsageError
from core.profile import Profile, load
from evals.curves.of_profiles import interaction, sensitivity, values_of


def known(profiles: Sequence[Profile]) -> dict[str, np.ndarray]:
    return {
        "score": np.array([one.number("floor.min_score") - one.number("mmr.lambda") for one in profiles]),
        "kept": np.array([one.count("select.k") for one in profiles]),
    }


PROFILE = load("default", "brain")


def test_each_threshold_moves_alone_and_its_own_value_is_there() -> None:
    ranges = {"floor.min_score": [0.1, 0.9], "select.k": [1.0, 3.0]}
    table = sensitivity(known, PROFILE, ranges, ["score", "kept"])
    floor, k = PROFILE.number("floor.min_score"), PROFILE.count("select.k")
    of_floor = table[table["threshold"] == "floor.min_score"]
    assert list(of_floor["value"]) == sorted({0.1, floor, 0.9})
    np.testing.assert_allclose(of_floor["score"], of_floor["value"] - PROFILE.number("mmr.lambda"))
    assert set(of_floor["kept"]) == {k}
    assert list(table.loc[table["current"], "value"]) == [floor, k]
    assert set(table.loc[table["threshold"] == "select.k", "score"]) == {floor - PROFILE.number("mmr.lambda")}


def test_two_thresholds_against_each_other() -> None:
    table = interaction(
        known, PROFILE, ("floor.min_score", [0.2, 0.4]), ("mmr.lambda", [0.1, 0.5, 1.0]), "score"
    )
    assert (table.index.name, table.columns.name) == ("floor.min_score", "mmr.lambda")
    np.testing.assert_allclose(table.to_numpy(), [[0.1, -0.3, -0.8], [0.3, -0.1, -0.6]])
    with pytest.raises(UsageError, match=r"two thresholds are needed, got 'mmr\.lambda' twice"):
        interaction(known, PROFILE, ("mmr.lambda", [0.1]), ("mmr.lambda", [0.2]), "score")


def test_values_of_a_range() -> None:
    assert values_of("mmr.lambda", points=3) == [0.0, 0.5, 1.0]
    assert values_of("select.k", 1, 4, points=9) == [1.0, 2.0, 3.0, 4.0]  # it counts
    assert values_of("mmr.lambda", 0.5, 0.5) == [0.5]
    with pytest.raises(UsageError, match="no threshold 'lambda'; there are recall"):
        values_of("lambda")
    with pytest.raises(UsageError, match=r"mmr\.lambda lies in \[0, 1\], got 0\.5 to 2"):
        values_of("mmr.lambda", 0.5, 2)
