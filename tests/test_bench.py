"""The bench: from a setup and an order to a trace."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import catalog, notation
from forge_chaos.adapters.native import adapter
from forge_chaos.bench import Bench, Setup, specs_of, versions
from forge_chaos.errors import Misuse
from forge_chaos.events import Called, Event, Finished, Injected, Started, find
from forge_chaos.order import Order
from tests.cli.door import write
from tests.test_mapping import own

SETUP = Setup("a:b", "/home", "native", "naive", "own", "disk", ("s",), ("f", "g"), 3.5)
GONE = "missing_file.never@1..:read_file(orders.csv)"


@contextmanager
def bench(**changes: Any) -> Iterator[Bench]:
    made = Bench(Setup(**changes))
    try:
        yield made
    finally:
        made.close()


def test_a_setup_survives_json() -> None:
    assert Setup.from_json(json.loads(json.dumps(SETUP.to_json()))) == SETUP


def test_a_setup_of_a_newer_version_is_read_as_far_as_it_is_known() -> None:
    assert Setup.from_json({"persona": "naive", "workers": 4}) == Setup(persona="naive")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"agent": "nowhere:x"}, "No module named 'nowhere'"),
        ({"adapter": "native"}, "--agent"),
        ({"persona": "nobody"}, "no persona 'nobody'"),
        ({"model": "nobody"}, "no model 'nobody'"),
        ({"faults_dirs": ("nowhere",)}, "faults directory 'nowhere' does not exist"),
    ],
)
def test_what_does_not_exist_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(Misuse, match=says):
        Bench(Setup(**changes))


def test_hello_says_what_the_other_side_must_know() -> None:
    with bench() as home:
        said = home.hello()
        assert json.loads(json.dumps(said)) == said
        assert {name: said[name] for name in ("agent", "adapter", "deterministic", "time", "own_tools")} == {
            "agent": "reference",
            "adapter": "native",
            "deterministic": True,
            "time": "virtual",
            "own_tools": None,
        }
        assert said["versions"] == versions()
        home.seat = replace(home.seat, specs=own(read_text=("file_path",)), own_model_deterministic=True)
        told = home.hello()
    assert told["own_tools"]["read_text"]["roles"] == ["read"]
    assert told["own_tools"]["read_text"]["target"] == "file_path"
    assert told["own_tools"]["read_text"]["parameters"]["required"] == ["file_path"]
    assert told["own_model_deterministic"]


@pytest.mark.slow
def test_the_version_of_a_framework_counts_too() -> None:
    with bench(agent="framework:pydantic-ai") as home:
        slim = {"pydantic-ai-slim": metadata.version("pydantic-ai-slim")}
        assert home.hello()["versions"] == versions() | slim


def test_an_order_becomes_a_trace_and_equal_orders_equal_ones() -> None:
    events: list[Event] = []
    with bench(persona="naive") as home:
        order = Order("x", "sum_orders", (GONE,), 3)
        first = home.trace(order, events.append)
        assert tuple(events) == first
        assert home.trace(order) == first
    ((_, started),) = find(first, Started)
    assert (started.scenario, started.rules, started.seed, started.agent) == (
        "sum_orders",
        (GONE,),
        3,
        "reference",
    )
    assert started.versions == versions()
    assert started.prompt.endswith("FAILED: and the reason.")
    assert [injected.variant for _, injected in find(first, Injected)] == ["missing_file.never"]


def test_the_expert_meets_what_it_is_told_to() -> None:
    with bench(persona="naive") as home:
        scenario = home.scenario("sum_orders", 1)
        clean = home.expert(scenario, (), 1)
        met = home.expert(scenario, [notation.parse(GONE)], 1)
    assert not list(find(clean, Injected))
    assert next(find(clean, Finished))[1].answer.endswith("DONE")
    assert {injected.rule for _, injected in find(met, Injected)} == {GONE}
    assert "FAILED" in next(find(met, Finished))[1].answer


@pytest.mark.parametrize("workspace", [None, "memory", "disk"])
def test_a_workspace_is_as_the_setup_says_else_as_the_scenario_does(workspace: str | None) -> None:
    with bench(workspace=workspace) as home:
        assert home.scenario("sum_orders", 1).workspace == (workspace or "memory")
        trace = home.trace(Order("x", "sum_orders"))
    assert next(find(trace, Finished))[1].answer.endswith("DONE")


def test_own_tools_work_on_disk() -> None:
    with bench(workspace="memory") as home:
        home.seat = replace(home.seat, specs=own(read_text=("path",)))
        assert home.own_tools
        assert home.scenario("sum_orders", 1).workspace == "disk"


def test_an_agent_is_looked_for_where_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["."])
    code = "import os\nhere = os.getcwd()\nasync def agent(task):\n    return here\n"
    home = write(tmp_path / "home", {"named_agent.py": code})
    with bench(agent="named_agent.py:agent", home=str(home)) as made:
        (_, finished) = next(find(made.trace(Order("x", "sum_orders")), Finished))
    assert finished.answer == str(home)
    assert Path(os.getcwd()) == home


def test_a_home_that_has_gone_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["."])
    write(tmp_path, {"left_agent.py": "async def agent(task):\n    return 'DONE'\n"})
    with bench(agent="left_agent.py:agent", home=str(tmp_path / "gone")) as made:
        assert made.agent == "left_agent.py:agent"


def test_after_an_agent_that_leaves_the_next_trial_goes_on() -> None:
    async def leaves(task: Any) -> str:
        if task.scenario == "read_version":
            raise SystemExit(3)
        await asyncio.sleep(5)
        return "DONE"

    with bench() as home:
        home.seat = adapter.seat(leaves)
        before = home.trace(Order("x", "sum_orders"))
        (_, finished) = next(find(home.trace(Order("x", "read_version")), Finished))
        assert (finished.end, (finished.error or {}).get("type")) == ("raised", "SystemExit")
        assert home.trace(Order("x", "sum_orders")) == before


def test_a_world_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = "from forge_chaos.worlds.files import files\n\ndef small(scenario, sleep):\n    return files(scenario, sleep)\n"
    toml = 'prompt = "Do."\nworld = "{}"\n[[full]]\ngrader = "answer_contains"\ntext = "DONE"\n'
    write(tmp_path, {"world_of_mine.py": world})
    monkeypatch.syspath_prepend(str(tmp_path))

    async def agent(tools: Any) -> str:
        await tools.call("write_file", {"path": "a", "text": "b"})
        return "DONE"

    for name in ("world_of_mine.small", "world_of_mine:small", "world_of_mine.large", "nowhere.world"):
        write(tmp_path, {"own/s/scenario.toml": toml.format(name)})
        with bench(scenarios_dirs=(str(tmp_path / "own"),)) as home:
            home.seat = adapter.seat(agent)
            if "small" in name:
                assert len(list(find(home.trace(Order("x", "s")), Called))) == 1
            else:
                with pytest.raises(Misuse, match=f"scenario 's': no world '{name}'"):
                    home.trace(Order("x", "s"))


def test_the_tools_of_a_scenarios_world_are_known_without_a_trial() -> None:
    assert "charge" in specs_of(catalog.load("charge_once", 1))
    assert "charge" not in specs_of(catalog.load("sum_orders", 1))
