"""A write stops half-way: a part of what was written stands in the file, the rest is lost."""

from __future__ import annotations

from itertools import takewhile

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env, Workspace


async def tear(
    call: Call, tool: Tool, env: Env, *, tells: bool = True, code: str = "io", share: float = 0.5
) -> Ok | Err:
    """The agent gets an error, or without `tells` the tool's own good reply.

    The tool runs; then only the first `share` of the text that the call brought into the file stands
    there: of the whole file where the call wrote the whole, else of the part that it changed. A call
    that fails, that changes no file at its target, or whose target is in no workspace is left alone.
    """
    workspace, path = env.world.workspace if env.world is not None else None, call.target
    if workspace is None or not path:
        return await tool(call)
    before = _content(workspace, path)
    result = await tool(call)
    after = _content(workspace, path)
    if isinstance(result, Err) or after is None or after == before:
        return result
    given = [value.encode() for value in call.args.values() if isinstance(value, str)]
    torn = _half(b"", after, share) if after in given else _half(before or b"", after, share)
    env.fire(changed=[path], kept=len(torn), total=len(after))
    with workspace.other_hand():
        workspace.write(path, torn)
    return Err(code, env.text()) if tells else result


def _content(workspace: Workspace, path: str) -> bytes | None:
    try:
        return workspace.read(path)
    except (OSError, ValueError):
        return None


def _half(before: bytes, after: bytes, share: float) -> bytes:
    """`after` with only the first share of what is new in it. White space at the end is not worth losing."""
    start = _alike(before, after)
    room = min(len(before), len(after)) - start
    end = min(room, _alike(before[::-1], after[::-1]))
    new = after[start : len(after) - end]
    return after[:start] + new[: int(len(new.rstrip()) * share)] + after[len(after) - end :]


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes at the beginning are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
