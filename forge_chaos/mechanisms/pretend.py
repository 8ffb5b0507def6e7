"""The tool says that it has done what was asked, in its usual words, and has done nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

NOTHING: Mapping[str, str] = {}
FILLED = re.compile(r"\{(?:(size|lines) )?(\w+)\}")


async def pretend(call: Call, tool: Tool, env: Env, *, replies: Mapping[str, str] = NOTHING) -> Ok | Err:
    """The agent gets a good reply; the tool is not run.

    The reply is the first of these that the tool's `returns` accepts: the wording of `replies` for
    this tool (names may be globs), with {argument}, {size argument} and {lines argument} filled in
    from the call, and {number} with a number that the tool has not given; the tool's newest good
    reply; "ok". Where none is plausible the call goes through.
    """
    for reply in _replies(call, env, replies):
        if _plausible(reply, env):
            env.fire(reply=reply)
            return Ok(reply)
    return await tool(call)


def _replies(call: Call, env: Env, replies: Mapping[str, str]) -> Iterator[Any]:
    for name, wording in replies.items():
        if fnmatchcase(call.tool, name):
            yield FILLED.sub(lambda m: _filled(call, env, m[1], m[2]), wording)
    for past in reversed(env.past):
        if isinstance(past, Ok):
            yield past.value
    yield "ok"


def _filled(call: Call, env: Env, measure: str | None, name: str) -> str:
    if name == "number" and name not in call.args:
        return str(env.rng.randint(100, 999))
    value = str(call.args.get(name, ""))
    if measure == "size":
        return str(len(value.encode("utf-8", "surrogatepass")))
    if measure == "lines":
        return str(len(value.splitlines()))
    return value


def _plausible(reply: Any, env: Env) -> bool:
    returns = env.spec.returns if env.spec is not None else None
    return returns is None or (isinstance(reply, str) and re.fullmatch(returns, reply, re.S) is not None)
