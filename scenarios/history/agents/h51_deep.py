"""A deep agent that remembers a conversation, over the tools and the model that it is given."""

import json
from typing import Any

from deepagents import create_deep_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver


class Chat(BaseChatModel):
    """A chat model over a provider that takes messages and tools in OpenAI's form."""

    provider: Any
    offered: Any = ()

    @property
    def _llm_type(self):
        return "chat"

    def bind_tools(self, tools, **options):
        return self.model_copy(update={"offered": [convert_to_openai_tool(each) for each in tools]})

    async def _agenerate(self, messages, stop=None, run_manager=None, **options):
        told = await self.provider.complete(convert_to_openai_messages(messages), self.offered)
        calls = [
            {"name": c["function"]["name"], "args": json.loads(c["function"]["arguments"]), "id": c["id"]}
            for c in told.get("tool_calls") or ()
        ]
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(told.get("content") or "", tool_calls=calls))]
        )

    def _generate(self, messages, stop=None, run_manager=None, **options):
        raise NotImplementedError("it is awaited")


async def agent(task, tools, model):
    async def get_record(table: str, id: str) -> str:
        """Read one record: a JSON object with its id and fields."""
        return await tools.call("get_record", {"table": table, "id": id})

    async def charge(order: str, amount: float) -> str:
        """Charge an order."""
        return await tools.call("charge", {"order": order, "amount": amount})

    async def list_ledger(kind: str, order: str) -> str:
        """What was done for an order: a JSON array of entries."""
        return await tools.call("list_ledger", {"kind": kind, "order": order})

    made = create_deep_agent(
        model=Chat(provider=model),
        tools=[get_record, charge, list_ledger],
        checkpointer=task.session.setdefault("memory", InMemorySaver()),
    )
    thread = {"configurable": {"thread_id": "1"}}
    state = await made.ainvoke({"messages": [{"role": "user", "content": task.prompt}]}, thread)
    return state["messages"][-1].text
