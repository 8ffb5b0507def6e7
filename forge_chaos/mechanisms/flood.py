"""The model asks for the same call several times over in one reply."""

from __future__ import annotations

from forge_chaos.mechanisms._completion import calls_of, saying
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def flood(call: Call, tool: Tool, env: Env, *, times: int = 2) -> Ok | Err:
    """The first call of the reply stands in it `times` times, each with an id of its own; what else it asks for
    follows. A reply without a call goes on as it is.

    What an honest agent owes it: an answer to each, and its own limit of calls kept. That it carries out a call as
    often as it was asked to is no fault of its own, so a sweep tries calls alone that may be repeated.
    """
    result = await tool(call)
    calls = calls_of(result)
    if not calls:
        return result
    first = calls[0]
    more = [
        {**first, "function": dict(first["function"]), "id": f"call_{call.id}_again_{n}"}
        for n in range(1, times)
    ]
    env.fire(times=times)
    return Ok(saying(result, {"tool_calls": [first, *more, *calls[1:]]}))
