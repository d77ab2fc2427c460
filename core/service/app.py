"""The FastAPI application: routes, who may use them, and what is said when a request cannot be answered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from core.records import DEFAULT_USER
from core.service.answering import Answering
from core.service.body import read_body
from core.service.brain_response import BrainAnswer
from core.service.docs_page import docs_page
from core.service.errors import Refusal, refusal_of
from core.service.graph_response import GraphAnswer
from core.service.guard import Guard
from core.service.remember_response import RememberAnswer
from core.service.requests import Asked, BrainRequest, QueryRequest, RememberRequest, parse
from core.service.tokens import Tokens, admitted
from core.service.workers import Workers

STATUSES = {
    400: "The body is no JSON object, too long, or a field of it cannot be taken",
    401: "A token is required, and none that is known was sent",
    403: "The token does not speak for this user, or the request came from another site's page",
    404: "The user has no dataset of that name",
    502: "A model or the store failed",
    503: "No chat model is configured, or too much is being done",
}


class Problem(BaseModel):
    """Why a request was not answered."""

    error: str


class Healthy(BaseModel):
    """The server answers."""

    status: str = "ok"


@dataclass(frozen=True, slots=True)
class Route:
    """A `POST` route: what it is asked and answers, and the work between. ``sparse``: null fields are left out."""

    path: str
    asks: type[Asked]
    answers: type[BaseModel]
    work: Callable[[Any, str], BaseModel]
    summary: str
    sparse: bool = False


def create_app(
    answering: Answering, *, workers: Workers, tokens: Tokens | None = None, loopback: bool = True
) -> FastAPI:
    """The application. ``tokens`` None: every caller may ask for every user, as fits a server of this machine only.

    The application closes ``workers`` when it ends, not the workspace.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        workers.close()

    app = FastAPI(
        title="Assay",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(Guard, loopback=loopback)
    app.add_exception_handler(HTTPException, _told)
    for route in (
        Route("/v1/gb/remember", RememberRequest, RememberAnswer, answering.remember, "Remember a text"),
        Route(
            "/v1/gb/query",
            QueryRequest,
            GraphAnswer,
            answering.query,
            "Ask the graph of a dataset",
            sparse=True,
        ),
        Route("/v1/brain/ask", BrainRequest, BrainAnswer, answering.brain, "Ask the memories of a workspace"),
    ):
        _add(app, route, workers, tokens)

    @app.get("/healthz", summary="Whether the server answers")
    async def healthz() -> Healthy:
        return Healthy()

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        policy = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
        return HTMLResponse(docs_page(app.openapi()), headers=policy)

    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    return app


def _add(app: FastAPI, route: Route, workers: Workers, tokens: Tokens | None) -> None:
    async def answered(request: Request) -> JSONResponse:
        try:
            holder = tokens.holder(request.headers.get("authorization")) if tokens else None
            asked = parse(await read_body(request.headers, request.receive), route.asks)
            user_id = _user(asked, holder)
            answer = await workers.run(partial(route.work, asked, user_id))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets JSON and the log its place
            return _refused(refusal_of(error))
        return JSONResponse(answer.model_dump(mode="json", exclude_none=route.sparse))

    app.add_api_route(
        route.path,
        answered,
        methods=["POST"],
        summary=route.summary,
        description=route.asks.__doc__,
        response_model=route.answers,
        responses={status: {"model": Problem, "description": said} for status, said in STATUSES.items()},
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": _schema(route.asks)}},
            },
            **({"security": [{"bearer": []}]} if tokens else {}),
        },
    )


def _user(asked: Asked, holder: tuple[str, ...] | None) -> str:
    """Whose data is asked: the request's user, checked against its token, else the token's first, else the local one."""
    named: str | None = getattr(asked, "user_id", None)
    if holder is None:
        return named or DEFAULT_USER
    return admitted(named, holder) if named else holder[0]


def _refused(refusal: Refusal) -> JSONResponse:
    return JSONResponse({"error": refusal.message}, refusal.status, refusal.headers)


async def _told(request: Request, error: Exception) -> JSONResponse:
    """FastAPI's own refusals (no such path, another method) in the service's shape."""
    assert isinstance(error, HTTPException)
    said = {404: "no such path", 405: f"{request.method} is not taken here"}.get(
        error.status_code, error.detail
    )
    return JSONResponse({"error": f"{said}; /docs lists what there is"}, error.status_code, error.headers)


def _schema(asks: type[Asked]) -> dict[str, Any]:
    return asks.model_json_schema(ref_template="#/components/schemas/{model}")


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        app.openapi_schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        if any("security" in verb for path in app.openapi_schema["paths"].values() for verb in path.values()):
            schemes = {"bearer": {"type": "http", "scheme": "bearer"}}
            app.openapi_schema.setdefault("components", {})["securitySchemes"] = schemes
    return app.openapi_schema
