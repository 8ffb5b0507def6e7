"""A shell command takes longer than the shell's limit, in a child process, and acts at its end.

A harness that ends the shell alone has told of a timeout and leaves the child behind, which acts when nobody
expects it any more. One that ends the whole family has nothing to fear. Real processes live in real time.
"""

from __future__ import annotations

import asyncio
import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

LONGEST = 1.5  # seconds of a limit that can be waited for in real time
MARGIN = 1.0  # real seconds for the command itself, after its delay
GLANCE = 0.05


async def outlive(call: Call, tool: Tool, env: Env, *, after: float = 2.5) -> Ok | Err:
    """The command runs in a child of the shell, `after` real seconds past the tool's declared limit, and the trial
    is not judged before. A call without a command as its target is left alone, and so is one of a tool that
    declares a limit above 1.5 seconds, or in a workspace that is not on disk, where no processes are."""
    name = env.spec.target if env.spec is not None else None
    command = call.args.get(name) if name is not None else None
    if env.spec is None or name is None or not isinstance(command, str) or not _real(env):
        return await tool(call)
    if env.spec.limit > LONGEST:
        return await tool(call)
    seconds = env.spec.limit + after
    script = f"sleep {seconds:g}; {command}"
    # The `exit` keeps the shell from becoming the child itself, as a shell does with its last command.
    wrapped = f"sh -c {shlex.quote(script)}; exit $?"
    env.fire(seconds=seconds)
    loop = asyncio.get_running_loop()

    async def over() -> None:
        await loop.run_in_executor(None, _until_over, script, seconds + MARGIN)

    env.later(0.0, over)
    result = await tool(replace(call, args={**call.args, name: wrapped}))
    if not isinstance(result, Err):
        return result
    timeout: Any = result.exception
    if getattr(timeout, "cmd", None) == wrapped:  # what `subprocess` raises words itself with it
        timeout.cmd = command
    return replace(result, message=result.message.replace(wrapped, command))


def _until_over(script: str, seconds: float) -> None:
    """Until the child has come and gone, for so many real seconds at most."""
    begin, came = monotonic(), False
    while monotonic() - begin < seconds:
        sleep(GLANCE)
        there = _runs(script)
        if came and not there:
            return
        came = came or there


def _runs(script: str) -> bool:
    """Does a shell run this script? Not known where there is no /proc."""
    wanted = script.encode()
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            if place.read_bytes().split(b"\0")[2:3] == [wanted]:
                return True
    return False


def _real(env: Env) -> bool:
    return env.world is not None and hasattr(env.world.workspace, "root")
