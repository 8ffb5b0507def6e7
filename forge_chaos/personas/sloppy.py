"""The model that breaks the arguments of a call as soon as something has gone wrong with it - and of every call,
once it has seen a broken one in the conversation.

Unacceptable on: `sum_orders` under `tool_exception.runtime:read_file(orders.csv)` (gave_up: the second reading,
which would have worked, was asked for in no JSON).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from forge_chaos.modelserver.mind import Mind, Step
from forge_chaos.modelserver.trouble import Trouble, failed
from forge_chaos.modelserver.view import UNREAD, ToolCall

TRIES = 3


async def sloppy(step: Step, mind: Mind) -> Any:
    """The value of the first try. After trouble the call is made again with arguments that break off, which is no
    good to anybody, and the last trouble is raised."""
    for attempt in range(TRIES):
        broken = attempt > 0 or (_seen(mind) and not mind.visible(step.call))
        wanted = replace(step, call=_broken(step.call, attempt)) if broken else step
        try:
            return wanted.read(await wanted.ask())
        except Trouble as trouble:
            met = trouble
    raise met


def _seen(mind: Mind) -> bool:
    """Does the conversation show a call whose arguments were no JSON object?"""
    pairs = mind.view.pairs if mind.view else ()
    return any(call is not None and UNREAD in call.args for call, _ in pairs)


def _broken(call: ToolCall, attempt: int) -> ToolCall:
    """The call with arguments that break off, each time a little later."""
    text = json.dumps(dict(call.args), ensure_ascii=False)
    return ToolCall(call.name, {UNREAD: text[: max(1, len(text) * (attempt + 1) // (TRIES + 1))]})


def ending(error: Exception) -> str:
    return failed(error)
