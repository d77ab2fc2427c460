"""Generated requests, good and bad ones, over the OpenAPI document: every response is documented, none is a crash."""

from __future__ import annotations

from collections import Counter

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from core.ingest.items import EntityItem, FactItem, NodeItem

EXAMPLES = 180
"""Of each route and mode."""
OWNER = "u1"
NOT_IN_A_SCHEMA = ("bytes; at most 128", "not a date or time", "cannot be taken", "that geo_nearby: false turns off",
                   "geo on", "is empty", "has control characters")  # fmt: skip
"""What a body that fits its schema may still be refused for."""
ITEMS = [
    EntityItem(name="Alice", type="person"),
    EntityItem(name="Acme", type="organization"),
    FactItem(subject="Alice", relation="works_at", object="Acme"),
    NodeItem(level="L0", text="Alice works at Acme.", source="log", turn="1"),
]


@pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value
)
@pytest.mark.parametrize("path", ["/v1/gb/query", "/v1/gb/remember", "/v1/brain/ask"])
def test_whatever_is_sent_the_response_is_documented(make_workspace, serve, path, mode):
    client = serve(make_workspace(ITEMS, user_id=OWNER), deterministic=True)
    operation = schemathesis.openapi.from_url(f"{client.base_url}/openapi.json")[path]["POST"]
    client.post("/v1/gb/query", json={"user_id": OWNER, "query": "x"})  # the first one imports the indexes
    positive, seen = mode is GenerationMode.POSITIVE, Counter[int]()
    session = requests.Session()

    @settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def holds(case: schemathesis.Case) -> None:
        if positive:
            case.body |= {"user_id": OWNER} | {
                key: "main" for key in ("dataset", "scope") if key in case.body
            }
        reply = case.call_and_validate(
            str(client.base_url), session=session, timeout=60, excluded_checks=[positive_data_acceptance]
        )
        seen[reply.status_code] += 1
        if positive and reply.status_code == 400:
            error = reply.json()["error"]
            assert any(said in error for said in NOT_IN_A_SCHEMA), error

    with session:
        holds()
    assert set(seen) <= {200, 400, 404, 502, 503}
    assert seen.total() >= EXAMPLES
    assert seen[200 if positive else 400] > EXAMPLES / 4, seen
