"""The profile a search ends in, with where it came from, as a file that is refused under another embedder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import UsageError
from core.profile import Profile, load, to_toml
from core.thresholds import BY_NAME, Threshold
from evals.run_files import written


def bound(profile: Profile, spaces: Mapping[str, str]) -> Profile:
    """The profile with every score space written out in full: what was tuned in a space belongs to it and no other.
    ``spaces``: family → full name; a threshold whose family was not scored keeps what it says."""
    full = {
        name: spaces.get(knob.space or "", declared)
        if isinstance(knob := BY_NAME[name], Threshold)
        else declared
        for name, declared in profile.spaces.items()
    }
    return replace(profile, spaces=full)


def save(profile: Profile, path: Path, origin: Mapping[str, Any], *, about: str) -> Profile:
    """Writes the profile, named after the file; what ``origin`` has no value for (None) is left out.

    Raises:
        UsageError: the file cannot be written.
    """
    named = replace(
        profile,
        name=path.stem,
        about=about,
        origin={key: value for key, value in origin.items() if value is not None},
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent}: cannot be made: {error.strerror}; choose another --out") from error
    with written(path) as file:
        file.write(to_toml(named))
    return load(path, profile.recipe)
