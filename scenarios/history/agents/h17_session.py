"""One strands agent for a whole session, over a model of chat form."""

import json

from strands import Agent, tool
from strands.models.model import Model

STOPS = {"length": "max_tokens", "tool_calls": "tool_use"}


class OverChat(Model):
    """Asks `model` in chat form, and tells its reply as the framework streams one."""

    def __init__(self, model, tools):
        self.model, self.tools = model, tools

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *args, **options):
        raise NotImplementedError("it is never asked for")
        yield

    async def stream(self, messages, tool_specs=None, system_prompt=None, **options):
        reply = await self.model.complete(list(in_chat_form(messages)), self.tools)
        yield {"messageStart": {"role": "assistant"}}
        for block in blocks(reply):
            if "toolUse" in block:
                start = {key: block["toolUse"][key] for key in ("name", "toolUseId")}
                yield {"contentBlockStart": {"start": {"toolUse": start}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": block["toolUse"]["input"]}}}}
            else:
                yield {"contentBlockStart": {"start": {}}}
                yield {"contentBlockDelta": {"delta": block}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": STOPS.get(reply.finish_reason, "end_turn")}}
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


def blocks(reply):
    if reply.get("content"):
        yield {"text": reply["content"]}
    for call in reply.get("tool_calls") or []:
        function = call["function"]
        yield {"toolUse": {"toolUseId": call["id"], "name": function["name"], "input": function["arguments"]}}


def in_chat_form(messages):
    for message in messages:
        text = "".join(block.get("text", "") for block in message["content"])
        uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        for result in (block["toolResult"] for block in message["content"] if "toolResult" in block):
            shown = "".join(
                part.get("text", "") or json.dumps(part.get("json")) for part in result["content"]
            )
            yield {"role": "tool", "tool_call_id": result["toolUseId"], "content": shown}
        if message["role"] == "assistant":
            calls = [
                {
                    "id": use["toolUseId"],
                    "type": "function",
                    "function": {"name": use["name"], "arguments": json.dumps(use["input"])},
                }
                for use in uses
            ]
            yield {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
        elif text:
            yield {"role": "user", "content": text}


async def agent(task, tools, model):
    @tool
    async def read_file(path: str) -> str:
        """Read a text file."""
        return await tools.call("read_file", {"path": path})

    @tool
    async def write_file(path: str, text: str) -> str:
        """Write a text file, replacing what was there."""
        return await tools.call("write_file", {"path": path, "text": text})

    @tool
    async def list_files(path: str = ".") -> str:
        """List a folder."""
        return await tools.call("list_files", {"path": path})

    if "agent" not in task.session:
        own = [read_file, write_file, list_files]
        task.session["agent"] = Agent(model=OverChat(model, tools.specs), tools=own, callback_handler=None)
    return str(await task.session["agent"].invoke_async(task.prompt)).strip()
