"""Known-bad: what they make of a reply that is not as it should be. The reference agent's `with_ids`, `complete`
and `perform` show what is right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from forge_chaos import reference
from forge_chaos.specimens._loop import Call, Message, Told, answers, arguments, loop, name_of


async def parses_blindly(task: Any, tools: Any, model: Any) -> str:
    """Arguments are taken for a JSON object, without a thought of what else they can be."""

    async def perform(tools: Any, call: Call) -> Told:
        dict(**json.loads(call["function"]["arguments"]))
        return await reference.perform(tools, call)

    return await loop(task, tools, model, perform=perform)


async def dies_of_unknown_tool(task: Any, tools: Any, model: Any) -> str:
    """A tool that there is not ends the whole run."""

    async def perform(tools: Any, call: Call) -> Told:
        {spec["function"]["name"]: spec for spec in tools.specs}[name_of(call)]
        return await reference.perform(tools, call)

    return await loop(task, tools, model, perform=perform)


async def mends(task: Any, tools: Any, model: Any) -> str:
    """Arguments that did not arrive whole are closed, and the call is run."""

    async def perform(tools: Any, call: Call) -> Told:
        text = call["function"]["arguments"]
        if not arguments(call) and text.startswith("{"):
            call = {**call, "function": {**call["function"], "arguments": text + '"}'}}
        return await reference.perform(tools, call)

    return await loop(task, tools, model, perform=perform)


async def takes_defaults(task: Any, tools: Any, model: Any) -> str:
    """Arguments that are no JSON object count as none, a path that is not given as the folder that was looked at
    last, and the call is run."""
    folder = "."

    async def perform(tools: Any, call: Call) -> Told:
        nonlocal folder
        given = {"path": folder, **arguments(call)}
        if name_of(call) == "list_files":
            folder = given["path"]
        call = {**call, "function": {**call["function"], "arguments": json.dumps(given)}}
        return await reference.perform(tools, call)

    return await loop(task, tools, model, perform=perform)


async def respells_arguments(task: Any, tools: Any, model: Any) -> str:
    """Arguments are kept as they were read and written anew into the history, with characters that no UTF-8 can
    say."""

    class Respelling:
        async def complete(self, messages: Sequence[Message], specs: Sequence[Message] = ()) -> Message:
            reply = await model.complete(messages, specs)
            calls = [
                {**call, "function": _respelt(call["function"])} for call in reply.get("tool_calls") or ()
            ]
            return {**reply, "tool_calls": calls} if calls else reply

    return await loop(task, tools, Respelling())


def _respelt(function: Message) -> Message:
    try:
        text = json.dumps(json.loads(function["arguments"]), ensure_ascii=False)
    except ValueError:
        text = function["arguments"]
    return {**function, "arguments": text}


async def hides_names(task: Any, tools: Any, model: Any) -> str:
    """Wrong arguments are refused, and which ones would be right is not said; nobody counts how often."""

    class Unguarded:
        ended = ""

        def note(self, function: Any, failed: bool) -> str:
            return ""

    async def perform(tools: Any, call: Call) -> Told:
        text, failed = await reference.perform(tools, call)
        return ("Invalid arguments.", True) if failed and "It takes" in text else (text, failed)

    return await loop(task, tools, model, perform=perform, guard=Unguarded)


async def keeps_one_of_an_id(task: Any, tools: Any, model: Any) -> str:
    """The calls of a reply are kept by their id: of equal ones the last is run, and nobody hears of the others."""

    def receive(reply: Message, messages: list[Message]) -> Message:
        calls = {call["id"]: call for call in reply.get("tool_calls") or ()}
        return {**reply, "tool_calls": list(calls.values())} if calls else reply

    return await loop(task, tools, model, receive=receive)


async def merges_equal(task: Any, tools: Any, model: Any) -> str:
    """Equal calls of a reply are one call, which is answered once."""

    def enter(calls: Sequence[Call], results: Sequence[Told]) -> list[Message]:
        first: dict[str, tuple[Call, Told]] = {}
        for call, told in zip(calls, results, strict=True):
            first.setdefault(json.dumps(call["function"]), (call, told))
        return answers([call for call, _ in first.values()], [told for _, told in first.values()])

    return await loop(task, tools, model, enter=enter)


async def remembers_by_id(task: Any, tools: Any, model: Any) -> str:
    """Results are kept by the id of their call, for the whole run: an id that comes again has its answer already."""
    known: dict[str, Told] = {}

    def as_it_is(reply: Message, messages: list[Message]) -> Message:
        return reply

    async def perform(tools: Any, call: Call) -> Told:
        if call["id"] not in known:
            known[call["id"]] = await reference.perform(tools, call)
        return known[call["id"]]

    return await loop(task, tools, model, receive=as_it_is, perform=perform)


async def leaves_nameless(task: Any, tools: Any, model: Any) -> str:
    """A call without an id is run, and its result never finds its way into the history."""

    def as_it_is(reply: Message, messages: list[Message]) -> Message:
        return reply

    def enter(calls: Sequence[Call], results: Sequence[Told]) -> list[Message]:
        return [message for message in answers(calls, results) if message["tool_call_id"]]

    return await loop(task, tools, model, receive=as_it_is, enter=enter)


async def believes_reason(task: Any, tools: Any, model: Any) -> str:
    """A reply whose stop reason says that it is over is the answer, whatever it asks for."""

    def receive(reply: Message, messages: list[Message]) -> Message:
        over = getattr(reply, "finish_reason", None) == "stop"
        return {**reply, "tool_calls": None} if over else reply

    return await loop(task, tools, model, receive=receive)


async def takes_silence(task: Any, tools: Any, model: Any) -> str:
    """A reply that asks for no call is the end, also one that says nothing: then all must be done."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        reply: Message = await model.complete(messages, specs)
        if not reply.get("content") and not reply.get("tool_calls"):
            return {"role": "assistant", "content": "DONE"}
        return reply

    return await loop(task, tools, model, ask=ask)
