"""What the routes do once a request has been checked: the dataset is there, a model is there, then the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from core.answer.abstain import SENTENCES
from core.errors import ChangedError
from core.models.chat import ChatModel
from core.profile import Profile
from core.remember.remember import remember
from core.service.brain_response import BrainAnswer, brain_answer
from core.service.errors import Refusal
from core.service.graph_response import GraphAnswer, graph_answer
from core.service.remember_response import RememberAnswer, remember_answer
from core.service.requests import BrainRequest, QueryRequest, RememberRequest
from core.trace import Recipe
from core.workspace import Workspace

Result = TypeVar("Result")
NO_MODEL = (
    "no chat model is configured: set ANTHROPIC_API_KEY, or start the server with --answerer MODEL, "
    "or with --answerer deterministic to answer without one"
)
NO_GEO = "geo_nearby and geo_radius_km need a server that has geo on; start it with --geo gazetteer"
TRIES = 5
"""How often a question is asked of a dataset that others keep writing to meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """A workspace with the profile each recipe is asked under. ``chat`` None: no model writes; where ``deterministic``
    the graph then answers out of its evidence, else it refuses."""

    workspace: Workspace
    profiles: Mapping[Recipe, Profile]
    chat: ChatModel | None = None
    deterministic: bool = False

    def query(self, asked: QueryRequest, user_id: str) -> GraphAnswer:
        """Answers a question out of the graph of one dataset.

        Raises:
            Refusal: 400, a geo search without geo; 503, no chat model. NotFoundError: no such dataset. ChatError.
        """
        if asked.nearby and self.workspace.geo is None:
            raise Refusal(400, NO_GEO)
        store = self.workspace.store
        dataset = store.dataset(asked.dataset_name, user_id).name
        self._require_model()
        with self.workspace.journal(
            "query", user_id=user_id, dataset=dataset, session_id=asked.session_id or None
        ) as journal:
            trace = still(
                lambda: self.workspace.ask(
                    asked.query,
                    dataset=dataset,
                    recipe="graph",
                    profile=self.profiles["graph"],
                    as_of=asked.as_of,
                    known_at=asked.known_at,
                    user_id=user_id,
                    chat=self.chat,
                    reasoning=asked.reasoning,
                    models=asked.models,
                    nearby_km=self._radius(asked),
                    journal=journal,
                )
            )
            return graph_answer(trace, store, asked.session_id or None)

    def remember(self, asked: RememberRequest, user_id: str) -> RememberAnswer:
        """Stores a text in a dataset of the user, all that is made of it or nothing.

        Raises:
            Refusal: 503, no chat model. ChatError, StoreError: nothing was stored.
        """
        self._require_model()
        session = asked.session_id or None
        with self.workspace.journal(
            "remember", user_id=user_id, dataset=asked.dataset_name, session_id=session
        ) as journal:
            return remember_answer(
                remember(
                    self.workspace,
                    asked.text,
                    user_id=user_id,
                    dataset=asked.dataset_name,
                    session_id=session,
                    valid_at=asked.valid_at,
                    chat=self.chat,
                    reasoning=asked.reasoning,
                    models=asked.models,
                    journal=journal,
                )
            )

    def brain(self, asked: BrainRequest, user_id: str) -> BrainAnswer:
        """Answers or abstains out of one dataset, or out of all the user has.

        Raises:
            NotFoundError: the dataset named does not exist.
        """
        pattern = self._scope(asked.dataset_name, user_id)
        if pattern is None:
            return nothing_yet()
        with self.workspace.journal("query", user_id=user_id, dataset=pattern) as journal:
            trace = still(
                lambda: self.workspace.ask(
                    asked.question,
                    dataset=pattern,
                    recipe="brain",
                    profile=self.profiles["brain"],
                    user_id=user_id,
                    chat=self.chat,
                    journal=journal,
                )
            )
            return brain_answer(trace)

    def _radius(self, asked: QueryRequest) -> float | None:
        """Kilometres to search within, None for no search."""
        if not asked.nearby:
            return None
        return asked.geo_radius_km or self.profiles["graph"].number("geo.radius_km")

    def _require_model(self) -> None:
        if self.chat is None and not self.deterministic:
            raise Refusal(503, NO_MODEL)

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
