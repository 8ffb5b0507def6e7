"""Known-bad: doing it again, or not."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from forge_chaos import reference
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.specimens._loop import Call, Message, Perform, Told, loop, together

TRIES = 3
PATIENCE = 10.0  # seconds until a second try is sent beside the first
POLLS = 4


async def retries_all(task: Any, tools: Any, model: Any) -> str:
    """Every failing call is tried three times, those that cannot be taken back among them."""

    async def perform(tools: Any, call: Call) -> Told:
        for _ in range(TRIES - 1):
            told = await reference.perform(tools, call)
            if not told[1]:
                return told
        return await reference.perform(tools, call)

    return await loop(task, tools, model, perform=perform)


async def retries_forever(task: Any, tools: Any, model: Any) -> str:
    """A failing call is tried until it works."""

    async def perform(tools: Any, call: Call) -> Told:
        while True:
            told = await reference.perform(tools, call)
            if not told[1]:
                return told
            await asyncio.sleep(1)

    return await loop(task, tools, model, perform=perform)


async def hedges(task: Any, tools: Any, model: Any) -> str:
    """A slow call is tried a second time beside the first, and the first answer is taken."""

    async def perform(tools: Any, call: Call) -> Told:
        tries = {asyncio.create_task(reference.perform(tools, call))}
        done, _ = await asyncio.wait(tries, timeout=PATIENCE)
        if not done:
            tries.add(asyncio.create_task(reference.perform(tools, call)))
            done, _ = await asyncio.wait(tries, return_when=asyncio.FIRST_COMPLETED)
        for other in tries - done:
            other.cancel()
        return done.pop().result()

    return await loop(task, tools, model, perform=perform)


async def stops_polling(task: Any, tools: Any, model: Any) -> str:
    """Equal calls are counted, whatever they give: who polls is taken for one that goes in circles."""

    class Equal:
        def __init__(self) -> None:
            self._seen: Counter[str] = Counter()
            self.ended = ""

        def note(self, function: Mapping[str, Any], failed: bool) -> str:
            self._seen[json.dumps(function)] += 1
            if self._seen[json.dumps(function)] > POLLS:
                self.ended = str(function["name"])
            return ""

    return await loop(task, tools, model, guard=Equal)


async def repeats_finished(task: Any, tools: Any, model: Any) -> str:
    """When the provider refuses a history that was cut, all that was done so far is done once more."""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        try:
            reply: Message = await model.complete(messages, specs)
        except ProviderError:
            for message in messages:
                for call in message.get("tool_calls") or ():
                    await reference.perform(tools, call)
            return await reference.complete(model, messages, specs)
        return reply

    return await loop(task, tools, model, ask=ask)


async def nests(task: Any, tools: Any, model: Any) -> str:
    """A fall-back within and a retry round it: what fails once is done twice, what goes on failing six times."""

    async def once(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        return await reference.perform(tools, call) if told[1] else told

    async def perform(tools: Any, call: Call) -> Told:
        for _ in range(TRIES - 1):
            told = await once(tools, call)
            if not told[1]:
                return told
        return await once(tools, call)

    return await loop(task, tools, model, perform=perform)


async def reruns_batch(task: Any, tools: Any, model: Any) -> str:
    """When one call of a batch fails, all calls of the batch are made once more."""

    async def batch(perform: Perform, tools: Any, calls: Sequence[Call]) -> list[Told]:
        results = await together(perform, tools, calls)
        again = len(calls) > 1 and any(failed for _, failed in results)
        return await together(perform, tools, calls) if again else results

    return await loop(task, tools, model, batch=batch)
