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
            vectors = self._vectors([text for _, text in batch])
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            rows[[place for place, _ in batch]] = vectors / np.where(lengths > 0, lengths, 1)
            progress(len(batch))
        progress(len(texts) - len(sent))
        return rows

    def _vectors(self, texts: list[str]) -> FloatArray:
        vectors = self._request(texts)
        if {len(vector) for vector in vectors} != {self.dim}:
            raise self._failed(
                f"its vectors have {len(vectors[0])} dimensions where {self.dim} were expected"
            )
        return np.array(vectors, dtype=np.float32)

    def _request(self, texts: list[str]) -> list[Any]:
        import openai

        try:
            reply = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
            vectors = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        except openai.APIStatusError as error:
            advice = "check OPENAI_API_KEY" if error.status_code in (401, 403) else "run again to go on"
            raise self._failed(f"it answered {error.status_code}; {advice}") from error
        except openai.OpenAIError as error:
            raise self._failed(f"{type(error).__name__}; check OPENAI_BASE_URL or run again") from error
        except (AttributeError, TypeError, ValueError) as error:  # a page or an object of another kind
            raise self._failed("its reply is no list of embeddings; check OPENAI_BASE_URL") from error
        if len(vectors) != len(texts):
            raise self._failed(f"it gave {len(vectors)} vectors for {len(texts)} texts")
        return vectors

    def _failed(self, why: str) -> ModelError:
        return ModelError(f"embedding with {self._model} failed at the service: {why}")


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
