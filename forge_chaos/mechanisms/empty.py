"""The tool answers, and there is nothing in its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

NOTHING: Mapping[str, Callable[[], Any]] = {"text": str, "none": lambda: None, "list": list, "object": dict}


async def empty(
    call: Call, tool: Tool, env: Env, *, into: Literal["text", "none", "list", "object"] = "text"
) -> Ok | Err:
    """The agent gets '', None, [] or {} in place of a good answer, as a Python value.

    The tool has run. An error, and an answer that was empty already, are left alone.
    """
    result = await tool(call)
    if isinstance(result, Err) or result.value in (None, "", [], {}):
        return result
    env.fire(into=into)
    return Ok(NOTHING[into]())
