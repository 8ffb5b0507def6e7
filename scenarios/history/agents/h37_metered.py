"""A haystack `Agent` that keeps in its state how many files it has read, and leaves the number in reads.txt."""

import json
import os
from typing import Any

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool

TEXT = {"type": "string"}


@component
class Scripted:
    """A chat generator over the model of the trial."""

    def __init__(self, model: Any, specs: list[dict[str, Any]]) -> None:
        self.model, self.specs = model, specs

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **options: Any) -> dict[str, Any]:
        told = self.model.complete([each.to_openai_dict_format() for each in messages], self.specs)
        asked = [
            ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]), id=call["id"])
            for call in told.get("tool_calls") or ()
        ]
        return {"replies": [ChatMessage.from_assistant(told.get("content"), tool_calls=asked)]}


def newest(old: int, new: int) -> int:
    return new


def agent(task, tools, model):
    def read_file(path: str, reads: int = 0) -> dict[str, Any]:
        return {"text": tools.call("read_file", {"path": path}), "reads": reads + 1}

    def write_file(path: str, text: str) -> str:
        return tools.call("write_file", {"path": path, "text": text})

    reading = Tool(
        name="read_file",
        description="Read a text file.",
        parameters={"type": "object", "properties": {"path": TEXT}, "required": ["path"]},
        function=read_file,
        inputs_from_state={"reads": "reads"},
        outputs_to_state={"reads": {"source": "reads"}},
        outputs_to_string={"source": "text"},
    )
    writing = Tool(
        name="write_file",
        description="Write a text file, replacing what was there.",
        parameters={
            "type": "object",
            "properties": {"path": TEXT, "text": TEXT},
            "required": ["path", "text"],
        },
        function=write_file,
    )
    made = Agent(
        chat_generator=Scripted(model, tools.specs),
        tools=[reading, writing],
        state_schema={"reads": {"type": int, "handler": newest}},
    )
    done = made.run(messages=[ChatMessage.from_user(task.prompt)], reads=0)
    tools.call("write_file", {"path": "reads.txt", "text": str(done["reads"])})
    return done["last_message"].text
