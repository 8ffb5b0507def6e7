"""The answer is right, and far longer than anybody wants: noise without end follows it."""

from __future__ import annotations

from itertools import count
from typing import Literal

from forge_chaos.mechanisms._reply import text_of
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

CHUNK = 1_000


async def swell(
    call: Call, tool: Tool, env: Env, *, into: Literal["lines", "line"] = "lines", size: int = 2_000_000
) -> Ok | Err:
    """The agent gets the true answer, then what a log left at DEBUG would print, `size` characters in all.

    `lines`: the noise is many lines; `line`: it goes on in the last line of the answer without any end.
    An answer without text is left alone.
    """
    result = await tool(call)
    whole = text_of(result)
    if not whole or len(whole) >= size:
        return result
    env.fire(total=size)
    return Ok((whole + _noise(into == "lines", size - len(whole)))[:size])


def _noise(lines: bool, size: int) -> str:
    """So many characters or more: numbered lines, or one run of hexadecimal digits."""
    if not lines:
        return " " + "0badc0de" * (size // 8 + 1)
    made: list[str] = [""]
    length = 0
    for n in count(1):
        made.append(f"DEBUG {n:08d} connection pool: 0 idle, 0 waiting")
        length += len(made[-1]) + 1
        if length >= size:
            return "\n".join(made) + "\n"
    raise AssertionError("unreachable")
