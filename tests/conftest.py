"""Shared fixtures: where the public data lies, a deterministic embedder, and a small real workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from core.ingest.ingestor import ingest
from core.ingest.items import Item, NodeItem
from core.models import background
from core.text import stems
from core.workspace import Workspace
from tests.backends import Backend, Place, Server
from tests.fault_server import KEY, FaultServer

ROOT = Path(__file__).resolve().parent.parent
LONGEST = (
    "test_readme.py",
    "test_notebooks.py",
    "test_replay.py",
    "test_tune_commands.py",
    "test_pages_browser.py",
    "test_own_gate.py",
    "test_record_commands.py",
    "test_sweep.py",
    "test_browser.py",
)
"""Files that take longest: begun first, so that no worker is left with one of them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))


class BagEmbedder:
    """Deterministic and offline: each stem is a fixed random direction, a text the unit sum of its stems'."""

    model_id = "bag-64"
    dim = 64

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> np.ndarray:
        rows = np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(
            len(texts), self.dim
        )
        if progress:
            progress(len(texts))
        return rows

    def _vector(self, text: str) -> np.ndarray:
        total = np.zeros(self.dim)
        for stem in stems(text):
            seed = int.from_bytes(sha256(stem.encode()).digest()[:8])
            total += np.random.default_rng(seed).standard_normal(self.dim)
        norm = np.linalg.norm(total)
        return total / norm if norm else total


@pytest.fixture
def bag_embedder() -> BagEmbedder:
    return BagEmbedder()


@pytest.fixture
def make_workspace(tmp_path: Path) -> Iterable[Callable[..., Workspace]]:
    """``make_workspace(items, dataset="main", user_id="local")`` stores items in one database and opens it."""
    opened = []

    def make(items: Iterable[Item], dataset: str = "main", user_id: str = "local") -> Workspace:
        workspace = Workspace.open(tmp_path / "assay.db", embedder=BagEmbedder())
        opened.append(workspace)
        ingest(
            workspace.store, dataset, [(f"test:{n}", item) for n, item in enumerate(items)], user_id=user_id
        )
        return workspace

    yield make
    for workspace in opened:
        workspace.close()


@pytest.fixture
def turns() -> list[NodeItem]:
    """A short log: three turns, two notes made of them, one synthesis of the notes, one confident stranger."""
    return [
        NodeItem(level="L0", text="Requests over 10KB fail with status 413 at the proxy.", source="log", turn="t1",
                 session="s1", position=0, name="t1", speaker="Priya"),
        NodeItem(level="L0", text="The proxy buffer was set to 10KB by the upgrade.", source="log", turn="t2",
                 session="s1", position=1, name="t2", speaker="Omar"),
        NodeItem(level="L0", text="Lunch on Friday is at the canal.", source="log", turn="t3", session="s1", position=2,
                 name="t3", speaker="Priya"),
        NodeItem(level="L1", text="Root cause: requests over 10KB failed as the proxy upgrade set its buffer to 10KB.",
                 source="notes", name="infra-root-causes", parents=("t1", "t2")),
        NodeItem(level="L1", text="The team eats at the canal on Fridays.", source="notes", name="lunch",
                 confidence=0.99, parents=("t3",)),
        NodeItem(level="L2", text="Proxy upgrades change limits silently; check buffers after each.", source="notes",
                 name="lessons", parents=("infra-root-causes",)),
    ]  # fmt: skip


def _folder(variable: str, name: str) -> Path:
    folder = Path(os.environ.get(variable) or ROOT.parent / "shared" / name)
    if not folder.is_dir():
        pytest.skip(f"the {name} folder is absent: set {variable}")
    return folder


@pytest.fixture(scope="session")
def public_data() -> Path:
    """The public data; tests that need it skip where it is absent."""
    return _folder("ASSAY_DATA", "data")


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """Small inputs with their right outcome; tests that need them skip where they are absent."""
    return _folder("ASSAY_CASES", "cases")


@pytest.fixture
def chat_server(monkeypatch: pytest.MonkeyPatch) -> Iterable[FaultServer]:
    """A server on 127.0.0.1 that speaks both chat protocols; both services' libraries are pointed at it, with a key."""
    server = FaultServer()
    for service, path in (("ANTHROPIC", ""), ("OPENAI", "/v1")):
        monkeypatch.setenv(f"{service}_API_KEY", KEY)
        monkeypatch.setenv(f"{service}_BASE_URL", server.url + path)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    yield server
    background.close()
    server.stop()


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with random weights and a vocabulary of letters, as transformers saves it."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-bert")
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{letter}" for letter in letters),
    ]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_nli(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with three labels, entailment not the first."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-nli")
    torch.manual_seed(1)
    config = BertConfig.from_pretrained(tiny_bert)
    config.id2label = {0: "contradiction", 1: "Entailment", 2: "neutral"}
    config.label2id = {label: place for place, label in config.id2label.items()}
    model = BertForSequenceClassification(config)
    with torch.no_grad():  # else all pairs have nearly the same probability
        model.classifier.weight.mul_(50)
    model.save_pretrained(folder)
    BertTokenizerFast.from_pretrained(tiny_bert).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterable[Server]:
    """A real PostgreSQL server with pgvector."""
    server = Server()
    yield server
    server.stop()


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def at(request: pytest.FixtureRequest) -> Place:
    """Where a store lies; every test that asks for it runs over each kind of store."""
    if request.param == "sqlite":
        return lambda path: path
    server: Server = request.getfixturevalue("postgres")
    return server.url


@pytest.fixture(scope="session", params=["sqlite+faiss", "postgres+pgvector", "sqlite+milvus"])
def backend(request: pytest.FixtureRequest) -> Backend:
    """A store and a vector index; every test that asks for it runs over each pair with the same expectations."""
    store, index = request.param.split("+")
    place: Place = (lambda path: path) if store == "sqlite" else request.getfixturevalue("postgres").url
    lite = index == "milvus"
    return Backend(request.param, place, lambda folder: f"milvus:{folder / 'index.db'}" if lite else index)
