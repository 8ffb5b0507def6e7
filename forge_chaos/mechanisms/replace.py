"""Something else comes in place of the answer."""

from __future__ import annotations

import json
from typing import Any

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def replace(
    call: Call, tool: Tool, env: Env, *, executes: bool = True, value: dict[str, Any] | None = None
) -> Ok | Err:
    """The agent gets, as a normal answer, the variant's text, or `value` as JSON text.

    With `executes` the tool runs first, and only its answer is lost; an error is left alone. Without
    it nothing happens in the world.
    """
    if executes:
        result = await tool(call)
        if isinstance(result, Err):
            return result
    env.fire(executed=executes)
    return Ok(env.text() if value is None else json.dumps(value))
