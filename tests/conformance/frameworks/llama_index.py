"""llama-index, as https://developers.llamaindex.ai/python/framework/understanding/agent/ shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire

NEVER = 40.0  # seconds: an agent whose tool raised a cancellation waits for its result for ever


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai import OpenAI

    llm = OpenAI(model="gpt-4o", api_key="none", async_openai_client=wire.asynchronous())
    return FunctionAgent(tools=list(functions), llm=llm)


async def play(agent: Any, prompt: str) -> str:
    return str(await asyncio.wait_for(agent.run(user_msg=prompt), NEVER))


KIT = Kit(
    "llama-index",
    "llama_index.llms.openai",
    build,
    play,
    stock="stock/llama_index_files.py:agent",
    unequal={
        "CancelledError": "either way the agent waits for its tool for ever: a test's own limit ends the one, ours the other"
    },
    warns=("ignore::DeprecationWarning",),  # its agents are pydantic models that look at their own old names
)
