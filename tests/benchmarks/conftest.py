"""A store of many short synthetic nodes whose vectors are put straight into the embedding cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from core.ingest.ingestor import ingest
from core.ingest.items import CaseItem, NodeItem
from core.models.minilm import DIM, MODEL_ID
from core.profile import load
from core.records import text_hash
from core.store import Store
from core.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
COUNT = 100_000
DATASET = "many"
VOCABULARY = 30_000
WORDS = 20
"""Words of one text, on average."""
TOPICS = 2000
CASES = 2000


class DrawnEmbedder:
    """Stands in for MiniLM: each text a unit vector near one of ``TOPICS`` random directions, drawn by its hash."""

    model_id = MODEL_ID
    dim = DIM

    def __init__(self) -> None:
        self._topics = np.random.default_rng(7).standard_normal((TOPICS, DIM), dtype=np.float32)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> np.ndarray:
        rows = np.stack([self._drawn(text) for text in texts]) if texts else np.zeros((0, DIM), np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _drawn(self, text: str) -> np.ndarray:
        random = np.random.default_rng(int(text_hash(text)[:16], 16))
        noise = random.standard_normal(DIM, dtype=np.float32)
        return self._topics[random.integers(TOPICS)] + 0.8 * noise


def texts(count: int, seed: int = 3) -> list[str]:
    """``count`` distinct texts of about ``WORDS`` words, drawn from a Zipf vocabulary."""
    random = np.random.default_rng(seed)
    lengths = random.integers(WORDS // 2, WORDS + WORDS // 2, size=count)
    shares = 1 / np.arange(10, VOCABULARY + 10)
    drawn = random.choice(VOCABULARY, size=int(lengths.sum()), p=shares / shares.sum())
    vocabulary = [_word(number) for number in range(VOCABULARY)]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return [" ".join(vocabulary[word] for word in drawn[start:end]) + f" item{number}."
            for number, (start, end) in enumerate(pairwise(starts))]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """The store of ``COUNT`` nodes with its index files: where it is, its texts, 50 questions; and ``CASES`` labelled
    ones in it, of which every other asks for what is not there."""

    db: Path
    texts: list[str]
    questions: list[str]
    embedder: DrawnEmbedder


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Many:
    """Made once, with every index file that the profiles `seed` and `default` read."""
    db, listed, embedder = tmp_path_factory.mktemp("many") / "assay.db", texts(COUNT), DrawnEmbedder()
    fill(db, listed, embedder)
    random = np.random.default_rng(5)
    asked = [
        " ".join(random.permutation(listed[row].split())[:8]) + "?" for row in random.choice(COUNT, size=50)
    ]
    with Workspace.open(db, embedder=embedder) as workspace:
        for profile in ("seed", "default"):
            workspace.ask(asked[0], dataset=DATASET, recipe="brain", profile=load(profile, "brain"))
    return Many(db=db, texts=listed, questions=asked, embedder=embedder)


def fill(db: Path, listed: list[str], embedder: DrawnEmbedder) -> None:
    """Stores the texts in sessions of 50 and their vectors in the embedding cache."""
    items = [(f"made:{row}", NodeItem(level="L0", text=text, source=f"log-{row // 500}", turn=f"t{row}",
                                      session=f"s{row // 50}", position=row % 50))
             for row, text in enumerate(listed)]  # fmt: skip
    with Store.open(db) as store:
        ingest(store, DATASET, [*items, *labelled(listed)], batch=20_000)
        for start in range(0, len(listed), 10_000):
            part = listed[start : start + 10_000]
            store.embeddings.put(MODEL_ID, [text_hash(text) for text in part], embedder.embed(part))


def labelled(listed: list[str]) -> list[tuple[str, CaseItem]]:
    """Eight words of a text, whose turn is gold; eight of eight texts, which none answers."""
    random = np.random.default_rng(11)
    cases = []
    for number in range(CASES):
        rows = random.choice(len(listed), size=8, replace=False)
        answerable = number % 2 == 0
        words = listed[rows[0]].split()[:8] if answerable else [listed[row].split()[0] for row in rows]
        gold = [{"source": f"log-{rows[0] // 500}", "turn": f"t{rows[0]}"}] if answerable else []
        body = {
            "case_id": f"c{number}",
            "question": " ".join(words) + "?",
            "answerable": answerable,
            "gold": gold,
        }
        cases.append((f"made:case {number}", CaseItem(case_id=f"c{number}", body=body)))
    return cases


def _word(number: int) -> str:
    """A pronounceable word of its own for each number below ``VOCABULARY``."""
    syllables = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
    word = ""
    for _ in range(3):
        number, place = divmod(number, len(syllables))
        word += syllables[place]
    return word
