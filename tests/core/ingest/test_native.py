"""The native format: every kind of bad line is a problem at its file:line, and the lines around it are taken."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ingest import native
from core.ingest.items import ArtifactItem, CaseItem, EntityItem, FactItem, Item, LinkItem, NodeItem, Problem
from core.ingest.native import read_native

SOUND = b'{"kind": "link", "child": "a", "parent": "b"}'


def line(kind: str, **fields: object) -> bytes:
    """A line of ``kind`` with all that must be given; None leaves a field out."""
    given = {
        "artifact": {"source": "s", "text": "t"},
        "entity": {"name": "n", "type": "t"},
        "fact": {"subject": "a", "relation": "r", "object": "b"},
        "node": {"level": "L0", "text": "t", "source": "s"},
        "link": {"child": "c", "parent": "p"},
        "case": {"case_id": "c", "question": "q?"},
    }.get(kind, {})
    row = {"kind": kind, **given, **fields}
    return json.dumps({key: value for key, value in row.items() if value is not None}).encode()


def read(path: Path, *lines: bytes) -> list[tuple[str, Item | Problem]]:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return list(read_native(path))


BAD: dict[str, tuple[bytes, str]] = {
    "not JSON": (b'{"kind": "node",', "not JSON: .* at column 17"),
    "two objects": (b"{} {}", "not JSON: Extra data"),
    "a list": (b"[1]", "a line holds one JSON object, got list"),
    "a number": (b"7", "a line holds one JSON object, got int"),
    "NaN": (
        b'{"kind": "node", "level": "L0", "text": "t", "source": "s", "confidence": NaN}',
        "NaN is not JSON",
    ),
    "Infinity": (
        b'{"kind": "entity", "name": "n", "type": "t", "latitude": -Infinity}',
        "-Infinity is not JSON",
    ),
    "beyond numbers": (line("case").replace(b'"q?"', b'"q?", "weight": 1e999'), "not JSON compliant"),
    "nested deeply": (b"[" * 100_000, ""),
    "huge number": (b'{"kind": ' + b"9" * 5_000 + b"}", "Exceeds the limit"),
    "no kind": (b"{}", "kind must be one of artifact, entity, fact, node, link, case, got None"),
    "unknown kind": (line("poem"), "kind must be one of .*, got 'poem'"),
    "kind is a list": (b'{"kind": ["node"]}', r"kind must be one of .*, got \['node'\]"),
    "unknown field": (line("node", colour="red"), "colour: Extra inputs"),
    "missing field": (line("node", level=None), "level: Field required"),
    "missing text": (line("artifact", text=None), "text: Field required"),
    "missing object": (line("fact", object=None), "object: Field required"),
    "blank text": (line("node", text=" \n\t"), "text: .*must not be blank"),
    "blank source": (line("artifact", source=""), "source: .*must not be blank"),
    "blank name": (line("node", name=""), "name: .*must not be blank"),
    "blank entity": (line("entity", name=" "), "name: .*must not be blank"),
    "blank summary": (line("artifact", summary=" "), "summary: .*must not be blank"),
    "NUL": (line("node", text="a\x00b"), "text: .*must not hold NUL"),
    "surrogate": (line("node", text="a\ud800b"), "surrogate"),
    "surrogate title": (line("node", title="a\ud800b"), "surrogate"),
    "text is a number": (line("node", text=7), "text: .*string"),
    "number is a text": (line("node", position="7"), "position: .*integer"),
    "number is a truth": (line("node", position=True), "position: .*integer"),
    "position too large": (line("node", position=2**63), "position: .*less than"),
    "position too small": (line("node", position=-(2**63) - 1), "position: .*greater than"),
    "no date": (
        line("node", valid_at="yesterday"),
        "valid_at: .*not a date or time: 'yesterday'; write 2023",
    ),
    "no such day": (line("artifact", valid_at="2023-02-30"), "valid_at: .*not a date or time"),
    "year too early": (line("node", valid_at="0001-01-01T00:00:00+14:00"), "valid_at: .*not a date or time"),
    "date is a number": (line("node", valid_at=2023), "valid_at: .*string"),
    "invalid before valid": (
        line("fact", valid_at="2024-01-02", invalid_at="2024-01-01"),
        "invalid_at 2024-01-01T00:00:00Z lies before valid_at 2024-01-02T00:00:00Z",
    ),
    "expired before created": (
        line("fact", created_at="2024-01-02", expired_at="2024-01-01"),
        "expired_at .* lies before created_at",
    ),
    "confidence too large": (line("node", confidence=1.5), "confidence: .*less than or equal to 1"),
    "confidence too small": (line("node", confidence=-0.1), "confidence: .*greater than or equal to 0"),
    "latitude alone": (line("entity", latitude=1.0), "latitude and longitude are given both or neither"),
    "longitude alone": (line("entity", longitude=1.0), "latitude and longitude are given both or neither"),
    "latitude too large": (
        line("entity", latitude=90.1, longitude=0.0),
        "latitude: .*less than or equal to 90",
    ),
    "longitude too small": (
        line("entity", latitude=0.0, longitude=-181),
        "longitude: .*greater than or equal to -180",
    ),
    "unknown level": (line("node", level="L3"), "level: .*'L0', 'L1' or 'L2'"),
    "parents are no list": (line("node", parents="p"), "parents: .*"),
    "a parent is no text": (line("node", parents=["p", 1]), "parents.1: .*string"),
    "case without id": (line("case", case_id=None), "case_id must be a name, got None"),
    "case with blank id": (line("case", case_id=" "), "case_id must be a name, got ' '"),
    "case without question": (line("case", question=None), "question must not be blank"),
    "case with blank question": (line("case", question=" "), "question must not be blank"),
    "case with half a character": (line("case", question="a\ud800?"), "surrogate"),
    "not UTF-8": (b'{"kind": "link", "child": "\xff", "parent": "b"}', "not UTF-8 at byte 28 of the line"),
}


@pytest.mark.parametrize(("bad", "says"), BAD.values(), ids=BAD)
def test_a_bad_line_is_a_problem_by_file_and_line(bad: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    rows = read(path, SOUND, bad, SOUND)
    assert [where for where, _ in rows] == [f"{path}:{number}" for number in (1, 2, 3)]
    assert rows[0][1] == rows[2][1] == LinkItem(child="a", parent="b")
    problem = rows[1][1]
    assert isinstance(problem, Problem)
    assert (problem.where, problem.action) == (f"{path}:2", "skipped")
    assert problem.what
    assert re.search(says, problem.what), problem.what


@pytest.mark.parametrize("excess", [1, 2, 100, 5_000])
@pytest.mark.parametrize("end", [b"\n", b""], ids=["newline", "end"])
def test_a_line_that_is_too_long_is_passed_over_whole(
    excess: int, end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "MAX_LINE", 100)
    long = line("node", text="x" * (100 + excess - len(line("node", text=""))))
    assert len(long) == 100 + excess
    path = tmp_path / "in.jsonl"
    path.write_bytes(SOUND + b"\n" + long + b"\n" + SOUND + b"\n" + long + end)
    found = list(read_native(path))
    assert [where.rsplit(":", 1)[1] for where, _ in found] == ["1", "2", "3", "4"]
    assert [str(item.what) for _, item in found if isinstance(item, Problem)] == [
        "the line is longer than 100 bytes"
    ] * 2
    assert found[0][1] == found[2][1]


def test_a_line_that_just_fits_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "MAX_LINE", 100)
    fits = line("node", text="x" * (99 - len(line("node", text=""))))
    assert isinstance(read(tmp_path / "in.jsonl", fits)[0][1], NodeItem)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_byte_order_marks_and_blank_lines_are_fine(newline: bytes, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(newline.join([b"\xef\xbb\xbf" + SOUND, b"", b" \t ", SOUND, b"", SOUND]))
    assert [where for where, _ in read_native(path)] == [f"{path}:{number}" for number in (1, 4, 6)]
    assert {item for _, item in read_native(path)} == {LinkItem(child="a", parent="b")}


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b"")
    assert list(read_native(tmp_path / "in.jsonl")) == []


def test_every_field_of_every_kind_is_read(tmp_path: Path) -> None:
    rows = read(
        tmp_path / "in.jsonl",
        line("artifact", title="T", session="s1", valid_at="2023", summary="Sum.", whole=True, as_nodes=False),
        line("entity", description="D", latitude=1, longitude=-2.5),
        line("fact", description="D", artifact="s", valid_at="2023-03", invalid_at="2024-03-01T01:00:00+01:00",
             created_at="2025-01-01", expired_at="2025-01-01T09:00:00"),
        line("node", turn="t1", session="s1", position=-3, speaker="Ada", name="n", title="T", valid_at="2023-03-01",
             confidence=1, parents=["p", "q"]),
        line("link"),
        line("case", tags={"kind": "x"}, answer=None),
        line("node"),
    )  # fmt: skip
    assert [item for _, item in rows] == [
        ArtifactItem(source="s", text="t", title="T", session="s1", valid_at="2023-01-01T00:00:00Z", summary="Sum.",
                     whole=True, as_nodes=False),
        EntityItem(name="n", type="t", description="D", latitude=1.0, longitude=-2.5),
        FactItem(subject="a", relation="r", object="b", description="D", artifact="s", valid_at="2023-03-01T00:00:00Z",
                 invalid_at="2024-03-01T00:00:00Z", created_at="2025-01-01T00:00:00Z",
                 expired_at="2025-01-01T09:00:00Z"),
        NodeItem(level="L0", text="t", source="s", turn="t1", session="s1", position=-3, speaker="Ada", name="n",
                 title="T", valid_at="2023-03-01T00:00:00Z", confidence=1.0, parents=("p", "q")),
        LinkItem(child="c", parent="p"),
        CaseItem(case_id="c", body={"case_id": "c", "question": "q?", "tags": {"kind": "x"}}),
        NodeItem(level="L0", text="t", source="s"),
    ]  # fmt: skip


SHORT = [bad for bad, _ in BAD.values() if len(bad) < 1_000]


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(st.one_of(st.binary(max_size=60), st.just(SOUND), st.sampled_from(SHORT))))
def test_whatever_the_bytes_each_line_is_an_item_or_a_problem(
    lines: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.jsonl"
    path.write_bytes(b"\n".join(lines))
    rows = list(read_native(path))
    there = [number for number, one in enumerate(b"\n".join(lines).split(b"\n"), start=1) if one.strip()]
    assert [where for where, _ in rows] == [f"{path}:{number}" for number in there]
    sound = [number for number, one in enumerate(b"\n".join(lines).split(b"\n"), start=1) if one == SOUND]
    taken = {int(where.rsplit(":", 1)[1]) for where, item in rows if item == LinkItem(child="a", parent="b")}
    assert set(sound) <= taken
