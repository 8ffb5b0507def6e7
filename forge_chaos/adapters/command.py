"""Commands: an agent in any language, started anew for each trial in a fresh folder with the scenario's files.

    --agent "cmd: ./agent --flag"

It is told its task (`_said`), reaches the scenario's tools at `FORGE_CHAOS_MCP_URL` and the scripted model at
`OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`, and prints one JSON object. Both ways pass the gates. It may work on the
files by itself, which no fault reaches. Its time is real. What it raises is an exit code, with the last of its
standard error.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from forge_chaos.adapters import _said, _served
from forge_chaos.adapters._mcp import quiet
from forge_chaos.adapters._running import OUTPUT_CAP, run
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

KEY = "forge-chaos"  # the scripted model takes any
LINES = 20  # of standard error, as evidence
WAY = "Name one: --agent 'cmd: ./agent --flag'."


class CommandFailed(Exception):
    """The command ended badly: its exit code or signal, and the last lines of its standard error."""


@dataclass(frozen=True, slots=True)
class Command:
    """What starts an agent. `home`: where its words are found; None: in the directory of this process. It starts
    there when it `stays`, else in the workspace. `environment` comes on top of the caller's."""

    words: tuple[str, ...]
    home: Path | None = None
    stays: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


class Commands:
    """The adapter."""

    name = "command"
    time = "real"
    order = "order of arrival at the MCP server"

    def recognises(self, thing: object) -> bool:
        return isinstance(thing, Command)

    def seat(self, thing: Any) -> Seat:
        """A command: a line as for a shell, a sequence of words, or a `Command`."""
        _served.needed()
        if isinstance(thing, str):
            thing = Command(words(thing))
        elif not isinstance(thing, Command):
            if not isinstance(thing, Sequence) or not thing or not all(isinstance(w, str) for w in thing):
                raise Misuse(f"adapter command: {type(thing).__name__} is no command. {WAY}")
            thing = Command(tuple(thing))
        ready = found(thing)
        return Seat(_agent(ready), self.name, time=self.time, folder=True, words=ready.words)

    def framework(self) -> Seat:
        raise Misuse(f"framework:command has no loop of its own: a command is the agent. {WAY}")


def words(line: str) -> tuple[str, ...]:
    """The words of a command line; no shell comes between. Raises Misuse."""
    try:
        read = tuple(shlex.split(line))
    except ValueError as error:
        raise Misuse(f"cannot read the command {line!r}: {error}. {WAY}") from None
    if not read:
        raise Misuse(f"cmd: names no command. {WAY}")
    return read


def found(command: Command) -> Command:
    """The command with what its words name as they are found from its home, since it may start in another folder:
    the program, and every further word that is a file there, become absolute. Raises Misuse."""
    home = (command.home or Path.cwd()).absolute()
    program, *rest = command.words
    if "/" in program:
        place = home / program
        where = str(place) if place.is_file() and os.access(place, os.X_OK) else None
        why = "may not be run" if place.is_file() else f"is not in {home}"
    else:
        where = shutil.which(program, path=command.environment.get("PATH"))
        where = where and os.path.abspath(where)
        why = "is in no folder of PATH"
    if where is None:
        raise Misuse(f"command {shlex.join(command.words)!r}: {program!r} {why}. {WAY}")
    files = [str(home / word) if (home / word).is_file() else word for word in rest]
    return replace(command, words=(where, *files), home=home)


def _agent(command: Command) -> Agent:
    async def agent(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        from forge_chaos.modelserver.loopback import loopback

        workspace = Path.cwd()
        told = _said.task(task)
        behind: AbstractContextManager[str | None] = loopback(model.door) if model.taken else nullcontext()
        served = _served.server(task, specs, tools, gate)
        with behind as url, quiet():
            async with _served.http(served, plain=True) as web:
                folder = command.home if command.stays and command.home is not None else workspace
                given = _environment(command, workspace, told, web.url, url)
                given |= {"PWD": str(folder), **task.environment}
                ended = await run(command.words, folder, given, _json(told))
        if ended.flooded:
            raise CommandFailed(_evidence(f"over {OUTPUT_CAP:,} bytes on standard output", ended.errors))
        if ended.exit != 0:
            raise CommandFailed(_evidence(ended.how(), ended.errors))
        try:
            return _said.answer(ended.output)
        except _said.BadReply as error:
            raise CommandFailed(_evidence(str(error), ended.errors)) from None

    return agent


def _json(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode(errors="replace") + b"\n"


def _environment(
    command: Command, workspace: Path, told: Mapping[str, Any], tools: str, model: str | None
) -> dict[str, str]:
    """The caller's own, the command's, and on top of both what the trial says."""
    given = {**os.environ, **command.environment}
    here = "127.0.0.1,localhost"
    direct = {
        name: ",".join(filter(None, (given.get(name), here))) for name in ("NO_PROXY", "no_proxy")
    }  # no proxy of the caller's stands between a command and this machine
    models = {
        "OPENAI_BASE_URL": f"{model}/v1",
        "ANTHROPIC_BASE_URL": model or "",
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_API_KEY": KEY,
    }
    return {
        **given,
        **direct,
        **_said.variables(told),
        "FORGE_CHAOS_MCP_URL": tools,
        "FORGE_CHAOS_WORKSPACE": str(workspace),
        **(models if model is not None else {}),
    }


def _evidence(what: str, errors: str) -> str:
    last = "\n".join(errors.strip().splitlines()[-LINES:])
    return f"{what}: {last}" if last else what


adapter = Commands()
