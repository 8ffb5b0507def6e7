"""A small real trial for mechanisms: an environment, the world of files, and calls to its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from forge_chaos.nouns import Call, Err, Ok, Result, Role, Scenario, Tool, ToolSpec
from forge_chaos.ports import World
from forge_chaos.worlds.files import files

TARGETS = {"charge": "id", "run_command": "command"}
ROLES: Mapping[str, Role] = {
    "read_file": "read",
    "list_files": "list",
    "write_file": "write",
    "delete_file": "write",
    "charge": "effect",
    "run_command": "execute",
}


def spec(tool: str, *, limit: float = 30.0, settle: float = 0.0, returns: str | None = None) -> ToolSpec:
    return ToolSpec(
        tool,
        "",
        {},
        frozenset({ROLES[tool]}),
        target=TARGETS.get(tool, "path"),
        limit=limit,
        settle=settle,
        returns=returns,
    )


def call(tool: str, number: int = 1, **args: Any) -> Call:
    target = args.get(TARGETS.get(tool, "path"))
    return Call(number, tool, args, target)


@dataclass
class Trial:
    """`ports.Env`, with what it was asked to do kept in the open. Time passes by `pass_time` alone."""

    wording: str = ""
    world: World | None = None
    spec: ToolSpec | None = None
    last: bool = False
    heal: float | None = None
    past: Sequence[Result] = ()
    earlier: Sequence[Result] = ()
    kept: dict[str, Any] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    downs: list[Err | None] = field(default_factory=list)
    rng: Random = field(default_factory=lambda: Random(1))
    fired: list[dict[str, Any]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    handed: list[tuple[float, Callable[[], Any]]] = field(default_factory=list)
    cancellable: bool = True
    cancels: int = 0

    def fire(self, changed: Iterable[str] = (), **detail: Any) -> None:
        self.fired.append({"changed": sorted(changed), **detail})

    def text(self, default: str = "") -> str:
        return self.wording or default

    def ran(self, tool: str) -> int:
        return self.runs.get(tool, 0)

    def down(self, error: Err | None) -> None:
        self.downs.append(error)

    def cancel(self) -> bool:
        self.cancels += 1
        return self.cancellable

    def later(self, seconds: float, action: Callable[[], Any]) -> None:
        self.handed.append((seconds, action))

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    async def pass_time(self, seconds: float) -> None:
        due = [action for at, action in self.handed if at <= seconds]
        self.handed = [(at - seconds, action) for at, action in self.handed if at > seconds]
        for action in due:
            done = action()
            if asyncio.iscoroutine(done):
                await done


class Files:
    """The world of files in memory, with a record of which of its tools ran."""

    def __init__(self, contents: Mapping[str, str]) -> None:
        given = {path: text.encode() for path, text in contents.items()}
        self.world: World = files(Scenario("t", "", files=given), asyncio.sleep)
        self.workspace = self.world.workspace
        self.ran: list[str] = []
        self.tools = {name: self._counted(tool) for name, tool in self.world.tools.items()}

    def _counted(self, tool: Tool) -> Tool:
        async def counted(call: Call) -> Ok | Err:
            self.ran.append(call.tool)
            return await tool(call)

        return counted

    def names(self, folder: str = ".") -> list[str]:
        return self.workspace.entries(folder)


class Answers:
    """A tool that gives one result and counts how often it ran."""

    def __init__(self, result: Any) -> None:
        self.result: Result = result if isinstance(result, Ok | Err) else Ok(result)
        self.ran = 0

    async def __call__(self, call: Call) -> Ok | Err:
        self.ran += 1
        return self.result


def run(wanted: Awaitable[Ok | Err]) -> Ok | Err:
    async def body() -> Ok | Err:
        return await wanted

    return asyncio.run(body())
