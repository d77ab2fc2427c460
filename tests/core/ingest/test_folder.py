"""Reading folders and files: what is taken, in which order, and what is a problem instead of a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.errors import DataError
from core.ingest import folder
from core.ingest.folder import read_paths
from core.ingest.items import ArtifactItem, LinkItem, NodeItem, Problem

LINK = '{"kind": "link", "child": "a", "parent": "b"}\n'


def taken(*paths: Path) -> dict[str, str]:
    """source → text of all artifacts under ``paths``."""
    items = [item for _, item in read_paths(paths)]
    return {item.source: item.text for item in items if isinstance(item, ArtifactItem)}


def problems(*paths: Path) -> list[str]:
    return [str(item) for _, item in read_paths(paths) if isinstance(item, Problem)]


def test_a_folder_gives_its_texts_in_sorted_order_and_passes_over_what_is_hidden(tmp_path: Path) -> None:
    files = {
        "b.md": "B", "a.txt": "A", "sub/c.markdown": "C", "sub/UPPER.MD": "U", "README.md": "R",
        ".hidden.md": "H", ".git/notes.md": "H", "sub/.x/y/z.md": "H", "picture.png": "P", "noext": "N", "d.json": "{}",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "folder.md").mkdir()
    found = taken(tmp_path)
    assert found == {"README.md": "R", "a.txt": "A", "b.md": "B", "sub/UPPER.MD": "U", "sub/c.markdown": "C"}
    assert list(found) == sorted(found)


def test_native_files_are_read_and_a_readme_beside_them_is_not(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(LINK)
    (tmp_path / "README.md").write_text("About x.jsonl")
    (tmp_path / "more.md").write_text("Data")
    assert [item for _, item in read_paths([tmp_path])] == [
        ArtifactItem(source="more.md", text="Data", title="more"),
        LinkItem(child="a", parent="b"),
    ]
    assert [where for where, _ in read_paths([tmp_path])] == [
        str(tmp_path / "more.md"),
        f"{tmp_path / 'x.jsonl'}:1",
    ]
    assert taken(tmp_path / "README.md") == {"README.md": "About x.jsonl"}  # asked for by name


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# The title\ntext", "The title"),
        ("text\n\n# Later #\n", "Later"),
        ("## Second level\ntext", "name"),
        ("#hash\ntext", "name"),
        ("plain", "name"),
        ("\ufeff# Marked", "Marked"),
    ],
)
def test_a_title_is_the_first_heading_or_the_files_name(text: str, title: str, tmp_path: Path) -> None:
    (tmp_path / "name.md").write_text(text, encoding="utf-8")
    item = next(item for _, item in read_paths([tmp_path]))
    assert isinstance(item, ArtifactItem)
    assert (item.title, item.text) == (title, text.removeprefix("\ufeff"))


def test_bad_files_are_problems_and_the_others_are_taken(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out.md"
    inside.mkdir()
    outside.write_text("secret")
    (inside / "1-latin.md").write_bytes(b"caf\xe9")
    (inside / "2-empty.md").write_bytes(b"")
    (inside / "3-blank.txt").write_bytes(b" \n ")
    (inside / "4-nul.txt").write_bytes(b"a\x00b")
    (inside / "5-out.md").symlink_to(outside)
    (inside / "6-dangling.md").symlink_to(tmp_path / "gone.md")
    (inside / "7-loop.md").symlink_to(inside / "7-loop.md")
    os.mkfifo(inside / "8-pipe.md")
    (inside / "9-ok.md").write_text("fine")
    (inside / "9-within.md").symlink_to(inside / "9-ok.md")
    found = problems(inside)
    says = ["1-latin.md: not UTF-8 at byte 4; save it as UTF-8", "2-empty.md: the file is empty",
            "3-blank.txt: the file is empty", "4-nul.txt: holds NUL characters", "5-out.md: a link that leads out of",
            "6-dangling.md: cannot be read: No such file", "7-loop.md: cannot be read: ",
            "8-pipe.md: no regular file"]  # fmt: skip
    assert len(found) == len(says)
    for problem, expected in zip(found, says, strict=True):
        assert problem.startswith(f"{inside}/{expected}"), problem
        assert problem.endswith("(skipped)")
    assert taken(inside) == {"9-ok.md": "fine", "9-within.md": "fine"}


def test_a_name_that_is_no_text_is_a_problem_that_can_be_printed(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("text")
    (found,) = problems(tmp_path)
    assert found.encode() == f"{tmp_path}/caf\ufffd.md: the name is not UTF-8; rename it (skipped)".encode()


def test_a_linked_folder_is_no_way_out(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.md").write_text("secret")
    (tmp_path / "in" / "door").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "ok.md").write_text("fine")
    (tmp_path / "in" / "round").symlink_to(tmp_path / "in")
    assert "secret" not in taken(tmp_path / "in").values()
    assert taken(tmp_path / "in")["ok.md"] == "fine"


def test_a_file_that_is_too_large_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MAX_FILE", 10)
    (tmp_path / "a.md").write_text("x" * 10)
    (tmp_path / "b.md").write_text("x" * 11)
    assert problems(tmp_path) == [f"{tmp_path / 'b.md'}: larger than 10 bytes; split it (skipped)"]
    assert list(taken(tmp_path)) == ["a.md"]


def test_a_file_is_named_relative_to_what_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("A")
    (tmp_path / "n.jsonl").write_text('{"kind": "node", "level": "L0", "text": "t", "source": "s"}\n')
    assert list(taken(tmp_path)) == ["sub/a.md"]
    assert list(taken(tmp_path / "sub")) == ["a.md"]
    assert list(taken(tmp_path / "sub" / "a.md")) == ["a.md"]
    items = [item for _, item in read_paths([tmp_path / "n.jsonl", tmp_path / "sub"])]
    assert [type(item) for item in items] == [NodeItem, ArtifactItem]  # in the order the paths are given


@pytest.mark.parametrize("name", ["gone", "gone.md", "file.md/below"])
def test_a_path_that_is_not_there_is_an_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("x")
    with pytest.raises(DataError, match="no such file or folder") as caught:
        list(read_paths([tmp_path / name]))
    assert str(caught.value).startswith(str(tmp_path / name))


def test_nothing_to_read_is_an_error_that_says_what_can_be(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    with pytest.raises(
        DataError, match=r"no file to read; files that end in \.md, \.markdown, \.txt, \.jsonl are"
    ):
        list(read_paths([tmp_path]))
