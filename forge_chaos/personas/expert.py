"""The model that does everything right: what it reaches is the bar, and it fails nowhere.

Unacceptable on: no built-in scenario under any fault. `modelserver.care` says what right is.
"""

from __future__ import annotations

from typing import Any

from forge_chaos.modelserver.care import careful
from forge_chaos.modelserver.mind import Mind, Step
from forge_chaos.modelserver.trouble import failed


async def expert(step: Step, mind: Mind) -> Any:
    """The value of the step, or Trouble once all that is sensible has been tried."""
    return await careful(step, mind)


def ending(error: Exception) -> str:
    return failed(error)
