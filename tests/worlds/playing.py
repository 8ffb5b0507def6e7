"""Calls on a world, as short as they can be written."""

from __future__ import annotations

import asyncio
from typing import Any

from forge_chaos import natural
from forge_chaos.nouns import Call, Err, Ok, Scenario
from forge_chaos.ports import World


def scenario(**fields: Any) -> Scenario:
    return Scenario(**{"name": "small", "prompt": "do it", **fields})


async def ask(world: World, tool: str, **args: Any) -> Ok | Err:
    return await world.tools[tool](Call(1, tool, args))


def call(world: World, tool: str, **args: Any) -> Any:
    """The value, or the natural exception."""
    result = asyncio.run(ask(world, tool, **args))
    if isinstance(result, Ok):
        return result.value
    raise natural.exception(result)


def refused(world: World, tool: str, **args: Any) -> Err:
    result = asyncio.run(ask(world, tool, **args))
    assert isinstance(result, Err)
    return result
