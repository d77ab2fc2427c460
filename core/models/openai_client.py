"""The one module that knows OpenAI's library: its clients, and what its errors mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import openai
from openai.types.chat import ChatCompletion

from core.errors import ModelError
from core.models.faults import said

if TYPE_CHECKING:
    import httpx2

__all__ = ["ChatCompletion", "ServiceError", "asking", "embedding", "status_of", "what_failed"]

ServiceError = openai.OpenAIError
"""Base of every error of the library: a refusal of the service, a broken connection, a body that cannot be read."""


def embedding(*, timeout: float, retries: int) -> openai.OpenAI:
    """A client for embeddings, with the library's own retries.

    Raises:
        ModelError: there is no key.
    """
    try:
        return openai.OpenAI(timeout=timeout, max_retries=retries)
    except openai.OpenAIError as error:
        raise ModelError("OPENAI_API_KEY is not set; set it, or use --embedder minilm") from error


def asking(http: httpx2.AsyncClient, *, timeout: float) -> openai.AsyncOpenAI:
    """A client for chats on a shared HTTP client; it retries nothing by itself."""
    return openai.AsyncOpenAI(http_client=http, timeout=timeout, max_retries=0)


def status_of(error: Exception) -> int:
    """The HTTP status behind an error, 0 where the service did not answer with one."""
    return getattr(error, "status_code", 0) or 0


def what_failed(error: Exception) -> str:
    """What went wrong in one line, without the key."""
    line = said(error)
    return line if status_of(error) else f"the service cannot be reached ({line})"
