"""A recording: per question, what no threshold changes, so that thresholds can be tried without a search.

A folder: ``header.json`` (format, recipe, methods, score spaces, content hashes, widths, checksums), ``cases.jsonl``,
``rows.jsonl`` (the records that can be cited) and one ``.npy`` for each array. Nothing in it is executable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import NotFoundError, RecordingError, ScoreSpaceError
from core.profile import Profile, Value
from core.records import Chunk, Entity, Fact, Node, NodeLink
from core.thresholds import Setting, for_recipe
from core.trace import Recipe
from evals.cases import Case, Variant

if TYPE_CHECKING:
    from core.workspace import Workspace

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactSource:
    """The name of an artifact that facts were inferred from."""

    artifact_id: int
    source: str


RecordedRow = Node | NodeLink | Entity | Fact | Chunk | ArtifactSource
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCase:
    """One question as it was asked. ``idf`` weighs its stems, ``searched`` is False where it had no vector, ``content``
    is the content hash of what was asked, ``datasets`` are the names of what was (several for a pattern)."""

    case: Case
    dataset: str
    datasets: tuple[str, ...]
    hide_sources: frozenset[str]
    content: str
    searched: bool
    as_of: str | None = None
    known_at: str | None = None
    idf: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was recorded of what. ``widths`` says up to which value a threshold is served, absent: up to any.

    ``settings`` are the methods, ``spaces`` the score spaces (family → full name), ``datasets`` name → content hash,
    ``exact`` whether every vector search looked at every vector.
    """

    recipe: Recipe
    profile: str
    settings: Mapping[str, Value]
    spaces: Mapping[str, str]
    embedder: str
    datasets: Mapping[str, str]
    user_id: str
    variant: Variant
    levels: tuple[str, ...] | None
    drop_same_id: bool
    widths: Mapping[str, int]
    exact: bool
    recorded_at: str
    assay: str
    failures: tuple[Mapping[str, str], ...] = ()
    format: int = FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Cases with flat arrays: what belongs to case ``i`` stands at ``offsets[i]:offsets[i + 1]`` of the arrays that are
    by candidate. ``rows`` are the records by table, in the order the arrays count them."""

    header: Header
    cases: tuple[RecordedCase, ...]
    arrays: Arrays
    rows: Mapping[str, Sequence[RecordedRow]]

    def __len__(self) -> int:
        return len(self.cases)

    def check(self, profile: Profile) -> None:
        """Raises:
        RecordingError: the profile asks for what was not recorded: another recipe, method or score space, or a value
            beyond the recorded width; the message says what to run.
        """
        header = self.header
        if profile.recipe != header.recipe:
            raise RecordingError(
                f"this recording is of recipe {header.recipe}, profile {profile.name!r} of {profile.recipe}; "
                f"{self._again(profile.recipe)}"
            )
        for knob in for_recipe(header.recipe):
            if isinstance(knob, Setting) and profile.values[knob.name] != header.settings.get(knob.name):
                raise RecordingError(
                    f"{knob.name} = {profile.values[knob.name]} is another method than the recorded "
                    f"{header.settings.get(knob.name)}, and a method is not replayed; {self._again()} --set "
                    f"{knob.name}={profile.values[knob.name]}"
                )
        try:
            profile.bind(header.spaces)
        except ScoreSpaceError as error:
            raise RecordingError(
                f"the recording was made in other score spaces: {error} To replay it, {self._again()}"
            ) from error
        for name, asked in needs(profile).items():
            if name in header.widths and asked > header.widths[name]:
                raise RecordingError(
                    f"{name} = {asked} is beyond the {header.widths[name]} that were recorded; {self._again()} "
                    f"--width {name}={asked}"
                )

    def check_dataset(self, workspace: Workspace) -> None:
        """Raises:
        RecordingError: a dataset is gone or has changed, or the embedder is another one.
        """
        if workspace.embedder.model_id != self.header.embedder:
            raise RecordingError(
                f"recorded with embedder {self.header.embedder}, this workspace has {workspace.embedder.model_id}; "
                f"{self._again()}"
            )
        for name, content in self.header.datasets.items():
            try:
                found = workspace.store.dataset(name, self.header.user_id)
            except NotFoundError as error:
                raise RecordingError(f"the recording is of dataset {name!r}, and {error}") from error
            if workspace.store.content_hash(found.dataset_id) != content:
                raise RecordingError(f"dataset {name!r} has changed since it was recorded; {self._again()}")

    def _again(self, recipe: Recipe | None = None) -> str:
        """The command that would record what is asked for."""
        header = self.header
        names = sorted(header.datasets)
        pattern = names[0] if len(names) == 1 else f"'{names[0].partition('/')[0]}/*'"
        return (
            f"run: assay record --dataset {pattern} --recipe {recipe or header.recipe} "
            f"--profile {header.profile} --variant {header.variant}"
        )


def needs(profile: Profile) -> dict[str, int]:
    """For each width a recording may be limited in, how much a profile asks for."""
    if profile.recipe == "graph":
        names = ("similar.entities", "similar.facts", "similar.chunks", "similar.summaries")
        return {name: profile.count(name) for name in names}
    dense = profile.count("recall.dense_k")
    by_k = profile.count("recall.k_factor") * profile.count("select.k")
    return {
        "recall.lexical_k": profile.count("recall.lexical_k"),
        "recall.dense_k": max(dense, by_k) if dense else 0,
        "rerank.depth": profile.count("rerank.depth"),
    }


def concatenated(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """The parts end to end; none: (0,)."""
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype, copy=False)
