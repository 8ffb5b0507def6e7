"""A project of somebody else's that uses the pytest plugin: its layout, its agents, and how its pytest is run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

AGENTS = """\
import asyncio
import json
import time


def loop(limit):
    async def agent(task, tools, model):
        messages = [{"role": "user", "content": task.prompt}]
        for _ in range(task.max_steps):
            reply = await model.complete(messages, tools.specs)
            messages.append(reply)
            if not reply.get("tool_calls"):
                return reply["content"]
            for call in reply["tool_calls"]:
                name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
                try:
                    async with asyncio.timeout(limit):
                        value = await tools.call(name, arguments, id=call["id"])
                    text = value if isinstance(value, str) else json.dumps(value)
                except Exception as error:
                    text = f"{type(error).__name__}: {error}"
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return "FAILED: out of steps"

    return agent


careful = loop(60)
patient = loop(None)


async def idle(task, tools):
    return "DONE"
"""
STOCK = """\
from forge_chaos import Scenario


def broken(trace):
    raise RuntimeError("this grader is broken")


def written(trace):
    return trace[-1].body.resources.get("out.txt") == "a"


async def solve(task, tools):
    await tools.write_file(path="out.txt", text=await tools.read_file(path="in.txt"))
    return "DONE"


COPY = Scenario("copy", "Copy in.txt to out.txt.", files={"in.txt": "a"}, full=written, solve=solve)
BROKEN = Scenario("broken_grader", "Copy in.txt to out.txt.", files={"in.txt": "a"}, full=broken)
"""
CONFTEST = """\
import pytest
from shop.agents import careful


@pytest.fixture
def agent():
    return careful
"""
TESTS = """\
import pytest
from forge_chaos import Unacceptable
from shop import agents, stock

GONE = "missing_file.never@1..:read_file(orders.csv)"
SLOW = "timeout.hangs@1:read_file"


def test_check_passes(chaos, agent):
    assert chaos.check(agent, GONE, scenario="sum_orders").judgement.outcome == "gave_up"


def test_check_picks_a_scenario(chaos, agent):
    assert chaos.check(agent, "lost_reply@1:charge").scenario.startswith("charge")


def test_check_fails(chaos):
    chaos.check("shop.agents:patient", SLOW, scenario="sum_orders")


def test_check_of_an_object_fails(chaos):
    chaos.check(agents.patient, SLOW, scenario="sum_orders")


def test_check_is_stale(chaos):
    chaos.check("shop.agents:careful", "timeout.hangs@99:read_file", scenario="sum_orders")


def test_a_failure_can_be_expected(chaos):
    with pytest.raises(Unacceptable) as failed:
        chaos.check(agents.patient, SLOW, scenario="sum_orders")
    assert [trial.judgement.outcome for trial in failed.value.trials] == ["hung"]


def test_misuse(chaos):
    chaos.check("shop.agents:careful", "timeot", scenario="sum_orders")


def test_nobody(chaos):
    chaos.check(plan=SLOW, scenario="sum_orders")


def test_invalid(chaos):
    chaos.check(agents.careful, "timeout.raises@1:list_files", scenario=stock.BROKEN)


@pytest.mark.xfail(reason="known to be bad")
def test_invalid_is_not_expected(chaos):
    chaos.sweep(agents.idle, faults="missing_file", scenarios=stock.BROKEN)


@pytest.mark.xfail(reason="known to be bad", raises=AssertionError, strict=True)
def test_bad_is_expected(chaos):
    chaos.check(agents.patient, SLOW, scenario="sum_orders")


def test_sweep_passes(chaos, agent):
    card = chaos.sweep(agent, faults=["missing_file", "timeout.raises"], scenarios=stock.COPY)
    assert (card.exit, [row.fault for row in card.rows]) == (0, ["missing_file", "timeout"])


def test_sweep_fails(chaos):
    chaos.sweep(agents.patient, faults="missing_file,timeout", scenarios="sum_orders")


def test_sweep_reaches_nothing(chaos, agent):
    chaos.sweep(agent, faults="missing_file:run_command", scenarios="sum_orders")


def test_sweep_of_who_fails_anyway(chaos):
    chaos.sweep(agents.idle, faults="missing_file", scenarios="sum_orders")


@pytest.mark.chaos(agent="shop.agents:patient", faults="missing_file,timeout", scenarios=["sum_orders", "read_v*"])
def test_marked():
    pass


@pytest.mark.chaos(agent=agents.patient, plan=SLOW, scenarios=stock.COPY)
def test_marked_with_an_object(monkeypatch):
    monkeypatch.setattr(agents, "json", agents.json)


@pytest.mark.chaos(agent=agents.careful, faults="missing_file", scenarios="sum_orders", seed=7)
def test_marked_and_called(chaos):
    assert chaos.sweep(max_trials=2).seed == 7


@pytest.mark.chaos(agent="shop.agents:careful", plan=GONE)
class TestOfAClass:
    @pytest.mark.chaos(scenarios="sum_orders")
    def test_it(self): ...

    @pytest.mark.chaos(plan=SLOW)
    def test_another_plan(self, chaos):
        assert chaos.check(scenario="sum_orders").rules == ("timeout.hangs:read_file",)


def test_unused():
    pass
"""
KEPT = """\
version  = 1
agent    = "shop.agents:careful"
scenario = "charge_once"
rules    = ["lost_reply.done_then_timeout@1:charge(*)"]
seed     = 1
"""
INI = """\
[pytest]
pythonpath = src
addopts = --strict-markers --strict-config -p no:cacheprovider -p no:asyncio
filterwarnings = error
xfail_strict = true
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One test case of a JUnit file. `status`: passed, failed, error or skipped."""

    status: str
    message: str
    text: str
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Session:
    """What pytest did in a project."""

    code: int
    output: str
    cases: Mapping[str, Case]

    @property
    def summary(self) -> list[str]:
        """The table at the end, without its heading."""
        lines = self.output.partition("= forge-chaos =")[2].splitlines()[2:]
        return lines[: next((n for n, line in enumerate(lines) if line.startswith("=")), None)]


def lay(root: Path, files: Mapping[str, str]) -> Path:
    """Write a project."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def shop(root: Path, tests: Mapping[str, str], ini: str = INI) -> Path:
    """A project with a src/ layout, no pyproject.toml, and its conftest in a folder below."""
    source = {"src/shop/__init__.py": "", "src/shop/agents.py": AGENTS, "src/shop/stock.py": STOCK}
    return lay(root, {"pytest.ini": ini, **source, "checks/unit/conftest.py": CONFTEST, **tests})


def environment() -> dict[str, str]:
    """That of a user: nothing of the pytest that runs this test, no model from outside."""
    ours = ("PYTEST", "FORGE_CHAOS", "COV", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def run(root: Path, *words: str, python: str = sys.executable, cwd: Path | None = None) -> Session:
    """Run pytest in a project, with a JUnit file beside it."""
    junit = root.parent / f"{root.name}.xml"
    junit.unlink(missing_ok=True)
    done = subprocess.run(
        [python, "-m", "pytest", f"--junitxml={junit}", *words],
        cwd=cwd or root,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    cases = ET.parse(junit).iter("testcase") if junit.exists() else ()
    return Session(
        done.returncode, done.stdout + done.stderr, {case.get("name", ""): _case(case) for case in cases}
    )


def _case(case: ET.Element) -> Case:
    said = {p.get("name", ""): p.get("value", "") for p in reversed(list(case.iter("property")))}
    for tag, status in (("failure", "failed"), ("error", "error"), ("skipped", "skipped")):
        found = case.find(tag)
        if found is not None:
            return Case(status, found.get("message", ""), found.text or "", said)
    return Case("passed", "", "", said)
