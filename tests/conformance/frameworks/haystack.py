"""haystack, as https://docs.haystack.deepset.ai/docs/agent and https://docs.haystack.deepset.ai/docs/tool show it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret

    model = OpenAIChatGenerator(Secret.from_token("none"), "gpt-4o")
    model.async_client = wire.asynchronous()
    return Agent(chat_generator=model, tools=[tool(each) for each in functions])


def tool(function: Callable[..., Any]) -> Any:
    from haystack.tools import Tool

    kind = "async_function" if inspect.iscoroutinefunction(function) else "function"
    text = inspect.getdoc(function) or ""
    made: Any = Tool
    return made(name=function.__name__, description=text, parameters=PATH, **{kind: function})


async def play(agent: Any, prompt: str) -> str:
    from haystack.dataclasses import ChatMessage

    done = await agent.run_async(messages=[ChatMessage.from_user(prompt)])
    return str(done["last_message"].text)


KIT = Kit("haystack", "haystack", build, play, stock="stock/haystack_files.py:agent")
