"""After the run has returned: late effects land, what is still at work is noted, check commands are run."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Injected, Noted, find
from forge_chaos.gate import ToolGate
from forge_chaos.nouns import Check, Scenario
from forge_chaos.ports import World
from forge_chaos.recorded import Redact, changed, digest, plain
from forge_chaos.recorded import name as named
from forge_chaos.recorder import Recorder

SETTLE = 1.0  # at least so long after the end, late effects are waited for
DURATION = re.compile(r"\bin \d+(?:\.\d+)? ?(?:s|ms|seconds)\b")
Checked = dict[tuple[str, str], Mapping[str, Any]]  # what a check command found, by command and files


async def settled(
    world: World, gate: ToolGate, record: Recorder, scenario: Scenario, checked: Checked | None = None
) -> dict[str, Any]:
    """The world after the settle time, from which on the gate is closed. What `checked` knows of a check command
    on equal files is not found out again. Raises what the world raises that cannot be read any more."""
    loop, redact = asyncio.get_running_loop(), record.redact
    disk = hasattr(world.workspace, "root")
    ended = resources(world, redact) if disk else {}
    virtual = isinstance(loop, VirtualLoop)
    wait = max((spec.settle for spec in world.specs.values()), default=0.0)
    marks = len(record)
    await asyncio.sleep(max(SETTLE, wait) if virtual else min(SETTLE, max(0.3, wait)))
    if virtual and gate.handed():
        await asyncio.wait(gate.handed(), timeout=max(SETTLE, wait) * 10)
    if disk and len(record) == marks:
        others = {name for _, body in find(record.trace, Injected) for name in body.changed}
        later = {k: v for k, v in changed(ended, resources(world, redact)).items() if k not in others}
        if later:
            record(Noted, "changed_after_end", later)
    gate.close()
    alive = {
        "processes": len(world.processes()),
        "threads": loop.threads() if isinstance(loop, VirtualLoop) else 0,
    }
    if any(alive.values()):
        record(Noted, "left_running", {kind: count for kind, count in alive.items() if count})
    after = resources(world, redact)
    for check in (*scenario.full, *scenario.degraded, *scenario.must_not):
        if check.grader == "check_command":
            _check(world, check, record, after, checked if checked is not None else {})
    return after


def _check(world: World, check: Check, record: Recorder, after: Mapping[str, Any], known: Checked) -> None:
    command = check.params["command"]
    seconds = float(check.params.get("seconds", 30))
    key = (str(command), digest(json.dumps(after, sort_keys=True).encode()))
    told = plain(command, record.redact)
    record(Noted, "checking", {"command": told, "seconds": seconds})
    if key not in known:
        done = world.check_command(command, seconds)
        output = DURATION.sub("in a while", str(done["output"]))  # equal runs give equal traces
        known[key] = {"exit": done["exit"], "output": plain(output, record.redact)}
    record(Noted, "check_command", {"command": told, **known[key]})


async def left(gate: ToolGate, seconds: float) -> None:
    """Nothing of this trial runs on into the next one on this loop (`VirtualLoop.clear` does the rest)."""
    here = asyncio.current_task()
    tasks = [t for t in (*asyncio.all_tasks(), *gate.handed()) if t is not here and not t.done()]
    for task in tasks:
        task.cancel("the trial is over")
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
    for task in tasks:
        if task.done() and not task.cancelled():
            task.exception()


def resources(world: World, redact: Redact) -> dict[str, Any]:
    """The ground truth of the world in recorded form."""
    return {named(name, redact): plain(value, redact) for name, value in sorted(world.resources().items())}


__all__ = ["SETTLE", "left", "resources", "settled"]
