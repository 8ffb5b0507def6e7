"""smolagents, as https://huggingface.co/docs/smolagents/tutorials/tools and
https://huggingface.co/docs/smolagents/reference/agents show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from smolagents import OpenAIModel, ToolCallingAgent

    model = OpenAIModel("gpt-4o", api_key="none")
    model.client = wire.synchronous()
    return ToolCallingAgent(tools=[tool(each) for each in functions], model=model)


def tool(function: Callable[..., Any]) -> Any:
    """The form for a function whose source `@tool` cannot read."""
    from smolagents import Tool

    class Read(Tool):
        name = function.__name__
        description = (function.__doc__ or "").strip()
        inputs = {"path": {"type": "string", "description": "The path of the file."}}  # noqa: RUF012  # its form
        output_type = "string"

        def forward(self, path: str) -> Any:
            return function(path)

    return Read()


def play(agent: Any, prompt: str) -> str:
    return str(agent.run(prompt))


KIT = Kit("smolagents", "smolagents", build, play, kinds=("sync",), stock="stock/smolagents_files.py:agent")
