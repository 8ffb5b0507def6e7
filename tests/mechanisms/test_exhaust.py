"""exhaust: no space left, until something is deleted."""

from __future__ import annotations

import asyncio

import pytest

from forge_chaos.mechanisms.exhaust import exhaust
from forge_chaos.nouns import Call, Err, Ok

from .env import Answers, Files, Trial, call, run

WRITE = call("write_file", path="out.txt", text="12345")
FULL = Err("no_space", "No space left on device: 'out.txt'")


def write(files: Files, trial: Trial, asked: Call = WRITE, *, empties: bool = False) -> Ok | Err:
    return run(exhaust(asked, files.tools[asked.tool], trial, empties=empties))


def full(files: Files, *, last: bool = False, heal: float | None = None) -> Trial:
    return Trial(FULL.message, files.world, last=last, heal=heal)


def test_nothing_is_written_and_nothing_else_finds_room_either() -> None:
    files = Files({"old.txt": "old"})
    trial = full(files)
    assert write(files, trial) == FULL
    assert (files.ran, files.names()) == ([], ["old.txt"])
    assert trial.fired == [{"changed": []}]
    other = run(files.tools["write_file"](call("write_file", path="new.txt", text="x")))
    assert isinstance(other, Err)
    assert other.code == "no_space"
    assert write(files, trial) == FULL


def test_what_is_deleted_makes_room_and_ends_it() -> None:
    files = Files({"old.txt": "old"})
    trial = full(files)
    write(files, trial)
    files.workspace.delete("old.txt")
    assert write(files, trial) == Ok("wrote 5 characters to out.txt")
    assert write(files, trial) == Ok("wrote 5 characters to out.txt")
    assert len(trial.fired) == 1


def test_the_last_hit_fails_alone() -> None:
    files = Files({})
    assert write(files, full(files, last=True)) == FULL
    assert run(files.tools["write_file"](WRITE)) == Ok("wrote 5 characters to out.txt")


def test_it_heals() -> None:
    files = Files({})
    trial = full(files, heal=60.0)
    write(files, trial)
    asyncio.run(trial.pass_time(59))
    assert isinstance(run(files.tools["write_file"](WRITE)), Err)
    asyncio.run(trial.pass_time(1))
    assert run(files.tools["write_file"](WRITE)) == Ok("wrote 5 characters to out.txt")


def test_a_file_that_was_opened_for_writing_is_empty() -> None:
    files = Files({"out.txt": "what stood there"})
    trial = full(files)
    assert write(files, trial, empties=True) == FULL
    assert files.workspace.read("out.txt") == b""
    assert files.workspace.touched() == ()
    assert trial.fired == [{"changed": ["out.txt"]}]
    assert write(files, trial, empties=True) == FULL


@pytest.mark.parametrize("path", ["../out.txt", ""])
def test_a_target_outside_just_fails(path: str) -> None:
    files = Files({})
    result = write(files, full(files), call("write_file", path=path, text="x"), empties=True)
    assert isinstance(result, Err)
    assert files.names() == []


def test_tools_without_a_world_just_fail() -> None:
    tool, trial = Answers("ok"), Trial("ENOSPC")
    assert run(exhaust(WRITE, tool, trial)) == Err("no_space", "ENOSPC")
    assert tool.ran == 0
