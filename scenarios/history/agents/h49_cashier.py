"""A `ChatAgent` of agent-framework, whose client for OpenAI's API asks the model of the trial."""

from typing import Any

from agent_framework import ChatAgent
from agent_framework.openai import OpenAIChatClient
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from forge_chaos.modelserver.transport import transports


async def agent(task, tools, model):
    async def read_file(path: str) -> Any:
        """Read a text file."""
        return await tools.call("read_file", {"path": path})

    async def write_file(path: str, text: str) -> Any:
        """Write a text file, replacing what was there."""
        return await tools.call("write_file", {"path": path, "text": text})

    carrier = DefaultAsyncHttpxClient(transport=transports(model.door)[1])
    api = AsyncOpenAI(api_key="scripted", base_url="http://model/v1", http_client=carrier, max_retries=0)
    client = OpenAIChatClient(model_id="scripted", async_client=api)
    return (await ChatAgent(chat_client=client, tools=[read_file, write_file]).run(task.prompt)).text
