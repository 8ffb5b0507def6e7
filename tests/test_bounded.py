from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from forge_chaos.bounded import Overdue, bounded


def for_ever() -> None:
    while True:
        pass


def test_code_without_an_end_is_cut() -> None:
    cut = pytest.raises(Overdue, match=r"the grader did not come to an end within 0\.05 s")
    with cut, bounded("the grader", 0.05):
        for_ever()
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
    assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL


def test_code_that_ends_is_left_alone() -> None:
    with bounded("it", 5):
        assert sum(range(1000)) == 499500
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0


def test_the_outer_bound_holds_for_what_is_inside() -> None:
    with pytest.raises(Overdue, match="outer"), bounded("outer", 0.05), bounded("inner", 60):
        for_ever()


def test_other_threads_are_not_touched() -> None:
    ended: list[str] = []

    def work() -> None:
        with bounded("it", 0.01):
            ended.append("yes")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert ended == ["yes"]


SWALLOWS = """
from forge_chaos import bounded
bounded.AGAIN = 0.02
with bounded.bounded("grader 'stuck'", 0.02):
    while True:
        try:
            while True:
                pass
        except Exception:
            pass
"""


@pytest.mark.slow
def test_code_that_swallows_it_ends_the_process_with_a_name() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWS], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3
    assert "grader 'stuck' goes on for ever and cannot be stopped" in done.stderr
