"""A bound on the user's own code that runs in our process: solutions, graders, values, templates.

An endless loop in one of them would hang the tester. The bound is processor time, so that a busy machine
convicts nobody; what only waits is not cut.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 60.0  # of processor time
AGAIN = 1.0
TRIES = 5


class Overdue(Exception):
    """The code did not come to an end within the bound."""


@contextmanager
def bounded(what: str, seconds: float = SECONDS) -> Iterator[None]:
    """Raise Overdue inside code that goes on for longer; one that swallows even that ends the process with
    exit code 3, named. Within another bound, or outside of the main thread, nothing is added."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGVTALRM"):
        yield
        return
    if signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 0:
        yield
        return
    rings = 0

    def ring(number: int, frame: object) -> None:
        nonlocal rings
        rings += 1
        if rings > TRIES:
            sys.stderr.write(
                f"forge-chaos: {what} goes on for ever and cannot be stopped; no verdict is given.\n"
            )
            sys.stderr.flush()
            os._exit(3)
        raise Overdue(f"{what} did not come to an end within {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


__all__ = ["Overdue", "bounded"]
