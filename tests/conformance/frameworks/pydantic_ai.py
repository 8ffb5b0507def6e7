"""pydantic-ai, as https://ai.pydantic.dev/agents/ and https://ai.pydantic.dev/tools/ show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(openai_client=wire.asynchronous()))
    return Agent(model, tools=list(functions), retries=3)


async def play(agent: Any, prompt: str) -> str:
    return str((await agent.run(prompt)).output)


KIT = Kit("pydantic-ai", "pydantic_ai", build, play, stock="stock/pydantic_ai_files.py:agent")
