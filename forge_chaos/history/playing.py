"""The side of a cell that stays here: its process, its time limit, and what its words come to."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from forge_chaos.bench import Setup
from forge_chaos.history import bounded, environment
from forge_chaos.history.cell import Cell, Side
from forge_chaos.history.releases import parsed
from forge_chaos.regression import Regression

PLAY = (
    "-P",
    "-m",
    "forge_chaos.history.play",
)  # -P: nothing of the working directory comes before the packages
INHERITED = {"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV", "FORGE_CHAOS_MODEL"}  # and not here
TOLD = 12  # lines of what a process that failed has printed
NOTHING = "No rule fired; as a clean trial it is "


@dataclass(frozen=True, slots=True)
class Task:
    """One cell to be played: the file with its rules in full and its setup, in that environment. `seconds` is
    the limit of the control, and again of the plan, `times` how often it is played."""

    file: Regression
    setup: Setup
    wanted: environment.Wanted
    side: Side
    seconds: float
    times: int = 1

    def cell(self, **found: Any) -> Cell:
        return Cell(self.file.name, self.wanted.package, self.wanted.version, self.side, **found)


def played(task: Task, place: Path, stopped: Event) -> Cell:
    """The cell, played once in the environment at `place`."""
    ask = {
        "setup": task.setup.to_json(),
        "scenario": task.file.scenario,
        "rules": task.file.rules,
        "seed": task.file.seed,
        "package": task.wanted.package,
    }
    outside = {name: value for name, value in os.environ.items() if name not in INHERITED}
    outside |= {"PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1"}
    command = [str(environment.python(place)), *PLAY, json.dumps(ask)]
    ended = bounded.run(command, task.seconds, stopped, outside)
    clean = _cleaner(task, place)
    parts: dict[str, Any] = {}
    for line in ended.out.splitlines():
        told = json.loads(clean(line))
        parts[told["part"]] = told
    tail = clean("\n".join(ended.err.strip().splitlines()[-TOLD:]))
    return task.cell(**_found(parts, ended.code, tail, task))


def _found(parts: Mapping[str, Any], code: int | None, tail: str, task: Task) -> dict[str, Any]:
    """What the words of the process come to, as fields of a cell."""
    control, plan = parts.get("control"), parts.get("plan")
    passed = control is not None and control["passed"]
    said_all = plan is not None or "refused" in parts or (control is not None and not passed)
    if "broken" in parts or (code is not None and not said_all):
        after = "after the control" if parts else "and said nothing"
        why = parts.get("broken", {}).get("why", f"the process ended with {code} {after}")
        return {"kind": "broken", "why": why, "lines": tuple(tail.splitlines())}
    if control is None or not control["passed"]:
        if control is not None:
            why = control["why"].removeprefix(NOTHING)
            why = why if why != control["why"] else f"{control['outcome']}: {why}"
            return {"kind": "control failed", "why": why, "lines": tuple(control["lines"])}
        late = f"no end within {task.seconds:g} seconds, without any fault"
        return {"kind": "control failed", "why": parts.get("refused", {}).get("why", late)}
    if plan is None and "refused" in parts:
        return {"kind": "control failed", "why": parts["refused"]["why"]}
    if plan is None:
        why = (
            f"No end within {task.seconds:g} seconds, after a control that passed. Its processes were killed."
        )
        return {"kind": "hung", "outcome": "hung", "why": why}
    found = {"outcome": plan["outcome"], "why": plan["why"], "lines": tuple(plan["lines"])}
    release = plan["release"]
    if parsed(release) != parsed(task.wanted.version):
        return {"kind": "broken", "why": f"{release} was played instead."}
    if plan["stale"]:
        return {**found, "kind": "not fired", "why": f"{', '.join(plan['stale'])} did not fire."}
    if plan["outcome"] == "invalid":
        return {**found, "kind": "broken"}
    if plan["outcome"] == "unfair":
        return {**found, "kind": "unfair"}
    return {**found, "kind": "good" if plan["acceptable"] else "bad"}


def _cleaner(task: Task, place: Path) -> Any:
    """Takes the folders of this machine out of a text: what is published names none."""
    places = {
        str(place): "ENVIRONMENT",
        task.wanted.ours: "forge_chaos",
        str(Path(task.wanted.ours).parent): "FORGE_CHAOS",
        task.setup.home or "": "HERE",
        str(task.file.path.absolute().parent): "HERE",
        os.getcwd(): "HERE",
        str(Path.home()): "HOME",
    }
    known = sorted((name for name in places if len(name) > 1), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, known)))
    workspace = re.compile(r"(?:/[\w.-]+)+/forge-chaos-\d+-[\w-]+")
    return lambda text: pattern.sub(lambda found: places[found[0]], workspace.sub("WORKSPACE", text))
