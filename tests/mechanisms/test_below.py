"""Trouble from below: on a fake workspace the tool is run, and its own `open` meets the error."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from forge_chaos import natural
from forge_chaos.mechanisms.absent import absent
from forge_chaos.mechanisms.exhaust import exhaust
from forge_chaos.mechanisms.refuse import refuse
from forge_chaos.nouns import Call, Err, Ok, Scenario
from forge_chaos.worlds._bare import bare
from forge_chaos.worlds._ground import Ground

from .env import Trial, call, run, spec

READ = call("read_file", path="a.txt")
WRITE = call("write_file", path="d/out.txt", text="12345")
MISSING = "No such file or directory: 'a.txt'"
FULL = "No space left on device: 'd/out.txt'"
DENIED = "Permission denied: 'd/out.txt'"


@pytest.fixture
def world() -> Iterator[Ground]:
    files = {"a.txt": b"one", "d/out.txt": b"old"}
    with closing(bare(Scenario("t", "", workspace="fake", files=files), asyncio.sleep)) as made:
        yield made


async def tool(call: Call) -> Ok | Err:
    """A user's own tool, by its user's own means."""
    try:
        if call.tool == "write_file":
            with open(call.args["path"], "w") as file:
                file.write(call.args["text"])
            return Ok("written")
        return Ok(Path(call.args["path"]).read_text())
    except OSError as error:
        return natural.err(error)


def told(result: Ok | Err) -> tuple[str, bool]:
    """The code, and whether the live exception was raised by the tool itself."""
    assert isinstance(result, Err)
    assert result.exception is not None
    return result.code, result.exception.__traceback__ is not None


@pytest.mark.parametrize(
    ("how", "errno", "text", "code"),
    [
        ("hidden", "ENOENT", MISSING, "not_found"),
        ("renamed", "ENOENT", MISSING, "not_found"),
        ("directory", "EISDIR", "Is a directory: 'a.txt'", "is_directory"),
    ],
)
def test_what_is_taken_away_is_not_found_by_the_tool_itself(
    how: str, errno: str, text: str, code: str, world: Ground
) -> None:
    trial = Trial(text, world)
    for _ in range(2):
        result = run(absent(READ, tool, trial, how=how, errno=errno))  # type: ignore[arg-type]  # literals
        assert told(result) == (code, True)
    assert [fired["how"] for fired in trial.fired] == [how, how]
    assert "a.txt" in trial.fired[0]["changed"]
    assert world.touched() == (), "the mechanism's doing is not the agent's"


def test_after_the_last_hit_it_is_back(world: Ground) -> None:
    assert told(run(absent(READ, tool, Trial(MISSING, world, last=True))))[0] == "not_found"
    assert run(tool(READ)) == Ok("one")
    parent = call("read_file", path="d/out.txt")
    trial = Trial("No such file or directory: 'd/out.txt'", world, last=True)
    assert told(run(absent(parent, tool, trial, of="parent")))[0] == "not_found"
    assert run(tool(parent)) == Ok("old")


def test_a_write_meets_the_full_disk(world: Ground) -> None:
    trial = Trial(FULL, world)
    for _ in range(2):
        assert told(run(exhaust(WRITE, tool, trial))) == ("no_space", True)
    assert len(trial.fired) == 2
    assert told(run(tool(call("write_file", path="other", text="x"))))[0] == "no_space", "no other finds room"
    world.workspace.delete("a.txt")
    assert run(exhaust(WRITE, tool, trial)) == Ok("written"), "somebody has made room"
    assert len(trial.fired) == 2


def test_the_last_write_that_fails_leaves_room(world: Ground) -> None:
    assert told(run(exhaust(WRITE, tool, Trial(FULL, world, last=True))))[0] == "no_space"
    assert run(tool(WRITE)) == Ok("written")


def test_a_call_that_needs_no_room_is_left_alone(world: Ground) -> None:
    trial = Trial(FULL, world)
    assert run(exhaust(call("write_file", path="d/out.txt", text=""), tool, trial)) == Ok("written")
    assert trial.fired == []


def test_a_write_is_not_allowed(world: Ground) -> None:
    trial = Trial(DENIED, world, spec("write_file"))
    assert told(run(refuse(WRITE, tool, trial, code="permission"))) == ("permission", True)
    assert trial.fired == [{"changed": [], "effect": ["d/out.txt"]}]
    assert world.resources()["d/out.txt"] == "old"
    assert run(tool(WRITE)) == Ok("written")


@pytest.mark.parametrize("wording", ["ENOENT", "Permission denied: 'a.txt'"])
def test_other_words_than_the_systems_own_stand_in_place_of_the_call(wording: str, world: Ground) -> None:
    assert run(absent(READ, tool, Trial(wording, world))) == Err("not_found", wording)


def test_on_any_other_workspace_it_stands_in_place_of_the_call() -> None:
    files: Mapping[str, bytes] = {"a.txt": b"one"}
    with closing(bare(Scenario("t", "", workspace="disk", files=files), asyncio.sleep)) as world:
        assert run(absent(READ, tool, Trial(MISSING, world))) == Err("not_found", MISSING)
