"""Known-bad: a turn that its caller cancels, and the one after it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from forge_chaos.specimens._loop import Call, Message, Perform, Told, loop, together


async def leaves_calls_open(task: Any, tools: Any, model: Any) -> str:
    """The call that was open when a turn was cancelled never gets an answer in the history."""

    def left(messages: list[Message]) -> list[Message]:
        return []

    return await loop(task, tools, model, left=left)


async def outlives_cancel(task: Any, tools: Any, model: Any) -> str:
    """Its tools run in tasks of their own that no cancel of the run reaches."""

    async def batch(perform: Perform, tools: Any, calls: Sequence[Call]) -> list[Told]:
        return await asyncio.shield(asyncio.ensure_future(together(perform, tools, calls)))

    return await loop(task, tools, model, batch=batch)


async def swallows_cancel(task: Any, tools: Any, model: Any) -> str:
    """A cancel by its caller is taken for the failure of a tool: the run goes on as if nobody had stopped it."""

    async def batch(perform: Perform, tools: Any, calls: Sequence[Call]) -> list[Told]:
        results: list[Told] = []
        for call in calls:
            try:
                results.append(await perform(tools, call))
            except asyncio.CancelledError as error:
                results.append((f"CancelledError: {error}", True))
        return results

    return await loop(task, tools, model, batch=batch)


async def cuts_session(task: Any, tools: Any, model: Any) -> str:
    """Of a session the newest messages are kept by their number alone, a result without its call among them."""
    held = task.session.get("messages", [])
    if task.window is not None:
        task.session["messages"] = held[max(0, len(held) - task.window) :]
    return await loop(replace(task, window=None), tools, model)
