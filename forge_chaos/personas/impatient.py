"""The model that repeats what failed, writes and effects too, without looking whether they happened.

Unacceptable on: a charge under `lost_reply` whose effect was done (damaged: charged twice).
"""

from __future__ import annotations

from typing import Any

from forge_chaos.modelserver.mind import Mind, Step
from forge_chaos.modelserver.trouble import Trouble, failed

TRIES = 3


async def impatient(step: Step, mind: Mind) -> Any:
    """The value of one of three tries, one straight after the other."""
    for _ in range(TRIES - 1):
        try:
            return step.read(await step.ask())
        except Trouble:
            continue
    return step.read(await step.ask())


def ending(error: Exception) -> str:
    return failed(error)
