"""Embedding what is missing: once for each text and model, zeros for what has no vector, safe beside other writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from core.errors import StoreError
from core.ingest import embed
from core.ingest.embed import EmbedReport, embed_missing
from core.ingest.ingestor import ingest
from core.ingest.items import ArtifactItem, EntityItem, FactItem, NodeItem
from core.records import text_hash
from core.store import CORPUS_KINDS, Store


class CountingEmbedder:
    """Remembers every text it was given; ``odd`` texts get the vector said there."""

    dim = 3

    def __init__(self, model_id: str = "counting", odd: dict[str, list[float]] | None = None) -> None:
        self.model_id = model_id
        self.odd = odd or {}
        self.batches: list[list[str]] = []

    @property
    def seen(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> np.ndarray:
        self.batches.append(list(texts))
        return np.array([self.odd.get(text, [len(text), 1, 0]) for text in texts], dtype=np.float32)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    items = [
        ArtifactItem(source="long", text="A sentence that is repeated for its length. " * 60),
        EntityItem(name="Ada", type="person"),
        FactItem(subject="Ada", relation="knows", object="Bob"),
        *(NodeItem(level="L0", text=f"turn {n}", source="log", turn=f"t{n}") for n in range(20)),
        NodeItem(level="L0", text="turn 7", source="other log"),  # the same text once more
    ]
    with Store.open(tmp_path / "a.db") as opened:
        ingest(opened, "main", [("x", item) for item in items])
        yield opened


def everything(store: Store, dataset: str = "main") -> list[str]:
    ids = [store.dataset(dataset).dataset_id]
    return [text for kind in CORPUS_KINDS for text in store.texts(kind, ids)]


def run(store: Store, embedder: CountingEmbedder, **options: object) -> EmbedReport:
    return embed_missing(store, embedder, [store.dataset("main").dataset_id], **options)  # type: ignore[arg-type]


def test_every_text_is_embedded_once_and_never_again(store: Store) -> None:
    embedder, texts = CountingEmbedder(), everything(store)
    finished: list[int] = []
    report = run(store, embedder, progress=finished.append)
    assert sorted(embedder.seen) == sorted(set(texts))  # each once, though chunks and their nodes share texts
    assert report == EmbedReport(
        embedded=len(set(texts)), cached=len(texts) - len(set(texts)), without_tokens=0
    )
    assert sum(finished) == len(texts)
    again = CountingEmbedder()
    assert run(store, again) == EmbedReport(embedded=0, cached=len(texts), without_tokens=0)
    assert again.batches == []
    ingest(store, "main", [("x", NodeItem(level="L0", text="new", source="log"))])
    assert run(store, again).embedded == 1
    assert again.seen == ["new"]


def test_each_text_gets_its_own_vector(store: Store) -> None:
    run(store, CountingEmbedder())
    for text in everything(store):
        assert store.embeddings.get("counting", [text_hash(text)])[text_hash(text)].tolist() == [
            len(text),
            1,
            0,
        ]


def test_another_model_has_vectors_of_its_own(store: Store) -> None:
    run(store, CountingEmbedder())
    other = CountingEmbedder("other")
    run(store, other)
    assert set(other.seen) == set(everything(store))
    assert (
        store.embeddings.count("other") == store.embeddings.count("counting") == len(set(everything(store)))
    )


def test_only_the_kinds_asked_for_are_embedded(store: Store) -> None:
    embedder = CountingEmbedder()
    run(store, embedder, kinds=["fact", "entity"])
    assert sorted(embedder.seen) == ["Ada (person)", "Ada knows Bob", "Bob (thing)"]


@pytest.mark.parametrize("odd", [[np.nan, 0, 0], [0, np.inf, 1], [0, 0, 0]], ids=["NaN", "infinite", "zeros"])
def test_a_text_without_a_vector_is_kept_as_zeros_and_the_others_as_they_are(
    odd: list[float], store: Store
) -> None:
    report = run(store, CountingEmbedder(odd={"turn 7": odd}))
    assert report.without_tokens == 1
    vectors = {
        text: store.embeddings.get("counting", [text_hash(text)])[text_hash(text)]
        for text in everything(store)
    }
    assert vectors.pop("turn 7").tolist() == [0, 0, 0]
    assert all(vector.any() for vector in vectors.values())
    assert run(store, again := CountingEmbedder()).embedded == 0  # it is known and not asked for again
    assert again.seen == []


def test_batches_are_even_and_acknowledged_one_by_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "BATCH", 4)

    class Breaking(CountingEmbedder):
        def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> np.ndarray:
            if len(self.batches) == 3:
                raise KeyboardInterrupt
            return super().embed(texts)

    broken = Breaking()
    with pytest.raises(KeyboardInterrupt):
        run(store, broken)
    assert [len(batch) for batch in broken.batches] == [4, 4, 4]
    lengths = [len(text) for text in broken.seen]
    assert lengths == sorted(lengths)
    assert store.embeddings.count("counting") == 12
    resumed = CountingEmbedder()
    run(store, resumed)
    assert not set(resumed.seen) & set(broken.seen)
    assert set(resumed.seen) | set(broken.seen) == set(everything(store))


def test_a_model_of_the_wrong_shape_is_refused(store: Store) -> None:
    class Short(CountingEmbedder):
        def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> np.ndarray:
            return super().embed(texts)[:-1]

    with pytest.raises(StoreError, match="texts but vectors of shape"):
        run(store, Short())
    assert store.embeddings.count("counting") == 0


def test_another_program_may_write_while_texts_are_embedded(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "WINDOW", 5)  # so that texts are still being read when vectors are written
    other = Store.open(store.database.path)

    class Disturbed(CountingEmbedder):
        def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> np.ndarray:
            item = NodeItem(level="L0", text=f"late {len(self.batches)}", source="other")
            ingest(other, "main", [("x", item)])
            return super().embed(texts)

    texts = everything(store)
    report = run(store, Disturbed())
    other.close()
    assert report.embedded == len(set(texts))
    assert len(everything(store)) > len(texts)
