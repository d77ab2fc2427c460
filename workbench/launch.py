"""Starts the workbench in a browser: Streamlit in a process of its own, bound to this machine only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from core.errors import UsageError
from core.store.location import resolved

LOOPBACK = "127.0.0.1"
ROOT = Path(__file__).resolve().parent.parent
OPTIONS = {
    "server.address": LOOPBACK,
    "server.fileWatcherType": "none",
    "server.showEmailPrompt": "false",
    "browser.gatherUsageStats": "false",
    "browser.serverAddress": LOOPBACK,
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "none",
    "theme.light.primaryColor": "#0072B2",
    "theme.dark.primaryColor": "#56B4E9",
}


def command(port: int, *, headless: bool) -> list[str]:
    """The command line that starts the app. Options go there, so that no configuration file is needed."""
    options = OPTIONS | {"server.port": str(port), "server.headless": str(headless).lower()}
    script = str(Path(__file__).with_name("app.py"))
    flags = [f"--{name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "streamlit", "run", script, *flags]


def environment(
    db: Path | str | None, *, read_only: bool = False, runs: Path | str | None = None
) -> dict[str, str]:
    """The variables the app is started with: the database, the runs, the mode, and where the packages are."""
    inherited = dict(os.environ)
    paths = [str(ROOT), *filter(None, [inherited.get("PYTHONPATH")])]
    chosen = {"ASSAY_DB": resolved(db)} if db is not None else {}
    chosen |= {"ASSAY_RUNS": str(Path(runs).resolve())} if runs is not None else {}
    chosen |= {"ASSAY_READ_ONLY": "1"} if read_only else {}
    return inherited | {"PYTHONPATH": os.pathsep.join(paths)} | chosen


def launch(
    db: Path | str | None = None,
    port: int = 8501,
    headless: bool = False,
    *,
    read_only: bool = False,
    runs: Path | str | None = None,
) -> None:
    """Runs the app until it is stopped.

    Raises:
        UsageError: the port is taken, or the app ended with an error (its own message stands above).
    """
    _refuse_taken(port)
    print(f"Assay opens at http://{LOOPBACK}:{port} (stop with Ctrl+C)", file=sys.stderr)
    try:
        variables = environment(db, read_only=read_only, runs=runs)
        with subprocess.Popen(command(port, headless=headless), env=variables) as process:
            signal.signal(signal.SIGTERM, lambda *_: process.terminate())  # or the server would outlive us
            code = process.wait()
    except KeyboardInterrupt:
        return
    if code > 0:
        raise UsageError(f"the app ended with code {code}; its message stands above")


def _refuse_taken(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise UsageError(
                f"port {port} on {LOOPBACK} cannot be used: {error.strerror}; choose another, e.g. "
                f"assay app --port {port + 1 if port < 65535 else port - 1}"
            ) from error
