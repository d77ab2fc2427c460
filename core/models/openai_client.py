"""The one module that knows OpenAI's library: its clients, and what its errors mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import openai

from core.errors import ModelError
from core.models.faults import said

if TYPE_CHECKING:
    import httpx2

ServiceError = openai.OpenAIError
"""Base of every error of the library: a refusal of the service, a broken connection, a body that cannot be read."""

StatusError = openai.APIStatusError
BrokenConnectionError = openai.APIConnectionError


def embedding(*, timeout: float, retries: int) -> openai.OpenAI:
    """A client for embeddings, with the library's own retries.

    Raises:
        ModelError: there is no key.
    """
    try:
        return openai.OpenAI(timeout=timeout, max_retries=retries)
    except openai.OpenAIError as error:
        raise ModelError("OPENAI_API_KEY is not set; set it, or use --embedder minilm") from error


def load_chats() -> None:
    """Imports what the library would import at the first chat, which takes a second: not on a call's time."""
    import openai.resources.chat.completions  # noqa: F401


def asking(http: httpx2.AsyncClient, *, seconds: float, connect: float) -> openai.AsyncOpenAI:
    """A client for chats on a shared HTTP client, with the limits of one read and of connecting; it retries nothing
    by itself."""
    timeout = openai.Timeout(seconds, connect=min(connect, seconds))
    return openai.AsyncOpenAI(http_client=http, timeout=timeout, max_retries=0)


def status_of(error: Exception) -> int:
    """The HTTP status behind an error, 0 where the service did not answer with one."""
    return getattr(error, "status_code", 0) or 0


def what_failed(error: Exception) -> str:
    """What went wrong in one line, without the key."""
    line = said(error)
    return line if status_of(error) else f"the service cannot be reached ({line})"
