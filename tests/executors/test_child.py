"""A child survives what agents do to their process: no trial lost, no process left, no hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from forge_chaos.errors import Broken, Misuse
from forge_chaos.events import Abandoned, Finished, Snapshot, Started, Trace, find
from forge_chaos.executors.child import child
from forge_chaos.order import Order

BENCH = "tests.executors.small_bench:Bench"


class Start(Protocol):
    def __call__(self, **options: Any) -> child: ...


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[child] = []

    def build(**options: Any) -> child:
        setup = {"place": str(tmp_path), **options.pop("setup", {})}
        made = child(setup, **{"bench": BENCH, "watchdog": 1.0, "complain": lambda text: None, **options})
        started.append(made)
        return made

    yield build
    for one in started:
        one.close()


def orders(*names: str) -> list[Order]:
    return [Order(f"t{n}", name, ("timeout",), seed=n) for n, name in enumerate(names)]


def run(executor: child, *names: str) -> list[Trace]:
    asked = orders(*names)
    answered = list(executor.run(asked))
    assert [order for order, _ in answered] == asked
    return [trace for _, trace in answered]


def whole(trace: Trace) -> Finished:
    """The trace keeps the invariants of every trace; its end."""
    assert [event.seq for event in trace] == list(range(len(trace)))
    assert [event.at for event in trace] == sorted(event.at for event in trace)
    ((_, finished),) = find(trace, Finished)
    assert isinstance(trace[-1].body, Snapshot)
    return finished


def dead(pid: int) -> bool:
    """Gone, or a zombie that only its parent can put away."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


def test_a_trial_comes_back_whole(start: Start) -> None:
    (trace,) = run(start(), "normal")
    assert whole(trace) == Finished("answered", "DONE")
    assert [event.body.kind for event in trace] == [
        "started",
        "called",
        "executed",
        "returned",
        "finished",
        "snapshot",
    ]
    assert trace[-1].body == Snapshot({"a": "seen"})


def test_one_process_serves_many_trials(start: Start) -> None:
    executor = start()
    before = executor.hello()["pid"]
    run(executor, *["normal"] * 5)
    assert executor.hello()["pid"] == before


def test_the_child_has_the_parents_path_and_directory(start: Start) -> None:
    hello = start().hello()
    assert hello["path"] == sys.path
    assert hello["cwd"] == os.getcwd()


@pytest.mark.parametrize("agent", ["sleeps", "spins", "chats_and_hangs"])
def test_silence_is_hung(start: Start, agent: str) -> None:
    hung, after = run(start(), agent, "normal")
    assert whole(hung) == Finished("hung", why="watchdog")
    assert list(find(hung, Abandoned)) == [(5, Abandoned(2, "watchdog"))]
    assert hung[-1].body == Snapshot(known=False)
    assert whole(after).end == "answered"


def test_an_answer_is_no_excuse_for_hanging_afterwards(start: Start) -> None:
    (trace,) = run(start(), "hangs_after")
    assert whole(trace) == Finished("hung", "DONE", why="watchdog")
    assert trace[-1].body == Snapshot(known=False)


@pytest.mark.parametrize(
    ("agent", "how"),
    [("exits", "exit code 3"), ("kills_itself", "signal 9 (SIGKILL)"), ("prints", "exit code 5")],
)
def test_a_dead_process_is_raised(start: Start, agent: str, how: str) -> None:
    died, after = run(start(), agent, "normal")
    finished = whole(died)
    assert (finished.end, finished.honest) == ("raised", False)
    assert finished.error is not None
    assert finished.error["type"] == "ProcessDied"
    assert finished.error["message"] == how
    assert [abandoned.call for _, abandoned in find(died, Abandoned)] == [2]
    assert whole(after).end == "answered"


@pytest.mark.parametrize(
    ("agent", "type_", "message"),
    [
        ("leaves", "SystemExit", "enough"),
        ("interrupts", "KeyboardInterrupt", ""),
        ("reads_stdin", "SystemExit", "read ''"),
    ],
)
def test_what_no_loop_holds_is_raised(start: Start, agent: str, type_: str, message: str) -> None:
    executor = start()
    before = executor.hello()["pid"]
    left, after = run(executor, agent, "normal")
    finished = whole(left)
    assert finished.end == "raised"
    assert finished.error is not None
    assert (finished.error["type"], finished.error["message"]) == (type_, message)
    assert whole(after).end == "answered"
    assert executor.hello()["pid"] != before, "a fresh process after an exception that broke the loop"


def test_memory_is_capped(start: Start) -> None:
    ate, after = run(start(memory=1_000_000_000, watchdog=20), "eats", "normal")
    finished = whole(ate)
    assert finished.end == "raised"
    assert finished.error is not None
    assert finished.error["type"] in ("MemoryError", "ProcessDied")
    assert whole(after).end == "answered"


def test_events_without_end_are_hung(start: Start) -> None:
    (trace,) = run(start(events=500), "floods")
    assert whole(trace).end == "hung"
    assert 500 <= len(trace) < 510


def test_death_before_the_first_event_still_gives_a_trial(start: Start) -> None:
    died, after = run(start(), "dies_before", "normal")
    assert whole(died).end == "raised"
    ((_, started),) = find(died, Started)
    assert (started.scenario, started.rules, started.seed) == ("dies_before", ("timeout",), 0)
    assert whole(after).end == "answered"


def test_closing_our_pipes_ends_the_trial(start: Start) -> None:
    closed, after = run(start(watchdog=20), "closes_everything", "normal")
    assert whole(closed).end == "raised"
    assert whole(after).end == "answered"


@pytest.mark.parametrize(
    ("agent", "end"),
    [
        ("has_a_child", "raised"),
        ("has_a_child_in_a_group", "raised"),
        ("has_a_child_in_a_session", "hung"),
        ("forks_and_dies", "raised"),
    ],
)
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find them")
def test_no_process_of_a_dead_agent_is_left(start: Start, tmp_path: Path, agent: str, end: str) -> None:
    left, after = run(start(), agent, "normal")
    assert whole(left).end == end
    assert dead(int((tmp_path / "grandchild").read_text()))
    assert whole(after).end == "answered"


def test_a_killed_child_leaves_no_workspace(start: Start, tmp_path: Path) -> None:
    run(start(), "has_a_workspace")
    assert not Path((tmp_path / "workspace").read_text()).exists()


def test_a_thread_left_behind_harms_no_other_trial(start: Start) -> None:
    left, *after = run(start(), "leaves_a_bomb", *["normal"] * 3)
    assert whole(left).end == "raised"
    assert [whole(trace).end for trace in after] == ["answered"] * 3


def test_a_child_that_died_between_two_trials_is_replaced(start: Start) -> None:
    executor = start()
    os.kill(executor.hello()["pid"], signal.SIGKILL)
    (trace,) = run(executor, "normal")
    assert whole(trace).end == "answered"


def test_close_lets_the_bench_put_its_things_away(start: Start, tmp_path: Path) -> None:
    executor = start()
    pid = executor.hello()["pid"]
    run(executor, "normal")
    executor.close()
    assert (tmp_path / "closed").read_text() == "yes"
    assert dead(pid)
    executor.close()


def test_nothing_the_agent_prints_reaches_our_stdout(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    run(start(complain=said.append), "prints", "normal", "exits")
    assert capfd.readouterr() == ("", "")
    first, second = said
    assert "exit code 5" in first
    assert first.endswith("the last words")
    assert len(first) < 10_000
    assert second.endswith("about to leave")


def test_by_default_the_last_words_go_to_stderr(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    executor = child({"place": str(tmp_path)}, bench=BENCH)
    run(executor, "exits", "normal")
    executor.close()
    out, err = capfd.readouterr()
    assert out == ""
    assert err.endswith("about to leave\n")


def test_secrets_do_not_stand_in_the_last_words(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "about to")
    said: list[str] = []
    run(start(complain=said.append), "exits")
    assert said[0].endswith("[redacted] leave")


def test_misuse_in_the_child_is_misuse_here(start: Start) -> None:
    with pytest.raises(Misuse, match="Did you mean 'small'"):
        start(setup={"start": "misuse"}).hello()
    with pytest.raises(Misuse, match="no scenario 'refuses'"):
        run(start(), "refuses")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("crash", "cannot import name 'agent'"),
        ("exit", "exit code 7.\nFatal: cannot open display"),
        ("hang", "over 0.5 seconds"),
    ],
)
def test_a_child_that_does_not_start_is_misuse(start: Start, how: str, says: str) -> None:
    with pytest.raises(Misuse) as caught:
        start(setup={"start": how}, startup=0.5 if how == "hang" else 60).hello()
    assert says in str(caught.value)


def test_our_own_failure_is_broken(start: Start) -> None:
    executor = start()
    pid = executor.hello()["pid"]
    with pytest.raises(Broken, match="ValueError: ours"):
        run(executor, "raises_value")
    assert dead(pid)


def test_a_trace_that_the_agent_tore_apart_is_its_own_end_and_the_run_goes_on(start: Start) -> None:
    """After a fork() in the agent more is recorded than arrives."""
    executor = start()
    (trace,) = run(executor, "forgets")
    (finished,) = (body for _, body in find(trace, Finished))
    assert finished.error is not None
    assert (finished.end, finished.error["type"]) == ("raised", "TraceTornApart")


def test_ctrl_c_takes_the_child_along(start: Start) -> None:
    executor = start(watchdog=60)
    pid = executor.hello()["pid"]
    signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            run(executor, "sleeps")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert dead(pid)


PARENT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from forge_chaos.executors.child import child
from forge_chaos.order import Order
executor = child({"place": sys.argv[2]}, bench="tests.executors.small_bench:Bench", watchdog=60)
sys.stdout.write(f"{executor.hello()['pid']}\\n")
sys.stdout.flush()
list(executor.run([Order("t1", "spins")]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot tie a child to its parent's life")
def test_a_killed_parent_takes_the_child_along(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, json.dumps(sys.path), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        while not (tmp_path / "spinning").exists():
            time.sleep(0.01)
        parent.kill()
    assert dead(pid)
