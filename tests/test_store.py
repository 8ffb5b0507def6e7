"""The store loses nothing that it acknowledged, counts nothing twice, and says plainly what is wrong."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from forge_chaos.errors import Broken, Misuse
from forge_chaos.runfile import FILE
from forge_chaos.store import FORMAT, Store, compatible
from forge_chaos.verdict import Judgement, Trial
from tests import store_writer
from tests.store_writer import CARD, CONFIG, IDS, trace, trial


def create(directory: Path, **options: Any) -> Store:
    return Store.create(directory, {**CONFIG, **options.pop("config", {})}, clock=lambda: 0.0, **options)


def filled(directory: Path, *ids: str, **options: Any) -> None:
    with create(directory, **options) as store:
        for id in ids:
            store.add(trial(id), trace(id))


def ids(store: Store) -> list[str]:
    return [trial.id for trial in store.trials()]


# --- what goes in comes out


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


# --- when it is on disk


def committed(directory: Path) -> list[str]:
    with Store.open(directory) as other:
        return ids(other)


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


# --- kill -9


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


# --- which traces are kept


def keeping(directory: Path, keep: Any, count: int, failing: int = 0, reverse: bool = False) -> set[str]:
    numbers = range(count, 0, -1) if reverse else range(1, count + 1)
    with create(directory, config={"keep_traces": keep}) as store:
        for n in numbers:
            store.add(trial(f"t{n}", acceptable=n > failing), trace(f"t{n}"))
    with Store.open(directory) as store:
        assert len(ids(store)) == count, "every trial is kept, whatever becomes of its trace"
        return traced(store)


def traced(store: Store) -> set[str]:
    """The trials whose traces are there."""
    found = set()
    for id in ids(store):
        with suppress(Misuse):
            assert store.trace(id) == trace(id)
            found.add(id)
    return found


def test_all_traces_are_kept_up_to_the_limit(tmp_path: Path) -> None:
    assert len(keeping(tmp_path / "a", 30, 30)) == 30
    assert len(keeping(tmp_path / "b", "all", 40)) == 40


def test_past_the_limit_failures_and_a_sample_are_kept(tmp_path: Path) -> None:
    kept = keeping(tmp_path / "a", 20, 100, failing=10)
    failures = {f"t{n}" for n in range(1, 11)}
    assert failures <= kept
    assert 5 <= len(kept - failures) <= 20
    assert keeping(tmp_path / "b", 20, 100, failing=10, reverse=True) == kept, "not a matter of the order"


def test_a_trace_that_was_not_kept_says_how_to_get_it(tmp_path: Path) -> None:
    keeping(tmp_path, 0, 1)
    with Store.open(tmp_path) as store, pytest.raises(Misuse) as caught:
        store.trace("t1")
    assert "(--keep-traces 0)" in str(caught.value)
    assert f"forge-chaos replay {tmp_path}:t1" in str(caught.value)


def test_failures_only(tmp_path: Path) -> None:
    assert keeping(tmp_path, "failures", 10, failing=3) == {"t1", "t2", "t3"}


def test_the_sample_goes_on_after_a_resume(tmp_path: Path) -> None:
    whole = keeping(tmp_path / "a", 10, 60)
    with create(tmp_path / "b", config={"keep_traces": 10}) as store:
        for n in range(1, 31):
            store.add(trial(f"t{n}"), trace(f"t{n}"))
    with Store.open(tmp_path / "b") as store:
        for n in range(31, 61):
            store.add(trial(f"t{n}"), trace(f"t{n}"))
        assert traced(store) == whole


def test_clean_traces_are_always_kept_because_the_sweep_starts_from_them(tmp_path: Path) -> None:
    with create(tmp_path, config={"keep_traces": "failures"}) as store:
        store.add(trial("t1", kind="clean"), trace("t1"))
        assert store.trace("t1") == trace("t1")


def test_a_plan_that_met_nothing_is_no_failure_unless_the_goal_was_missed(tmp_path: Path) -> None:
    judgement = Judgement("not_reached", False, False, "")
    with create(tmp_path, config={"keep_traces": "failures"}) as store:
        good: Trial = trial("t1", judgement=judgement)
        bad = trial("t2", judgement=judgement, facts=type(good.facts)(goal="wrong"))
        for one in (good, bad):
            store.add(one, trace(one.id))
        assert store.trace("t2") == trace("t2")
        with pytest.raises(Misuse, match="was not kept"):
            store.trace("t1")


def test_a_trial_that_is_better_the_second_time_leaves_its_trace_to_the_sample(tmp_path: Path) -> None:
    with create(tmp_path, config={"keep_traces": "failures"}) as store:
        store.add(trial("t1", acceptable=False), trace("t1"))
        store.trace("t1")
        store.add(trial("t1"), trace("t1"))
        with pytest.raises(Misuse, match="was not kept"):
            store.trace("t1")


@pytest.mark.parametrize("value", ["some", "-1", -3, None, ""])
def test_a_bad_keep_policy_is_misuse(tmp_path: Path, value: Any) -> None:
    with pytest.raises(Misuse, match="--keep-traces"):
        create(tmp_path, config={"keep_traces": value})
    assert os.listdir(tmp_path) == []


# --- what can be wrong


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


@pytest.mark.parametrize("where", ["nowhere", "empty"])
def test_no_run_there(tmp_path: Path, where: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Misuse, match=rf"{where}: no .*run\.sqlite is missing"):
        Store.open(tmp_path / where)
    assert os.listdir(tmp_path / "empty") == []


def test_a_run_that_was_stopped_before_it_began(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    with pytest.raises(Misuse, match=r"stopped before it began\. Remove"):
        Store.open(tmp_path)


def test_a_file_that_is_no_run(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"something else entirely" * 100)
    with pytest.raises(Misuse, match=r"run\.sqlite is damaged: file is not a database"):
        Store.open(tmp_path)


def read_all(directory: Path) -> None:
    with Store.open(directory) as store:
        for id in ids(store):
            store.trace(id)


def test_a_damaged_page_is_damage_wherever_it_shows(tmp_path: Path) -> None:
    filled(tmp_path, *(f"t{n}" for n in range(200)))
    data = bytearray((tmp_path / FILE).read_bytes())
    for page in range(3 * 4096, len(data), 4096):
        data[page : page + 200] = b"\xff" * 200
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(Misuse, match="is damaged"):
        read_all(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE trials SET body = '{'",
        "UPDATE trials SET body = '{}'",
        "UPDATE traces SET body = x'00'",
        "UPDATE run SET value = '['",
        "UPDATE run SET value = '{}'",
        "DELETE FROM run",
        "DROP TABLE traces",
    ],
)
def test_a_damaged_row_is_damage(tmp_path: Path, change: str) -> None:
    filled(tmp_path, "t1")
    base = sqlite3.connect(tmp_path / FILE)
    base.execute(change)
    base.commit()
    base.close()
    with pytest.raises(Misuse, match="is damaged"):
        read_all(tmp_path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, "t1")
    base = sqlite3.connect(tmp_path / FILE)
    base.execute("""UPDATE run SET value = '{"format": 2}' WHERE key = 'config'""")
    base.commit()
    base.close()
    with pytest.raises(Misuse, match="format 2 was written by a newer version"):
        Store.open(tmp_path)


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


def add_many(store: Store) -> None:
    for n in range(1, 1_000):
        store.add(trial(f"t{n}"), trace(f"t{n}"))


def test_a_full_disk_is_one_clear_error_and_keeps_what_was_committed(tmp_path: Path) -> None:
    store = create(tmp_path)
    store.add(trial("t0"), trace("t0"))
    store.commit()
    (pages,) = store._base.execute("PRAGMA page_count").fetchone()
    store._base.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Broken, match=r"cannot write .*run\.sqlite: .*full.*--resume") as caught:
        add_many(store)
    assert caught.value.exit == 3
    assert caught.value.__cause__ is None
    store.close()
    assert committed(tmp_path) == ["t0"]


FULL = """
import resource, sys
from pathlib import Path
from forge_chaos.errors import Broken
from tests.test_store import create, trial, trace
store = create(Path(sys.argv[1]), batch=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    for n in range(1_000):
        store.add(trial(f"t{n}"), trace(f"t{n}"))
        print(f"t{n}", flush=True)
except Broken as error:
    print(error)
"""


def test_writes_that_the_system_refuses_are_the_same_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "run"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    *acknowledged, message = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert message.startswith("cannot write ")
    assert len(acknowledged) > 5
    assert committed(tmp_path / "run")[: len(acknowledged)] == acknowledged


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A directory to which this process may not write, with a run in `run`; root steps down for it."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        filled(place / "run", "t1")
        for path in (place, place / "run"):
            path.chmod(0o555)
        (place / "run" / FILE).chmod(0o444)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        yield place
        if root:
            os.seteuid(0)
        for path in (place, place / "run"):
            path.chmod(0o755)


def test_a_read_only_place_is_one_clear_error(read_only: Path) -> None:
    with pytest.raises(Misuse, match=r"cannot write a run in .*new: Permission denied. .*--out DIR"):
        create(read_only / "new")


def test_a_read_only_run_can_be_read_but_not_gone_on_with(read_only: Path) -> None:
    with Store.open(read_only / "run") as store:
        assert ids(store) == ["t1"]
        assert store.trace("t1") == trace("t1")
        with pytest.raises(Misuse, match=r"cannot write a run in .*--out DIR"):
            store.add(trial("t2"), trace("t2"))
    assert os.listdir(read_only / "run") == [FILE]


def test_a_file_in_the_way_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for directory in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(Misuse, match="cannot write a run in"):
            create(directory)


def test_resuming_is_refused_for_another_agent(tmp_path: Path) -> None:
    filled(tmp_path)
    with Store.open(tmp_path) as store, pytest.raises(Misuse, match="agent was pkg:agent, is other"):
        compatible(store.config, {**CONFIG, "agent": "other"})
