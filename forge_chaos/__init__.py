"""forge-chaos: a fault-injection robustness tester for LLM agents.

    from forge_chaos import Scenario, run

is the door for Python: a task with its set-up and its checks, written where the agent is, and tried.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forge_chaos.api import Scenario as Scenario
    from forge_chaos.api import run as run

__version__ = "0.1.0"
_DOOR = frozenset({"Scenario", "run"})


def __getattr__(name: str) -> Any:
    """What the door offers, loaded when it is first asked for."""
    if name in _DOOR:
        return getattr(import_module("forge_chaos.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
