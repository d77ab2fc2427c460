"""What each route is asked: the fields of its body, checked before anything is worked on."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.models.chat import Reasoning
from core.records import DEFAULT_DATASET
from core.remember import REMEMBER_STAGES
from core.service.errors import Refusal
from core.service.fields import (
    DatasetName,
    LevelsByStage,
    ModelsByStage,
    Moment,
    RadiusKm,
    SessionId,
    Text,
    UserId,
    Written,
)
from core.service.strict_json import json_object

QUERY_STAGES = ("query", "detect_geo")
WORKSPACE = "workspace"
"""The scope that stands for every dataset of the user."""


class Asked(BaseModel):
    """A body: an object of known keys only; null counts as left out where a field is optional."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Body = TypeVar("Body", bound=Asked)


class QueryRequest(Asked):
    """A question to the graph of one dataset."""

    user_id: UserId = Field(description="Who owns the dataset", examples=["u1"])
    query: Text = Field(description="The question", examples=["Where does Alice work?"])
    dataset: DatasetName | None = Field(
        default=None, description="The dataset to search; main where left out"
    )
    session_id: SessionId | None = Field(
        default=None, description="Echoed and recorded; changes nothing of the answer"
    )
    reasoning: Annotated[dict[str, Reasoning], LevelsByStage(QUERY_STAGES, plain=("query",))] = Field(
        default_factory=dict,
        description="none, low, medium or high: of the call that writes the answer, or by stage",
    )
    models: Annotated[dict[str, str], ModelsByStage(QUERY_STAGES)] = Field(
        default_factory=dict, description="The model of each stage; the default one where left out"
    )
    geo_nearby: bool | None = Field(
        default=None, description="Also look for places near those of the question"
    )
    geo_radius_km: RadiusKm | None = Field(
        default=None, description="How near; giving it turns the search on"
    )
    as_of: Moment | None = Field(default=None, description="Valid time: what was true then")
    known_at: Moment | None = Field(default=None, description="Transaction time: what was known then")

    @model_validator(mode="after")
    def _radius_of_a_search(self) -> QueryRequest:
        if self.geo_radius_km is not None and self.geo_nearby is False:
            raise ValueError("geo_radius_km asks for the search that geo_nearby: false turns off; drop one")
        return self

    @property
    def dataset_name(self) -> str:
        """The dataset asked."""
        return self.dataset or DEFAULT_DATASET

    @property
    def nearby(self) -> bool:
        """Whether the geo search is asked for."""
        return bool(self.geo_nearby) or self.geo_radius_km is not None


class RememberRequest(Asked):
    """A text for one dataset, which is made if it does not exist."""

    user_id: UserId = Field(description="Who owns the dataset", examples=["u1"])
    text: Written = Field(
        description="The text to remember", examples=["Alice works at Acme and lives in Paris."]
    )
    dataset: DatasetName | None = Field(
        default=None, description="The dataset to store it in; main where left out"
    )
    session_id: SessionId | None = Field(default=None, description="The session the text belongs to")
    valid_at: Moment | None = Field(
        default=None, description="When it was said; now where left out. Relative dates count from it"
    )
    reasoning: Annotated[dict[str, Reasoning], LevelsByStage(REMEMBER_STAGES, plain=REMEMBER_STAGES)] = Field(
        default_factory=dict, description="none, low, medium or high: of every call, or by stage"
    )
    models: Annotated[dict[str, str], ModelsByStage(REMEMBER_STAGES)] = Field(
        default_factory=dict, description="The model of each stage; the default one where left out"
    )

    @property
    def dataset_name(self) -> str:
        """The dataset it goes to."""
        return self.dataset or DEFAULT_DATASET


class BrainRequest(Asked):
    """A question to the memories of a workspace."""

    question: Text = Field(description="The question", examples=["What policy controls outbound followups?"])
    scope: DatasetName | None = Field(
        default=None, description='"workspace" for every dataset of the user, else the name of one'
    )
    user_id: UserId | None = Field(
        default=None, description="Whose workspace; the token's own where left out"
    )

    @property
    def dataset_name(self) -> str | None:
        """The one dataset asked, None for all of them."""
        return None if self.scope in (None, WORKSPACE) else self.scope


def parse(body: bytes, kind: type[Body]) -> Body:
    """``body`` as a request of ``kind``.

    Raises:
        Refusal: 400, with every field that is wrong and why.
    """
    try:
        return kind.model_validate(json_object(body))
    except ValidationError as error:
        problems = [_said(dict(one), kind) for one in error.errors(include_url=False)]
        raise Refusal(400, "; ".join(problems[:5])) from None


def _said(problem: dict[str, Any], kind: type[Asked]) -> str:
    place = ".".join(str(part) for part in problem["loc"])[:80]
    match problem["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden":
            return f"{place!r} is no field of this request; there are {', '.join(kind.model_fields)}"
        case "value_error":
            return f"{place} {problem['ctx']['error']}".strip()
        case "string_type":
            return f"{place} must be a string"
        case "string_too_short":
            return f"{place} is empty"
    return f"{place}: {str(problem['msg']).removeprefix('Input ')}"
