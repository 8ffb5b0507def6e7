"""The tool's own time limit runs out, and its error shows what had come until then."""

from __future__ import annotations

from typing import Literal

from forge_chaos.mechanisms._reply import text_of
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

LIMIT = 30.0
BEFORE = 0.95  # the tool gives up just before a caller who allows it exactly its limit


async def expire(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    shows: Literal["output", "prompt"] = "output",
    share: float = 0.4,
    prompt: str = "Password: ",
) -> Ok | Err:
    """The agent gets a timeout whose text ends in output.

    `output`: the tool runs, and the first `share` of its real output is shown; a tool that fails or
    says nothing is left alone. `prompt`: it stands still at a question that nobody answers, so it does
    nothing and shows the question.
    """
    if shows == "prompt":
        shown = prompt
    else:
        result = await tool(call)
        whole = text_of(result)
        if whole is None or len(whole) < 2:
            return result
        shown = whole[: max(1, int(len(whole) * share))]
    env.fire(shown=len(shown))
    await env.sleep(BEFORE * (env.spec.limit if env.spec else LIMIT))
    return Err("timeout", f"{env.text()}\n{shown}")
