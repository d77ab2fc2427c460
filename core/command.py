"""How every command ends: results on stdout, one line for an error on stderr and exit code 2, no traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from core.errors import AssayError

MISUSE = 2


def run(command: Callable[[], object]) -> None:
    """Runs a typer application; an error that is the input's fault becomes one line and exit code 2."""
    try:
        command()
    except AssayError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(MISUSE) from None
    except BrokenPipeError:  # the reader (`| head`) went away: not an error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        print("interrupted; what was acknowledged is kept, run the command again to go on", file=sys.stderr)
        raise SystemExit(130) from None
