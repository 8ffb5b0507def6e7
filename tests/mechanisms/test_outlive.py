"""outlive: a command that takes longer than its shell's limit, in a child that only some harnesses end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any

import pytest

from forge_chaos import natural
from forge_chaos.mechanisms.outlive import outlive
from forge_chaos.nouns import Call, Err, Ok

from .env import Answers, Files, Trial, call, run, spec

Shell = Callable[[str, float], str]


def shell_alone(line: str, seconds: float) -> str:
    """Known-bad: what ends the shell leaves its children."""
    done = subprocess.run(line, shell=True, timeout=seconds, stdout=subprocess.DEVNULL)
    return f"exit code: {done.returncode}"


def whole_family(line: str, seconds: float) -> str:
    """Good: its process group ends with it."""
    with subprocess.Popen(line, shell=True, start_new_session=True) as process:
        try:
            return f"exit code: {process.wait(seconds)}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def trial(limit: float) -> Any:
    on_disk: Any = SimpleNamespace(workspace=SimpleNamespace(root="."))
    return Trial(world=on_disk, spec=spec("run_command", limit=limit))


def written(file: Path, seconds: float) -> bool:
    """Is it there, or comes within that time?"""
    until = monotonic() + seconds
    while not file.exists() and monotonic() < until:
        sleep(0.05)
    return file.exists()


async def played(shell: Shell, file: Path, limit: float, after: float) -> tuple[Any, Ok | Err]:
    async def tool(asked: Call) -> Ok | Err:
        try:
            return Ok(await asyncio.to_thread(shell, asked.args["command"], limit))
        except subprocess.TimeoutExpired as error:
            return natural.err(error)

    env = trial(limit)
    waiting: list[Awaitable[Any]] = []
    env.later = lambda seconds, action: waiting.append(asyncio.ensure_future(action()))
    result = await outlive(call("run_command", command=f"echo x >> {file}"), tool, env, after=after)
    await asyncio.gather(*waiting)
    return env, result


@pytest.mark.slow
@pytest.mark.parametrize(("shell", "acted"), [(shell_alone, True), (whole_family, False)])
def test_a_child_that_is_left_acts_after_the_timeout(tmp_path: Path, shell: Shell, acted: bool) -> None:
    file = tmp_path / "late.txt"
    env, result = asyncio.run(played(shell, file, 0.2, 1.0))
    assert isinstance(result, Err)
    assert f"echo x >> {file}" in result.message
    assert "sleep" not in result.message + str(result.exception)
    assert env.fired == [{"changed": [], "seconds": 1.2}]
    assert written(file, 20.0 if acted else 0.5) is acted


@pytest.mark.slow
def test_a_harness_that_waits_long_enough_gets_the_commands_own_end(tmp_path: Path) -> None:
    def patient(line: str, seconds: float) -> str:
        return shell_alone(line, 30.0)

    _, result = asyncio.run(played(patient, tmp_path / "missing" / "x.txt", 0.1, 0.2))
    assert result == Ok("exit code: 2") or result == Ok("exit code: 1")


@pytest.mark.parametrize(
    ("asked", "limit"),
    [
        (call("run_command", command="ls"), 30.0),
        (call("run_command", command=["ls"]), 1.0),
        (call("run_command"), 1.0),
    ],
)
def test_what_cannot_be_waited_for_is_left_alone(asked: Call, limit: float) -> None:
    env, tool = trial(limit), Answers("ok")
    assert run(outlive(asked, tool, env)) == Ok("ok")
    assert (env.fired, env.handed) == ([], [])


def test_without_processes_it_does_nothing() -> None:
    env = Trial(world=Files({}).world, spec=spec("run_command", limit=1.0))
    assert run(outlive(call("run_command", command="ls"), Answers("ok"), env)) == Ok("ok")
    assert run(outlive(call("run_command", command="ls"), Answers("ok"), Trial())) == Ok("ok")
    assert env.fired == []
