"""A learned gate as a table of a profile file, read strictly: a number that was changed by hand is refused.

[brain.learned_gate]
version = 1
space = "probability/3f2a…"            # the hash of all numbers below
intercept = 0.12
reads = { cosine = "cosine/minilm-l6-int8" }
trees = [{ feature = [0, -1, -1], cut = [0.4, 0, 0], … }]   # only where boosted trees were better
    calibration = [[-2.0, 0.1], [2.0, 0.9]]    # only where isotonic calibration was better than Platt's
[brain.learned_gate.features]
best_cosine = { mean = 0.5, scale = 0.1, weight = 0.8 }
[brain.learned_gate.report]
dataset = "clapnq"
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise
from math import isfinite
from typing import Any

from core.errors import ProfileError
from core.gate.features import BY_NAME, VERSION
from core.gate.model import LearnedGate, Weighed
from core.gate.trees import LEAF, Tree
from core.trace import Recipe

KEY = "learned_gate"
_KEYS = {"version", "space", "intercept", "reads", "trees", "calibration", "features", "report"}
_FAMILIES = ("cosine",)
"""Score families that another model scores otherwise."""


def parse(table: Any, recipe: Recipe, where: str) -> LearnedGate:
    """The gate of a ``[recipe.learned_gate]`` table.

    Raises:
        ProfileError: unknown or missing keys, numbers that are none, another version of the features, or numbers that
            are not those the hash in ``space`` was made of.
    """
    where = f"profile {where}: [{recipe}.{KEY}]"
    _keys(table, _KEYS, where, needs=("version", "space", "intercept", "reads", "features"))
    if table["version"] != VERSION:
        raise ProfileError(
            f"{where} was trained on version {table['version']!r} of the features, this program has {VERSION}; train it "
            "again with `assay tune --gate`"
        )
    features = _features(table["features"], where)
    gate = LearnedGate(
        recipe=recipe,
        features=features,
        intercept=_number(table["intercept"], f"{where} intercept"),
        reads=_reads(table["reads"], where),
        trees=_trees(table.get("trees", []), len(features), where),
        calibration=_points(table.get("calibration", []), where),
        report=_report(table.get("report", {}), where),
    )
    if table["space"] != gate.space:
        raise ProfileError(
            f"{where} says it is {table['space']!r}, but its numbers make {gate.space!r}: they were changed after "
            "training; restore the file, or train the gate again with `assay tune --gate`"
        )
    return gate


def to_table(gate: LearnedGate) -> dict[str, Any]:
    """The table as plain values, which ``parse`` reads back to an equal gate."""
    trees = [{key: list(value) for key, value in asdict(one).items()} for one in gate.trees]
    points = [list(point) for point in gate.calibration]
    return {
        "version": gate.version,
        "space": gate.space,
        "intercept": gate.intercept,
        "reads": dict(gate.reads),
        **({"trees": trees} if trees else {}),
        **({"calibration": points} if points else {}),
        "features": {
            one.name: {"mean": one.mean, "scale": one.scale, "weight": one.weight} for one in gate.features
        },
        "report": dict(gate.report),
    }


def to_lines(gate: LearnedGate) -> list[str]:
    """The lines of the table, which ``parse`` reads back to an equal gate."""
    head, table = f"{gate.recipe}.{KEY}", to_table(gate)
    features, report, trees = table.pop("features"), table.pop("report"), table.pop("trees", [])
    return [
        f"[{head}]",
        *(
            f"{key} = {_inline(value) if isinstance(value, dict) else json.dumps(value)}"
            for key, value in table.items()
        ),
        *(["trees = [", *(f"  {_inline(one)}," for one in trees), "]"] if trees else []),
        f"[{head}.features]",
        *(f"{name} = {_inline(numbers)}" for name, numbers in features.items()),
        f"[{head}.report]",
        *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in report.items()),
        "",
    ]


def _inline(table: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + " }"


def _keys(table: Any, known: set[str], where: str, *, needs: tuple[str, ...]) -> None:
    if not isinstance(table, dict):
        raise ProfileError(f"{where} must be a table, got {table!r}")
    unknown = sorted(set(table) - known)
    if unknown:
        raise ProfileError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    missing = [key for key in needs if key not in table]
    if missing:
        raise ProfileError(f"{where} lacks {', '.join(missing)}")


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ProfileError(f"{what} must be a finite number, got {value!r}")
    return float(value)


def _features(table: Any, where: str) -> tuple[Weighed, ...]:
    where = f"{where} features"
    _keys(table, set(BY_NAME), where, needs=())
    if not table:
        raise ProfileError(f"{where}: there are none; a gate weighs at least one")
    found = []
    for name, numbers in table.items():
        at = f"{where} {name}"
        _keys(numbers, {"mean", "scale", "weight"}, at, needs=("mean", "scale", "weight"))
        read = {key: _number(value, f"{at} {key}") for key, value in numbers.items()}
        if read["scale"] <= 0:
            raise ProfileError(f"{at} scale must be above 0, got {read['scale']!r}")
        found.append(Weighed(name=name, **read))
    return tuple(found)


def _reads(table: Any, where: str) -> dict[str, str]:
    where = f"{where} reads"
    _keys(table, set(_FAMILIES), where, needs=("cosine",))
    for family, space in table.items():
        if not isinstance(space, str) or space.split("/")[0] != family or space.endswith("/*"):
            raise ProfileError(
                f'{where}: {family} must name the full space, e.g. "{family}/…", got {space!r}'
            )
    return dict(table)


def _trees(listed: Any, features: int, where: str) -> tuple[Tree, ...]:
    where = f"{where} trees"
    if not isinstance(listed, list):
        raise ProfileError(f"{where} must be a list of tables, got {listed!r}")
    return tuple(_tree(one, features, f"{where}[{place}]") for place, one in enumerate(listed))


def _tree(table: Any, features: int, where: str) -> Tree:
    columns = ("feature", "cut", "left", "right", "value")
    _keys(table, set(columns), where, needs=columns)
    if not all(isinstance(table[key], list) for key in columns):
        raise ProfileError(f"{where}: {', '.join(columns)} must be lists")
    size = len(table["feature"])
    if not size or any(len(table[key]) != size for key in columns):
        raise ProfileError(f"{where}: {', '.join(columns)} must be as long as each other, one entry a node")
    feature, left, right = (
        _nodes(table[key], f"{where} {key}") for key in columns if key not in ("cut", "value")
    )
    for at in range(size):
        inner = 0 <= feature[at] < features and at < left[at] < size and at < right[at] < size
        if not inner and feature[at] != LEAF:
            raise ProfileError(f"{where}: node {at} looks at no feature, or does not lead to later nodes")
    cut, value = (tuple(_number(one, f"{where} {key}") for one in table[key]) for key in ("cut", "value"))
    return Tree(feature=feature, cut=cut, left=left, right=right, value=value)


def _nodes(listed: list[Any], what: str) -> tuple[int, ...]:
    for value in listed:
        if type(value) is not int:
            raise ProfileError(f"{what} must be whole numbers, got {value!r}")
    return tuple(listed)


def _points(listed: Any, where: str) -> tuple[tuple[float, float], ...]:
    where = f"{where} calibration"
    if not isinstance(listed, list) or not all(isinstance(one, list) and len(one) == 2 for one in listed):
        raise ProfileError(f"{where} must be a list of pairs [z, probability], got {listed!r}")
    points = [(_number(z, where), _number(probability, where)) for z, probability in listed]
    rises = all(low[0] < high[0] and low[1] <= high[1] for low, high in pairwise(points))
    if not rises or any(not 0 <= probability <= 1 for _, probability in points):
        raise ProfileError(f"{where} must rise, with probabilities in [0, 1], got {listed!r}")
    return tuple(points)


def _report(table: Any, where: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise ProfileError(f"{where} report must be a table, got {table!r}")
    for key, value in table.items():
        plain = isinstance(value, str | bool | int | float) and not (
            isinstance(value, float) and not isfinite(value)
        )
        if not plain:
            raise ProfileError(
                f"{where} report {key} must be a text, a finite number, true or false, got {value!r}"
            )
    return dict(table)
