"""The provider declines the request: too many, too long, out of order, out of money."""

from __future__ import annotations

from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.modelserver.refusals import error
from forge_chaos.modelserver.sse import dump
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env


async def decline(
    call: Call, tool: Tool, env: Env, *, status: int, type: str = "server_error", code: str | None = None
) -> Ok | Err:
    """The agent gets `status` with the provider's own error body, which says the variant's text; the model is
    not asked. A text that names a time to wait says so in the header of the answer, too."""
    text = env.text()
    env.fire(status=status)
    refusal = ProviderError(status, dump(error(type, text, None, code)))
    return Err("runtime", text, refusal)
