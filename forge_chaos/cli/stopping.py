"""Ctrl-C, or being told to end, stops a run between two trials, where nothing is torn."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

from forge_chaos.campaign import Progress

GRACE = 1.0  # real seconds for the trial that is running


@contextmanager
def stoppable(progress: Progress) -> Iterator[Progress]:
    """`progress`, which raises KeyboardInterrupt once Ctrl-C was pressed, or SIGTERM came.

    A trial that takes longer than GRACE from then on is broken off, and so it is by a second Ctrl-C. An
    exception that a signal raises in the midst of an event loop can be lost, or can leave it asleep.
    """
    if (
        current_thread() is not main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield progress
        return
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        signal.setitimer(signal.ITIMER_REAL, GRACE, GRACE)

    def watched(done: int, total: int, what: str) -> None:
        if pressed:
            raise KeyboardInterrupt
        progress(done, total, what)

    ends = [signal.SIGTERM] if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL else []
    numbers = (signal.SIGINT, signal.SIGALRM, *ends)
    handlers = {number: signal.signal(number, press) for number in numbers}
    try:
        yield watched
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
