"""google-adk's `LlmAgent`, as https://google.github.io/adk-docs/tools/function-tools/ and
https://google.github.io/adk-docs/agents/models/ (LiteLLM) show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from google.adk.agents import LlmAgent
    from google.adk.models.lite_llm import LiteLlm, LiteLLMClient

    class Wired(LiteLLMClient):
        async def acompletion(self, model: Any, messages: Any, tools: Any, **more: Any) -> Any:
            return await super().acompletion(model, messages, tools, client=wire.asynchronous(), **more)

    model = LiteLlm("openai/gpt-4o", llm_client=Wired(), api_key="none")
    return LlmAgent(name="assistant", model=model, tools=list(functions))


async def play(agent: Any, prompt: str) -> str:
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    runner = InMemoryRunner(agent=agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="user")
    asked = types.Content(role="user", parts=[types.Part(text=prompt)])
    said = ""
    async for event in runner.run_async(user_id="user", session_id=session.id, new_message=asked):
        for part in (event.content and event.content.parts) or ():
            said = part.text or said
    return said


KIT = Kit("google-adk", "google.adk", build, play, stock="stock/google_adk_files.py:root_agent")
