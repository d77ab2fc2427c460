"""Scoring answers that were not made here: from a file, or from a function that is asked."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from core.errors import DataError, NotFoundError
from core.records import DEFAULT_USER
from core.trace import Trace
from core.workspace import Workspace
from evals.answers import GivenAnswer, Library, read, traced
from evals.runs import EvalRequest, LabelledCase

Hook = Callable[[str], GivenAnswer]
"""A system under test: a question to its answer."""


class Given:
    """Asks a file (or a hook) in place of the pipeline; what it cites is resolved in the workspace's datasets."""

    def __init__(
        self, workspace: Workspace, answer: Callable[[EvalRequest], GivenAnswer], user_id: str
    ) -> None:
        self._workspace = workspace
        self._answer = answer
        self._user_id = user_id
        self._libraries: dict[str, Library] = {}

    def __call__(self, request: EvalRequest) -> Trace:
        """The Trace of a case's answer; an error where there is none, which makes the case a failure."""
        given = self._answer(request)
        return traced(given, request.case, request.dataset, self._library(request.dataset))

    def _library(self, dataset: str) -> Library:
        if dataset not in self._libraries:
            found = self._workspace.store.dataset(dataset, self._user_id)
            self._libraries[dataset] = Library(self._workspace.store, found.dataset_id)
        return self._libraries[dataset]


def by_file(
    workspace: Workspace, path: Path, cases: list[LabelledCase], user_id: str = DEFAULT_USER
) -> Given:
    """Answers from a file (see ``evals.answers``). A case without a line is a failure, never an abstention.

    Raises:
        DataError: a malformed line, or one that answers no case of those given.
    """
    answers = read(path)
    known = {(dataset, case.case_id) for dataset, case in cases}
    ids = {case_id for _, case_id in known}
    strange = [key for key in answers if key not in known and not (key[0] is None and key[1] in ids)]
    if strange:
        listed = ", ".join(repr(case_id) for _, case_id in strange[:5])
        raise DataError(f"{path}: {len(strange)} answers to no case that is scored: {listed}; leave them out")

    def answer(request: EvalRequest) -> GivenAnswer:
        case_id = request.case.case_id
        given = answers.get((request.dataset, case_id)) or answers.get((None, case_id))
        if given is None:
            raise NotFoundError(f"{path} holds no answer to case {case_id!r}")
        return given

    return Given(workspace, answer, user_id)


def by_hook(workspace: Workspace, hook: Hook, user_id: str = DEFAULT_USER) -> Given:
    """Answers from a Python function that is given each question; what it raises is a failure of that case."""
    return Given(workspace, lambda request: hook(request.case.question), user_id)


def file_hash(path: Path) -> str:
    """sha256 (hex) of a file, for the manifest."""
    digest = sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
