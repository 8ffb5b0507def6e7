"""A world of the user's own: a file, and one tool that is a plain function and really takes its time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forge_chaos import registry
from forge_chaos.nouns import Call, Err, Ok, Scenario, Tool, ToolSpec

REAL = 0.2  # seconds that the tool blocks its thread

MEASURE = ToolSpec(
    "measure", "Measures the water.", {"type": "object", "properties": {}}, frozenset({"read", "network"})
)


def measure() -> str:
    """Measures the water."""
    time.sleep(REAL)
    return "level 7"


class Slow:
    """The world of files with `measure` beside its tools, run in a worker thread as a framework would."""

    def __init__(self, scenario: Scenario, sleep: Callable[[float], Any]) -> None:
        self._files = registry.leaf("worlds", "files")(scenario, sleep)
        self.specs: Mapping[str, ToolSpec] = {**self._files.specs, "measure": MEASURE}
        self.tools: Mapping[str, Tool] = {**self._files.tools, "measure": _measure}

    @property
    def workspace(self) -> Any:
        return self._files.workspace

    def resources(self) -> dict[str, Any]:
        found: dict[str, Any] = self._files.resources()
        return found

    def touched(self) -> tuple[str, ...]:
        found: tuple[str, ...] = self._files.touched()
        return found

    def check_command(self, argv: Sequence[str] | str, seconds: float) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._files.check_command(argv, seconds)
        return found

    def processes(self) -> list[int]:
        return []

    def close(self) -> None:
        self._files.close()


async def _measure(call: Call) -> Ok | Err:
    return Ok(await asyncio.get_running_loop().run_in_executor(None, measure))


def slow(scenario: Scenario, sleep: Callable[[float], Any], root: Any = None) -> Slow:
    return Slow(scenario, sleep)
