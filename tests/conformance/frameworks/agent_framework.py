"""Microsoft's agent-framework, as https://learn.microsoft.com/agent-framework/agents/tools/function-tools shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from agent_framework import Agent
    from agent_framework.openai import OpenAIChatCompletionClient

    client = OpenAIChatCompletionClient(model="gpt-4o", async_client=wire.asynchronous())
    return Agent(client, tools=list(functions))


async def play(agent: Any, prompt: str) -> str:
    return str((await agent.run(prompt)).text)


KIT = Kit("agent-framework", "agent_framework", build, play, stock="stock/agent_framework_files.py:agent")
