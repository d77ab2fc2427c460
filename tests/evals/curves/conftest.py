"""The recordings that tuning is tested on: the shipped dataset, and one in which the right cut is known."""

from tests.evals.tuning.conftest import planted_recording, shipped_recording

__all__ = ["planted_recording", "shipped_recording"]
