"""A model that words its calls badly until it is told how, and loops round it. The scripted model does the
thinking: what it never got to say as it meant it, it was not asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from forge_chaos import reference
from forge_chaos.modelgate import ModelSeat
from forge_chaos.specimens import replies
from forge_chaos.specimens._loop import Message

Change = Callable[[Message, list[Message]], None]
"""(the reply to be changed, the history): what a bad day does to a reply."""


def mouth(model: Any, change: Change) -> ModelSeat:
    """The model of the trial, behind its gate, each reply of it gone through `change`."""

    async def endpoint(request: Mapping[str, Any]) -> dict[str, Any]:
        reply: dict[str, Any] = deepcopy(await model._send(dict(request)))
        message = reply["choices"][0]["message"]
        before = deepcopy(message)
        change(message, request["messages"])
        if message != before:
            model._withdraw()
        return reply

    return ModelSeat(model.gate, None, endpoint, "scripted")


def misnames(message: Message, history: list[Message]) -> None:
    """A path is given under a wrong name, until a result has told the right one."""
    if any(m["role"] == "tool" and "path (string" in str(m["content"]) for m in history):
        return
    for call in message.get("tool_calls") or ():
        function = call["function"]
        args = json.loads(function["arguments"])
        if "path" in args:
            function["arguments"] = json.dumps({"file_path": args.pop("path"), **args})


async def misnamed(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, tools, mouth(model, misnames))


async def misnamed_and_hidden(task: Any, tools: Any, model: Any) -> str:
    """Wrong arguments are refused, and which ones would be right is not said; nobody counts how often."""
    return await replies.hides_names(task, tools, mouth(model, misnames))


__all__ = ["misnamed", "misnamed_and_hidden", "mouth"]
