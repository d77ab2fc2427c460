"""OpenAI's embedding models, and servers that speak the same protocol (``OPENAI_BASE_URL``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.errors import ModelError
from core.models import openai_client
from core.models.base import FloatArray
from core.progress import Progress, quiet
from core.text import well_formed

MAX_INPUTS = 2048
MAX_BYTES = 8192
"""Bytes of one text that are sent; a token has at least one byte, so this keeps within 8,192 tokens."""
MAX_REQUEST_BYTES = 300_000
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
TIMEOUT_SECONDS = 60
RETRIES = 2
_ADVICE = {
    400: "check the model's name and that it embeds texts",
    401: "check OPENAI_API_KEY",
    403: "check that OPENAI_API_KEY may use this model",
    404: "check the model's name and OPENAI_BASE_URL",
}
_LATER = "what is embedded so far is kept; run again to go on"


class OpenAIEmbedder:
    """Vectors of a hosted model. The key is read from the environment and never stored."""

    def __init__(self, model: str) -> None:
        self.model_id = f"openai-{model}"
        self.dim = DIMENSIONS.get(model, 0)
        self._model = model
        self._client = openai_client.embedding(timeout=TIMEOUT_SECONDS, retries=RETRIES)
        self.dim = self.dim or self._request(["dimension"], None).shape[1]

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> FloatArray:
        """(n, dim) float32 unit rows; zeros for blank texts, which are not sent. Long texts are cut at
        ``MAX_BYTES``.

        Raises:
            ModelError: the service refused or could not be reached.
        """
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        sent = [(place, _cut(text)) for place, text in enumerate(texts) if text.strip()]
        for batch in _batches(sent):
            vectors = self._request([text for _, text in batch], self.dim)
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            rows[[place for place, _ in batch]] = vectors / np.where(norms > 0, norms, 1)
            progress(len(batch))
        progress(len(texts) - len(sent))
        return rows

    def _request(self, texts: list[str], dim: int | None) -> FloatArray:
        """(n, dim) float32 as the service gave them, in the order of ``texts``."""
        try:
            reply = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
        except openai_client.ServiceError as error:
            advice = _ADVICE.get(openai_client.status_of(error), _LATER)
            failed = openai_client.what_failed(error)
            raise ModelError(f"embedding with {self._model} failed: {failed}; {advice}") from None
        vectors = [item.embedding for item in sorted(reply.data or (), key=lambda item: item.index)]
        lengths = {len(vector) for vector in vectors}
        if len(vectors) != len(texts) or len(lengths) != 1 or lengths != {dim or min(lengths)}:
            raise ModelError(
                f"embedding with {self._model} failed: {len(vectors)} vectors of {sorted(lengths)} numbers for "
                f"{len(texts)} texts of {dim or 'any'}; check OPENAI_BASE_URL"
            )
        return np.array(vectors, dtype=np.float32)


def _cut(text: str) -> str:
    return well_formed(text).encode()[:MAX_BYTES].decode("utf-8", "ignore")


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
