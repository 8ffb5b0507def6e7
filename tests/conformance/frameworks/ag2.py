"""ag2, as https://docs.ag2.ai/latest/docs/user-guide/ and its pages on agents and tools show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from ag2 import Agent
    from ag2.config import OpenAIConfig

    config = OpenAIConfig(
        model="gpt-4o",
        api_key="none",
        base_url="http://model/v1",
        http_client=wire.http_client(),
        max_retries=0,
    )
    return Agent("reader", config=config, tools=list(functions))


async def play(agent: Any, prompt: str) -> str:
    return str((await agent.ask(prompt)).body)


KIT = Kit("ag2", "ag2", build, play, stock="stock/ag2_files.py:agent")
