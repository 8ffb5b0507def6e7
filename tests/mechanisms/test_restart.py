"""restart: the shell is gone, and with it the folder that it stood in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from forge_chaos.mechanisms.restart import BEFORE, restart
from forge_chaos.nouns import Err, Ok, Scenario
from forge_chaos.ports import World
from forge_chaos.worlds.files import files

from .env import Answers, Trial, call, run, spec

PWD = call("run_command", command="pwd")


@pytest.fixture
def world() -> Iterator[World]:
    given = {"site/index.txt": b"one page\n"}
    with closing(files(Scenario("t", "", workspace="disk", files=given), asyncio.sleep)) as made:
        yield made


def there(world: World, command: str) -> object:
    result = run(world.tools["run_command"](call("run_command", command=command)))
    assert isinstance(result, Ok)
    return result.value


def test_the_command_is_not_run_and_the_next_one_is_run_in_the_root(world: World) -> None:
    assert there(world, "cd site && pwd") == "site\nexit code: 0"
    tool, trial = Answers("1"), Trial("timed out", world=world, spec=spec("run_command", limit=20.0))
    assert run(restart(PWD, tool, trial)) == Err("timeout", "timed out")
    assert (tool.ran, trial.fired, trial.slept) == (0, [{"changed": []}], [20.0 * BEFORE])
    assert there(world, "pwd") == ".\nexit code: 0"


def test_a_shell_in_the_root_is_left_alone(world: World) -> None:
    trial = Trial("timed out", world=world)
    assert run(restart(PWD, Answers("1"), trial)) == Ok("1")
    assert trial.fired == []


def test_so_is_a_world_without_a_shell() -> None:
    for world in (None, files(Scenario("t", "", files={"site/x": b""}), asyncio.sleep)):
        trial = Trial("timed out", world=world)
        assert run(restart(PWD, Answers("1"), trial)) == Ok("1")
        assert trial.fired == []
