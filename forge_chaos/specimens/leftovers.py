"""Known-bad: what they leave behind, and how they leave. These belong into a process of their own."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any

from forge_chaos import reference
from forge_chaos.specimens._loop import Call, Perform, Told, arguments, loop, name_of

LATER = 0.1  # real seconds


async def leaves_thread(task: Any, tools: Any, model: Any) -> str:
    """Writes that failed are handed to a thread at the end, which does them when the run is over."""
    here = asyncio.get_running_loop()
    left: list[dict[str, Any]] = []

    def flush(args: dict[str, Any]) -> None:
        time.sleep(LATER)
        asyncio.run_coroutine_threadsafe(reference.use(tools, "write_file", args), here).result()

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if told[1] and name_of(call) == "write_file":
            left.append(arguments(call))
        return told

    try:
        return await loop(task, tools, model, perform=perform)
    finally:
        for args in left:
            here.run_in_executor(None, flush, args)


async def leaves_task(task: Any, tools: Any, model: Any) -> str:
    """A write that failed is handed to a background task, which nobody waits for."""
    over = asyncio.Event()
    left: set[asyncio.Task[None]] = set()

    async def later(args: dict[str, Any]) -> None:
        await over.wait()
        await asyncio.sleep(1)
        await reference.use(tools, "write_file", args)

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if told[1] and name_of(call) == "write_file":
            left.add(asyncio.create_task(later(arguments(call))))
        return told

    try:
        return await loop(task, tools, model, perform=perform)
    finally:
        over.set()


async def blocks(task: Any, tools: Any, model: Any) -> str:
    """After an error it sleeps, and with it everything else in its process."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        while told[1]:
            time.sleep(1)
        return told

    return await loop(task, tools, model, perform=perform)


async def exits(task: Any, tools: Any, model: Any) -> str:
    """An error ends the process, and whatever else runs in it."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if told[1]:
            sys.exit(told[0])
        return told

    return await loop(task, tools, model, perform=perform)


async def leaves_siblings(task: Any, tools: Any, model: Any) -> str:
    """The calls of a batch are sent one after the other, a second apart; the first failure is reported at
    once, and the others go on by themselves."""
    left: set[asyncio.Task[Told]] = set()

    class Failed(Exception):
        """One of the batch has failed."""

    async def batch(perform: Perform, tools: Any, calls: Sequence[Call]) -> list[Told]:
        async def send(place: int, call: Call) -> Told:
            await asyncio.sleep(place)
            return await perform(tools, call)

        running = [asyncio.create_task(send(place, call)) for place, call in enumerate(calls)]
        left.update(running)
        for done in asyncio.as_completed(running):
            text, failed = await done
            if failed and len(calls) > 1:
                raise Failed(text)
        return [task.result() for task in running]

    try:
        return await loop(task, tools, model, batch=batch)
    except Failed as failure:
        return f"FAILED: {failure}"
