"""The pytest plugin, in projects of other people: real sessions in their own processes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.files import ROOT
from tests.pytest_project import INI, KEPT, TESTS, Session, environment, lay, run, shop

pytestmark = pytest.mark.slow
STALE = KEPT.replace("charge(*)", "charge(nobody)")
BAD = """\
version  = 1
agent    = "shop.agents:patient"
scenario = "sum_orders"
rules    = ["timeout.hangs@1:read_file"]
"""
HELD = "checks/kept"
EVERYTHING = {
    "checks/unit/test_it.py": TESTS,
    f"{HELD}/once.chaos.toml": KEPT,
    f"{HELD}/stale.chaos.toml": STALE,
    f"{HELD}/changed.chaos.toml": STALE + 'hash = "b2:00"\n',
    f"{HELD}/bad.chaos.toml": BAD,
    f"{HELD}/unread.chaos.toml": "rules =\n",
    f"{HELD}/unknown.chaos.toml": KEPT.replace("lost_reply", "lost_rply"),
}
ENDS = {
    "once": "passed",
    "stale": "failed",
    "changed": "failed",
    "bad": "failed",
    "unread": "error",
    "unknown": "error",
    "test_check_passes": "passed",
    "test_check_picks_a_scenario": "passed",
    "test_check_fails": "failed",
    "test_check_of_an_object_fails": "failed",
    "test_check_is_stale": "failed",
    "test_a_failure_can_be_expected": "passed",
    "test_misuse": "error",
    "test_nobody": "error",
    "test_invalid": "error",
    "test_invalid_is_not_expected": "error",
    "test_bad_is_expected": "skipped",
    "test_sweep_passes": "passed",
    "test_sweep_fails": "failed",
    "test_sweep_reaches_nothing": "skipped",
    "test_sweep_of_who_fails_anyway": "failed",
    "test_marked[sum_orders-missing_file]": "passed",
    "test_marked[sum_orders-timeout]": "failed",
    "test_marked[read_version-missing_file]": "passed",
    "test_marked[read_version-timeout]": "failed",
    "test_marked_with_an_object[copy]": "failed",
    "test_marked_and_called[sum_orders-missing_file]": "passed",
    "test_it[sum_orders]": "passed",
    "test_another_plan": "passed",
    "test_unused": "passed",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shop(tmp_path_factory.mktemp("users") / "shop", EVERYTHING)


@pytest.fixture(scope="module")
def session(project: Path) -> Session:
    return run(project)


def test_each_end_is_what_a_trial_says(session: Session) -> None:
    assert {name: case.status for name, case in session.cases.items()} == ENDS, session.output
    assert session.code == 1


def test_a_failure_shows_plan_outcome_evidence_and_command(session: Session) -> None:
    for name in (
        "test_check_fails",
        "test_check_of_an_object_fails",
        "bad",
        "test_marked[sum_orders-timeout]",
    ):
        text = session.cases[name].message
        assert ", NOT acceptable (bar: " in text, text
        assert " under " in text
        assert "s FAULT " in text
        assert "again: " in session.cases[name].text
    assert "sum_orders under timeout.hangs:read_file" in session.cases["bad"].message


def test_nothing_of_ours_is_in_a_traceback(session: Session) -> None:
    assert "forge_chaos/plugin" not in session.output
    assert "pytest_plugin.py" not in session.output
    assert ">       chaos.check(" in session.output  # the line of the test is


@pytest.mark.parametrize("name", ["test_check_fails", "test_check_of_an_object_fails", "bad", "stale"])
def test_the_command_shows_it_again(project: Path, session: Session, name: str) -> None:
    command = session.cases[name].properties["replay"]
    assert f"again: {command}" in session.cases[name].text
    words = shlex.split(command)
    door = {"forge-chaos": "forge_chaos", "pytest": "pytest"}[words[0]]
    done = subprocess.run(
        [sys.executable, "-m", door, *words[1:]],
        cwd=project,
        env=environment() | {"PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    wanted = "STALE" if name == "stale" else session.cases[name].properties["outcome"]
    assert wanted in done.stdout


def test_a_stale_plan_is_told_where_it_would_fire(session: Session) -> None:
    for name in ("stale", "changed", "test_check_is_stale"):
        text = session.cases[name].message
        assert text.startswith("forge_chaos.Unacceptable: STALE: "), text
        assert "where it would: forge-chaos run --agent shop.agents:careful --faults " in text
    assert "the scenario has changed since it was written (b2:00 then, " in session.cases["changed"].message
    assert "has changed" not in session.cases["stale"].message


def test_an_error_says_what_to_do(session: Session) -> None:
    assert "Did you mean 'timeout'?" in session.cases["test_misuse"].message
    assert "Name one in the call" in session.cases["test_nobody"].message
    assert "unread.chaos.toml:1" in session.cases["unread"].message
    assert f"{HELD}/unknown.chaos.toml: no fault 'lost_rply'" in session.cases["unknown"].message
    assert "this grader is broken" in session.cases["test_invalid"].message


def test_junit_has_outcome_plan_scenario_and_command(session: Session) -> None:
    assert session.cases["once"].properties == {
        "outcome": "recovered",
        "scenario": "charge_once",
        "plan": "lost_reply.done_then_timeout:charge",
        "seed": "1",
        "replay": f"forge-chaos replay {HELD}/once.chaos.toml",
    }
    swept = session.cases["test_marked[sum_orders-missing_file]"].properties
    assert swept["replay"].startswith("forge-chaos run --agent shop.agents:patient --faults missing_file ")
    assert swept["seed"] == "1"
    assert session.cases["test_unused"].properties == {}


def test_the_end_of_the_session_sums_up_by_class(session: Session) -> None:
    rows = {line.split()[0]: line.split() for line in session.summary}
    assert {"lost_reply", "missing_file", "timeout"} <= set(rows)
    planned, fired, acceptable = rows["timeout"][1:4]
    good, _, scored = acceptable.partition("/")
    assert int(planned) > int(fired) >= int(scored) > int(good) > 0
    assert "not_reached" in " ".join(rows["timeout"])


def test_workers_of_xdist_come_to_the_same(project: Path, session: Session) -> None:
    spread = run(project, "-n", "2")
    assert "2 workers" in spread.output
    assert {n: (c.status, c.properties) for n, c in spread.cases.items()} == {
        n: (c.status, c.properties) for n, c in session.cases.items()
    }
    assert spread.summary == session.summary


ASYNC = """\
import asyncio

import pytest
from shop import agents

GONE = "missing_file.never@1..:read_file(orders.csv)"


{mark}async def test_object(chaos, agent):
    await asyncio.sleep(0)
    assert chaos.check(agent, GONE, scenario="sum_orders").judgement.outcome == "gave_up"
    await asyncio.sleep(0)


{mark}async def test_spec(chaos):
    chaos.sweep("shop.agents:careful", faults="timeout.raises", scenarios="sum_orders")


{mark}async def test_bad(chaos):
    chaos.check(agents.patient, "timeout.hangs@1:read_file", scenario="sum_orders")


@pytest.mark.chaos(agent=agents.careful, faults="missing_file,timeout.raises", scenarios="sum_orders")
{mark}async def test_marked():
    await asyncio.sleep(0)
"""


@pytest.mark.parametrize(("mode", "mark"), [("auto", ""), ("strict", "@pytest.mark.asyncio\n")])
def test_pytest_asyncio(tmp_path: Path, mode: str, mark: str) -> None:
    ini = (
        INI.replace(" -p no:asyncio", "")
        + f"asyncio_mode = {mode}\nasyncio_default_fixture_loop_scope = function\n"
    )
    root = shop(tmp_path / "shop", {"checks/unit/test_async.py": ASYNC.format(mark=mark)}, ini)
    done = run(root)
    assert {name: case.status for name, case in done.cases.items()} == {
        "test_object": "passed",
        "test_spec": "passed",
        "test_bad": "failed",
        "test_marked[sum_orders-missing_file]": "passed",
        "test_marked[sum_orders-timeout.raises]": "passed",
    }, done.output
    assert "Traceback" not in done.output


def test_a_project_that_does_not_use_it_loads_one_file(tmp_path: Path) -> None:
    look = "import sys\n\ndef test_it():\n    print('LOADED', *sorted(sys.modules))\n"
    root = lay(tmp_path / "plain", {"pytest.ini": INI, "test_plain.py": look})
    loaded = {}
    for words in (("-s",), ("-s", "-p", "no:forge_chaos")):
        done = run(root, *words)
        assert done.code == 0, done.output
        (line,) = (line for line in done.output.splitlines() if "LOADED" in line)
        loaded[words] = set(line.partition("LOADED ")[2].split())
        assert "= forge-chaos =" not in done.output
    with_it, without = loaded.values()
    assert with_it - without == {"forge_chaos", "forge_chaos.pytest_plugin"}


FOUND = """\
def test_seed(chaos):
    assert chaos.check(plan="missing_file.never@1..:read_file", scenario="sum_orders").seed == {seed}


def test_most(chaos):
    assert chaos.sweep(faults="missing_file", scenarios="sum_orders").rows[0].planned == {most}


def test_dirs(chaos):
    chaos.check(plan="expired@1..:read_file(orders.csv)", scenario="sum_mine")
"""
FAULT = """\
family   = "failure"
seam     = "tool"
summary  = "The access token behind the tool has expired."
tempts   = "asking again and again"
roles    = ["read"]
convicts = ["naive"]

[bar]
once = "full"
ever = "wrong"

[[variants]]
id        = "expired"
mechanism = "fail"
params    = { code = "permission_text" }
text      = { clear = "401 Unauthorized", bare = "401" }
"""


def stock(root: Path, tests: str, ini: str, more: dict[str, str] | None = None) -> Path:
    """A project with a fault and a scenario of its own."""
    theirs = {
        f"own/scenarios/sum_mine/{path.relative_to(ROOT / 'scenarios/sum_orders')}": path.read_text()
        for path in sorted((ROOT / "scenarios/sum_orders").rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    return shop(
        root,
        {**theirs, "own/faults/expired.toml": FAULT, "checks/unit/test_stated.py": tests, **(more or {})},
        ini,
    )


def test_options_of_the_command_line(tmp_path: Path) -> None:
    root = stock(
        tmp_path / "shop", FOUND.format(seed=5, most=3), INI + "chaos_seed = 6\nchaos_agent = nobody:agent\n"
    )
    words = ("--chaos-agent", "shop.agents:careful", "--chaos-seed", "5", "--chaos-max-trials", "3")
    done = run(root, *words, "--chaos-faults-dir", "own/faults", "--chaos-scenarios-dir", "own/scenarios")
    assert done.code == 0, done.output
    replay = done.cases["test_dirs"].properties["replay"]
    assert f"--faults-dir {root / 'own/faults'}" in replay


def test_options_of_the_ini_file(tmp_path: Path) -> None:
    ini = INI + (
        "chaos_agent = shop.agents:careful\nchaos_seed = 6\nchaos_max_trials = 4\n"
        "chaos_faults_dir = own/faults\nchaos_scenarios_dir = own/scenarios\n"
    )
    root = stock(tmp_path / "shop", FOUND.format(seed=6, most=4), ini, {"checks/kept/once.chaos.toml": KEPT})
    done = run(root, "..", cwd=root / "checks/unit")
    assert done.code == 0, done.output
    assert done.cases["once"].properties["replay"].startswith(f"cd {root} && forge-chaos replay ")


def test_what_lies_beside_a_file_is_found(tmp_path: Path) -> None:
    folder = ROOT / "scenarios/sum_orders"
    more = {
        f"{HELD}/sums/{path.relative_to(folder)}": path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    agent = (ROOT / "README.md").read_text().partition("# my_agent.py\n")[2].partition("```")[0]
    kept = 'version = 1\nagent = "agents/mine.py:agent"\nscenario = "sums"\nmodel = "scripted"\n'
    kept += 'rules = ["missing_file.never@1..:read_file(orders.csv)"]\n'
    more |= {f"{HELD}/agents/mine.py": agent, f"{HELD}/gone.chaos.toml": kept}
    done = run(shop(tmp_path / "shop", more))
    assert done.code == 0, done.output
    again = done.cases["gone"].properties["replay"]
    assert again == f"forge-chaos replay {HELD}/gone.chaos.toml"


def test_settings_of_the_project(tmp_path: Path) -> None:
    settings = (
        "[tool.pytest.ini_options]\npythonpath = ['src']\nfilterwarnings = ['error']\naddopts = '-p no:asyncio'\n"
        "[tool.forge-chaos]\nagent = 'shop.agents:careful'\nseed = 8\n"
        "faults_dir = 'own/faults'\nscenarios_dir = ['own/scenarios']\n"
    )
    kept = KEPT.replace('agent    = "shop.agents:careful"\n', "")
    more = {"pyproject.toml": settings, "checks/kept/once.chaos.toml": kept}
    root = stock(tmp_path / "shop", FOUND.format(seed=8, most=12), "", more)
    (root / "pytest.ini").unlink()
    done = run(root)
    assert done.code == 0, done.output
    assert set(done.cases) == {"once", "test_seed", "test_most", "test_dirs"}
    wrong = run(root, "--chaos-seed", "one", "--chaos-agent", "shop.agents:idle")
    assert {case.status for case in wrong.cases.values()} == {"error"}
    assert "--chaos-seed: 'one' is no whole number from 0 on." in wrong.output


def test_a_wrong_marker_is_an_error_of_its_file(tmp_path: Path) -> None:
    tests = "import pytest\n\n@pytest.mark.chaos(agnt='shop.agents:careful')\ndef test_it(): ...\n"
    done = run(shop(tmp_path / "shop", {"checks/unit/test_it.py": tests}))
    assert done.code == 2
    assert "no option 'agnt'. Did you mean 'agent'?" in done.output
    assert "Traceback" not in done.output


SMALL = """\
import pytest


def test_object(chaos, agent):
    chaos.sweep(agent, faults="missing_file", scenarios="sum_orders")


@pytest.mark.chaos(agent="shop.agents:patient", faults="missing_file,timeout", scenarios="sum_orders")
def test_marked(): ...
"""


MORE = """\
import unittest

import pytest
from shop import agents


def test_body_that_fails_first(chaos):
    assert chaos.marked == {}
    assert 1 == 2


@pytest.mark.chaos(agent=agents.careful, faults="missing_file", scenarios="sum_orders")
def test_marked_body_that_fails():
    raise ValueError("the body")


def test_patched(chaos, monkeypatch):
    monkeypatch.setattr(agents, "json", None)
    with pytest.raises(AssertionError, match="not solved without any fault"):
        chaos.sweep(agents.careful, faults="missing_file", scenarios="sum_orders")


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.chaos(agent=agents.careful, faults="missing_file", scenarios="sum_orders")
def test_with_parameters(n):
    assert n


class TestUnit(unittest.TestCase):
    @pytest.mark.chaos(agent=agents.patient, plan="timeout.hangs@1:read_file", scenarios="sum_orders")
    def test_unit(self): ...
"""


def test_all_sorts_of_tests(tmp_path: Path) -> None:
    done = run(shop(tmp_path / "shop", {"checks/unit/test_more.py": MORE}))
    assert {name: case.status for name, case in done.cases.items()} == {
        "test_body_that_fails_first": "failed",
        "test_marked_body_that_fails[sum_orders-missing_file]": "failed",
        "test_patched": "passed",
        "test_with_parameters[sum_orders-missing_file-1]": "passed",
        "test_with_parameters[sum_orders-missing_file-2]": "passed",
        "test_unit": "failed",
    }, done.output
    assert done.cases["test_body_that_fails_first"].message == "assert 1 == 2"
    assert (
        done.cases["test_marked_body_that_fails[sum_orders-missing_file]"].message == "ValueError: the body"
    )
    assert "hung, NOT acceptable" in done.cases["test_unit"].message


def test_from_the_wheel_in_an_empty_environment(tmp_path: Path) -> None:
    def pip(*words: str, python: Path | str = sys.executable) -> None:
        done = subprocess.run(
            [str(python), "-m", *words],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    pip("pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path / "dist"), str(ROOT))
    pip("venv", str(tmp_path / "empty"))
    python = tmp_path / "empty/bin/python"
    (wheel,) = (tmp_path / "dist").glob("forge_chaos-*.whl")
    pip("pip", "install", "--quiet", "--no-compile", str(wheel), python=python)
    files = {
        "checks/unit/test_small.py": SMALL,
        "checks/kept/once.chaos.toml": KEPT,
        "checks/kept/bad.chaos.toml": BAD,
    }
    done = run(shop(tmp_path / "shop", files, INI.replace(" -p no:asyncio", "")), python=str(python))
    assert {name: case.status for name, case in done.cases.items()} == {
        "once": "passed",
        "bad": "failed",
        "test_object": "passed",
        "test_marked[sum_orders-missing_file]": "passed",
        "test_marked[sum_orders-timeout]": "failed",
    }, done.output
    assert [line.split()[0] for line in done.summary] == ["lost_reply", "missing_file", "timeout"]
