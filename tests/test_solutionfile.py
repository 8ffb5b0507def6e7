"""Solutions are loaded without traces, and linted for what would make them unrepeatable."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

from forge_chaos import solutionfile
from forge_chaos.errors import Misuse

GOOD = b"""
async def solve(task, tools):
    return "DONE"

async def detour(task, tools):
    return "DONE"

def values(rng):
    return {"n": rng.randint(1, 9)}

commands = {"make": lambda argv: "made"}
"""


def test_everything_that_it_defines_is_found(tmp_path: Path) -> None:
    found = solutionfile.solution(tmp_path / "solution.py", GOOD)
    assert found.solve is not None
    assert found.detour is not None
    assert list(found.commands) == ["make"]
    assert found.values(Random(1)) == found.values(Random(1)) != {}


def test_further_messages_have_a_solution_each(tmp_path: Path) -> None:
    source = (
        GOOD
        + b"""
async def solve_2(task, tools):
    return "DONE"

async def solve_10(task, tools):
    return "DONE"

solve_1 = solve_x = None
"""
    )
    assert sorted(solutionfile.solution(tmp_path / "solution.py", source).turns) == [2, 10]
    with pytest.raises(Misuse, match=r"solve_2 must be async def solve_2\(task, tools\)"):
        solutionfile.solution(tmp_path / "solution.py", GOOD + b"def solve_2(task, tools): pass")


def test_it_leaves_no_traces(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_bytes(GOOD)
    before = set(sys.modules)
    solutionfile.solution(tmp_path / "solution.py", GOOD)
    assert set(sys.modules) == before
    assert [path.name for path in tmp_path.iterdir()] == ["solution.py"]


def test_an_empty_one_draws_nothing(tmp_path: Path) -> None:
    assert solutionfile.solution(tmp_path / "solution.py", b"").values(Random(1)) == {}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"x = 1\ndef solve(:\n", ":2: SyntaxError: "),
        (
            b"x = 1\n\nimport no_such_module_x\n",
            ":3: ModuleNotFoundError: No module named 'no_such_module_x'",
        ),
        (
            b"\ndef solve(task, tools):\n    return 'DONE'\n",
            ":2: solve must be async def solve(task, tools).",
        ),
        (b"async def solve(task):\n    pass\n", ":1: solve(task) must be async def solve(task, tools)."),
        (b"solve = 3\n", ": solve must be a function: async def solve(task, tools)."),
        (b"async def values(rng):\n    return {}\n", ":1: values must be def values(rng)."),
        (b"commands = ['make']\n", ": commands must map names to functions."),
    ],
)
def test_misuse_names_file_and_line(tmp_path: Path, source: bytes, said: str) -> None:
    path = tmp_path / "solution.py"
    with pytest.raises(Misuse) as caught:
        solutionfile.solution(path, source)
    assert str(caught.value).startswith(f"{path}{said}")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"def values(rng):\n    return {\n        'a': 1 / 0}\n", ":3: ZeroDivisionError: division by zero"),
        (
            b"def values(rng):\n    return [1]\n",
            ":1: values(rng) must return a dict of names to values, not list.",
        ),
    ],
)
def test_values_that_cannot_be_drawn_name_the_line(tmp_path: Path, source: bytes, said: str) -> None:
    path = tmp_path / "solution.py"
    with pytest.raises(Misuse) as caught:
        solutionfile.solution(path, source).values(Random(1))
    assert str(caught.value) == f"{path}{said}"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("await tools.read_file(path='a')", "tools.read_file without expect="),
        ("await tools.list_records(table='a', allow={})", "tools.list_records without expect="),
        ("await tools.read_file(path='a', expect=json.loads)", "expect=json.loads accepts an error object"),
        ("import random", "import of random"),
        ("from time import sleep", "import of time"),
        ("import os, datetime as d", "import of datetime"),
        ("names = set(rows)", "a set has no order"),
        ("names = {1, 2}", "a set has no order"),
        ("names = {r for r in rows}", "a set has no order"),
        ("(", "'(' was never closed"),
    ],
)
def test_lint_finds(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "solution.py"
    path.write_text(f"import json\n\nasync def solve(task, tools):\n    {line}\n")
    [found] = solutionfile.lint(tmp_path)
    assert found.startswith(f"{path}:4: {said}")


@pytest.mark.parametrize(
    "line",
    [
        "await tools.read_file(path='a', expect=text())",
        "await tools.write_file(path='a', text='b')",
        "names = dict.fromkeys(rows)",
        "names = {'a': 1}",
        "from forge_chaos.solution import text",
    ],
)
def test_lint_lets_through(tmp_path: Path, line: str) -> None:
    (tmp_path / "solution.py").write_text(f"async def solve(task, tools):\n    {line}\n")
    assert solutionfile.lint(tmp_path) == []


def test_without_a_solution_there_is_nothing_to_lint(tmp_path: Path) -> None:
    assert solutionfile.lint(tmp_path) == []
