"""run_command: a real shell on disk, a scenario's own Python functions in memory and on a fake disk."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING, Protocol

from forge_chaos.nouns import Scenario
from forge_chaos.worlds._disk import DiskWorkspace
from forge_chaos.worlds._memory import MemoryWorkspace
from forge_chaos.worlds._process import NOT_FOUND, Ended
from forge_chaos.worlds._tools import Block, Parameter, block, optional

if TYPE_CHECKING:
    from forge_chaos.worlds._fake import FakeWorkspace

LIMIT = 30.0
_SYNTAX = 2
_OPERATORS = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "<<"})


class Ground(Protocol):
    """What run_command needs of the ground truth."""

    @property
    def scenario(self) -> Scenario: ...
    @property
    def workspace(self) -> MemoryWorkspace | DiskWorkspace | FakeWorkspace: ...


async def run_command(ground: Ground, command: str, timeout: float | None = None) -> str:
    """The output, then `exit code: N`. Raises TimeoutError with what was printed until then."""
    if timeout is not None and timeout <= 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout:g}")
    seconds = LIMIT if timeout is None else min(timeout, LIMIT)
    if isinstance(ground.workspace, DiskWorkspace):
        ended = await _shell(ground.workspace, command, seconds)
    else:
        ended = _function(ground.scenario, ground.workspace, command)
    if ended.exit is None:
        so_far = f"Output until then:\n{ended.output}" if ended.output else "It had printed nothing."
        raise TimeoutError(f"command timed out after {seconds:g} seconds and was killed. {so_far}")
    output = ended.output
    return f"{output}{'' if not output or output.endswith(chr(10)) else chr(10)}exit code: {ended.exit}"


async def _shell(workspace: DiskWorkspace, command: str, seconds: float) -> Ended:
    """In a thread, which the trial's clock waits for; a cancelled caller takes the command with it."""
    cancelled = Event()
    running = asyncio.get_running_loop().run_in_executor(None, workspace.run, command, seconds, cancelled)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait({running})
        if not running.cancelled():
            running.exception()  # retrieved: the caller's cancellation is what counts
        raise


def _function(scenario: Scenario, workspace: MemoryWorkspace | FakeWorkspace, command: str) -> Ended:
    try:
        words = shlex.split(command)
    except ValueError as error:
        return Ended(_SYNTAX, f"sh: syntax error: {error}\n")
    if not words:
        return Ended(0, "")
    name, *args = words
    function = scenario.commands.get(name)
    if function is None:
        return Ended(NOT_FOUND, f"sh: {name}: command not found\n")
    if _OPERATORS.intersection(args):
        return Ended(_SYNTAX, "sh: only one plain command at a time can be run here\n")
    try:
        done = function(args, workspace)
    except OSError as error:  # what a real command prints
        return Ended(
            1, f"{name}: {error.strerror or error}{f': {error.filename}' if error.filename else ''}\n"
        )
    exit, output = done if isinstance(done, tuple) else (0, done)
    return Ended(int(exit), "" if output is None else str(output))


COMMAND_TOOLS: Mapping[str, Block] = {
    "run_command": block(
        run_command,
        "Run one shell command in the workspace. Gives what it prints, then a line `exit code: N`.",
        {
            "command": Parameter("string", "The command line."),
            "timeout": optional("number", f"Seconds until it is killed; at most {LIMIT:g}."),
        },
        ["execute"],
        target="command",
        limit=LIMIT,
        returns=r"(?s:.*\n)?exit code: -?\d+",
    ),
}
