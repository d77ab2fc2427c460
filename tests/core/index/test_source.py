"""The store as a source of corpora."""

import numpy as np
import pytest

from core.errors import ModelError, StoreError
from core.index.source import StoreCorpus
from core.ingest.embed import embed_missing
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, EntityItem, FactItem, NodeItem
from core.store import CORPUS_KINDS


def table(source, embedder):
    return np.concatenate(list(source.vectors(embedder)))


class Renamed:
    """The same vectors under another model's name."""

    def __init__(self, embedder):
        self.model_id, self.dim, self.embed = "other-64", embedder.dim, embedder.embed


def test_vectors_come_from_the_cache_and_missing_ones_are_embedded(make_workspace, turns, bag_embedder):
    store = make_workspace(turns).store
    source = StoreCorpus(store, "node", store.datasets())
    vectors = table(source, bag_embedder)
    assert vectors.shape == (len(turns), bag_embedder.dim)
    assert store.embeddings.count(bag_embedder.model_id) == len(turns)
    assert (table(source, bag_embedder) == vectors).all()


def test_a_question_does_not_embed_a_dataset_of_another_embedder(make_workspace, turns, bag_embedder):
    store = make_workspace(turns).store
    source = StoreCorpus(store, "node", store.datasets())
    table(source, bag_embedder)
    other = Renamed(bag_embedder)
    with pytest.raises(
        ModelError, match=r"embedded with bag-64, not with other-64: run `assay embed --dataset main"
    ):
        table(source, other)
    embed_missing(store, other, [1])
    assert (table(source, other) == table(source, bag_embedder)).all()


def signaling(vector: bytes) -> bytes:
    return b"\x01\x00\xa0\x7f" + vector[4:]  # NumPy warns of such a NaN


@pytest.mark.parametrize(
    "damage",
    [
        signaling,
        lambda vector: np.float32(1e30).tobytes() + vector[4:],
        lambda vector: np.float32(np.inf).tobytes() + vector[4:],
        lambda vector: vector[:-4],
        lambda vector: vector[:-1],
        lambda _: "text",
    ],
)
def test_a_vector_that_is_not_as_it_was_stored_is_refused(damage, make_workspace, turns, bag_embedder):
    store = make_workspace(turns).store
    source = StoreCorpus(store, "node", store.datasets())
    table(source, bag_embedder)
    with store.database.transaction() as connection:
        ((key, vector),) = connection.execute("SELECT text_hash, vector FROM embedding LIMIT 1").fetchall()
        connection.execute("UPDATE embedding SET vector = ? WHERE text_hash = ?", (damage(vector), key))
    with pytest.raises(StoreError, match=r"not as it was stored: the database is damaged; restore a copy"):
        table(source, bag_embedder)


def test_a_text_without_tokens_keeps_its_zeros(make_workspace, turns, bag_embedder):
    store = make_workspace([*turns, NodeItem(level="L0", text="?!", source="log", turn="t9")]).store
    vectors = table(StoreCorpus(store, "node", store.datasets()), bag_embedder)
    assert not vectors[-1].any()


@pytest.mark.parametrize("kind", CORPUS_KINDS)
def test_rows_added_after_the_columns_were_read_are_left_out(kind, make_workspace, bag_embedder):
    def items(word):
        return [
            ArtifactItem(source=word, text=f"{word} text.", summary=word),
            EntityItem(name=word, type="person"),
            FactItem(subject=word, relation="knows", object=word),
        ]

    store = make_workspace(items("first")).store
    source = StoreCorpus(store, kind, store.datasets())
    rows = len(source.columns().row_ids)
    ingest(store, "main", [(f"test:{n}", item) for n, item in enumerate(items("second"))])
    assert rows > 0
    assert (
        len(source.columns().row_ids) == len(list(source.texts())) == len(table(source, bag_embedder)) == rows
    )
    assert len(list(store.texts(kind, [1]))) == 2 * rows
