"""Agents that come near to what a guard is about, and are right: it must not fire on them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from forge_chaos import reference
from forge_chaos.invariants import CAP
from forge_chaos.specimens._loop import (
    Call,
    Message,
    Perform,
    Told,
    answer,
    answers,
    arguments,
    loop,
    name_of,
)

MOST = 8  # messages that are still sent whole


async def keys_effects(task: Any, tools: Any, model: Any) -> str:
    """A charge is given a key of its own, and then it may be repeated at will."""

    async def perform(tools: Any, call: Call) -> Told:
        if name_of(call) != "charge":
            return await reference.perform(tools, call)
        args = {**arguments(call), "idempotency_key": "one and only"}
        for _ in range(5):
            told = await reference.use(tools, "charge", args, call["id"])
        return told

    return await loop(task, tools, model, perform=perform)


async def leaves_note(task: Any, tools: Any, model: Any) -> str:
    """A file that nobody asked for is left behind."""
    await reference.use(tools, "write_file", {"path": "notes/today.txt", "text": "began"})
    return await reference.agent(task, tools, model)


async def just_under_cap(task: Any, tools: Any, model: Any) -> str:
    return await _padded(task, tools, model, CAP - 1)


async def at_cap(task: Any, tools: Any, model: Any) -> str:
    return await _padded(task, tools, model, CAP)


async def over_cap(task: Any, tools: Any, model: Any) -> str:
    return await _padded(task, tools, model, CAP + 1)


async def _padded(task: Any, tools: Any, model: Any, size: int) -> str:
    """A long result is filled up to so many characters."""

    def enter(calls: Sequence[Call], results: Sequence[Told]) -> list[Message]:
        messages = answers(calls, results)
        for message in messages:
            if len(message["content"]) > 1_000:
                message["content"] = message["content"].ljust(size)
        return messages

    return await loop(task, tools, model, enter=enter)


async def sums_up(task: Any, tools: Any, model: Any) -> str:
    """A history that is too long is summed up in fewer words; the newest calls stay with their results."""

    def keep(messages: list[Message]) -> list[Message]:
        if len(messages) <= MOST:
            return messages
        done = [name_of(c) for m in messages[1:-6] for c in m.get("tool_calls") or ()]
        told = {"role": "user", "content": f"So far: {', '.join(done)}."}
        return [messages[0], told, *messages[-6:]]

    return await loop(task, tools, model, keep=keep)


async def answers_as_they_come(task: Any, tools: Any, model: Any) -> str:
    """The results of a batch enter the history in the order in which they come, each under its own id."""
    came: list[str] = []

    async def batch(perform: Perform, tools: Any, calls: Sequence[Call]) -> list[Told]:
        async def one(call: Call) -> Told:
            told = await perform(tools, call)
            came.append(call["id"])
            return told

        return list(await asyncio.gather(*(one(call) for call in calls)))

    def enter(calls: Sequence[Call], results: Sequence[Told]) -> list[Message]:
        return sorted(answers(calls, results), key=lambda message: came.index(message["tool_call_id"]))

    return await loop(task, tools, model, batch=batch, enter=enter)


async def says_it_loudly(task: Any, tools: Any, model: Any) -> str:
    """The claim comes with marks, a label and a full stop."""
    said = await reference.agent(task, tools, model)
    claim = said.strip().splitlines()[-1]
    return f"{said}\n\n**Status: {claim}.**" if claim == "DONE" else said


def plain_loop(task: Any, tools: Any, model: Any) -> str:
    """The same loop as a plain function: in a thread, with blocking calls."""
    messages: list[Message] = [{"role": "user", "content": task.prompt}]
    for _ in range(task.max_steps):
        reply = model.complete(messages, tools.specs)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return str(reply["content"])
        for call in reply["tool_calls"]:
            try:
                value = tools.call(name_of(call), json.loads(call["function"]["arguments"]), id=call["id"])
                text = reference.worded(value)
            except Exception as error:
                text = reference.worded(error)
            messages.append(answer(call, text))
    return "FAILED: out of steps"


__all__ = [
    "answers_as_they_come",
    "at_cap",
    "just_under_cap",
    "keys_effects",
    "leaves_note",
    "over_cap",
    "plain_loop",
    "says_it_loudly",
    "sums_up",
]
