"""What makes two requests to a chat model the same: the key of the reply cache and of recorded replies."""

from __future__ import annotations

import json
from hashlib import sha256

from core.models.chat import ChatRequest
from core.text import well_formed


def request_key(request: ChatRequest, asked: str) -> str:
    """The sha256 (64 hex digits) of everything that may change the reply: the model ``asked`` (``PROVIDER:MODEL``),
    both texts, reasoning, the limit of tokens, and the stage. A request that names its own ``model`` replaces the one
    in ``asked``, so that naming the default model and leaving it out are one request."""
    provider, _, default = asked.partition(":")
    whole = {
        "asked": f"{provider}:{request.model or default}",
        "system": request.system,
        "prompt": request.prompt,
        "stage": request.stage,
        "reasoning": request.reasoning,
        "max_tokens": request.max_tokens,
    }
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(well_formed(text).encode()).hexdigest()
