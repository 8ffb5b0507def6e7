"""autogen's `AssistantAgent`, as
https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/tutorial/agents.html shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire

NEVER = 5.0  # seconds: an agent whose tool raised a cancellation waits for its result for ever


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    client: Any = OpenAIChatCompletionClient(model="gpt-4o-2024-08-06", api_key="none")
    client._client = wire.asynchronous()
    return AssistantAgent("assistant", client, tools=list(functions), max_tool_iterations=20)


async def play(agent: Any, prompt: str) -> str:
    done = await asyncio.wait_for(agent.run(task=prompt), NEVER)
    return str(done.messages[-1].to_text())


KIT = Kit(
    "autogen",
    "autogen_agentchat",
    build,
    play,
    stock="stock/autogen_files.py:agent",
    unequal={
        "CancelledError": "either way the agent waits for its tool for ever: a test's own limit ends the one, ours the other"
    },
)
