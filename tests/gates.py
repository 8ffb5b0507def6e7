"""Small real gates and trials for tests: a plan, some tools, a virtual loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forge_chaos import notation, trial
from forge_chaos.adapters import native
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Trace
from forge_chaos.gate import Resolved, ToolGate
from forge_chaos.nouns import (
    Call,
    Err,
    Fault,
    Limits,
    Ok,
    Role,
    Rule,
    Scenario,
    Seam,
    Tool,
    ToolSpec,
    Turn,
    Variant,
)
from forge_chaos.ports import Seat, World
from forge_chaos.recorder import Recorder


@dataclass(frozen=True)
class Planned:
    """A resolved rule whose mechanism is given as a function."""

    rule: Rule
    mechanism: Callable[[Call, Tool, Any], Awaitable[Ok | Err]]
    seam: Seam = "tool"

    @property
    def text(self) -> str:
        return notation.write(self.rule)

    @property
    def fault(self) -> Fault:
        return Fault(self.rule.fault, "failure", self.seam, "", "", ("read",), (), {}, (self.variant,))

    @property
    def variant(self) -> Variant:
        return Variant(self.rule.variant or "plain", "made")


async def failing(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire()
    return Err("timeout", "made to fail")


def spec(name: str, *roles: Role, target: str | None = "path") -> ToolSpec:
    properties: Mapping[str, Any] = {target: {"type": "string"}} if target else {}
    return ToolSpec(name, name, {"type": "object", "properties": properties}, frozenset(roles), target)


SPECS = {s.name: s for s in (spec("read_file", "read"), spec("write_file", "write"))}


async def good(call: Call) -> Ok | Err:
    return Ok(f"{call.tool} of {call.target}")


def drive(
    rules: list[Planned],
    script: Callable[[ToolGate], Awaitable[Any]],
    **options: Any,
) -> tuple[Any, Trace]:
    """What `script` made of the gate, and the trace."""
    loop = VirtualLoop()
    record = Recorder(loop.time)

    async def main() -> Any:
        gate = ToolGate(rules, options.pop("specs", SPECS), record, loop.time, **options)
        result = await script(gate)
        gate.close()
        return result

    try:
        return loop.run_until_complete(main()), record.trace
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.close()


LIMITS = Limits(6, 1000.0)


class Shelf:
    """A world of named things: `look` reads one, `put` changes one, and whatever else a test needs."""

    def __init__(self, things: Mapping[str, Any], more: Mapping[str, Tool], settle: float = 0.0) -> None:
        self.things = dict(things)
        self.tools: Mapping[str, Tool] = {"look": self.look, "put": self.put, **more}
        known = {"look": spec("look", "read", target="name"), "put": spec("put", "write", target="name")}
        self.specs: Mapping[str, ToolSpec] = {
            name: replace(known.get(name) or spec(name, "execute", target=None), settle=settle)
            for name in self.tools
        }
        self._touched: set[str] = set()
        self.closed = False

    @property
    def workspace(self) -> Any:
        return None

    async def look(self, call: Call) -> Ok | Err:
        if call.target not in self.things:
            return Err("not_found", "")
        return Ok(self.things[call.target])

    async def put(self, call: Call) -> Ok | Err:
        self.things[str(call.target)] = call.args.get("value")
        self._touched.add(str(call.target))
        return Ok("done")

    def resources(self) -> dict[str, Any]:
        return dict(self.things)

    def touched(self) -> tuple[str, ...]:
        found, self._touched = tuple(sorted(self._touched)), set()
        return found

    def check_command(self, argv: Sequence[str] | str, seconds: float) -> Mapping[str, Any]:
        raise NotImplementedError

    def processes(self) -> list[int]:
        return []

    def close(self) -> None:
        self.closed = True


def played(
    agent: Callable[..., Any] | Seat,
    rules: Sequence[Resolved] = (),
    *,
    loop: asyncio.AbstractEventLoop | None = None,
    things: Mapping[str, Any] | None = None,
    more: Mapping[str, Tool] | None = None,
    settle: float = 0.0,
    limits: Limits = LIMITS,
    turns: Sequence[str] = (),
    world: trial.MakeWorld | None = None,
    **setting: Any,
) -> Trace:
    """The trace of one trial of a native agent, on a loop of its own unless one is given."""
    seat = agent if isinstance(agent, Seat) else native.adapter.seat(agent)
    here = VirtualLoop(patience=1.0) if loop is None else loop

    def made(scenario: Scenario, sleep: Any) -> World:
        return Shelf(things or {"a": "alpha"}, more or {}, settle)

    try:
        return trial.play(
            here,
            trial.Setting(
                Scenario("shelf", "Look at a.", limits=limits, turns=tuple(map(Turn, turns))),
                seat,
                world or made,
                rules=rules,
                agent="agent",
                **setting,
            ),
        )
    finally:
        if loop is None:
            here.close()
