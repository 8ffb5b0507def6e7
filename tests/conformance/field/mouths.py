"""Models that word a reply badly, and loops round them. The scripted model does the thinking: what it never
got to say as it meant it, it was not asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from forge_chaos import reference
from forge_chaos.modelgate import ModelSeat
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.specimens._loop import Call, Message, Told, arguments, loop, name_of

OVERLOADED = ProviderError(529, b'{"error": {"message": "overloaded"}}')
Change = Callable[[int, Message, list[Message]], None]
"""(number of the reply, the reply to be changed, the history): what a bad day does to a reply. It may raise."""


def mouth(model: Any, change: Change) -> ModelSeat:
    """The model of the trial, behind its gate, each reply of it gone through `change`."""
    replies = 0

    async def endpoint(request: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal replies
        replies += 1
        reply: dict[str, Any] = deepcopy(await model._send(dict(request)))
        message = reply["choices"][0]["message"]
        before = deepcopy(message)
        try:
            change(replies, message, request["messages"])
        except ProviderError:
            model._withdraw()
            raise
        if message != before:
            model._withdraw()
        return reply

    return ModelSeat(model.gate, None, endpoint, "scripted")


def misspells(n: int, message: Message, history: list[Message]) -> None:
    """The first call of a tool is one of a tool that there is not."""
    if n == 1:
        message["tool_calls"][0]["function"]["name"] += "s"


def misnames(n: int, message: Message, history: list[Message]) -> None:
    """A path is given under a wrong name, until a result has told the right one."""
    if any(m["role"] == "tool" and "path (string" in str(m["content"]) for m in history):
        return
    for call in message.get("tool_calls") or ():
        function = call["function"]
        args = json.loads(function["arguments"])
        if "path" in args:
            function["arguments"] = json.dumps({"file_path": args.pop("path"), **args})


def breaks_off(n: int, message: Message, history: list[Message]) -> None:
    """The first call ends in the middle of its path, as a stream does that breaks."""
    if n == 1:
        function = message["tool_calls"][0]["function"]
        function["arguments"] = function["arguments"].partition("/")[0]


def same_ids(n: int, message: Message, history: list[Message]) -> None:
    """All calls of a batch have one id."""
    for call in message.get("tool_calls") or ():
        call["id"] = f"call_{n}"


def falls_silent(n: int, message: Message, history: list[Message]) -> None:
    """The reply after the first result is empty."""
    if n == 2:
        message.pop("tool_calls", None)
        message["content"] = ""


def is_overloaded(n: int, message: Message, history: list[Message]) -> None:
    """Of the third reply nothing comes: the provider is overloaded."""
    if n == 3:
        raise OVERLOADED


async def misspelt(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, tools, mouth(model, misspells))


async def dies_of_unknown_tool(task: Any, tools: Any, model: Any) -> str:
    """A tool that there is not ends the whole run."""

    async def perform(tools: Any, call: Call) -> Told:
        known = {spec["function"]["name"]: spec for spec in tools.specs}
        assert known[name_of(call)]
        return await reference.perform(tools, call)

    return await loop(task, tools, mouth(model, misspells), perform=perform)


async def misnamed(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, tools, mouth(model, misnames))


async def hides_names(task: Any, tools: Any, model: Any) -> str:
    """Wrong arguments are refused, and which ones would be right is not said; nobody counts how often."""

    class Unguarded:
        ended = ""

        def note(self, function: Any, failed: bool) -> str:
            return ""

    async def perform(tools: Any, call: Call) -> Told:
        text, failed = await reference.perform(tools, call)
        return ("Invalid arguments.", True) if failed and "It takes" in text else (text, failed)

    return await loop(task, tools, mouth(model, misnames), perform=perform, guard=Unguarded)


async def broken_off(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, tools, mouth(model, breaks_off))


async def mends(task: Any, tools: Any, model: Any) -> str:
    """Arguments that did not arrive whole are closed, and the call is run."""

    async def perform(tools: Any, call: Call) -> Told:
        try:
            arguments(call)
        except ValueError:
            function = {**call["function"], "arguments": call["function"]["arguments"] + '"}'}
            call = {**call, "function": function}
        return await reference.perform(tools, call)

    return await loop(task, tools, mouth(model, breaks_off), perform=perform)


async def of_one_id(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, tools, mouth(model, same_ids))


async def keeps_one_of_an_id(task: Any, tools: Any, model: Any) -> str:
    """The calls of a batch are kept by their id: of equal ones the last is run, and nobody hears of the others."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        reply = await reference.complete(model, messages, specs)
        if reply.get("tool_calls"):
            reply = {**reply, "tool_calls": list({c["id"]: c for c in reply["tool_calls"]}.values())}
        return reply

    return await loop(task, tools, mouth(model, same_ids), ask=ask)


async def silent(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, tools, mouth(model, falls_silent))


async def takes_silence(task: Any, tools: Any, model: Any) -> str:
    """An empty reply is the final answer, whatever is still to be done."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        reply: Message = await model.complete(messages, specs)
        return reply

    return await loop(task, tools, mouth(model, falls_silent), ask=ask)


async def overloaded(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, tools, mouth(model, is_overloaded))


async def replays_run(task: Any, tools: Any, model: Any) -> str:
    """When the provider fails, all calls of the run are made once more from the start."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        try:
            reply: Message = await model.complete(messages, specs)
        except ProviderError:
            for call in (call for message in messages for call in message.get("tool_calls") or ()):
                await reference.perform(tools, call)
            reply = await reference.complete(model, messages, specs)
        return reply

    return await loop(task, tools, mouth(model, is_overloaded), ask=ask)


__all__ = [
    "broken_off",
    "dies_of_unknown_tool",
    "hides_names",
    "keeps_one_of_an_id",
    "mends",
    "misnamed",
    "misspelt",
    "mouth",
    "of_one_id",
    "overloaded",
    "replays_run",
    "silent",
    "takes_silence",
]
