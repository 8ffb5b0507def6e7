"""What is put round the tools or round the whole run: wrappers, a child, a session of two turns."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from forge_chaos import reference
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.specimens._loop import Call, Message, Told, Watched, answer, loop


class Wrapper:
    """A middleware that does nothing."""

    def __init__(self, tools: Any) -> None:
        self.inner = tools
        self.specs, self.limit = tools.specs, tools.limit

    async def call(self, name: str, args: Any = None, *, id: str | None = None) -> Any:
        return await self.inner.call(name, args, id=id)


class Opaque(Wrapper):
    """A middleware that puts its own sentence in the place of an error's."""

    async def call(self, name: str, args: Any = None, *, id: str | None = None) -> Any:
        try:
            return await super().call(name, args, id=id)
        except Exception as error:
            raise RuntimeError("The tool could not be run.") from error


async def wrapped_once(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, Wrapper(tools), model)


async def wrapped_twice(task: Any, tools: Any, model: Any) -> str:
    return await reference.agent(task, Wrapper(Wrapper(tools)), model)


async def opaque(task: Any, tools: Any, model: Any) -> str:
    """What the tool's own error said is lost on its way through two wrappers."""
    return await reference.agent(task, Opaque(Opaque(tools)), model)


async def handles_bare_ones(task: Any, tools: Any, model: Any) -> str:
    """Errors become results, but only of a tool that no middleware is put round; here one is."""
    watched = Watched(tools)

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if told[1] and isinstance(tools, Wrapper) and isinstance(watched.error, Exception):
            raise watched.error
        return told

    return await loop(task, Wrapper(watched), model, perform=perform)


async def delegates(task: Any, tools: Any, model: Any) -> str:
    """The whole task is given to a child, whose report is handed on as it is."""
    child = replace(task, prompt=task.prompt)
    return await reference.agent(child, tools, model)


async def child_dies(task: Any, tools: Any, model: Any) -> str:
    """For a child every failed result is fatal; its parent reports that."""

    class Fatal(Exception):
        """A result of the child was an error."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if told[1]:
            raise Fatal(told[0])
        return told

    try:
        return await loop(task, tools, model, perform=perform)
    except Fatal as fatal:
        return f"FAILED: the child ended: {fatal}"


PATIENCE = 5.0  # seconds of the first turn


async def two_turns(task: Any, tools: Any, model: Any) -> str:
    """A call is open when the first turn is broken off; it is answered as interrupted before the second."""
    return await _turns(task, tools, model, fills=True)


async def leaves_it_open(task: Any, tools: Any, model: Any) -> str:
    """A call is open when the first turn is broken off, and in the second one it still is."""
    return await _turns(task, tools, model, fills=False)


async def _turns(task: Any, tools: Any, model: Any, *, fills: bool) -> str:
    messages: list[Message] = [{"role": "user", "content": task.prompt}]
    try:
        async with asyncio.timeout(PATIENCE):
            return await _turn(task, tools, model, messages)
    except TimeoutError:
        pass
    open_ = messages[-1].get("tool_calls") or []
    if fills:
        messages += [answer(call, "InterruptedError: the user broke this call off") for call in open_]
    messages.append({"role": "user", "content": "Go on, please."})
    return await _turn(task, tools, model, messages)


async def _turn(task: Any, tools: Any, model: Any, messages: list[Message]) -> str:
    """A turn over a history that is kept; results enter it together with the next ones."""
    try:
        for _ in range(task.max_steps):
            reply = await reference.complete(model, messages, tools.specs)
            messages.append(reply)
            calls = reply.get("tool_calls") or []
            if not calls:
                return str(reply.get("content"))
            results = [await reference.perform(tools, call) for call in calls]
            messages += [answer(call, text) for call, (text, _) in zip(calls, results, strict=True)]
    except ProviderError as refusal:
        return f"FAILED: the model refused: {refusal}"
    return "FAILED: out of steps"


__all__ = [
    "child_dies",
    "delegates",
    "handles_bare_ones",
    "leaves_it_open",
    "opaque",
    "two_turns",
    "wrapped_once",
    "wrapped_twice",
]
