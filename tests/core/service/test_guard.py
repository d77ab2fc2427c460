"""Pages of other sites stay outside; a server without tokens answers to this machine's names only."""

from __future__ import annotations

import pytest

from core.service.guard import is_loopback


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True), ("LOCALHOST", True),
     ("0.0.0.0", False), ("::", False), ("10.0.0.1", False), ("localhost.evil.example", False), ("", False),
     ("evil.example", False)],
)  # fmt: skip
def test_what_is_this_machine(host, local):
    assert is_loopback(host) is local


def test_foreign_hosts_and_origins_are_refused(make_workspace, serve, turns):
    client = serve(make_workspace(turns))
    own = f"http://127.0.0.1:{client.base_url.port}"
    for headers, status in (
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": own}, 200),
        ({"host": "localhost:7878"}, 200),
        ({"host": "[::1]:7878"}, 200),
    ):
        reply = client.get("/healthz", headers=headers)
        assert reply.status_code == status, headers
        assert status == 200 or list(reply.json()) == ["error"]


def test_a_server_for_others_takes_any_host_but_no_foreign_page(make_workspace, serve, turns):
    client = serve(make_workspace(turns), loopback=False)
    assert client.get("/healthz", headers={"host": "assay.example"}).status_code == 200
    assert client.get("/healthz", headers={"origin": "http://evil.example"}).status_code == 403
