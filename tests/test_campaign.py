"""A run from start to end, and one that was stopped on the way."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import campaign
from forge_chaos.bench import Bench, Setup
from forge_chaos.campaign import Campaign, Options
from forge_chaos.errors import Misuse
from forge_chaos.executors.inline import inline
from forge_chaos.runfile import FILE
from forge_chaos.store import Store
from tests.cli import users
from tests.cli.door import Done, door, environment, program, started, write
from tests.killed_run import POINTS, REQUEST

WORDS = (
    "run", "--scenarios", REQUEST.scenarios, "--faults", REQUEST.faults or "", "--persona",
    REQUEST.persona or "", "--json",
)  # fmt: skip


def ids(directory: Path) -> list[str]:
    with Store.open(directory) as store:
        assert store.missing() == ()
        return [trial.id for trial in store.trials()]


def result(done: Done) -> Any:
    """The JSON of a run, without what names the place where it lies."""
    found = done.result
    failures = [{**failure, "replay": failure["replay"].strip("'")[-17:]} for failure in found["failures"]]
    return {**found, "run": None, "failures": failures, "skipped": [s["scenario"] for s in found["skipped"]]}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, list[str]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = program(folder, *WORDS, "--out", "run")
    assert done.code == 1
    return done, ids(folder / "run")


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_is_gone_on_with(
    point: str, undisturbed: tuple[Done, list[str]], tmp_path: Path
) -> None:
    done, planned = undisturbed
    killed = subprocess.run(
        [sys.executable, "-m", "tests.killed_run", "run", point],
        cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, check=False, timeout=120,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL
    with Store.open(tmp_path / "run") as store:
        assert store.scorecard is None
        assert len(store.done()) < len(planned) or point == "before finish"
    resumed = program(tmp_path, "run", "--resume", "run", "--json")
    assert (resumed.code, resumed.err) == (1, "")
    assert result(resumed) == result(done)
    assert ids(tmp_path / "run") == planned


@pytest.mark.slow
@pytest.mark.parametrize("agent", [(), ("--agent", "plain_loop.py:agent")], ids=["inline", "child"])
def test_ctrl_c_leaves_a_run_to_go_on_with(agent: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path, {"plain_loop.py": users.PLAIN_LOOP})
    words = ("run", "--faults", "missing_file,timeout", "--scenarios", "re[fn]*", *agent)
    stopped = interrupted(tmp_path, *words, "--out", "my run")
    assert (stopped.code, stopped.out) == (2, "")
    assert stopped.err == "forge-chaos: stopped. Go on with: forge-chaos run --resume 'my run'\n"
    with Store.open(tmp_path / "my run") as store:
        before = store.done()
        assert store.missing()
    resumed = program(tmp_path, "run", "--resume", "my run", "--json")
    with Store.open(tmp_path / "my run") as store:
        assert store.missing() == ()
        assert before < store.done()
    straight = program(tmp_path, *words, "--json")
    assert resumed.code == straight.code
    assert result(resumed) == result(straight)


@pytest.mark.slow
def test_ctrl_c_gives_machines_what_there_is(tmp_path: Path) -> None:
    words = ("run", "--faults", "missing_file,timeout", "--scenarios", "re[fn]*", "--out", "my run", "--json")
    stopped = interrupted(tmp_path, *words)
    assert (stopped.code, stopped.result["exit"], stopped.result["overall"]) == (2, 2, None)
    assert stopped.result["trials"] >= stopped.result["clean"]["passed"]


def interrupted(folder: Path, *words: str) -> Done:
    """A run that gets a Ctrl-C in the middle of the faults; it is written to `my run`."""
    process = started(folder, *words, start_new_session=True)
    while not (folder / "my run" / FILE).exists() or _trials(folder / "my run") < 30:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return Done(process.returncode, out, err)


def _trials(run: Path) -> int:
    """The trials that are committed there."""
    base = sqlite3.connect(f"file:{run / FILE}?mode=ro".replace(" ", "%20"), uri=True)
    try:
        (found,) = base.execute("SELECT count(*) FROM trials WHERE body IS NOT NULL").fetchone()
        return int(found)
    except sqlite3.OperationalError:
        return 0
    finally:
        base.close()


def test_what_was_stopped_is_shown_as_json_too(tmp_path: Path) -> None:
    with closing(Bench(Setup())) as home:
        made = Campaign(
            Setup(), Options(faults="timeout", scenarios="sum_orders"), inline(home), home.hello(), home
        )
        with Store.create(tmp_path / "run", made.config()) as store:
            whole = made.run(store)
        half = made.so_far(tmp_path / "run", whole.trials[: len(whole.trials) // 2])
    assert (half.exit, half.overall, half.trials) == (2, None, len(whole.trials) // 2)
    assert sum(row.planned for row in half.rows) == half.trials - half.clean_of
    assert half.reasons == ("The run was stopped; these are the trials that it had finished.",)


# What a run refuses to go on with.


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A folder with a finished run of a scenario of its own."""
    write(tmp_path, ONE)
    done = door(tmp_path, "run", "--scenarios-dir", "own", "--scenarios", "one", "--faults", "timeout.raises",
                "--faults-dir", "mine", "--out", "run")  # fmt: skip
    assert done.code == 0, done
    return tmp_path


FAULT = (Path(__file__).parents[1] / "faults" / "timeout.toml").read_text()
ONE = {
    "mine/timeout.toml": FAULT,
    "own/one/files/in.txt": "7",
    "own/one/scenario.toml": """
prompt = "Answer with the number in in.txt."
tools = ["read_file"]
[[full]]
grader = "answer_contains"
text = "7"
""",
    "own/one/solution.py": """
async def solve(task, tools):
    return await tools.read_file(path="in.txt", expect=int) and "7\\nDONE"
""",
}


def changed(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def stored(folder: Path, change: dict[str, Any]) -> None:
    """Write another origin into the run's file."""
    base = sqlite3.connect(folder / "run" / FILE)
    with base:
        (text,) = base.execute("SELECT value FROM run WHERE key = 'config'").fetchone()
        base.execute(
            "UPDATE run SET value = ? WHERE key = 'config'", (json.dumps(json.loads(text) | change),)
        )
    base.close()


def test_a_finished_run_may_be_gone_on_with(finished: Path) -> None:
    assert door(finished, "run", "--resume", "run").code == 0


def test_it_refuses_another_scenario(finished: Path) -> None:
    changed(finished, "own/one/scenario.toml", "Answer", "Please answer")
    done = door(finished, "run", "--resume", "run", "--json")
    assert (done.code, done.out) == (4, "")
    assert "run cannot be gone on with: scenarios.one was b2:" in done.err


def test_it_refuses_another_fault(finished: Path) -> None:
    changed(finished, "mine/timeout.toml", "The tool does not answer in time.", "No answer.")
    done = door(finished, "run", "--resume", "run")
    assert (done.code, done.out) == (4, "")
    assert "run cannot be gone on with: faults.timeout was b2:" in done.err


def test_it_refuses_another_version(finished: Path) -> None:
    stored(finished, {"versions": {"forge-chaos": "0.0.1", "python": "2.7.18"}})
    done = door(finished, "run", "--resume", "run")
    assert (done.code, done.out) == (4, "")
    assert "versions.forge-chaos was 0.0.1, is " in done.err
    assert "versions.python was 2.7.18, is " in done.err


def test_it_refuses_another_agent(finished: Path) -> None:
    stored(finished, {"agent": "shop.agent:agent"})
    done = door(finished, "run", "--resume", "run")
    assert (done.code, done.out) == (4, "")
    assert "agent was shop.agent:agent, is reference" in done.err


# Campaigns in this process.


def small(folder: Path, setup: Setup, options: Options) -> campaign.Run:
    home = Bench(setup)
    try:
        made = Campaign(setup, options, inline(home), home.hello(), home)
        with Store.create(folder, made.config()) as store:
            return made.run(store)
    finally:
        home.close()


def test_equal_requests_give_equal_trials_in_their_order(tmp_path: Path) -> None:
    options = Options(faults="missing_file", scenarios="sum_orders,read_version")
    first, second = (small(tmp_path / name, Setup(), options) for name in ("a", "b"))
    assert [trial.id for trial in first.trials] == [trial.id for trial in second.trials]
    assert [trial.facts for trial in first.trials] == [trial.facts for trial in second.trials]
    assert first.scorecard.rows == second.scorecard.rows
    assert [trial.kind for trial in first.trials[:3]] == ["clean", "clean", "fault"]


def test_another_seed_persona_or_scenario_makes_other_trials(tmp_path: Path) -> None:
    runs = [
        small(
            tmp_path / str(n),
            Setup(persona=persona),
            Options(faults="missing_file.never", scenarios=name, seed=seed),
        )
        for n, (persona, name, seed) in enumerate(
            [
                ("expert", "sum_orders", 1),
                ("expert", "sum_orders", 2),
                ("naive", "sum_orders", 1),
                ("expert", "read_version", 1),
            ]
        )
    ]
    everything = [trial.id for run in runs for trial in run.trials]
    assert len(everything) == len(set(everything))


def test_a_replay_command_is_ready_for_a_shell() -> None:
    assert campaign.replay_command(Path("reports/0001-x"), "t1") == "forge-chaos replay reports/0001-x:t1"
    assert campaign.replay_command(Path("my run"), "t1") == "forge-chaos replay 'my run:t1'"


def test_options_survive_json() -> None:
    options = Options("timeout", "missing_file", "a*", 3, 2, 9, 0.5, 0.7, "all")
    assert Options.from_json(json.loads(json.dumps(options.to_json()))) == options


@pytest.mark.parametrize(
    "options", [Options(faults="timeot"), Options(scenarios="nothing"), Options(plan="x.y")]
)
def test_what_does_not_exist_is_refused_before_anything_runs(options: Options) -> None:
    home = Bench(Setup())
    with pytest.raises(Misuse):
        Campaign(Setup(), options, inline(home), home.hello(), home)
