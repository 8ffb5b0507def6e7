"""A command ends in time or is ended, with all that it has started."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from threading import Event, Timer

import pytest

from forge_chaos.history import bounded

LONG = "import time; time.sleep(600)"


def python(code: str, seconds: float = 60.0, stopped: Event | None = None) -> bounded.Ended:
    return bounded.run([sys.executable, "-c", code], seconds, stopped or Event())


@pytest.mark.slow
def test_what_it_says_and_how_it_ends() -> None:
    done = python("import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)")
    assert done == bounded.Ended(3, "a\n", "b\n")


@pytest.mark.slow
def test_one_that_is_late_is_killed_and_what_it_said_is_kept() -> None:
    done = python(f"print('begun', flush=True); {LONG}", seconds=2)
    assert (done.code, done.out) == (None, "begun\n")


@pytest.mark.slow
def test_each_word_of_it_gives_it_more_time() -> None:
    code = "import time\nfor n in range(6):\n print(n, flush=True)\n time.sleep(1)"
    assert python(code, seconds=4).code == 0


@pytest.mark.slow
def test_nothing_that_it_started_is_left(tmp_path: Path) -> None:
    late = f"import time; time.sleep(4); open({str(tmp_path / 'late')!r}, 'w')"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {late!r}])"
    assert python(code).code == 0
    assert python(f"{code}; {LONG}", seconds=1).code is None
    time.sleep(5)
    assert not (tmp_path / "late").exists()


@pytest.mark.slow
def test_it_can_be_stopped() -> None:
    stopped = Event()
    Timer(0.5, stopped.set).start()
    with pytest.raises(KeyboardInterrupt):
        python(LONG, stopped=stopped)
