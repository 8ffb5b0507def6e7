"""A crew of one, as https://docs.crewai.com/en/concepts/crews and https://docs.crewai.com/en/concepts/tools show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def model(wire: Wire) -> Any:
    from crewai import LLM

    made = LLM(model="openai/gpt-4o", api_key="none")
    made._client, made._async_client = wire.synchronous(), wire.asynchronous()
    return made


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from crewai import Agent, Crew, Task
    from crewai.tools import tool

    agent = Agent(
        role="Assistant",
        goal="Do what you are told.",
        backstory="You are careful.",
        llm=model(wire),
        tools=[tool(each.__name__)(each) for each in functions],
    )
    return Crew(
        agents=[agent], tasks=[Task(description="{task}", expected_output="The answer.", agent=agent)]
    )


def play(crew: Any, prompt: str) -> str:
    return str(crew.kickoff({"task": prompt}).raw)


KIT = Kit(
    "crewai",
    "crewai",
    build,
    play,
    stock="stock/crewai_files.py:crew",
    warns=(
        "ignore:Cannot set an attribute on 'crewai:ImportWarning",
        "ignore::DeprecationWarning",  # its models look at fields of their own that are deprecated
    ),
)
