"""The answer is cut: its head is true, the rest is gone, with or without a mark that says so."""

from __future__ import annotations

import re
from typing import Literal

from forge_chaos.mechanisms._reply import structure_of, text_of
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

FIELD = re.compile(r"[^,;|\t ]*")


async def cut(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    of: Literal["json", "text", "lines"] = "text",
    share: float = 0.6,
    marked: bool = False,
) -> Ok | Err:
    """The agent gets the first `share` of the true answer.

    `of` says what can be cut: `json` (an object or a list; what is left is no JSON), `text` (any two
    characters), `lines` (at least two; the cut falls into the first field of a line, as a limit in
    bytes would, so that a reader who counts columns can notice). `marked` appends the variant's text,
    with {shown} and {total} characters filled in. An answer that cannot be cut is left alone.
    """
    result = await tool(call)
    whole = text_of(result)
    if whole is None or (of == "json" and structure_of(result) is None):
        return result
    whole = whole if of == "text" else whole.strip()
    head = _lines(whole, share) if of == "lines" else whole[: max(1, int(len(whole) * share))]
    if not head or head == whole:
        return result
    mark = env.text().replace("{shown}", str(len(head))).replace("{total}", str(len(whole))) if marked else ""
    env.fire(shown=len(head), total=len(whole))
    return Ok(head + mark)


def _lines(whole: str, share: float) -> str:
    lines = whole.splitlines(keepends=True)
    if len(lines) < 2:
        return ""
    place = min(len(lines) - 1, max(1, int(len(lines) * share)))
    field = FIELD.match(lines[place].rstrip())
    begun = field[0][: max(1, len(field[0]) // 2)] if field else ""
    kept = "".join(lines[:place])
    return kept if begun == lines[place].rstrip() else kept + begun
