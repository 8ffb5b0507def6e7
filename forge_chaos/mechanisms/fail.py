"""The call fails at once: an error instead of the call, the tool is not run."""

from __future__ import annotations

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def fail(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    code: str = "runtime",
    type: str | None = None,
    errno: int | None = None,
) -> Ok | Err:
    """The agent gets an exception with the variant's text; nothing has happened in the world.

    `code` is a key of `natural.CODES`. `type` ("module:Type") names any exception type instead, built
    with the text, or with (`errno`, text) as the operating system's errors are.
    """
    text = env.text()
    env.fire(code=code)
    if type is None:
        return Err(code, text)
    return Err(code, text, type=type, arguments=(text,) if errno is None else (errno, text))
