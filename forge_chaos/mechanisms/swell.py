"""The answer is right, and far longer than anybody wants: noise without end follows it."""

from __future__ import annotations

from typing import Literal

from forge_chaos.mechanisms._reply import text_of
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

BLOCK = "".join(f"DEBUG {n:04d} connection pool: 0 idle, 0 waiting\n" for n in range(1_000))
RUN = "0badc0de"
PART = ("limit", "max_lines", "max_chars", "max_bytes", "lines", "count", "head", "tail", "page_size")


async def swell(
    call: Call, tool: Tool, env: Env, *, into: Literal["lines", "line"] = "lines", size: int = 2_000_000
) -> Ok | Err:
    """The agent gets the true answer, then what a log left at DEBUG would print, `size` characters in all.

    `lines`: the noise is many lines; `line`: it goes on in the last line of the answer without any end.
    An answer without text, and one to a call that asks for a part alone, are left alone.
    """
    result = await tool(call)
    if any(isinstance(call.args.get(name), int) for name in PART):
        return result
    whole = text_of(result)
    if not whole or len(whole) >= size:
        return result
    env.fire(total=size)
    return Ok((whole + _noise(into == "lines", size - len(whole)))[:size])


def _noise(lines: bool, size: int) -> str:
    """So many characters or more: numbered lines, or one run of hexadecimal digits."""
    block = BLOCK if lines else RUN
    return ("\n" if lines else " ") + block * (size // len(block) + 1)
