"""Known-bad: how they shorten a history that has become too long."""

from __future__ import annotations

import json
from typing import Any

from forge_chaos import reference
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.specimens._loop import Message, arguments, loop

MOST = 8  # messages that are still sent whole
WINDOW = 50_000  # characters
SHOWN = 20  # characters of an old argument that are kept


async def cuts_pairs(task: Any, tools: Any, model: Any) -> str:
    """The history is cut to its newest messages, between a call and its result too."""

    def keep(messages: list[Message]) -> list[Message]:
        return messages if len(messages) <= MOST else [messages[0], *messages[1 - MOST :]]

    return await loop(task, tools, model, keep=keep)


async def drops_task(task: Any, tools: Any, model: Any) -> str:
    """The history is cut to its newest messages, and the task is not among them."""

    def keep(messages: list[Message]) -> list[Message]:
        return messages if len(messages) <= MOST else messages[2 - MOST :]

    return await loop(task, tools, model, keep=keep)


async def grows(task: Any, tools: Any, model: Any) -> str:
    """What is too long is summed up in more words than it had."""

    def keep(messages: list[Message]) -> list[Message]:
        if len(messages) <= MOST:
            return messages
        old, new = messages[1:-4], messages[-4:]
        told = "\n".join(f"Then this happened, word for word: {json.dumps(message)}" for message in old)
        return [messages[0], {"role": "user", "content": f"So far:\n{told}\nAgain, in short:\n{told}"}, *new]

    return await loop(task, tools, model, keep=keep)


async def shortens_arguments(task: Any, tools: Any, model: Any) -> str:
    """Old calls stay in the history with their arguments cut short, and a mark where the rest has been."""

    def keep(messages: list[Message]) -> list[Message]:
        return messages if len(messages) <= MOST else [*map(_shortened, messages[:-2]), *messages[-2:]]

    return await loop(task, tools, model, keep=keep)


def _shortened(message: Message) -> Message:
    calls = []
    for call in message.get("tool_calls") or ():
        given = arguments(call)
        short = {
            name: f"{value[:SHOWN]}...[truncated]" if isinstance(value, str) and len(value) > SHOWN else value
            for name, value in given.items()
        }
        calls.append({**call, "function": {**call["function"], "arguments": json.dumps(short)}})
    return {**message, "tool_calls": calls} if calls else message


async def condenses(task: Any, tools: Any, model: Any) -> str:
    """What does not fit the window is summed up by the model, over and over, though it never gets to fit."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        while len(json.dumps(messages)) > WINDOW:
            await reference.complete(model, messages[:1], [])  # what it says is no shorter than the result
        return await reference.complete(model, messages, specs)

    return await loop(task, tools, model, ask=ask)


async def empties(task: Any, tools: Any, model: Any) -> str:
    """A history that the provider refuses is emptied, and an answer is made of nothing."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        try:
            reply: Message = await model.complete(messages, specs)
        except ProviderError:
            return {"role": "assistant", "content": "It is all as it should be.\nDONE"}
        return reply

    return await loop(task, tools, model, ask=ask)
