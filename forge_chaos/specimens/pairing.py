"""Known-bad: which answer goes to which call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from forge_chaos.specimens._loop import Call, Message, Perform, Told, answer, answers, loop


async def drops_id(task: Any, tools: Any, model: Any) -> str:
    """An error is told without the id of the call that it answers."""

    def enter(calls: Sequence[Call], results: Sequence[Told]) -> list[Message]:
        messages = answers(calls, results)
        for message, (_, failed) in zip(messages, results, strict=True):
            if failed:
                del message["tool_call_id"]
        return messages

    return await loop(task, tools, model, enter=enter)


async def loses_siblings(task: Any, tools: Any, model: Any) -> str:
    """When one call of a batch fails, the results of its siblings are thrown away."""

    def enter(calls: Sequence[Call], results: Sequence[Told]) -> list[Message]:
        failed = [(call, text) for call, (text, failed) in zip(calls, results, strict=True) if failed]
        return [answer(call, text) for call, text in failed[:1]] or answers(calls, results)

    return await loop(task, tools, model, enter=enter)


async def swaps(task: Any, tools: Any, model: Any) -> str:
    """The results of a batch are given to its calls in the order in which they come in."""

    async def batch(perform: Perform, tools: Any, calls: Sequence[Call]) -> list[Told]:
        running = [asyncio.create_task(perform(tools, call)) for call in calls]
        return [await done for done in asyncio.as_completed(running)]

    return await loop(task, tools, model, batch=batch)


async def answers_twice(task: Any, tools: Any, model: Any) -> str:
    """A call that failed is answered twice: with the error, and with a note on it."""

    def enter(calls: Sequence[Call], results: Sequence[Told]) -> list[Message]:
        notes = [
            answer(call, "This call failed.")
            for call, (_, failed) in zip(calls, results, strict=True)
            if failed
        ]
        return answers(calls, results) + notes

    return await loop(task, tools, model, enter=enter)
