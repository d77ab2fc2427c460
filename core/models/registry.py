"""Models by name. Each vendor's module is imported only when one of its models is asked for."""

from __future__ import annotations

import os
from pathlib import Path

from core.errors import UsageError
from core.models.base import Embedder, Entailment, Reranker
from core.models.chat import ProvidedChat

DEFAULT = "minilm"
EMBEDDERS = "minilm, wordllama, openai:MODEL, sentence-transformers:NAME"
RERANKERS = "none, overlap, maxsim, cross-encoder:NAME"
DETERMINISTIC = "deterministic"
CHATS = "deterministic, anthropic, anthropic:MODEL, openai:MODEL, scripted:FILE"


def embedder(name: str | None = None) -> Embedder:
    """The embedder of that name; None: ``ASSAY_EMBEDDER``, else MiniLM.

    Raises:
        UsageError: no such name. ModelError: the model is not there or needs a key.
    """
    wanted = name or os.environ.get("ASSAY_EMBEDDER") or DEFAULT
    kind, _, model = wanted.partition(":")
    match kind, bool(model):
        case "minilm", False:
            from core.models.minilm import MiniLM

            return MiniLM()
        case "wordllama", False:
            from core.models.wordllama import WordLlama

            return WordLlama()
        case "openai", True:
            from core.models.openai_embed import OpenAIEmbedder

            return OpenAIEmbedder(model)
        case "sentence-transformers", True:
            from core.models.sentence_transformer import SentenceTransformerEmbedder

            return SentenceTransformerEmbedder(model)
    raise UsageError(f"no embedder {wanted!r}; there are {EMBEDDERS}")


def reranker(method: str) -> Reranker | None:
    """The reranker a profile's ``rerank.method`` names; None for ``none``."""
    kind, _, model = method.partition(":")
    match kind, bool(model):
        case "none", False:
            return None
        case "overlap", False:
            from core.models.term_overlap import TermOverlap

            return TermOverlap()
        case "maxsim", False:
            from core.models.maxsim import MaxSim

            return MaxSim()
        case "cross-encoder", True:
            from core.models.sentence_transformer import CrossEncoderReranker

            return CrossEncoderReranker(model)
    raise UsageError(f"no reranker {method!r}; there are {RERANKERS}")


def entailment(name: str) -> Entailment:
    """The entailment model of that name: ``cross-encoder:NAME``.

    Raises:
        UsageError: no such name. ModelError: the model is not there or judges no entailment.
    """
    kind, _, model = name.partition(":")
    if kind == "cross-encoder" and model:
        from core.models.sentence_transformer import CrossEncoderEntailment

        return CrossEncoderEntailment(model)
    raise UsageError(f"no entailment model {name!r}; there is cross-encoder:NAME")


def chat(name: str | None = None) -> ProvidedChat | None:
    """The chat model of that name; None: ``ASSAY_CHAT``, else none. None also for ``deterministic``: answers are
    written without a model then. Hosted models share ``ASSAY_CHAT_CONCURRENCY`` calls at once and, where
    ``ASSAY_CHAT_CACHE`` names a folder, keep their replies there.

    Raises:
        UsageError: no such name, or a setting that cannot be taken. ModelError: the model needs a key. DataError: a
            script is malformed.
    """
    wanted = name or os.environ.get("ASSAY_CHAT") or DETERMINISTIC
    kind, _, rest = wanted.partition(":")
    match kind, bool(rest):
        case "deterministic", False:
            return None
        case "anthropic", _ if wanted != "anthropic:":
            from core.models.anthropic_chat import DEFAULT_MODEL, AnthropicChat

            return _shared(AnthropicChat(rest or DEFAULT_MODEL))
        case "openai", True:
            from core.models.openai_chat import OpenAIChat

            return _shared(OpenAIChat(rest))
        case "scripted", True:
            from core.models.scripted_chat import Scripted

            return Scripted(Path(rest))
    raise UsageError(f"no chat model {wanted!r}; there are {CHATS}")


def _shared(model: ProvidedChat) -> ProvidedChat:
    from core.models.calls import limited
    from core.models.reply_cache import CachedChat

    folder = os.environ.get("ASSAY_CHAT_CACHE", "").strip()
    return CachedChat(limited(model), Path(folder)) if folder else limited(model)
