"""The seams to models: anything that fits these Protocols can stand behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.progress import Progress, quiet

FloatArray = NDArray[np.float32]


class Embedder(Protocol):
    """Texts to unit vectors. ``model_id`` names the score space, e.g. ``minilm-l6-int8`` in ``cosine/minilm-l6-int8``."""

    @property
    def model_id(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> FloatArray:
        """(n, dim) float32, each row of unit length, in the order of ``texts``. A text without tokens is a
        row of zeros, never NaN: callers keep such rows out of indexes. ``[]`` gives (0, dim)."""
        ...


class Reranker(Protocol):
    """Scores of passages for a question. ``space`` is the full score space, e.g. ``maxsim/minilm-l6-int8``."""

    @property
    def space(self) -> str: ...

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        """(n,) float32, higher is better, finite; a passage or question without tokens scores the space's minimum."""
        ...


class Entailment(Protocol):
    """Whether a premise entails a hypothesis. ``space`` names the score space, e.g. ``probability/nli-NAME``."""

    @property
    def space(self) -> str: ...

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """(n,) float32 in [0, 1]: how probable it is that each pair's premise entails its hypothesis; 0 for a pair with
        a blank side."""
        ...
