"""A scenario written in Python: the two tasks of a coding agent's suite, from set-up to check command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import forge_chaos
from forge_chaos import Scenario, nouns, story
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.nouns import Check
from tests.seeds.played import judged, play

HELPER = "def divide(a, b):\n    return a / b\n"
GUARD = "    if b == 0:\n        raise ValueError('b is 0')\n"
TEST_MATH = """\
import unittest

from math_helper import divide


class TestDivide(unittest.TestCase):
    def test_it_divides(self):
        self.assertEqual(divide(6, 3), 2)

    def test_zero(self):
        self.assertRaises(ValueError, divide, 1, 0)
"""
TEST_STRING = """\
import unittest

from string_tool import reverse_words


class TestReverse(unittest.TestCase):
    def test_it(self):
        self.assertEqual(reverse_words("a b c"), "c b a")
"""


def broken_math(folder: Path) -> None:
    (folder / "math_helper.py").write_text(HELPER)
    (folder / "test_math.py").write_text(TEST_MATH)


def unwritten_string(folder: Path) -> None:
    (folder / "string_tool.py").write_text("def reverse_words(s):\n    raise NotImplementedError\n")
    (folder / "test_string.py").write_text(TEST_STRING)


DIVIDE = Scenario(
    "divide",
    "Repair divide(a, b) in math_helper.py so that it raises ValueError when b is 0.",
    setup=broken_math,
    check_command="python -m unittest test_math.py",
)
REVERSE = Scenario(
    "reverse_words",
    "Complete reverse_words(s) in string_tool.py.",
    setup=unwritten_string,
    check_command="python -m unittest test_string.py",
)


async def repairs(task: Any, tools: Any) -> str:
    if "divide" in task.prompt:
        text = await tools.call("read_file", {"path": "math_helper.py"})
        text = text.replace("    return", GUARD + "    return")
        await tools.call("write_file", {"path": "math_helper.py", "text": text})
    else:
        text = "def reverse_words(s):\n    return ' '.join(reversed(s.split()))\n"
        await tools.call("write_file", {"path": "string_tool.py", "text": text})
    return "DONE"


async def claims(task: Any, tools: Any) -> str:
    await tools.call("list_files", {})
    return "DONE"


@pytest.mark.parametrize("scenario", [DIVIDE, REVERSE], ids=lambda scenario: scenario.name)
def test_a_task_with_its_setup_and_its_check(scenario: nouns.Scenario) -> None:
    found, end = judged(scenario, repairs)
    assert (found.goal, found.claim, end.acceptable) == ("full", "done", True)
    assert (found.damage, found.litter) == ((), ())
    found, end = judged(scenario, claims)
    assert (found.goal, end.acceptable) == ("wrong", False)
    assert "the check exited with 1" in end.why


def test_a_fault_on_it_is_met_and_judged() -> None:
    found, end = judged(DIVIDE, repairs, "missing_file.never@1..:read_file(math_helper.py)")
    assert [hit.fault for hit in found.fired] == ["missing_file"]
    assert end.outcome == "crashed"


def test_a_scenario_is_the_one_that_a_folder_would_give() -> None:
    async def solve(task: Any, tools: Any) -> str:
        return "DONE"

    made = Scenario(
        "mine",
        " Go. ",
        files={"./a.txt": "a", "b": b"\xff"},
        full=[{"grader": "file_equals", "path": "x", "text": "y"}, ends_well],
        must_not={"grader": "file_changed", "path": "a.txt"},
        outputs=["x"],
        tools=["read_file"],
        roles=["write"],
        steps=3,
        solve=solve,
    )
    assert (made.prompt, made.workspace, made.files) == ("Go.", "memory", {"a.txt": b"a", "b": b"\xff"})
    assert made.full == (
        Check("file_equals", {"path": "x", "text": "y"}),
        Check("function", function=ends_well),
    )
    assert made.must_not == (Check("file_changed", {"path": "a.txt"}),)
    assert (made.outputs, made.limits.steps, made.solve) == (("x",), 3, solve)
    assert (DIVIDE.workspace, DIVIDE.outputs) == ("disk", ("*",))


def ends_well(trace: Trace) -> bool:
    return len(trace) > 0


def test_a_function_of_the_trace_decides() -> None:
    made = Scenario("mine", "Go.", full=ends_well)
    assert judged(made, claims)[0].goal == "full"
    assert judged(Scenario("mine", "Go.", full=lambda trace: not trace), claims)[0].goal == "wrong"


def test_the_setup_is_done_anew_for_each_trial() -> None:
    first, second = play(DIVIDE, repairs), play(DIVIDE, repairs)
    assert story.difference(first, second) is None


def test_what_it_is_made_of_is_in_its_hash() -> None:
    def other(folder: Path) -> None:
        (folder / "math_helper.py").write_text("")

    same = Scenario(DIVIDE.name, DIVIDE.prompt, setup=broken_math, check_command=_command(DIVIDE))
    changed = Scenario(DIVIDE.name, DIVIDE.prompt, setup=other, check_command=_command(DIVIDE))
    assert same.hash == DIVIDE.hash != changed.hash


def _command(scenario: nouns.Scenario) -> str:
    return str(scenario.full[0].params["command"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "nothing looks at state or answer"),
        ({"full": {"grader": "tool_used", "tool": "read_file"}}, "nothing looks at state or answer"),
        ({"full": {"grader": "file_equal"}}, "no grader 'file_equal'. Did you mean 'file_equals'?"),
        ({"full": {"grader": "file_exists", "pth": "a"}}, "'pth'. Did you mean 'path'?"),
        ({"full": {"path": "a"}}, "names no grader"),
        ({"full": "done"}, "'d' is no grader"),
        ({"full": ends_well, "tools": ["raed_file"]}, "'raed_file'. Did you mean 'read_file'?"),
        ({"full": ends_well, "world": "file"}, "no world 'file'. Did you mean 'files'?"),
        ({"full": ends_well, "workspace": "dsk"}, "no workspace 'dsk'. Did you mean 'disk'?"),
        ({"full": ends_well, "suite": "edges"}, "no suite 'edges'. Did you mean 'edge'?"),
        ({"full": ends_well, "roles": ["reed"]}, "no role 'reed'. Did you mean 'read'?"),
        ({"full": ends_well, "expects": "DONNE"}, "no expects 'DONNE'. Did you mean 'DONE'?"),
        ({"full": ends_well, "files": {"../a": ""}}, "'../a' is no path"),
        ({"full": ends_well, "outputs": "*.py"}, "outputs is a list of globs, not the text '*.py'"),
        ({"full": ends_well, "steps": 0}, "steps and seconds must be more than 0"),
        ({"full": ends_well, "setup": "make"}, "'make' must be def setup(folder)"),
        ({"full": ends_well, "solve": ends_well}, "must be async def solve(task, tools)"),
        ({"check_command": " "}, "check_command is empty"),
        ({"full": ends_well, "prompt": " "}, "name and prompt must not be empty"),
    ],
)
def test_what_does_not_fit_is_told(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Misuse) as caught:
        Scenario(**{"name": "mine", "prompt": "Go.", **given})
    assert said in str(caught.value)
    assert str(caught.value).startswith("Scenario 'mine': ")


def test_the_package_offers_nothing_else() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Scenaro'"):
        forge_chaos.Scenaro  # noqa: B018  # the access is what is tested


def test_a_run_in_this_process_is_a_run(tmp_path: Path) -> None:
    done = forge_chaos.run(
        [DIVIDE, REVERSE], repairs, faults="missing_file.never:read_file", out=tmp_path / "run"
    )
    assert [(t.scenario, t.kind, t.judgement.outcome) for t in done.trials] == [
        ("divide", "clean", "not_reached"),
        ("reverse_words", "clean", "not_reached"),
        ("divide", "fault", "crashed"),
        ("divide", "fault", "crashed"),
    ]
    assert (done.scorecard.exit, done.scorecard.clean_passed) == (1, 2)
    assert done.scorecard.agent == "tests.test_api:repairs"
    assert not done.scorecard.demonstration


def test_our_own_agent_needs_a_solution(tmp_path: Path) -> None:
    from forge_chaos import run

    def number(text: str) -> str:
        if text != "7\n":
            raise ValueError("not the number")
        return text

    async def solve(task: Any, tools: Any) -> str:
        text = await tools.read_file(path="n.txt", expect=number)
        await tools.write_file(path="m.txt", text=text)
        return "DONE"

    goal = {"grader": "file_equals", "path": "m.txt", "text": "7"}
    copy = Scenario("copy", "Copy n.txt to m.txt.", files={"n.txt": "7\n"}, full=goal, solve=solve)
    done = run([copy, DIVIDE], faults="timeout", out=tmp_path / "run")
    assert [skipped.scenario for skipped in done.scorecard.skipped] == ["divide"]
    assert (done.scorecard.demonstration, done.scorecard.exit) == (True, 0)
    with pytest.raises(Misuse, match="no scenario"):
        run([])
