"""Known-bad: what their users are streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from forge_chaos import reference
from forge_chaos.modelserver import sse
from forge_chaos.modelserver.errors import BrokenOff
from forge_chaos.specimens._loop import Message, loop, refused

Event = dict[str, Any]


async def says_it_twice(task: Any, tools: Any, model: Any) -> AsyncIterator[Event]:
    """What had come of an answer when its stream broke stays shown, and all of it is shown again after it."""
    shown = ""

    async def ask(model: Any, messages: list[Message], specs: Any) -> Message:
        nonlocal shown
        try:
            reply: Message = await model.complete(messages, specs)
        except BrokenOff as lost:
            shown = str(lost.came["choices"][0]["message"].get("content") or "")
        except reference.NO_REPLY:
            pass
        else:
            return reply
        return await reference.complete(model, messages, specs)

    answer = await loop(task, tools, model, ask=ask)
    yield {"type": "start"}
    for piece in (*sse.pieces(shown), *sse.pieces(answer)):
        yield {"type": "delta", "text": piece}
    yield {"type": "stop", "text": answer}


async def leaves_it_open(task: Any, tools: Any, model: Any) -> AsyncIterator[Event]:
    """The answer that it gives when the model refuses is streamed without a stop."""
    failed = False

    def told(refusal: Exception) -> str:
        nonlocal failed
        failed = True
        return refused(refusal)

    answer = await loop(task, tools, model, refused=told)
    yield {"type": "start"}
    for piece in sse.pieces(answer):
        yield {"type": "delta", "text": piece}
    if not failed:
        yield {"type": "stop", "text": answer}
