from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.modelserver.move import Ask, Say
from forge_chaos.modelserver.run import Run, SolutionError, persona
from forge_chaos.modelserver.view import Reply, View
from tests.modelserver import small

EXPERT = persona("expert")


def test_replies_go_in_and_moves_come_out() -> None:
    run = Run(small.CHARGE, EXPERT, small.SPECS)
    first = run.send(None)
    assert isinstance(first, Ask)
    assert [(call.name, call.args) for call in first.calls] == [("read_file", {"path": "order.json"})]
    second = run.send((Reply('{"id": "O7", "amount": 30}'),))
    assert isinstance(second, Ask)
    assert second.calls[0].args == {"order": "O7", "amount": 30}
    run.close()


def test_pauses_add_up_before_the_next_call() -> None:
    async def solve(task: Any, tools: Any) -> str:
        await tools.wait(2)
        await tools.wait(3)
        await tools.job(id="a")
        return "DONE"

    move = Run(small.scenario("pause", solve), EXPERT, small.SPECS).send(None)
    assert isinstance(move, Ask)
    assert move.wait == 5.0


def test_what_is_said_stands_beside_the_next_call_alone() -> None:
    async def solve(task: Any, tools: Any) -> str:
        await tools.say("I think it is 7.")
        await tools.wait(2)
        await tools.job(id="a")
        await tools.job(id="b")
        return "DONE"

    run = Run(small.scenario("aloud", solve), EXPERT, small.SPECS)
    first, second = run.send(None), run.send((Reply("done"),))
    assert isinstance(first, Ask)
    assert isinstance(second, Ask)
    assert ([call.args["id"] for call in first.calls], first.text, first.wait) == (
        ["a"],
        "I think it is 7.",
        2,
    )
    assert ([call.args["id"] for call in second.calls], second.text) == (["b"], "")
    run.close()


def test_a_solution_that_raises_on_a_clean_run_is_a_mistake_of_the_scenario() -> None:
    async def solve(task: Any, tools: Any) -> str:
        raise KeyError("gone")

    with pytest.raises(SolutionError, match="scenario 'bug': its solution raised KeyError: 'gone'"):
        Run(small.scenario("bug", solve), EXPERT, small.SPECS, clean=True).send(None)
    assert Run(small.scenario("bug", solve), EXPERT, small.SPECS).send(None) == Say(
        "FAILED: KeyError: 'gone'"
    )


def test_after_trouble_an_exception_is_the_persona_s_to_end() -> None:
    run = Run(small.CHARGE, persona("naive"), small.SPECS, clean=True)
    run.send(None)
    assert run.send((Reply("timed out"),)) == Say("DONE")  # None["id"] raised


def test_an_unknown_tool_is_always_told() -> None:
    async def solve(task: Any, tools: Any) -> str:
        return str(await tools.red_file(path="a"))

    with pytest.raises(Misuse, match="no tool 'red_file'"):
        Run(small.scenario("typo", solve), EXPERT, small.SPECS).send(None)


def test_tools_that_are_not_offered_are_not_used() -> None:
    view = View("task", tools=frozenset({"read_file", "write_file"}))
    run = Run(small.SUM, EXPERT, small.SPECS, view)
    assert set(run.mind.specs) == {"read_file", "write_file"}
    run.close()


def test_an_agent_s_own_tool_names_are_mapped_by_the_specs() -> None:
    specs = {"read_file": replace(small.SPECS["read_file"], name="cat")}
    move = Run(small.SUM, EXPERT, specs).send(None)
    assert isinstance(move, Ask)
    assert move.calls[0].name == "cat"


def test_a_scenario_without_a_solution_cannot_be_played() -> None:
    with pytest.raises(Misuse, match="no solution"):
        Run(replace(small.SUM, solve=None), EXPERT, small.SPECS)


def test_an_unknown_persona_is_told_with_its_near_miss() -> None:
    with pytest.raises(Misuse, match=r"no persona 'expret'\. Did you mean 'expert'"):
        persona("expret")


def test_the_solution_is_given_the_task() -> None:
    async def solve(task: Any, tools: Any) -> str:
        return f"{task.scenario} {task.max_steps} {task.prompt[:4]}"

    assert Run(small.scenario("given", solve), EXPERT, small.SPECS).send(None) == Say("given 20 Task")
