"""Who is tried, and the command that does it again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import Scenario
from forge_chaos.errors import Misuse
from forge_chaos.plugin.stated import Stated
from forge_chaos.plugin.subject import subject

HERE = Path("/project")
STATED = Stated(HERE, HERE, None, HERE, None, False, 1, None, None, (), (), None, (), ("--chaos-seed", "3"))
COPY = Scenario("copy", "Copy it.", full={"grader": "file_equals", "path": "x", "text": "y"})


async def agent(task: Any, tools: Any) -> str:
    return "DONE"


def test_a_spec_is_tried_again_without_pytest() -> None:
    who = subject(STATED, "shop.agent:agent", ["sum_orders", "read_*"])
    assert (who.thing, who.objects, who.globs) == (None, (), "sum_orders,read_*")
    assert who.setup.home == "/project"
    again = who.again(STATED, "test_it.py::test_it", plan="timeout:read_file(a b)", scenarios=None, seed=3)
    assert again == "forge-chaos run --agent shop.agent:agent --plan 'timeout:read_file(a b)' --seed 3"
    below = who.again(replace(STATED, start=HERE / "checks"), "test_it.py::test_it", seed=3)
    assert below == "cd /project && forge-chaos run --agent shop.agent:agent --seed 3"


@pytest.mark.parametrize(("who", "where"), [(agent, "sum_orders"), ("shop.agent:agent", COPY)])
def test_an_object_is_tried_again_by_its_test(who: Any, where: Any) -> None:
    again = subject(STATED, who, where).again(STATED, "test_it.py::test_it[a b]", seed=3)
    assert again == "pytest 'test_it.py::test_it[a b]' --chaos-seed 3"


def test_what_the_test_does_not_say_is_stated() -> None:
    stated = replace(STATED, agent="mine:agent", home=HERE / "below", adapter="native")
    who = subject(stated, None, None)
    assert (who.setup.agent, who.setup.home, who.setup.adapter) == ("mine:agent", "/project/below", "native")
    assert subject(stated, "other:agent", None).setup.adapter is None


def test_nobody_and_a_mixture_are_refused() -> None:
    with pytest.raises(Misuse, match="no agent is named"):
        subject(STATED, None, None)
    for wrong in ([COPY, "sum_orders"], [], [3]):
        with pytest.raises(Misuse, match="not a mixture"):
            subject(STATED, "shop.agent:agent", wrong)  # type: ignore[arg-type]  # wrong on purpose
