import numpy as np
import pytest

from core.index.corpus import Corpus
from core.ingest.items import NodeItem
from core.workspace import Workspace

ROWS = [  # level, source, session, position
    ("L0", "log", "s1", 0),
    ("L0", "log", "s1", 1),
    ("L1", "notes", None, None),
    ("L0", "log", "s1", 3),
    ("L0", "log", "s2", 2),
    ("L2", "notes", None, None),
    ("L0", "other", "s1", 2),
    ("L0", "log", "s1", 2),
]


def items(rows=ROWS) -> list[NodeItem]:
    return [
        NodeItem(
            level=level,
            text=f"word{row} proxy",
            source=source,
            session=session,
            position=position,
            turn=f"t{row}",
        )
        for row, (level, source, session, position) in enumerate(rows)
    ]


@pytest.fixture
def corpus(make_workspace) -> Corpus:
    make_workspace(items()[:4], dataset="a/one")
    workspace = make_workspace(items()[4:], dataset="a/two")
    return workspace.corpus("node", workspace.store.matching("a/*"))


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({}, None),
        ({"levels": ["L0", "L1", "L2"]}, None),
        ({"levels": ["L0"]}, [0, 1, 3, 4, 6, 7]),
        ({"levels": ["L1", "L2"]}, [2, 5]),
        ({"levels": []}, []),
        ({"dataset_ids": [1]}, [0, 1, 2, 3]),
        ({"dataset_ids": [1, 2, 99]}, None),
        ({"dataset_ids": [99]}, []),
        ({"hide_sources": {"notes"}}, [0, 1, 3, 4, 6, 7]),
        ({"hide_sources": {"nowhere"}}, None),
        ({"levels": ["L0"], "dataset_ids": [2], "hide_sources": {"other", "nowhere"}}, [4, 7]),
        ({"levels": ["L1"], "hide_sources": {"notes"}}, []),
    ],
)
def test_a_mask_keeps_the_rows_that_pass_every_filter(filters, rows, corpus):
    mask = corpus.mask(**filters)
    assert (None if mask is None else np.flatnonzero(mask).tolist()) == rows
    assert mask is None or mask.shape == (len(corpus),) == (8,)


def test_a_mask_may_be_changed_by_who_asked(corpus):
    corpus.mask(levels=["L0"])[:] = False
    assert corpus.mask(levels=["L0"]).sum() == 6


def test_neighbours_are_of_the_same_session_source_and_dataset(corpus):
    beside = {row: pair for row, pair in enumerate(corpus.neighbours.tolist()) if pair != [-1, -1]}
    assert beside == {0: [-1, 1], 1: [0, -1]}


def test_neighbours_whatever_the_order_they_came_in(make_workspace):
    workspace = make_workspace(items())
    corpus = workspace.corpus("node", workspace.store.matching("main"))
    assert corpus.neighbours.tolist() == [
        [-1, 1], [0, 7], [-1, -1], [7, -1], [-1, -1], [-1, -1], [-1, -1], [1, 3],
    ]  # fmt: skip


def test_an_empty_corpus(make_workspace):
    workspace = make_workspace(items())
    corpus = workspace.corpus("chunk", workspace.store.matching("main"))
    assert len(corpus) == 0
    assert corpus.mask(levels=["L0"]) is None
    assert corpus.neighbours.shape == (0, 2)
    assert corpus.tfidf.scores("proxy").shape == corpus.bm25.scores("proxy").shape == (0,)
    rows, _ = corpus.vectors.search(np.ones(64, dtype=np.float32), 3)
    assert rows.size == 0
    assert corpus.notices == []


def test_texts_without_words_are_said_and_found_by_words_only(make_workspace):
    made = [NodeItem(level="L0", text=text, source="log", turn=str(row))
            for row, text in enumerate(["proxy buffer", "of the", "canal", "!?"])]  # fmt: skip
    workspace = make_workspace(made)
    corpus = workspace.corpus("node", workspace.store.matching("main"))
    rows, _ = corpus.vectors.search(workspace.embedder.embed(["proxy"])[0], 10)
    assert sorted(rows) == [0, 2]
    assert corpus.notices == [
        "2 of 4 nodes have no vector (no words, or the model gave none) and are found by words only."
    ]


def test_a_model_that_gives_nan_for_one_text_of_a_thousand(make_workspace, bag_embedder, tmp_path):
    class Faulty:
        model_id, dim = "faulty-64", 64

        def embed(self, texts, progress=None):
            rows = bag_embedder.embed(texts)
            rows[[text.startswith("word77 ") for text in texts]] = np.nan
            return rows

    made = [NodeItem(level="L0", text=f"word{row} proxy", source="log", turn=str(row)) for row in range(1000)]
    make_workspace(made)
    with Workspace.open(tmp_path / "assay.db", embedder=Faulty()) as workspace:
        corpus = workspace.corpus("node", workspace.store.matching("main"))
        rows, cosines = corpus.vectors.search(bag_embedder.embed(["word78"])[0], 1000)
        assert len(rows) == 999
        assert rows[0] == 78
        assert np.isfinite(cosines).all()
        assert 77 not in rows
        assert corpus.notices == [
            "1 of 1000 nodes have no vector (no words, or the model gave none) and are found by words only."
        ]
        assert int(np.argmax(corpus.tfidf.scores("word77"))) == 77
        assert int(np.argmax(corpus.bm25.scores("word77"))) == 77


def built(workspace: Workspace, dataset: str = "main") -> list[str]:
    """What is said when all three indexes are opened and used."""
    corpus = workspace.corpus("node", workspace.store.matching(dataset))
    assert np.argmax(corpus.tfidf.scores("word1")) == np.argmax(corpus.bm25.scores("word1")) == 1
    assert corpus.vectors.search(workspace.embedder.embed(["word1 proxy"])[0], 1)[0].tolist() == [1]
    return corpus.notices


def test_indexes_are_kept_for_the_next_process_and_rebuilt_after_a_change(make_workspace, tmp_path):
    assert built(make_workspace(items())) == []
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "assay.db.index").rglob("manifest.json")}
    assert len(stamps) == 3
    assert built(make_workspace([])) == []
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps
    more = NodeItem(level="L0", text="one more proxy", source="log", turn="t99")
    notices = built(make_workspace([more]))
    assert [notice.split(":")[0] for notice in notices] == [
        "TF-IDF index of nodes rebuilt", "BM25 index of nodes rebuilt", "vector index of nodes rebuilt",
    ]  # fmt: skip
    assert all("it was made for another content" in notice for notice in notices)


def test_vectors_of_another_embedder_are_not_used(make_workspace, bag_embedder, tmp_path):
    class Renamed:
        model_id, dim = "renamed-64", 64

        def embed(self, texts, progress=None):
            return -bag_embedder.embed(texts)

    built(make_workspace(items()))
    with Workspace.open(tmp_path / "assay.db", embedder=Renamed()) as workspace:
        assert built(workspace) == [
            "vector index of nodes rebuilt: it was made for another embedder (bag-64, now renamed-64)."
        ]
        corpus = workspace.corpus("node", workspace.store.matching("main"))
        np.testing.assert_allclose(
            corpus.vectors.vectors(np.array([1]))[0], -bag_embedder.embed(["word1 proxy"])[0]
        )


def test_damage_is_said_in_the_trace(make_workspace, tmp_path):
    from core.profile import load

    built(make_workspace(items()))
    (file,) = (tmp_path / "assay.db.index").rglob("vectors.faiss")
    file.write_bytes(file.read_bytes()[:-3])
    trace = make_workspace([]).ask(
        "word1 proxy?", dataset="main", recipe="brain", profile=load("seed", "brain")
    )
    assert "vector index of nodes rebuilt: its file vectors.faiss is damaged." in trace.notices
    assert trace.answer.evidence[0].text == "word1 proxy"
