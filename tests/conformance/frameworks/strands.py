"""strands, as https://strandsagents.com/latest/documentation/docs/user-guide/quickstart/python/ shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    model = OpenAIModel(wire.asynchronous(), model_id="gpt-4o")
    return Agent(model=model, tools=[tool(function) for function in functions], callback_handler=None)


async def play(agent: Any, prompt: str) -> str:
    agent.messages.clear()  # a new conversation
    return str(await agent.invoke_async(prompt))


KIT = Kit("strands", "strands", build, play, stock="stock/strands_files.py:agent")
