"""LoCoMo: levels and their links, dates, evidence ids mended or left out, every trap counted."""

from __future__ import annotations

import copy
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError
from core.ingest.items import CaseItem, Item, NodeItem, Problem
from evals.cases import Case, Gold
from evals.formats.locomo import load
from evals.formats.turn_ids import cited_turns, repaired

CONVERSATION: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi."},
            {
                "speaker": "Bob",
                "dia_id": "D1:2",
                "text": "Look!",
                "img_url": ["u"],
                "blip_caption": "a red kite",
            },
            {"speaker": "Ann", "dia_id": "D1:3", "text": "Nice.", "blip_caption": "a photo nobody sent"},
        ],
        "session_2_date_time": "12:05 am on 1 June, 2023",
    },
    "observation": {
        "session_1_observation": {"Bob": [["Bob has a kite.", "D1:2"], ["Ann likes it.", ["D1:2", "D1:3"]]]}
    },
    "session_summary": {"session_1_summary": "They talked about a kite."},
    "qa": [
        {"question": "What has Bob?", "answer": "a kite", "evidence": ["D1:2"], "category": 4},
        {"question": "Which year?", "answer": 2023, "evidence": ["D1:1; D1:02"], "category": 2},
        {
            "question": "What has Ann?",
            "evidence": ["D1:2"],
            "category": 5,
            "adversarial_answer": "a kite",
            "answer": "no",
        },
        {"question": "What has Bob?", "answer": "a kite", "evidence": [], "category": 4},
    ],
}


def read(folder: Path, *conversations: object) -> tuple[list[NodeItem], list[Case], list[str]]:
    (folder / "locomo10.json").write_text(json.dumps(conversations), encoding="utf-8")
    items = [item for _, _, item in load(folder)]
    nodes = [item for item in items if isinstance(item, NodeItem)]
    cases = [Case.from_body(item.body) for item in items if isinstance(item, CaseItem)]
    problems = [item for item in items if isinstance(item, Problem)]
    return nodes, cases, [str(item).removeprefix(f"{folder}/locomo10.json:") for item in problems]


def test_turns_notes_and_summaries(tmp_path: Path) -> None:
    nodes, _, _ = read(tmp_path, CONVERSATION)
    assert nodes[1] == NodeItem(
        level="L0", text="Bob: Look! [image: a red kite]", source="conv-1", turn="D1:2", session="session_1", position=1,
        speaker="Bob", name="D1:2", valid_at="2023-05-08T13:56:00Z",
    )  # fmt: skip
    assert [node.text for node in nodes if node.level == "L0"][2] == "Ann: Nice."
    notes = [node for node in nodes if node.level == "L1"]
    assert [(note.text, note.parents, note.turn) for note in notes] == [
        ("Bob has a kite.", ("D1:2",), "D1:2"),
        ("Ann likes it.", ("D1:2", "D1:3"), "D1:2"),
    ]
    (summary,) = (node for node in nodes if node.level == "L2")
    assert (summary.text, summary.turn) == ("They talked about a kite.", None)
    assert summary.parents == tuple(note.name for note in notes)


def test_questions(tmp_path: Path) -> None:
    _, cases, problems = read(tmp_path, CONVERSATION)
    assert [case.case_id for case in cases] == ["conv-1/q0", "conv-1/q1", "conv-1/q2", "conv-1/q3"]
    assert [case.answers for case in cases] == [("a kite",), ("2023",), (), ("a kite",)]
    assert [case.tags["category"] for case in cases] == ["4", "2", "5", "4"]
    assert cases[1].gold == (Gold(source="conv-1", turn="D1:1"), Gold(source="conv-1", turn="D1:2"))
    adversarial = cases[2]
    assert (adversarial.answerable, adversarial.why_unanswerable) == (False, "adversarial")
    assert adversarial.gold == (Gold(source="conv-1", turn="D1:2"),)
    assert problems == [
        "conv-1:session_2_date_time: a date without a session (skipped)",
        "conv-1: 1 turns have a caption and no image: what nobody was shown is no part of their text (skipped)",
        "conv-1:qa[1]: malformed evidence id 'D1:1; D1:02' (repaired to D1:1, D1:2)",
        "conv-1:qa[3]: the question was asked before (kept)",
        "conv-1:qa[3]: the question has no evidence (kept)",
    ]


def test_one_malformed_record_takes_nothing_else_down(tmp_path: Path) -> None:
    broken = copy.deepcopy(CONVERSATION)
    del broken["conversation"]["session_1"][0]["text"]
    broken["conversation"]["session_1_date_time"] = "yesterday"
    broken["observation"]["session_1_observation"]["Bob"][0] = ["alone"]
    del broken["qa"][0]["category"]
    nodes, cases, problems = read(
        tmp_path, broken, {"sample_id": "conv-2"}, {**CONVERSATION, "sample_id": "conv-3"}
    )
    of_first = [node for node in nodes if node.source == "conv-1"]
    assert [(node.level, node.valid_at) for node in of_first] == [
        ("L0", None),
        ("L0", None),
        ("L1", None),
        ("L2", None),
    ]
    assert of_first[3].parents == (of_first[2].name,)
    assert sum(case.case_id.startswith("conv-1/") for case in cases) == 3
    assert sum(node.source == "conv-3" for node in nodes) == 6
    assert problems[0] == (
        "conv-1:session_1_date_time: no date like '1:56 pm on 8 May, 2023': 'yesterday'; the session is undated (kept)"
    )
    assert "conv-1:session_1[0]: not a turn: KeyError 'text' (skipped)" in problems
    assert "conversation 1: not a LoCoMo conversation: KeyError 'conversation' (skipped)" in problems
    assert any(
        problem.startswith("conv-1:session_1_observation:Bob:0: not an observation:") for problem in problems
    )
    assert "conv-1:qa[0]: not a question: KeyError 'category' (skipped)" in problems


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("D8:6; D9:17", ["D8:6", "D9:17"]),
        ("D9:1 D4:4 D4:6", ["D9:1", "D4:4", "D4:6"]),
        ("D22:21, D22:23", ["D22:21", "D22:23"]),
        ("D:11:26", ["D11:26"]),
        ("D30:05", ["D30:5"]),
        ("D", []),
        ("", []),
        ("D8", []),
        ("see D8:6 or so", []),
        ("D8:6-9", []),
        (None, []),
        (7, []),
    ],
)
def test_repairing_turn_ids(value: object, meant: list[str]) -> None:
    assert repaired(value) == meant


def test_a_turn_that_does_not_exist_is_left_out() -> None:
    turns, problems = cited_turns("here", ["D1:1", "D1:01", "D9:9"], {"D1:1"})
    assert turns == ["D1:1"]
    assert [str(problem) for problem in problems] == [
        "here: malformed evidence id 'D1:01' (repaired to D1:1)",
        "here: evidence 'D9:9' is no turn of the conversation (skipped)",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            None,
            r"locomo10\.json: cannot be read: No such file or directory; expected LoCoMo's locomo10\.json",
        ),
        ("[{]", r"locomo10\.json: not JSON"),
        ('{"qa": []}', r"locomo10\.json: expected a list of conversations, got dict"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "locomo10.json").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        next(load(tmp_path))


@pytest.fixture(scope="module")
def public_set(public_data: Path) -> dict[str, list[Item | Problem]]:
    by_dataset: dict[str, list[Item | Problem]] = defaultdict(list)
    for suffix, _, item in load(public_data / "locomo"):
        by_dataset[suffix].append(item)
    return by_dataset


def test_the_public_set(public_set: dict[str, list[Item | Problem]]) -> None:
    numbers = (26, 30, 41, 42, 43, 44, 47, 48, 49, 50)
    assert list(public_set) == [f"/conv-{number}" for number in numbers]
    items = [item for dataset in public_set.values() for item in dataset]
    nodes = [item for item in items if isinstance(item, NodeItem)]
    cases = [Case.from_body(item.body) for item in items if isinstance(item, CaseItem)]
    assert Counter(node.level for node in nodes) == {"L0": 5882, "L1": 2541, "L2": 272}
    assert sum(" [image: " in node.text for node in nodes) == 910
    assert all(node.valid_at for node in nodes)
    assert len(cases) == len({case.case_id for case in cases}) == 1986
    assert Counter(case.answerable for case in cases) == {True: 1540, False: 446}
    assert sum(not case.gold for case in cases) == 4
    assert {type(answer) for case in cases for answer in case.answers} == {str}


def test_the_public_sets_traps(public_set: dict[str, list[Item | Problem]]) -> None:
    problems = [item for dataset in public_set.values() for item in dataset if isinstance(item, Problem)]
    told = Counter(problem.what.partition(" '")[0] for problem in problems if ":qa[" in problem.where)
    assert told == {
        "malformed evidence id": 7,
        "evidence": 2,  # D10:19 and D4:36 are no turns
        "the question was asked before": 12,
        "the question has no evidence": 4,
    }
    assert sum("date without a session" in problem.what for problem in problems) == 16
    assert sum(problem.action.startswith("repaired") for problem in problems if ":qa[" in problem.where) == 6
    assert sum("_observation" in problem.where for problem in problems) == 5


@pytest.mark.parametrize(
    ("place", "written", "done", "gold"),
    [
        ("conv-26:qa[37]", "malformed evidence id 'D8:6; D9:17'", "repaired to D8:6, D9:17", ("D8:6", "D9:17")),
        ("conv-42:qa[58]", "evidence 'D10:19' is no turn of the conversation", "skipped", None),
        ("conv-42:qa[88]", "malformed evidence id 'D'", "skipped", None),
        ("conv-43:qa[18]", "malformed evidence id 'D:11:26'", "repaired to D11:26", ("D11:26",)),
        ("conv-47:qa[38]", "evidence 'D4:36' is no turn of the conversation", "skipped", None),
        ("conv-49:qa[31]", "malformed evidence id 'D9:1 D4:4 D4:6'", "repaired to D9:1, D4:4, D4:6",
         ("D9:1", "D4:4", "D4:6")),
        ("conv-49:qa[38]", "malformed evidence id 'D22:1 D22:2 D9:10 D9:11'",
         "repaired to D22:1, D22:2, D9:10, D9:11", ("D22:1", "D22:2", "D9:10", "D9:11")),
        ("conv-49:qa[46]", "malformed evidence id 'D21:18 D21:22 D11:15 D11:19'",
         "repaired to D21:18, D21:22, D11:15, D11:19", ("D21:18", "D21:22", "D11:15", "D11:19")),
        ("conv-50:qa[69]", "malformed evidence id 'D30:05'", "repaired to D30:5", ("D30:5",)),
    ],
)  # fmt: skip
def test_the_nine_bad_evidence_ids_of_questions(
    public_set: dict[str, list[Item | Problem]],
    place: str,
    written: str,
    done: str,
    gold: tuple[str, ...] | None,
) -> None:
    """Each with its place, what was done, and the turns that became gold; what was skipped left the others."""
    name, _, index = place.partition(":qa[")
    items = public_set[f"/{name}"]
    told = [
        item for item in items if isinstance(item, Problem) and item.where.endswith(f"locomo10.json:{place}")
    ]
    assert [(problem.what, problem.action) for problem in told] == [(written, done)]
    (case,) = (
        Case.from_body(item.body)
        for item in items
        if isinstance(item, CaseItem) and item.case_id == f"{name}/q{index.rstrip(']')}"
    )
    turns = [one.turn for one in case.gold]
    if gold is not None:
        assert set(gold) <= set(turns)
    assert turns
    known = {item.turn for item in items if isinstance(item, NodeItem) and item.level == "L0"}
    assert set(turns) <= known


def test_where_the_other_traps_of_the_public_set_are(public_set: dict[str, list[Item | Problem]]) -> None:
    def places(what: str) -> list[str]:
        return [
            item.where.partition("locomo10.json:")[2]
            for items in public_set.values()
            for item in items
            if isinstance(item, Problem) and item.what.startswith(what)
        ]

    assert places("a date without a session") == [f"conv-26:session_{n}_date_time" for n in range(20, 36)]
    assert places("the question was asked before") == [
        "conv-30:qa[95]", *(f"conv-48:qa[{n}]" for n in range(89, 100)),
    ]  # fmt: skip
    assert places("the question has no evidence") == [
        "conv-26:qa[30]", "conv-26:qa[46]", "conv-50:qa[39]", "conv-50:qa[42]",
    ]  # fmt: skip


def test_a_summary_stands_on_the_observations_of_its_own_session(
    public_set: dict[str, list[Item | Problem]],
) -> None:
    for items in public_set.values():
        nodes = [item for item in items if isinstance(item, NodeItem)]
        observed: dict[str | None, set[str | None]] = defaultdict(set)
        for node in nodes:
            if node.level == "L1":
                observed[node.session].add(node.name)
                assert node.turn == node.parents[0]
        for node in nodes:
            if node.level == "L2":
                assert set(node.parents) == observed[node.session] != set()


def test_links_of_the_public_set_lead_one_level_down(public_set: dict[str, list[Item | Problem]]) -> None:
    below = {"L1": "L0", "L2": "L1"}
    for items in public_set.values():
        levels: dict[str | None, str] = {}
        for node in (item for item in items if isinstance(item, NodeItem)):
            if node.level != "L0":
                assert node.parents
                assert {levels[parent] for parent in node.parents} == {below[node.level]}
            levels[node.name] = node.level
