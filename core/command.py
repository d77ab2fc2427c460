"""How every command ends: results on stdout, one line for an error on stderr and exit code 2, no traceback."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from core.errors import AssayError

MISUSE = 2
INTERRUPTED = 130
_UsageError: type[Any] = typer.BadParameter.__mro__[1]
"""typer exports its errors of usage only by this one of them."""


def run(application: typer.Typer) -> None:
    """Runs a typer application; an error that is the input's fault becomes one line and exit code 2."""
    try:
        code = application(standalone_mode=False)
        sys.stdout.flush()
    except AssayError as error:
        _fail(str(error))
    except _UsageError as error:
        _misused(error)
    except BrokenPipeError:
        _unread()
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # typer's own way to say it
            _unread()
        raise
    except (KeyboardInterrupt, typer.Abort):
        _interrupted()
    else:
        if code == INTERRUPTED:  # typer's own way to say it
            _interrupted()
        raise SystemExit(code if isinstance(code, int) else 0)


def _unread() -> None:
    """The reader (``| head``) went away: not an error of ours."""
    sys.stdout = sys.__stdout__
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    raise SystemExit(0) from None


def _misused(error: Any) -> None:
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        raise SystemExit(MISUSE)
    help_ = f"; see `{error.ctx.command_path} --help`" if error.ctx else ""
    _fail(f"{error.format_message().rstrip('.')}{help_}")


def _fail(message: str) -> None:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(MISUSE)


def _interrupted() -> None:
    print("interrupted; what was acknowledged is kept, run the command again to go on", file=sys.stderr)
    raise SystemExit(INTERRUPTED)
