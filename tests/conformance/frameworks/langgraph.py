"""LangChain's `create_agent`, which is a compiled graph, as https://docs.langchain.com/oss/python/langchain/agents
and https://docs.langchain.com/oss/python/langchain/tools show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    held, waiting = wire.synchronous(), wire.asynchronous()
    model = ChatOpenAI(
        model="gpt-4o",
        api_key="none",
        root_client=held,
        client=held.chat.completions,
        root_async_client=waiting,
        async_client=waiting.chat.completions,
    )
    return create_agent(model, tools=list(functions))


async def play(agent: Any, prompt: str) -> str:
    done = await agent.ainvoke({"messages": [{"role": "user", "content": prompt}]})
    return str(done["messages"][-1].text)


KIT = Kit("langgraph", "langgraph", build, play, stock="stock/langgraph_files.py:agent")
