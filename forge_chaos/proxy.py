"""The gate in front of any MCP server, in any language: `forge-chaos proxy --plan RULES -- COMMAND`.

The client sees the server's own tools. Calls that no rule hits pass as they are; a fault comes back as the
error of a tool, or as the changed text of its result. The world behind the server is out of reach, so a
fault that would have to change it only tells what it would have told.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forge_chaos import natural
from forge_chaos.errors import Misuse
from forge_chaos.gate import Resolved, ToolGate
from forge_chaos.inference import spec
from forge_chaos.nouns import Call, Err, Ok, Result, ToolSpec
from forge_chaos.recorder import Recorder

if TYPE_CHECKING:
    from forge_chaos.ports import Gate

WAY = "Install it with: pip install 'forge-chaos[mcp]'."


class Proxy:
    """One session with the server behind `command`. `rules` are those of the plan, `record` its trace."""

    def __init__(
        self, command: Sequence[str], rules: Sequence[Resolved], record: Recorder, seed: int
    ) -> None:
        try:
            from fastmcp.client.transports import StdioTransport
            from fastmcp.server import create_proxy
        except ImportError as error:
            raise Misuse(f"a proxy needs fastmcp: {error}. {WAY}") from None
        self._rules, self._record, self._seed = rules, record, seed
        self._gate: ToolGate | None = None
        self._specs: Mapping[str, ToolSpec] = {}
        transport = StdioTransport(command[0], list(command[1:]), env=dict(os.environ))
        self.server: Any = create_proxy(transport, name="forge-chaos")
        self.server.add_middleware(_middleware(self))

    async def gate(self) -> ToolGate:
        """The gate, over the tools that the server has."""
        if self._gate is None:
            tools = await self.server.list_tools(run_middleware=False)
            self._specs = {
                tool.name: spec(tool.name, tool.description or "", dict(tool.parameters)) for tool in tools
            }
            now = asyncio.get_running_loop().time
            self._gate = ToolGate(self._rules, self._specs, self._record, now, seed=self._seed)
        return self._gate

    def met(self) -> Mapping[str, tuple[int, int]]:
        """What the rules have met so far, as `ToolGate.met` says it; empty before the first call."""
        return self._gate.met() if self._gate is not None else {}

    async def call(self, name: str, args: Mapping[str, Any], go_on: Any) -> Any:
        """One call of the client: what the server gave back, or what the fault makes of it."""
        from fastmcp.exceptions import ToolError
        from fastmcp.tools.base import ToolResult

        gate: Gate = await self.gate()
        given: list[tuple[Any, Any]] = []

        async def real(call: Call) -> Ok | Err:
            done = await go_on(dict(call.args))
            said = _text(done)
            result: Result = Err("tool_error", said) if done.is_error else Ok(said)
            given.append((result, done))
            return result

        result = await gate(name, args, real)
        unchanged = next((done for known, done in given if known is result), None)
        if unchanged is not None:
            return unchanged
        if isinstance(result, Ok):
            before = given[-1][1].structured_content if given else None
            return ToolResult(
                content=result.value if isinstance(result.value, str) else [result.value],
                structured_content=_structured(before, result.value),
            )
        declared = self._specs.get(name)
        target = args.get(declared.target) if declared is not None and declared.target else None
        error = natural.exception(result, target if isinstance(target, str) else None)
        raise ToolError(f"{type(error).__name__}: {error}")


def _text(done: Any) -> str:
    return "\n".join(str(getattr(part, "text", part)) for part in done.content)


def _structured(before: Mapping[str, Any] | None, value: Any) -> dict[str, Any] | None:
    """The structured form of a changed result, where the server gives one and the change still has one: many
    clients refuse text that contradicts it."""
    if before is None:
        return None
    if before.keys() == {"result"} and isinstance(before["result"], str):
        return {"result": value if isinstance(value, str) else json.dumps(value, default=str)}
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _middleware(proxy: Proxy) -> Any:
    from fastmcp.server.middleware import Middleware

    class Faults(Middleware):
        """Every tool call goes through the gate, once."""

        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            message = context.message

            async def go_on(args: dict[str, Any]) -> Any:
                return await call_next(context.copy(message=message.model_copy(update={"arguments": args})))

            return await proxy.call(message.name, message.arguments or {}, go_on)

    return Faults()


__all__ = ["Proxy"]
