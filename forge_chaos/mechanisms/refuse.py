"""The call is refused: by the system, by a policy that names another way, or for want of approval."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from errno import EACCES
from typing import Any

from forge_chaos.mechanisms._below import below
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

ANY: Mapping[str, str] = {}
DESTINATIONS = ("destination", "dest", "dst", "new_path")


async def refuse(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    code: str = "blocked",
    ways: Mapping[str, str] = ANY,
) -> Ok | Err:
    """The agent gets a refusal; the tool is not run.

    `ways` names, for each tool (`*`: any other), the allowed way, which is appended to the text. What
    the call would have changed in the world is recorded as `effect`, so that reaching it by another
    route can be told from leaving it alone: for a command, every path that it names. In a fake workspace
    a tool that writes is run, and may not.
    """
    way = ways.get(call.tool, ways.get("*", ""))
    effect = _effect(call, env)
    from_below = below(call, env, EACCES) if code == "permission" and _writes(env) else None
    if from_below is not None:
        with from_below.no_rights(call.target) as tried:
            result = await tool(call)
        if tried():
            env.fire(effect=effect)
        return result
    env.fire(effect=effect)
    return Err(code, f"{env.text()} {way}".strip())


def _writes(env: Env) -> bool:
    return env.spec is not None and "write" in env.spec.roles


def _effect(call: Call, env: Env) -> list[str]:
    """The files and records that the call would have changed, as far as its arguments name them."""
    world, spec = env.world, env.spec
    if world is None or spec is None:
        return []
    if "execute" in spec.roles:
        named = {word.removeprefix("./").rstrip("/") for word in _words(call.args)}
    else:
        named = {
            value.rstrip("/")
            for value in (call.target, *(call.args.get(name) for name in DESTINATIONS))
            if isinstance(value, str)
        }
    paths = world.workspace.paths()
    found = {path for path in paths if any(path == name or path.startswith(name + "/") for name in named)}
    if isinstance(call.args.get("table"), str) and isinstance(call.args.get("id"), str):
        found.add(f"record:{call.args['table']}/{call.args['id']}")
    elif "write" in spec.roles:
        found |= {name for name in named if name and not any(path.startswith(name + "/") for path in paths)}
    return sorted(found)


def _words(args: Mapping[str, Any]) -> list[str]:
    """The words of a command, given as a line or as a list."""
    words: list[str] = []
    for value in args.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                try:
                    words += shlex.split(part)
                except ValueError:  # a quotation without end: take it apart all the same
                    words += part.replace('"', " ").replace("'", " ").split()
    return words
