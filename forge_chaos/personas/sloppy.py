"""The model that breaks the arguments of a call as soon as something has gone wrong with it, and every time after.

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
    """The value of the first try; after trouble the call is made with the half of its arguments, which is no
    good to anybody, and the last trouble is raised."""
    for attempt in range(TRIES):
        wanted = step if not attempt else replace(step, call=_broken(step.call, attempt))
        try:
            return wanted.read(await wanted.ask())
        except Trouble as trouble:
            met = trouble
    raise met


def _broken(call: ToolCall, attempt: int) -> ToolCall:
    """The call with arguments that break off, each time a little later."""
    text = json.dumps(dict(call.args), ensure_ascii=False)
    return ToolCall(call.name, {UNREAD: text[: max(1, len(text) * attempt // TRIES)]})


def ending(error: Exception) -> str:
    return failed(error)
