"""What the tests of mechanisms at the model seam share: a provider that gives one reply, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from forge_chaos.nouns import Call, Err, Ok

from .env import Answers, Trial, run

Message = dict[str, Any]
PATH = {"properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["path"]}
TOOLS = [
    {"type": "function", "function": {"name": "read_file", "parameters": PATH}},
    {"type": "function", "function": {"name": "list_all", "parameters": {"properties": {}}}},
]


def asks(*calls: tuple[str, dict[str, Any]], content: str | None = None) -> Message:
    """A message with calls of (tool, arguments), ids c0, c1, ..."""
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for n, (name, args) in enumerate(calls)
    ]
    return {"role": "assistant", "content": content, "tool_calls": made}


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


def reply(message: Message) -> dict[str, Any]:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def met(
    mechanism: Callable[..., Awaitable[Ok | Err]], message: Message | Err, wording: str = "", **params: Any
) -> tuple[Ok | Err, Trial, int]:
    """(what the agent gets, the trial, how often the model was asked) for one request of a mechanism."""
    trial = Trial(wording=wording)
    provider = Answers(message if isinstance(message, Err) else reply(message))
    asked = Call(4, "model", {"messages": [{"role": "user", "content": "task"}], "tools": TOOLS})
    return run(mechanism(asked, provider, trial, **params)), trial, provider.ran


def worded(result: Ok | Err) -> list[tuple[str, str, str]]:
    """(id, tool, arguments) of each call of a reply."""
    assert isinstance(result, Ok)
    calls = result.value["choices"][0]["message"]["tool_calls"]
    return [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls]


def finish(result: Ok | Err) -> str:
    assert isinstance(result, Ok)
    return str(result.value["choices"][0]["finish_reason"])
