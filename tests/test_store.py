"""The store loses nothing that it acknowledged, counts nothing twice, and says plainly what is wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.runfile import FILE
from forge_chaos.store import FORMAT, Store, compatible
from tests import store_writer
from tests.store_writer import CARD, CONFIG, IDS, committed, create, filled, ids, trace, trial


def test_trials_and_traces_come_back_as_they_were(tmp_path: Path) -> None:
    filled(tmp_path, "t1", "t2")
    with Store.open(tmp_path) as store:
        assert list(store.trials()) == [trial("t1"), trial("t2")]
        assert store.trial("t2") == trial("t2")
        assert store.trace("t1") == trace("t1")
        assert store.done() == {"t1", "t2"}
        assert store.config == {**CONFIG, "format": FORMAT}


def test_a_closed_run_is_one_file(tmp_path: Path) -> None:
    filled(tmp_path, "t1")
    assert os.listdir(tmp_path) == [FILE]


def test_trials_come_in_planned_order_whatever_finished_first(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        store.plan(["t1", "t2", "t3"])
        for id in ("t3", "t9", "t1"):
            store.add(trial(id), trace(id))
        store.plan(["t3", "t4", "t1"])
        assert store.missing() == ("t2", "t4")
        assert store.done() == {"t1", "t3", "t9"}
        store.add(trial("t4"), trace("t4"))
        assert ids(store) == ["t1", "t3", "t9", "t4"]


def test_the_same_id_twice_is_replaced(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        for id in ("t1", "t2", "t1"):
            store.add(trial(id), trace(id))
        store.add(trial("t1", repetition=5), trace("other"))
        assert ids(store) == ["t1", "t2"]
        assert store.trial("t1").repetition == 5
        assert store.trace("t1") == trace("other")


def test_what_was_found_out_since_is_written_and_nothing_else_changes(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        store.plan(["t1", "t2"])
        store.add(trial("t1"), trace("t1"))
        store.finish(CARD)
        store.amend([replace(trial("t1"), layer="model"), trial("t2"), trial("never planned")])
    with Store.open(tmp_path) as store:
        assert [(t.id, t.layer) for t in store.trials()] == [("t1", "model")]
        assert store.trace("t1") == trace("t1")
        assert store.missing() == ("t2",)
        assert store.scorecard == CARD


def test_finish_keeps_the_scorecard_until_another_trial_comes(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        store.add(trial("t1"), trace("t1"))
        assert store.scorecard is None
        store.finish(CARD)
    with Store.open(tmp_path) as store:
        assert store.scorecard == CARD
        store.add(trial("t2"), trace("t2"))
    with Store.open(tmp_path) as store:
        assert store.scorecard is None


def test_a_trial_goes_in_whole_or_not_at_all(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        store.add(trial("t1"), trace("t1"))
        with pytest.raises(AttributeError):
            store.add(trial("t2"), (None,))  # type: ignore[arg-type]  # what an interrupt leaves is as bad
        store.add(trial("t3"), trace("t3"))
    with Store.open(tmp_path) as store:
        assert ids(store) == ["t1", "t3"]


def test_a_batch_is_committed_when_it_is_full(tmp_path: Path) -> None:
    with create(tmp_path, batch=2) as store:
        store.add(trial("t1"), trace("t1"))
        assert committed(tmp_path) == []
        store.add(trial("t2"), trace("t2"))
        assert committed(tmp_path) == ["t1", "t2"]
        store.add(trial("t3"), trace("t3"))
        store.commit()
        assert committed(tmp_path) == ["t1", "t2", "t3"]


def test_slow_trials_are_committed_one_by_one(tmp_path: Path) -> None:
    now = [0.0]
    with Store.create(tmp_path, CONFIG, clock=lambda: now[0]) as store:
        for n in range(3):
            now[0] += 60
            store.add(trial(f"t{n}"), trace("x"))
            assert len(committed(tmp_path)) == n + 1


def test_fast_trials_share_commits_for_as_long_as_the_run_takes(tmp_path: Path) -> None:
    now = [0.0]
    with Store.create(tmp_path, CONFIG, clock=lambda: now[0]) as store:
        for n in range(25):
            now[0] += 0.1
            store.add(trial(f"t{n}"), trace("x"))
        assert len(committed(tmp_path)) in (19, 20, 21)


def killed(directory: Path, fatal: int) -> list[str]:
    """Write a run in a process that dies at statement `fatal`; what was acknowledged before."""
    acknowledged = directory.with_suffix(".acknowledged")
    done = subprocess.run(
        [sys.executable, "-m", "tests.store_writer", directory, acknowledged, str(fatal)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    assert done.returncode == (-signal.SIGKILL if fatal else 0)
    return acknowledged.read_text().split()


def resumed(directory: Path, acknowledged: list[str]) -> None:
    """All that was acknowledged is there, nothing twice, the rest is missing; gone on with, it is whole."""
    with Store.open(directory) as store:
        there = ids(store)
        assert len(there) == len(set(there))
        assert set(acknowledged) - {"finish"} <= set(there)
        for id in there:
            assert store.trial(id) == trial(id)
            assert store.trace(id) == trace(id)
        assert (store.scorecard == CARD) or "finish" not in acknowledged
        store.plan(IDS)
        assert sorted(there + list(store.missing())) == sorted(IDS)
        for id in store.missing():
            store.add(trial(id), trace(id))
        store.finish(CARD)
    with Store.open(directory) as store:
        assert ids(store) == list(IDS)
        assert store.missing() == ()
        assert store.scorecard == CARD


def points(statements: list[str]) -> dict[str, int]:
    """Where the five fixed points lie among the statements of an undisturbed run, from 1."""
    commits = [n for n, text in enumerate(statements, 1) if text == "COMMIT"]
    _, first, second, *_, last, finish = commits
    return {
        "before the first commit": first,
        "inside a batch": (first + second) // 2,
        "right after a commit": first + 1,
        "between trial and finish": last + 1,
        "during finish": finish,
    }


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("before the first commit", 0),
        ("inside a batch", 3),
        ("right after a commit", 3),
        ("between trial and finish", 10),
        ("during finish", 10),
    ],
)
def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path, point: str, expected: int) -> None:
    fatal = points(store_writer.write(tmp_path / "model", tmp_path / "ignored"))[point]
    run = tmp_path / "run"
    acknowledged = killed(run, fatal)
    assert len(acknowledged) == expected
    resumed(run, acknowledged)


def test_an_undisturbed_writer_acknowledges_everything(tmp_path: Path) -> None:
    acknowledged = killed(tmp_path / "run", 0)
    assert acknowledged == [*IDS, "finish"]
    resumed(tmp_path / "run", acknowledged)


@pytest.mark.slow
def test_kill_9_at_every_statement(tmp_path: Path) -> None:
    count = len(store_writer.write(tmp_path / "model", tmp_path / "ignored"))
    for fatal in range(1, count + 1):
        run = tmp_path / str(fatal)
        acknowledged = run.with_suffix(".acknowledged")
        pid = os.fork()
        if pid == 0:
            try:
                store_writer.write(run, acknowledged, fatal)
            finally:
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == signal.SIGKILL
        resumed(run, acknowledged.read_text().split())


def test_no_trial_of_that_name_offers_the_near_miss(tmp_path: Path) -> None:
    filled(tmp_path, "tabcdef0123")
    with Store.open(tmp_path) as store:
        for ask in (store.trial, store.trace):
            with pytest.raises(Misuse, match=r"no trial 'tabcdef0124' .* Did you mean 'tabcdef0123'\?"):
                ask("tabcdef0124")


def test_a_run_is_not_written_over(tmp_path: Path) -> None:
    filled(tmp_path, "t1")
    with pytest.raises(Misuse, match=r"holds a run already.*--resume"):
        create(tmp_path)
    assert committed(tmp_path) == ["t1"]


def test_two_processes_do_not_write_one_run(tmp_path: Path) -> None:
    with create(tmp_path) as store:
        store.add(trial("t1"), trace("t1"))
        store.commit()
        with Store.open(tmp_path) as other:
            assert ids(other) == ["t1"], "reading is free"
            with pytest.raises(Misuse, match="another process is writing this run"):
                other.add(trial("t2"), trace("t2"))
    with Store.open(tmp_path) as other:
        other.add(trial("t2"), trace("t2"))
    assert committed(tmp_path) == ["t1", "t2"]


def test_resuming_is_refused_for_another_agent(tmp_path: Path) -> None:
    filled(tmp_path)
    with Store.open(tmp_path) as store, pytest.raises(Misuse, match="agent was pkg:agent, is other"):
        compatible(store.config, {**CONFIG, "agent": "other"})
