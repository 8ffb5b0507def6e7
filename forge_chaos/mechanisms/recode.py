"""The answer's bytes are damaged or read under the wrong encoding."""

from __future__ import annotations

from typing import Literal

from forge_chaos.mechanisms._reply import text_of
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def recode(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    before: str = "",
    encoding: str = "utf-8",
    errors: Literal["replace", "surrogateescape"] = "replace",
    raw: bool = False,
) -> Ok | Err:
    """The agent gets the answer as UTF-8 bytes, with the bytes `before` (hexadecimal) in front, read
    back as `encoding`; what cannot be read is met by `errors`, as in `bytes.decode`. `raw`: the bytes
    themselves, as a tool that opens files in binary mode gives them.

    An empty answer, or one that comes out the same, is left alone.
    """
    result = await tool(call)
    whole = text_of(result)
    if not whole:
        return result
    data = bytes.fromhex(before) + whole.encode("utf-8", "surrogatepass")
    if raw:
        env.fire(raw=True)
        return Ok(data)
    garbled = data.decode(encoding, errors)
    if garbled == whole:
        return result
    env.fire(encoding=encoding)
    return Ok(garbled)
