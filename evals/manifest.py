"""What a run was made of: data, profile, code, models, prompts, machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from core.models.chat import ChatModel
from core.profile import Profile
from core.records import DEFAULT_USER
from core.trace import Recipe
from core.workspace import Workspace
from evals.recording import Recording


def of_data(workspace: Workspace, pattern: str, user_id: str = DEFAULT_USER) -> dict[str, Any]:
    """The datasets with the hash of what each holds, the code and the machine."""
    datasets = workspace.store.matching(pattern, user_id)
    return {
        **_of_program(),
        "dataset": pattern,
        "datasets": {found.name: workspace.store.content_hash(found.dataset_id) for found in datasets},
    }


def of_pipeline(workspace: Workspace, recipe: Recipe, profile: Profile) -> dict[str, Any]:
    """The recipe, the profile's values and fingerprint, the embedder and the score spaces."""
    return {
        "recipe": recipe,
        "profile": profile.name,
        "fingerprint": profile.fingerprint,
        "values": dict(profile.values),
        "embedder": workspace.embedder.model_id,
        "spaces": workspace.spaces(profile),
    }


def of_recording(recording: Recording, profile: Profile) -> dict[str, Any]:
    """What ``of_data`` and ``of_pipeline`` say, of what was recorded; ``recorded_at`` tells when."""
    header = recording.header
    return {
        **_of_program(),
        "dataset": ", ".join(header.datasets),
        "datasets": dict(header.datasets),
        "recipe": header.recipe,
        "profile": profile.name,
        "fingerprint": profile.fingerprint,
        "values": dict(profile.values),
        "embedder": header.embedder,
        "spaces": dict(header.spaces),
        "recorded_at": header.recorded_at,
    }


def _of_program() -> dict[str, Any]:
    return {
        "assay": version("assay"),
        "code": code_hash(),
        "machine": {
            "python": platform.python_version(),
            "system": platform.system(),
            "machine": platform.machine(),
            "cpus": os.cpu_count(),
        },
    }


def of_writer(model: ChatModel | None, reasoning: str) -> Mapping[str, Any]:
    """Who wrote the answers, at which level, under which prompts; nothing where no model did."""
    if model is None:
        return {}
    return {"chat": model.default_model, "reasoning": reasoning, "prompts": prompts_hash()}


@cache
def code_hash() -> str:
    """sha256 (hex, 12 characters) of the sources that decide an answer and its score."""
    digest = sha256()
    for package in ("core", "evals"):
        root = files(package)
        for path in sorted(str(each) for each in _sources(root)):
            digest.update(path.removeprefix(str(root)).encode())
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()[:12]


@cache
def prompts_hash() -> str:
    """sha256 (hex, 12 characters) of everything that models are told and how evidence is laid out before them."""
    text = (files("core.answer") / "prompts.py").read_bytes() + (
        files("core.answer") / "tags.py"
    ).read_bytes()
    return sha256(text).hexdigest()[:12]


def _sources(folder: Any) -> list[Any]:
    found = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _sources(each)
        elif each.name.endswith((".py", ".toml")):
            found.append(each)
    return found
