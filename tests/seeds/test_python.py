"""Scenarios of a user's own module, named as `module:attribute` or `path.py:attribute`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge_chaos import seeds
from forge_chaos.errors import Misuse

MODULE = """\
from forge_chaos import Scenario

one = Scenario("one", "Say yes.", full={"grader": "answer_contains", "text": "yes"})
two = Scenario("two", "Say no.", full={"grader": "answer_contains", "text": "no"})
both = [one, two]
nothing = []
number = 3
mixed = [one, "two"]


def made():
    return both


def raises():
    raise KeyError("x")
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "my_tasks.py"
    path.write_text(MODULE)
    return path


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test loads, and where from, is gone after it."""
    monkeypatch.setattr("sys.path", list(sys.path))
    yield
    sys.modules.pop("my_tasks", None)


@pytest.mark.parametrize(
    ("attribute", "names"), [("one", ["one"]), ("both", ["one", "two"]), ("made", ["one", "two"])]
)
def test_one_or_several_or_a_function_of_them(module: Path, attribute: str, names: list[str]) -> None:
    assert [s.name for s in seeds.load(f"{module}:{attribute}")] == names


def test_a_module_is_found_from_the_current_directory(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(module.parent)
    monkeypatch.setattr("sys.path", ["elsewhere"])
    assert [s.name for s in seeds.load("my_tasks:both")] == ["one", "two"]


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("onne", "has no attribute 'onne'. Did you mean 'one'?"),
        ("number", "is int, no scenario."),
        ("nothing", "holds no scenario."),
        ("mixed", "holds 'two', no scenario."),
        ("raises", "does not load: KeyError: 'x' ("),
    ],
)
def test_what_is_no_scenario_is_told(module: Path, attribute: str, said: str) -> None:
    with pytest.raises(Misuse) as caught:
        seeds.load(f"{module}:{attribute}")
    assert said in str(caught.value)
    assert str(caught.value).endswith("a forge_chaos.Scenario or several.")


def test_a_file_finds_what_lies_beside_it(module: Path) -> None:
    beside = module.parent / "more_of_my_tasks.py"
    beside.write_text("from my_tasks import one\nagain = one\n")
    assert [s.name for s in seeds.load(f"{beside}:again")] == ["one"]


def test_a_module_that_does_not_load_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("x = 1\nraise SystemExit(3)\n")
    with pytest.raises(Misuse, match=r"does not load: SystemExit: 3 \(.*bad\.py:2\)"):
        seeds.load(f"{path}:x")
    with pytest.raises(Misuse, match="there is no file"):
        seeds.load(f"{tmp_path}/gone.py:x")
    with pytest.raises(Misuse, match="No module named 'no_such_module_of_mine'"):
        seeds.load("no_such_module_of_mine:x")
