"""The command line. Bodies are imported when a command runs, so that `--help` stays quick."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper

from forge_chaos.errors import ChaosError

JUDGING = ("run", "fuzz", "replay", "selfcheck", "history")  # commands whose exit code is a verdict


def main(argv: list[str] | None = None) -> None:
    """Run a command and leave with its exit code: 0 pass, 1 fail, 2 inconclusive, 3 ours broke, 4 misuse."""
    from forge_chaos.cli.app import invoke

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # no verdict is lost to a terminal without our characters
    words = sys.argv[1:] if argv is None else argv
    try:
        code = invoke(words)
    except ChaosError as error:
        sys.stderr.write(f"forge-chaos: {error}\n")
        code = error.exit
    except KeyboardInterrupt:
        sys.stderr.write("forge-chaos: stopped.\n")
        code = 2
    except BrokenPipeError:
        unheard()
        code = 3 if words[:1] and words[0] in JUDGING else 0  # no verdict was reached
    except Exception as error:
        import traceback

        traceback.print_exc()
        sys.stderr.write(
            f"forge-chaos: the harness itself failed ({type(error).__name__}: {error}); no verdict is given.\n"
        )
        code = 3
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        unheard()
    sys.exit(code)


def unheard() -> None:
    """Whoever read our output has seen enough, as `head` does. What is left of it goes nowhere."""
    with suppress(OSError, ValueError):  # no file of the system's behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
