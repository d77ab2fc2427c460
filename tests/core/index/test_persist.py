import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.index.bm25 import BM25Index
from core.index.persist import MANIFEST, opened
from core.index.tfidf import TfidfIndex
from core.index.vectors import FaissIndex

ROOT = Path(__file__).resolve().parents[3]
TEXTS = ["the proxy buffer", "a canal", "an upgrade of the proxy"]
VECTORS = np.eye(3, dtype=np.float32)
STAMP = {"content": "u@1", "rows": 3, "embedder": "bag-64"}
KINDS = {
    TfidfIndex: lambda: TfidfIndex.build(TEXTS),
    BM25Index: lambda: BM25Index.build(TEXTS, small=0),
    FaissIndex: lambda: FaissIndex.build(VECTORS),
}


def works(index: TfidfIndex | BM25Index | FaissIndex) -> bool:
    if isinstance(index, FaissIndex):
        return bool(index.search(VECTORS[1], 1)[0] == [1])
    return bool(np.argmax(index.scores("canal")) == 1)


def open_again(kind: type, folder: Path | None, stamp: dict = STAMP) -> tuple[int, list[str]]:
    """How often it was built, and what was said."""
    built, said = [], []
    index = opened(kind, folder, "an index", stamp, lambda: built.append(1) or KINDS[kind](), said.append)
    assert works(index)
    assert len(index) == 3
    return len(built), said


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture
def kept(kind, tmp_path) -> Path:
    """The folder of an index that was written."""
    folder = tmp_path / "deep" / "index"
    assert open_again(kind, folder) == (1, [])
    assert open_again(kind, folder) == (0, [])
    return folder


def test_without_a_folder_it_is_built_every_time(kind):
    assert open_again(kind, None) == open_again(kind, None) == (1, [])


@pytest.mark.parametrize(
    ("key", "value", "was", "now"),
    [("content", "u@2", "u@1", "u@2"), ("embedder", "minilm", "bag-64", "minilm"), ("rows", 4, "3", "4")],
)
def test_an_index_of_something_else_is_rebuilt(key, value, was, now, kind, kept):
    said = [f"an index rebuilt: it was made for another {key} ({was}, now {now})."]
    assert open_again(kind, kept, {**STAMP, key: value}) == (1, said)
    assert open_again(kind, kept, {**STAMP, key: value}) == (0, [])


def test_an_index_of_another_format_is_rebuilt(kind, kept, monkeypatch):
    monkeypatch.setattr("core.index.persist.FORMAT", 999)
    assert open_again(kind, kept) == (1, ["an index rebuilt: it was made for another format (1, now 999)."])
    assert open_again(kind, kept) == (0, [])


def files_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.name != MANIFEST)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda file: file.unlink(), "is missing"),
        (lambda file: file.write_bytes(file.read_bytes()[:-1]), "is damaged"),
        (lambda file: file.write_bytes(b""), "is damaged"),
        (
            lambda file: file.write_bytes(file.read_bytes()[:-1] + bytes([file.read_bytes()[-1] ^ 1])),
            "is damaged",
        ),
        (lambda file: (file.unlink(), file.mkdir()), "cannot be read (Is a directory)"),
    ],
    ids=["missing", "truncated", "emptied", "altered", "folder"],
)
def test_every_harmed_file_is_noticed(harm, said, kind, kept):
    names = [file.relative_to(kept) for file in files_of(kept)]
    assert names
    for name in names:
        harm(kept / name)
        assert open_again(kind, kept) == (1, [f"an index rebuilt: its file {name.as_posix()} {said}."])
        assert open_again(kind, kept) == (0, [])


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b"{}", b'{"files": 1, "stamp": {}}', b'{"files": {}, "stamp": 5}', b"\xff\xfe",
     b'{"stamp": {}}'],
)  # fmt: skip
def test_a_damaged_manifest(content, kind, kept):
    (kept / MANIFEST).write_bytes(content)
    assert open_again(kind, kept) == (1, ["an index rebuilt: its manifest is damaged."])
    assert open_again(kind, kept) == (0, [])


def test_a_manifest_that_lists_no_files(kind, kept):
    manifest = json.loads((kept / MANIFEST).read_text())
    (kept / MANIFEST).write_text(json.dumps({**manifest, "files": {}}))
    assert open_again(kind, kept) == (1, ["an index rebuilt: its manifest is damaged."])


def test_a_missing_manifest_or_an_empty_folder(kind, kept):
    (kept / MANIFEST).unlink()
    assert open_again(kind, kept)[1] == ["an index rebuilt: its manifest is damaged."]


def test_files_that_fit_their_sums_but_cannot_be_read(kind, kept):
    from core.index.persist import _checksum

    name = files_of(kept)[0].relative_to(kept).as_posix()
    (kept / name).write_bytes(b"not an index")
    manifest = json.loads((kept / MANIFEST).read_text())
    manifest["files"][name] = _checksum(kept / name)
    (kept / MANIFEST).write_text(json.dumps(manifest))
    built, (said,) = open_again(kind, kept)
    assert built == 1
    assert said.startswith("an index rebuilt: it cannot be read (")


def test_nothing_but_the_index_is_left_behind(kind, kept):
    open_again(kind, kept, {**STAMP, "content": "u@2"})
    assert [path.name for path in kept.parent.iterdir()] == ["index"]


def test_where_it_cannot_be_written_it_works_in_memory(kind, tmp_path):
    (tmp_path / "file").write_text("in the way")
    built, (said,) = open_again(kind, tmp_path / "file" / "deep" / "index")
    assert built == 1
    assert said.startswith("an index is kept in memory only: ")
    assert said.endswith("cannot be written (Not a directory).")


def run(program: str, *arguments: str) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_on_a_full_disk_it_works_in_memory(tmp_path):
    """Files may not grow beyond 2,000 bytes in that process, as on a disk that is full."""
    program = """
import resource, sys
from pathlib import Path
import numpy as np
from core.index.persist import opened
from core.index.vectors import FaissIndex
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
table = np.eye(100, dtype=np.float32)
index = opened(FaissIndex, Path(sys.argv[1]) / "index", "an index", {}, lambda: FaissIndex.build(table), print)
assert index.search(table[7], 1)[0].tolist() == [7]
"""
    process = run(program, str(tmp_path))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.startswith("an index is kept in memory only: ")
    assert list(tmp_path.iterdir()) == []


def test_processes_that_swap_the_same_index_at_once_all_answer(tmp_path):
    program = """
import sys
from pathlib import Path
from core.index.persist import opened
from core.index.tfidf import TfidfIndex
for turn in range(30):
    stamp = {"content": f"{turn % 3}"}
    texts = [f"word{turn % 3} and more", "canal"]
    said = []
    index = opened(TfidfIndex, Path(sys.argv[1]), "an index", stamp, lambda: TfidfIndex.build(texts), said.append)
    assert index.scores(f"word{turn % 3}")[0] > 0, turn
    assert not any("memory only" in text for text in said), said
"""
    processes = [run(program, str(tmp_path / "index")) for _ in range(3)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
