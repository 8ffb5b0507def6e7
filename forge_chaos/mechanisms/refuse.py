"""The call is refused: by the system, by a policy that names another way, or for want of approval."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

ANY: Mapping[str, str] = {}


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
    the call would have changed in a workspace is recorded as `effect`, so that reaching it by another
    route can be told from leaving it alone.
    """
    way = ways.get(call.tool, ways.get("*", ""))
    env.fire(effect=_effect(call, env))
    return Err(code, f"{env.text()} {way}".strip())


def _effect(call: Call, env: Env) -> list[str]:
    """The workspace's paths that the call names, with all that lies below them."""
    if env.world is None:
        return []
    runs = env.spec is not None and "execute" in env.spec.roles
    named: set[str] = set() if runs or call.target is None else {call.target.rstrip("/")}
    for word in _words(call.args, runs):
        named.add(word.removeprefix("./").rstrip("/"))
    there = env.world.workspace.paths()
    found = {
        path for path in there if any(path == name or path.startswith(name + "/") for name in named if name)
    }
    if call.target is not None and not runs and env.spec is not None and "write" in env.spec.roles:
        found.add(call.target)  # a file yet to be made has no path in the workspace
    return sorted(found)


def _words(args: Mapping[str, Any], runs: bool) -> list[str]:
    words: list[str] = []
    for value in args.values():
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, str):
                continue
            if not runs:
                words.append(part)
                continue
            try:
                words += shlex.split(part)
            except ValueError:  # no closing quotation: not a command that would have run
                words += part.split()
    return words
