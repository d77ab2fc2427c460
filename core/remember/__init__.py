"""Remembering: a text becomes an artifact with chunks, entities and facts; notes are made of what is remembered."""

from __future__ import annotations

REMEMBER_STAGES = ("summarize", "extract", "supersede")
"""The model calls of remembering, each with a model and a reasoning level of its own."""
SYNTHESIZE_STAGES = ("synthesize",)
"""The model calls of making notes."""
