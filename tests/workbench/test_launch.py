"""How the app is started: on this machine only, without statistics, on a free port."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from core.errors import UsageError
from workbench.launch import LOOPBACK, command, environment, launch


@pytest.mark.parametrize(("headless", "flag"), [(True, "true"), (False, "false")])
def test_the_command_binds_to_loopback_and_sends_nothing_home(headless: bool, flag: str) -> None:
    line = command(8600, headless=headless)
    for option in (
        "--server.address=127.0.0.1",
        "--server.port=8600",
        f"--server.headless={flag}",
        "--browser.gatherUsageStats=false",
    ):
        assert option in line
    assert Path(line[4]).is_file()


def test_the_database_is_handed_over_as_an_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSAY_DB", raising=False)
    assert environment(tmp_path / "a.db")["ASSAY_DB"] == str(tmp_path / "a.db")
    assert "ASSAY_DB" not in environment(None)


def test_a_taken_port_is_refused_with_another_to_try() -> None:
    with socket.socket() as holder:
        holder.bind((LOOPBACK, 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} .* assay app --port"):
            launch(port=port, headless=True)
