"""Known-bad: what they do when the model's provider refuses. The reference agent's `complete` shows what is
right."""

from __future__ import annotations

import asyncio
from typing import Any

from forge_chaos import reference
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.specimens._loop import Message, loop


async def gives_up_at_once(task: Any, tools: Any, model: Any) -> str:
    """The first refusal of the provider is the end, also one that says how soon it passes."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        reply: Message = await model.complete(messages, specs)
        return reply

    return await loop(task, tools, model, ask=ask)


async def dies_of_refusal(task: Any, tools: Any, model: Any) -> str:
    """What the provider refuses is nobody's to catch."""

    class Refused(Exception):
        """Not one of those that are expected of a model."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        try:
            reply: Message = await model.complete(messages, specs)
        except reference.NO_REPLY as refusal:
            raise Refused(str(refusal)) from refusal
        return reply

    return await loop(task, tools, model, ask=ask)


async def asks_for_ever(task: Any, tools: Any, model: Any) -> str:
    """What the provider refuses is sent again until it passes, also what never will."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        while True:
            try:
                return await reference.complete(model, messages, specs)
            except reference.NO_REPLY:
                await asyncio.sleep(reference.PAUSE)

    return await loop(task, tools, model, ask=ask)


async def waits_for_hours(task: Any, tools: Any, model: Any) -> str:
    """It waits as long as the provider asks, however long that is."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        while True:
            try:
                return await reference.complete(model, messages, specs)
            except ProviderError as refusal:
                if not refusal.retry_after:
                    raise
                await asyncio.sleep(refusal.retry_after)

    return await loop(task, tools, model, ask=ask)


async def starts_again(task: Any, tools: Any, model: Any) -> str:
    """When the provider refuses, all calls of the run are made once more from the start."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        try:
            reply: Message = await model.complete(messages, specs)
        except reference.NO_REPLY:
            for call in (call for message in messages for call in message.get("tool_calls") or ()):
                await reference.perform(tools, call)
            reply = await reference.complete(model, messages, specs)
        return reply

    return await loop(task, tools, model, ask=ask)
