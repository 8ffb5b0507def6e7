"""Ctrl-C stops a run between two trials, and breaks off one that takes long."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from forge_chaos.campaign import Progress
from forge_chaos.cli import stopping
from forge_chaos.cli.stopping import stoppable

Seen = list[tuple[int, int, str]]


@pytest.fixture(autouse=True)
def usual_handlers() -> Iterator[None]:
    """As in a program that was just started; checked, and left as they were."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    signal.signal(signal.SIGINT, before)


def seen(into: Seen) -> Progress:
    return lambda done, total, what: into.append((done, total, what))


def test_without_it_nothing_happens() -> None:
    told: Seen = []
    with stoppable(seen(told)) as progress:
        progress(1, 2, "clean")
    assert told == [(1, 2, "clean")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_next_sign_of_progress_ends_the_run(number: signal.Signals) -> None:
    told: Seen = []

    def run() -> None:
        with stoppable(seen(told)) as progress:
            progress(1, 2, "clean")
            signal.raise_signal(number)
            told.append((0, 0, "the trial goes on"))
            progress(2, 2, "clean")

    with pytest.raises(KeyboardInterrupt):
        run()
    assert told == [(1, 2, "clean"), (0, 0, "the trial goes on")]


def test_a_second_one_does_not_wait() -> None:
    def run() -> None:
        with stoppable(seen([])):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            pytest.fail("it went on")

    with pytest.raises(KeyboardInterrupt):
        run()


def test_a_long_trial_is_broken_off_and_one_that_swallows_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> None:
        with stoppable(seen([])):
            signal.raise_signal(signal.SIGINT)
            with suppress(KeyboardInterrupt):
                time.sleep(20)
            time.sleep(20)

    monkeypatch.setattr(stopping, "GRACE", 0.05)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run()
    assert time.monotonic() - start < 10


def test_in_a_thread_or_where_ctrl_c_means_something_else_it_keeps_out() -> None:
    told: Seen = []
    found: list[object] = []

    def look() -> None:
        with stoppable(seen(told)):
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with stoppable(seen(told)):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    signal.signal(signal.SIGINT, signal.default_int_handler)
