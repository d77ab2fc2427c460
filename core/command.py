"""How every command ends: results on stdout, one line for an error on stderr and exit code 2, no traceback."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Any

import typer

from core.errors import AssayError
from core.render import printable

MISUSE = 2
INTERRUPTED = 130
_UsageError: type[Any] = typer.BadParameter.__mro__[1]
"""typer exports its errors of usage only by this one of them."""


def run(application: typer.Typer) -> None:
    """Runs a typer application; an error that is the input's or the machine's fault (a full disk, a file that may not be
    read) becomes one line and exit code 2."""
    _print_anything()
    try:
        code = application(standalone_mode=False)
        sys.stdout.flush()
    except AssayError as error:
        _fail(str(error))
    except _UsageError as error:
        _misused(error)
    except BrokenPipeError:
        _unread()
    except OSError as error:
        _out_of_order(error)
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


def _print_anything() -> None:
    """What the terminal's encoding lacks is written as an escape: an answer is never lost to one character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _out_of_order(error: OSError) -> None:
    """A file or the output that cannot be read or written; what is still to be printed is given up."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    what = error.filename or "the output"
    _fail(
        f"{what}: cannot be read or written: {error.strerror or error}; free it or name another, and run this again"
    )


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
    print(f"error: {printable(message)}", file=sys.stderr)
    raise SystemExit(MISUSE)


def _interrupted() -> None:
    print("interrupted; what was acknowledged is kept, run the command again to go on", file=sys.stderr)
    raise SystemExit(INTERRUPTED)
