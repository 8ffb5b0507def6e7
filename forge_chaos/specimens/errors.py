"""Known-bad: what they do with an error, and who gets to know of it."""

from __future__ import annotations

import asyncio
from typing import Any

from forge_chaos import reference
from forge_chaos.specimens._loop import Call, Told, Watched, loop, name_of


async def aborts(task: Any, tools: Any, model: Any) -> str:
    """An exception of a tool ends the whole run."""

    async def perform(tools: Any, call: Call) -> Told:
        watched = Watched(tools)
        told = await reference.perform(watched, call)
        if isinstance(watched.error, Exception):
            raise watched.error
        return told

    return await loop(task, tools, model, perform=perform)


async def dies_of_cancel(task: Any, tools: Any, model: Any) -> str:
    """A cancellation that a tool raises by itself is taken for the caller's."""

    async def perform(tools: Any, call: Call) -> Told:
        watched = Watched(tools)
        told = await reference.perform(watched, call)
        if isinstance(watched.error, asyncio.CancelledError) and "Cancelled" in told[0]:
            raise watched.error
        return told

    return await loop(task, tools, model, perform=perform)


async def hides(task: Any, tools: Any, model: Any) -> str:
    """The text of an error never reaches the model: it is shown an empty result."""

    async def perform(tools: Any, call: Call) -> Told:
        text, failed = await reference.perform(tools, call)
        return ("(no output)", False) if failed else (text, False)

    return await loop(task, tools, model, perform=perform)


async def gives_up(task: Any, tools: Any, model: Any) -> str:
    """The first error is the end, however soon it would pass."""

    class Once:
        ended = ""

        def note(self, function: Any, failed: bool) -> str:
            if failed:
                self.ended = function["name"]
            return ""

    return await loop(task, tools, model, guard=Once)


async def reads_error(task: Any, tools: Any, model: Any) -> str:
    """Any result with the word "error" in it counts as a failure of the tool, and ends the run."""

    class Word(Exception):
        """The word was read."""

    async def perform(tools: Any, call: Call) -> Told:
        text, failed = await reference.perform(tools, call)
        if not failed and "error" in text.lower():
            raise Word(text)
        return text, failed

    try:
        return await loop(task, tools, model, perform=perform)
    except Word:
        return "FAILED: a tool reported an error"


async def answers_with_it(task: Any, tools: Any, model: Any) -> str:
    """Whatever is fatal is made a string: the provider's refusal becomes the answer to the task."""

    def refused(refusal: Exception) -> str:
        return str(refusal)

    return await loop(task, tools, model, refused=refused)


async def boasts(task: Any, tools: Any, model: Any) -> str:
    """Whatever the model says at the end, the user is told that all is done."""
    await loop(task, tools, model)
    return "DONE"


async def says_only_failed(task: Any, tools: Any, model: Any) -> str:
    """Whatever the error, the model is told the same general sentence."""

    async def perform(tools: Any, call: Call) -> Told:
        text, failed = await reference.perform(tools, call)
        return ("The tool could not be run.", True) if failed else (text, False)

    return await loop(task, tools, model, perform=perform)


async def catches_some(task: Any, tools: Any, model: Any) -> str:
    """Only errors of the operating system are told; any other exception of a tool ends the run."""

    async def perform(tools: Any, call: Call) -> Told:
        watched = Watched(tools)
        told = await reference.perform(watched, call)
        if isinstance(watched.error, Exception) and not isinstance(watched.error, OSError):
            raise watched.error
        return told

    return await loop(task, tools, model, perform=perform)


async def takes_for_argument(task: Any, tools: Any, model: Any) -> str:
    """A session that has ended is taken for a wrong argument: nothing is opened again, and nothing retried."""

    class Refused(Exception):
        """The arguments are said to be wrong."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if told[1] and "invalid request" in told[0].lower():
            raise Refused(told[0])
        return told

    try:
        return await loop(task, tools, model, perform=perform)
    except Refused as refused:
        return f"FAILED: wrong arguments: {refused}"


async def breaks_circuit(task: Any, tools: Any, model: Any) -> str:
    """One failure of a tool takes the tool out of service for the rest of the run."""
    broken: set[str] = set()

    async def perform(tools: Any, call: Call) -> Told:
        if name_of(call) in broken:
            return f"RuntimeError: {name_of(call)} is out of service", True
        told = await reference.perform(tools, call)
        if told[1]:
            broken.add(name_of(call))
        return told

    return await loop(task, tools, model, perform=perform)


async def completes_blindly(task: Any, tools: Any, model: Any) -> str:
    """A sub-agent that its provider refused comes back empty, and is reported as completed."""

    def refused(refusal: Exception) -> str:
        return ""

    answer = await loop(task, tools, model, refused=refused)
    return answer or "The sub-agent has completed its task.\nDONE"
