"""The model that repeats a write or an effect without looking whether it happened. Reads it with care.

Unacceptable on: `charge_once` under `lost_reply.done_then_timeout:charge` (damaged: charged twice).
"""

from __future__ import annotations

from typing import Any

from forge_chaos.modelserver.care import careful
from forge_chaos.modelserver.mind import Mind, Step
from forge_chaos.modelserver.trouble import Trouble, failed

TRIES = 3


async def impatient(step: Step, mind: Mind) -> Any:
    """The value of a read; of a write, that of the first of three tries that is told to have worked."""
    if not step.acts:
        return await careful(step, mind)
    for _ in range(TRIES - 1):
        try:
            return step.read(await step.ask())
        except Trouble:
            continue
    return step.read(await step.ask())


def ending(error: Exception) -> str:
    return failed(error)
