"""The store as a source of corpora."""

import pytest

from core.errors import ModelError
from core.index.source import StoreCorpus
from core.ingest.embed import embed_missing


class Renamed:
    """The same vectors under another model's name."""

    def __init__(self, embedder):
        self.model_id, self.dim, self.embed = "other-64", embedder.dim, embedder.embed


def test_vectors_come_from_the_cache_and_missing_ones_are_embedded(make_workspace, turns, bag_embedder):
    store = make_workspace(turns).store
    source = StoreCorpus(store, "node", store.datasets())
    vectors = source.vectors(bag_embedder)
    assert vectors.shape == (len(turns), bag_embedder.dim)
    assert store.embeddings.count(bag_embedder.model_id) == len(turns)
    assert (source.vectors(bag_embedder) == vectors).all()


def test_a_question_does_not_embed_a_dataset_of_another_embedder(make_workspace, turns, bag_embedder):
    store = make_workspace(turns).store
    source = StoreCorpus(store, "node", store.datasets())
    source.vectors(bag_embedder)
    other = Renamed(bag_embedder)
    with pytest.raises(
        ModelError, match=r"embedded with bag-64, not with other-64: run `assay embed --dataset main"
    ):
        source.vectors(other)
    embed_missing(store, other, [1])
    assert (source.vectors(other) == source.vectors(bag_embedder)).all()
