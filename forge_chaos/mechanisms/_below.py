"""Trouble that comes from below: the agent's own code runs, and its own `open` meets the error.

Only a fake file system can do that, and only with the words of the operating system: where a rule asks
for others (`bare`, `misleading`), and on any other workspace, the error stands in place of the call.
"""

from __future__ import annotations

import os
from typing import Any

from forge_chaos.nouns import Call
from forge_chaos.ports import Env


def below(call: Call, env: Env, number: int) -> Any:
    """The fake workspace that can give this call the error `number` at its target; else None."""
    workspace: Any = env.world.workspace if env.world is not None else None
    if not call.target or not hasattr(workspace, "no_room"):
        return None
    return workspace if env.text() == f"{os.strerror(number)}: '{call.target}'" else None
