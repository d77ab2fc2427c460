"""A gate in a profile's file: whole numbers in, equal numbers out, anything else refused."""

import json
import tomllib

import pytest

from core import profile as profiles
from core.errors import ProfileError
from core.gate import stored
from core.gate.trees import LEAF, Tree
from tests.core.gate.small import gate_of

STUMP = Tree(
    feature=(0, LEAF, LEAF),
    cut=(0.5, 0.0, 0.0),
    left=(1, LEAF, LEAF),
    right=(2, LEAF, LEAF),
    value=(0.0, -1.0, 2.0),
)
GATE = gate_of(
    {"terms": 1 / 3, "best_cosine": -0.1}, intercept=1e-17, trees=(STUMP,), calibration=((-1.0, 0.0), (0.1, 1.0)),
    report={"model": "logistic regression", "held_out.all.auroc": 0.91, "answerable": 3},
)  # fmt: skip


def table() -> dict:
    return json.loads(json.dumps(stored.to_table(GATE)))


def parsed(changed: dict):
    return stored.parse(changed, "brain", "mine.toml")


def test_the_round_trip_loses_nothing():
    text = "\n".join(stored.to_lines(GATE))
    again = stored.parse(tomllib.loads(text)["brain"]["learned_gate"], "brain", "x")
    assert again == GATE
    assert "\n".join(stored.to_lines(again)) == text
    assert parsed(table()) == GATE


def test_a_profile_carries_its_gate_through_a_file_and_to_those_based_on_it(tmp_path):
    file, child = tmp_path / "gated.toml", tmp_path / "child.toml"
    lines = ['name = "gated"', "[brain.gate]", f'min_probability = {{ value = 0.4, space = "{GATE.space}" }}']
    file.write_text("\n".join([*lines, *stored.to_lines(GATE)]))
    loaded = profiles.load(file, "brain")
    assert (loaded.learned_gate, loaded.number("gate.min_probability")) == (GATE, 0.4)
    copy = tmp_path / "copy.toml"
    copy.write_text(profiles.to_toml(loaded))
    assert profiles.load(copy, "brain") == loaded
    child.write_text(f'name = "child"\nbase = "{file}"\n')
    assert profiles.load(child, "brain").learned_gate == GATE
    assert profiles.load(file, "memory").learned_gate is None


def test_the_fingerprint_tells_gates_apart(tmp_path):
    file = tmp_path / "gated.toml"
    file.write_text("\n".join(['name = "gated"', *stored.to_lines(GATE)]))
    assert profiles.load(file, "brain").fingerprint != profiles.load("seed", "brain").fingerprint


def test_a_cut_without_a_gate_is_refused(tmp_path):
    file = tmp_path / "cut.toml"
    file.write_text('[brain.gate]\nmin_probability = { value = 0.4, space = "probability/x" }\n')
    with pytest.raises(ProfileError, match=r"min_probability = 0.4 needs a learned gate.*assay tune --gate"):
        profiles.load(file, "brain")


def changed(path: str, value) -> dict:
    whole = table()
    *way, last = path.split(".")
    at = whole
    for key in way:
        at = at[int(key)] if isinstance(at, list) else at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return whole


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("features.terms.weight", 0.0, "numbers make 'probability/.*were changed after"),
        ("features.terms.weight", "heavy", "terms weight must be a finite number, got 'heavy'"),
        ("features.terms.weight", float("nan"), "must be a finite number, got nan"),
        ("features.terms.weight", True, "must be a finite number, got True"),
        ("features.terms.weight", None, "lacks weight"),
        ("features.terms.scale", 0, "scale must be above 0"),
        ("features.height", {"mean": 0, "scale": 1, "weight": 1}, "unknown key 'height'"),
        ("features", {}, "there are none"),
        ("intercept", 3.0, "were changed after"),
        ("intercept", None, "lacks intercept"),
        ("version", 0, "was trained on version 0 of the features"),
        ("reads", {"cosine": "cosine/*"}, "must name the full space"),
        ("reads", {}, "lacks cosine"),
        ("reads", {"cosine": "cosine/x", "rerank": "rerank/x"}, "unknown key 'rerank'"),
        ("calibration", [[0.0, 0.5], [0.0, 0.6]], "must rise"),
        ("calibration", [[0.0, 0.5], [1.0, 1.6]], r"probabilities in \[0, 1\]"),
        ("calibration", [0.5], "list of pairs"),
        ("trees", "oak", "must be a list"),
        ("trees", [{"feature": []}], "lacks cut"),
        (
            "trees",
            [{**table()["trees"][0], "left": [0, -1, -1]}],
            "node 0 looks at no feature",
        ),  # round and round
        ("trees", [{**table()["trees"][0], "feature": [7, -1, -1]}], "node 0 looks at no feature"),
        ("trees", [{**table()["trees"][0], "cut": [0.5]}], "as long as each other"),
        ("trees", [{**table()["trees"][0], "left": [1.5, -1, -1]}], "whole numbers"),
        ("report", {"when": [1]}, "must be a text"),
        ("surprise", 1, "unknown key 'surprise'"),
    ],
)
def test_what_is_refused(path, value, message):
    with pytest.raises(ProfileError, match=message):
        parsed(changed(path, value))
