"""openai-agents, as https://openai.github.io/openai-agents-python/tools/ and .../running_agents/ show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from agents import Agent, OpenAIResponsesModel, function_tool

    return Agent(
        name="Reader",
        model=OpenAIResponsesModel("gpt-4o", wire.asynchronous()),
        tools=[function_tool(function) for function in functions],
    )


async def play(agent: Any, prompt: str) -> str:
    from agents import Runner

    return str((await Runner.run(agent, prompt)).final_output)


KIT = Kit("openai-agents", "agents", build, play, stock="stock/openai_agents_files.py:agent")
