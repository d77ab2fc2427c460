"""OpenAI's embedding models, and servers that speak the same protocol (``OPENAI_BASE_URL``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from core.errors import ModelError
from core.models.base import FloatArray
from core.progress import Progress, quiet

MAX_INPUTS = 2048
MAX_BYTES = 8192
"""Bytes of one text that are sent; a token has at least one byte, so this keeps within 8,192 tokens."""
MAX_REQUEST_BYTES = 300_000
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
TIMEOUT_SECONDS = 60


class OpenAIEmbedder:
    """Vectors of a hosted model. The key is read from the environment and never stored."""

    def __init__(self, model: str) -> None:
        import openai

        self.model_id = f"openai-{model}"
        self.dim = DIMENSIONS.get(model, 0)
        self._model = model
        try:
            self._client = openai.OpenAI(timeout=TIMEOUT_SECONDS, max_retries=2)
        except openai.OpenAIError as error:
            raise ModelError("OPENAI_API_KEY is not set; set it, or use --embedder minilm") from error
        self.dim = self.dim or len(self._request(["dimension"])[0])

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> FloatArray:
        """(n, dim) float32 unit rows; zeros for blank texts, which are not sent. Long texts are cut at
        ``MAX_BYTES``.

        Raises:
            ModelError: the service refused or could not be reached.
        """
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        sent = [(place, _cut(text)) for place, text in enumerate(texts) if text.strip()]
        for batch in _batches(sent):
            vectors = np.array(self._request([text for _, text in batch]), dtype=np.float32)
            rows[[place for place, _ in batch]] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            progress(len(batch))
        progress(len(texts) - len(sent))
        return rows

    def _request(self, texts: list[str]) -> list[Any]:
        import openai

        try:
            reply = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
        except openai.OpenAIError as error:
            status = getattr(error, "status_code", None)
            said = f"answered {status}" if status else type(error).__name__
            raise ModelError(
                f"embedding with {self._model} failed: the service {said}; run again to go on"
            ) from error
        vectors = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        if len(vectors) != len(texts):
            raise ModelError(
                f"embedding with {self._model} failed: {len(vectors)} vectors for {len(texts)} texts"
            )
        return vectors


def _cut(text: str) -> str:
    return text.encode("utf-8", "replace")[:MAX_BYTES].decode("utf-8", "ignore")


def _batches(sent: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    batch: list[tuple[int, str]] = []
    size = 0
    for place, text in sent:
        length = len(text.encode())
        if batch and (len(batch) == MAX_INPUTS or size + length > MAX_REQUEST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((place, text))
        size += length
    if batch:
        yield batch
