"""Evidence said by the person a question names against evidence said by others."""

import pytest

from tests.core.gate.small import found, read

QUESTION = "What did Caroline paint at the lake?"
"""Without Caroline, who is asked about: paint, lake."""
HERS = {"text": "Caroline: I paint horses.", "speaker": "Caroline", "cosine": 0.4}
HIS = {"text": "Melanie: I did paint at the lake.", "speaker": "Melanie", "cosine": 0.6}
ASKS = {"text": "Melanie: Did you paint at the lake?", "speaker": "Melanie", "cosine": 0.6}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((HERS, HIS), {"names_speaker": 1, "told_by_named": 0.5 - 1, "nearer_by_named": -0.2,
                       "named_told": 0.5 * 0.5 + 0.5 * 0.4, "others_told": 0.5 * 1 + 0.5 * 0.6, "named_share": 0.5,
                       "told_steadily": -0.5}),
        ((HERS, ASKS), {"told_by_named": 0.5, "others_told": 0.3}),  # asking is no evidence
        ((HIS, ASKS), {"names_speaker": 0, "told_by_named": 0, "named_share": 0}),  # she says nothing
        ((HERS,), {"names_speaker": 0, "told_by_named": 0}),  # nobody else speaks
        ((HERS, HIS, HERS, HERS, HERS, HERS), {"named_share": 4 / 5}),
        ((HERS, {**HIS, "cosine": float("nan")}), {"nearer_by_named": 0.4}),
    ],
)  # fmt: skip
def test_by_hand(rows, expected):
    values = read(QUESTION, *rows)
    assert {name: values[name] for name in expected} == pytest.approx(expected, abs=1e-6)


def test_a_name_is_found_in_its_possessive_and_by_a_part():
    row = {**HERS, "speaker": "Caroline Smith"}
    assert read("What is caroline's lake?", row, HIS)["names_speaker"] == 1
    assert read("What is Carolina's lake?", row, HIS)["names_speaker"] == 0


def test_who_said_it_instead():
    bound = found(QUESTION, HERS, HIS).binding
    assert (bound.persons, bound.instead) == (("Caroline",), "Melanie")


def test_nobody_is_named():
    assert found("What was painted at the lake?", HERS, HIS).binding is None
