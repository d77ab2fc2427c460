"""A corpus: filters, neighbours, and indexes that are kept, checked and rebuilt with a word of why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from core.errors import StoreError
from core.index import persist
from core.index.corpus import Corpus
from core.store import Columns
from core.text import stems

ROOT = Path(__file__).resolve().parents[3]
TEXTS = [
    "The proxy fails at 10KB.",
    "",
    "Lunch is at the canal.",
    "The canal is closed.",
    "Proxies have buffers.",
]


@dataclass
class ListSource:
    """Rows out of lists; counts how often texts and vectors are read."""

    listed: list[str] = field(default_factory=lambda: list(TEXTS))
    fingerprint: str = "uid@1"
    kind: str = "node"
    key: str = "uid"
    reads: list[str] = field(default_factory=list)
    grown: bool = False

    def columns(self) -> Columns:
        n = len(self.listed)
        return Columns(
            row_ids=np.arange(n) + 10,
            dataset_ids=np.array([1] * (n - 1) + [2] * min(n, 1)),
            sources=[f"doc{row // 2}" for row in range(n)],
            levels=["L0", "L0", "L1", "L2", "L0"][:n],
            sessions=[None] * n,
            positions=[None] * n,
        )

    def texts(self):
        self.reads.append("texts")
        return iter(self.listed + ["one more"] * self.grown)

    def vectors(self, embedder):
        self.reads.append("vectors")
        yield embedder.embed(self.listed)


class StemEmbedder:
    """Each stem a fixed random direction; NaN for the texts in ``broken``, zeros without stems."""

    dim = 32

    def __init__(self, model_id: str = "stems-32", broken: tuple[str, ...] = ()) -> None:
        self.model_id = model_id
        self.broken = broken

    def embed(self, texts, progress: Callable[[int], None] | None = None):
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for stem in stems(text):
                seed = int.from_bytes(sha256(f"{self.model_id}{stem}".encode()).digest()[:8])
                rows[row] += np.random.default_rng(seed).standard_normal(self.dim)
            norm = np.linalg.norm(rows[row])
            rows[row] = np.nan if text in self.broken else rows[row] / (norm or 1)
        return rows


def use(corpus: Corpus) -> None:
    """Opens or builds all three indexes."""
    assert len(corpus.tfidf) == len(corpus.bm25) == len(corpus.vectors) == len(corpus)


def fresh(
    folder: Path | None, source: ListSource | None = None, embedder: StemEmbedder | None = None
) -> Corpus:
    return Corpus(source or ListSource(), folder, embedder or StemEmbedder())


LEFT_OUT = "1 of 5 nodes have no vector (no words, or the model gave none) and are found by words only: doc0."


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, None),
        ({"levels": ("L0", "L1", "L2")}, None),
        ({"dataset_ids": [1, 2]}, None),
        ({"hide_sources": ["nobody"]}, None),
        ({"levels": ("L1", "L2")}, [2, 3]),
        ({"levels": ["L9"]}, []),
        ({"dataset_ids": [2]}, [4]),
        ({"hide_sources": frozenset({"doc0", "doc2"})}, [2, 3]),
        ({"levels": ("L0",), "dataset_ids": [1], "hide_sources": ["doc0"]}, []),
        ({"levels": ("L0",), "dataset_ids": [1]}, [0, 1]),
    ],
)
def test_a_mask_joins_every_filter_and_is_none_where_all_pass(filters, expected):
    mask = fresh(None).mask(**filters)
    assert mask is None if expected is None else np.flatnonzero(mask).tolist() == expected


def test_neighbours_are_one_position_away_in_the_same_run(monkeypatch):
    columns = Columns(
        row_ids=np.arange(9),
        dataset_ids=np.array([1, 1, 1, 1, 1, 2, 1, 1, 1]),
        sources=["a", "a", "a", "a", "b", "a", "a", "a", "a"],
        levels=["L0"] * 6 + ["L1", "L0", "L0"],
        sessions=["s", "s", "s", "t", "s", "s", "s", None, "s"],
        positions=[1, 0, 2, 1, 1, 2, 1, 1, 5],
    )
    monkeypatch.setattr(ListSource, "columns", lambda self: columns)
    assert fresh(None).neighbours.tolist() == [
        [1, 2],  # 0 and 2 of the same session
        [-1, 0],
        [0, -1],
        *[[-1, -1]] * 6,  # another session, source, dataset or level, no session, a gap
    ]


def test_an_index_is_built_once_then_opened_with_equal_answers(tmp_path):
    source = ListSource()
    first = fresh(tmp_path, source)
    use(first)
    assert source.reads == ["texts", "texts", "vectors"]
    again = fresh(tmp_path, source)
    use(again)
    assert source.reads == ["texts", "texts", "vectors"]
    assert first.notices == again.notices == [LEFT_OUT]
    question = StemEmbedder().embed(["closed canal"])[0]
    assert np.array_equal(again.tfidf.scores("closed canal"), first.tfidf.scores("closed canal"))
    assert np.array_equal(again.bm25.scores("closed canal"), first.bm25.scores("closed canal"))
    assert [found.tolist() for found in again.vectors.search(question, 3)] == [
        found.tolist() for found in first.vectors.search(question, 3)
    ]
    assert again.vectors.search(question, 1)[0].tolist() == [3]


def test_without_a_folder_everything_works_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    use(fresh(None))
    assert list(tmp_path.iterdir()) == []


def damaged(tmp_path: Path, name: str, change: Callable[[Path], None]) -> None:
    (file,) = tmp_path.glob(f"*/*/{name}")
    change(file)


def truncated(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("change", [truncated, flipped, Path.unlink])
@pytest.mark.parametrize(
    ("file", "label"),
    [
        ("vectors.faiss", "vector index"),
        ("vectors.npy", "vector index"),
        ("tfidf.npz", "TF-IDF index"),
        ("tfidf.json", "TF-IDF index"),
        ("bm25.json", "BM25 index"),
    ],
)
def test_a_damaged_or_missing_file_is_rebuilt_and_said(tmp_path, file, label, change):
    use(fresh(tmp_path))
    damaged(tmp_path, file, change)
    corpus = fresh(tmp_path)
    use(corpus)
    said = [notice for notice in corpus.notices if notice != LEFT_OUT]
    assert len(said) == 1
    assert said[0].startswith(f"{label} of nodes rebuilt: its file {file} is ")
    once_more = fresh(tmp_path)
    use(once_more)
    assert once_more.notices == [LEFT_OUT]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"files": 3, "stamp": {}}', '{"files": {}, "stamp": 5}']
)
def test_a_damaged_manifest_is_rebuilt_and_said(tmp_path, content):
    fresh(tmp_path).tfidf.scores("x")
    (manifest,) = tmp_path.glob("*/tfidf/manifest.json")
    manifest.write_text(content)
    corpus = fresh(tmp_path)
    assert corpus.tfidf.scores("canal").any()
    assert corpus.notices == ["TF-IDF index of nodes rebuilt: its manifest is damaged."]


def test_files_that_pass_their_checks_but_cannot_be_read_are_rebuilt(tmp_path):
    fresh(tmp_path).vectors.search(np.zeros(32, np.float32), 1)
    (folder,) = tmp_path.glob("*/vectors")
    (folder / "vectors.faiss").write_bytes(b"not an index")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["vectors.faiss"] = persist._checksum(folder / "vectors.faiss")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    corpus = fresh(tmp_path)
    assert corpus.vectors.search(StemEmbedder().embed(["canal"])[0], 1)[0].size == 1
    assert corpus.notices == ["vector index of nodes rebuilt: it cannot be read (RuntimeError).", LEFT_OUT]


def test_another_revision_embedder_or_format_is_rebuilt_and_said(tmp_path, monkeypatch):
    use(fresh(tmp_path))
    changed = fresh(tmp_path, ListSource(listed=["The ferry sails.", *TEXTS[1:]], fingerprint="uid@2"))
    use(changed)
    assert changed.tfidf.scores("ferry")[0] > 0
    assert all("rebuilt: the data changed since it was made" in notice for notice in changed.notices[:3])
    other = fresh(tmp_path, changed.source, StemEmbedder("other-32"))
    use(other)
    assert other.notices == [
        "vector index of nodes rebuilt: it was made for another embedder (stems-32, now other-32).",
        LEFT_OUT,
    ]
    monkeypatch.setattr(persist, "FORMAT", persist.FORMAT + 1)
    newer = fresh(tmp_path, changed.source, StemEmbedder("other-32"))
    use(newer)
    assert sum("made for another format" in notice for notice in newer.notices) == 3
    assert len(list(tmp_path.glob("*/*"))) == 3  # nothing stale stays behind


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that nobody can write to")
def test_a_folder_that_cannot_be_written_means_memory_and_a_notice():
    corpus = fresh(Path("/proc/self/index"))
    use(corpus)
    assert corpus.tfidf.scores("canal").any()
    kept = [notice for notice in corpus.notices if "is kept in memory only: " in notice]
    assert len(kept) == 3
    assert "cannot be written" in kept[0]


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise OSError(28, "No space left on device")

    corpus = fresh(tmp_path)
    monkeypatch.setattr("core.index.tfidf.TfidfIndex.save", lambda self, folder: full(folder))
    assert corpus.tfidf.scores("canal").any()
    assert "No space left on device" in corpus.notices[0]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_killed_processes_left_is_removed_once_it_is_old(tmp_path):
    use(fresh(tmp_path))
    (folder,) = tmp_path.iterdir()
    for name, age in ((".tfidf.old", persist.LEFTOVER_SECONDS + 60), (".tfidf.new", 60)):
        (folder / name).mkdir()
        os.utime(folder / name, (time.time() - age,) * 2)
    use(fresh(tmp_path, ListSource(fingerprint="uid@2")))
    assert sorted(path.name for path in folder.iterdir()) == [".tfidf.new", "bm25", "tfidf", "vectors"]


def test_a_text_whose_vector_is_nan_is_named_left_out_and_the_others_are_found(tmp_path):
    listed = [f"item {word} of the list" for word in range(1000)]
    source = ListSource(listed=listed)
    plain = source.columns()
    source.columns = lambda: replace(plain, levels=[None] * 1000)  # type: ignore[method-assign]
    broken = StemEmbedder(broken=(listed[500],))
    for folder in (tmp_path, tmp_path):  # built, then opened
        corpus = Corpus(source, folder, broken)
        rows, cosines = corpus.vectors.search(broken.embed([listed[7]])[0], 1000)
        assert sorted(rows.tolist()) == [row for row in range(1000) if row != 500]
        assert rows[0] == 7
        assert np.isfinite(cosines).all()
        assert len(corpus.notices) == 1
        assert corpus.notices[0].startswith("1 of 1000 nodes have no vector")
        assert corpus.notices[0].endswith(": doc250.")
        assert corpus.tfidf.scores(listed[500]).argmax() == 500


def test_rows_that_change_while_they_are_indexed_are_refused(tmp_path):
    corpus = fresh(tmp_path, ListSource(grown=True))
    with pytest.raises(
        StoreError, match=r"the nodes changed while they were indexed \(5 rows, then 6\); ask again"
    ):
        corpus.tfidf.scores("canal")
    assert list(tmp_path.rglob("manifest.json")) == []


def test_an_empty_corpus_finds_nothing(tmp_path):
    for _ in range(2):
        corpus = fresh(tmp_path, ListSource(listed=[]))
        use(corpus)
        assert corpus.tfidf.scores("x").size == corpus.bm25.scores("x").size == 0
        assert corpus.vectors.search(np.ones(32, np.float32), 5)[0].size == 0
        assert corpus.neighbours.shape == (0, 2)
        assert corpus.notices == []


def test_threads_build_an_index_once():
    source = ListSource()
    corpus = fresh(None, source)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: corpus.tfidf, range(16)))
    assert source.reads == ["texts"]
    assert all(index is found[0] for index in found)


def test_processes_that_build_at_once_leave_one_sound_index(tmp_path):
    script = (
        "import sys; sys.path[:0] = [sys.argv[1], sys.argv[1] + '/tests/core/index']\n"
        "from pathlib import Path\nfrom test_corpus import ListSource, fresh, use\n"
        "for turn in range(8):\n"
        "    corpus = fresh(Path(sys.argv[2]), ListSource(fingerprint=f'uid@{turn % 3}'))\n"
        "    use(corpus)\n"
        "    assert corpus.tfidf.scores('canal').any() and corpus.bm25.scores('canal').any()\n"
        "    assert not any('memory' in notice for notice in corpus.notices), corpus.notices\n"
    )
    command = [sys.executable, "-c", script, str(ROOT), str(tmp_path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    last = fresh(tmp_path, ListSource(fingerprint="uid@2"))
    use(last)
    again = fresh(tmp_path, ListSource(fingerprint="uid@2"))
    use(again)
    assert again.notices == [LEFT_OUT]
    assert sorted(path.name for path in next(tmp_path.iterdir()).iterdir()) == ["bm25", "tfidf", "vectors"]
