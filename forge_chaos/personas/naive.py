"""The model that carries on as if nothing had happened, and says DONE.

Unacceptable on: `sum_orders` under `missing_file.never@1..:read_file(orders.csv)` (false_success: there is no
total).
"""

from __future__ import annotations

from typing import Any

from forge_chaos.modelserver.mind import Mind, Step
from forge_chaos.modelserver.trouble import Trouble


async def naive(step: Step, mind: Mind) -> Any:
    """The value, None where there was trouble."""
    try:
        return step.read(await step.ask())
    except Trouble:
        return None


def ending(error: Exception) -> str:
    return "DONE"
