"""Small real gates for tests: a plan, some tools, a virtual loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from forge_chaos import notation
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Trace
from forge_chaos.gate import ToolGate
from forge_chaos.nouns import Call, Err, Fault, Ok, Role, Rule, Tool, ToolSpec, Variant
from forge_chaos.recorder import Recorder


@dataclass(frozen=True)
class Planned:
    """A resolved rule whose mechanism is given as a function."""

    rule: Rule
    mechanism: Callable[[Call, Tool, Any], Awaitable[Ok | Err]]

    @property
    def text(self) -> str:
        return notation.write(self.rule)

    @property
    def fault(self) -> Fault:
        return Fault(self.rule.fault, "failure", "tool", "", "", ("read",), (), {}, (self.variant,))

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
