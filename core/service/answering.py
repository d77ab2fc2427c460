"""What the routes do once a request has been checked: the dataset is there, a model is there, then the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from core.answer.abstain import SENTENCES
from core.errors import ChangedError
from core.profile import Profile
from core.records import DEFAULT_USER
from core.service.brain_response import BrainAnswer, brain_answer
from core.service.requests import BrainRequest
from core.trace import Recipe
from core.workspace import Workspace

Result = TypeVar("Result")
TRIES = 5
"""How often a question is asked of a dataset that others keep writing to meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """A workspace with the profile each recipe is asked under."""

    workspace: Workspace
    profiles: Mapping[Recipe, Profile]

    def brain(self, asked: BrainRequest, user_id: str | None) -> BrainAnswer:
        """Answers or abstains out of one dataset, or out of all the user has.

        Raises:
            NotFoundError: the dataset named does not exist.
        """
        user = user_id or DEFAULT_USER
        pattern = self._scope(asked.dataset_name, user)
        if pattern is None:
            return nothing_yet()
        trace = still(
            lambda: self.workspace.ask(
                asked.question,
                dataset=pattern,
                recipe="brain",
                profile=self.profiles["brain"],
                user_id=user,
            )
        )
        return brain_answer(trace)

    def _scope(self, name: str | None, user: str) -> str | None:
        """The dataset's name once it is known to exist, or a pattern for all of them; None where there are none."""
        if name is not None:
            return self.workspace.store.dataset(name, user).name
        names = {found.name for found in self.workspace.store.datasets(user)}
        pattern = "*"
        while pattern in names:  # a dataset may be called so; it would be asked alone
            pattern += "*"
        return pattern if names else None


def still(ask: Callable[[], Result]) -> Result:
    """What ``ask`` returns, asked anew where the dataset changed under it, at most ``TRIES`` times.

    Raises:
        ChangedError: it changed every time. Whatever ``ask`` raises.
    """
    for _ in range(TRIES - 1):
        try:
            return ask()
        except ChangedError:
            continue
    return ask()


def nothing_yet() -> BrainAnswer:
    """The answer of a workspace without a dataset. Nothing was searched, so there is no trace to name."""
    return BrainAnswer(
        answer=SENTENCES["no_evidence"],
        abstained=True,
        reason="no_evidence",
        citations=[],
        grounding=[],
        trace_id=None,
    )
