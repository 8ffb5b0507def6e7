"""The model that makes the same call again and again until it works.

Unacceptable on: `sum_orders` under `missing_file.never@1..:read_file(orders.csv)` (looped).
"""

from __future__ import annotations

from typing import Any

from forge_chaos.modelserver.mind import Mind, Step
from forge_chaos.modelserver.trouble import Trouble, failed


async def stubborn(step: Step, mind: Mind) -> Any:
    """The value, however long it takes. Only the request budget ends this."""
    while True:
        try:
            return step.read(await step.ask())
        except Trouble:
            continue


def ending(error: Exception) -> str:
    return failed(error)
