"""A part of the shipped data for tests that ask every question many times: all its texts, every so-many-th question."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path

from tests.conftest import ROOT

MERIDIAN = ROOT / "datasets" / "meridian"
ABOUT = 60
"""Questions of a part, about."""


def part(folder: Path, *, about: int = ABOUT, questions: Collection[str] = ()) -> Path:
    """Writes the part into ``folder`` / meridian and returns that; ``questions`` are in it whatever their place."""
    target = folder / "meridian"
    target.mkdir(parents=True)
    for name in ("artifacts.jsonl", "graph.jsonl", "log.jsonl"):
        shutil.copyfile(MERIDIAN / name, target / name)  # links are not followed by an import
    lines = (MERIDIAN / "cases.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    ordered = sorted(lines, key=lambda line: (json.loads(line)["split"], json.loads(line)["answerable"]))
    step = max(1, len(ordered) // about)
    kept = {*ordered[::step], *(line for line in lines if json.loads(line)["question"] in questions)}
    (target / "cases.jsonl").write_text("".join(line for line in lines if line in kept), encoding="utf-8")
    return target
