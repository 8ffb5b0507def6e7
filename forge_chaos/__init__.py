"""forge-chaos: a fault-injection robustness tester for LLM agents.

    from forge_chaos import Scenario, run

is the door for Python: a task with its set-up and its checks, written where the agent is, and tried.
`Chaos` is what the pytest fixture `chaos` is, `Unacceptable` and `Undecided` how a test of it ends.

PYTEST_DONT_REWRITE: pytest complains about a package of plugins that was imported before it began.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forge_chaos.api import Scenario as Scenario
    from forge_chaos.api import run as run
    from forge_chaos.plugin.door import Chaos as Chaos
    from forge_chaos.plugin.ends import Unacceptable as Unacceptable
    from forge_chaos.plugin.ends import Undecided as Undecided

__version__ = "0.1.0"
_DOOR = {
    "Chaos": "forge_chaos.plugin.door",
    "Scenario": "forge_chaos.api",
    "Unacceptable": "forge_chaos.plugin.ends",
    "Undecided": "forge_chaos.plugin.ends",
    "run": "forge_chaos.api",
}


def __getattr__(name: str) -> Any:
    """What the door offers, loaded when it is first asked for."""
    if name in _DOOR:
        return getattr(import_module(_DOOR[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
