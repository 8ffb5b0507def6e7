"""`forge-chaos run --targets`: several commands on the same tasks, and one table of them all."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forge_chaos import agents, campaign, registry, settings
from forge_chaos.cli import running
from forge_chaos.errors import Broken, Inconclusive, Misuse
from forge_chaos.judge import clean_pass
from forge_chaos.runs import slug
from forge_chaos.score import counted, is_clean
from forge_chaos.seeds import targets
from forge_chaos.verdict import Trial

NOTHING = "-"  # no trial of this task counts
Runs = Mapping[str, campaign.Run]
Grid = Mapping[str, Mapping[str, str]]


def run(request: running.Request, file: Path) -> int:
    """Run every target, print its report and then the table, return the exit code: 1 when a cell says FAIL.

    Raises Misuse, before anything runs, for a target that cannot be started.
    """
    if request.agent is not None or request.adapter is not None:
        raise Misuse("--targets names the agents: leave --agent and --adapter out.")
    chosen = [target.name for target in targets.read(file)]
    for name in chosen:
        agents.seat(_spec(file, name))
    done: dict[str, campaign.Run] = {}
    for name in chosen:
        with redirect_stdout(sys.stderr):
            found = running.begun(_one(request, file, name))
        if found is None:
            return Inconclusive.exit
        done[name] = found
        if not request.as_json:
            running.show(found.scorecard, found.trials, False)
            sys.stdout.write("\n")
    cells = grid(done, _demand(request))
    exit = code(done, cells)
    if request.as_json:
        sys.stdout.write(json.dumps(as_json(done, cells, exit), indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(table(cells)) + "\n")
    return exit


def _spec(file: Path, name: str) -> str:
    return f"{agents.TARGET}{file}:{name}"


def _one(request: running.Request, file: Path, name: str) -> running.Request:
    out = None if request.out is None else request.out / slug(name)
    return replace(request, agent=_spec(file, name), targets=None, out=out)


def _demand(request: running.Request) -> Demand:
    """A gate of the user's decides where there is one; else every trial under a fault has to end well."""
    asked = running.options_of(request, settings.read(Path.cwd()))
    return Demand(asked.min_clean, 1.0 if asked.fail_under is None else asked.fail_under)


@dataclass(frozen=True, slots=True)
class Demand:
    """The shares of trials that have to end well: without faults, and with them."""

    clean: float = campaign.MIN_CLEAN
    faults: float = 1.0


ALL = Demand()


def cell(trials: Sequence[Trial], demand: Demand = ALL) -> str:
    """PASS when enough of the trials of a task end well: without faults at its goal, with faults acceptably.
    Behind it how many did, of those that count."""
    clean = [clean_pass(trial.facts) for trial in trials if is_clean(trial)]
    under = [trial.judgement.acceptable for trial in counted(trials)]
    if not clean and not under:
        return NOTHING
    enough = all(
        not ended or sum(ended) / len(ended) >= share
        for ended, share in ((clean, demand.clean), (under, demand.faults))
    )
    return f"{'PASS' if enough else 'FAIL'} {sum(clean + under)}/{len(clean + under)}"


def grid(runs: Runs, demand: Demand = ALL) -> dict[str, dict[str, str]]:
    """{task: {target: cell}}: the tasks that were tried, then those that cannot be graded."""
    tried = dict.fromkeys(trial.scenario for run in runs.values() for trial in run.trials)
    left = dict.fromkeys(skipped.scenario for run in runs.values() for skipped in run.scorecard.skipped)
    return {
        task: {
            name: cell([trial for trial in run.trials if trial.scenario == task], demand)
            for name, run in runs.items()
        }
        for task in tried | left
    }


def table(cells: Grid) -> list[str]:
    """The grid in lines."""
    names = next(iter(cells.values()), {})
    rows = [["task", *names], *([task, *row.values()] for task, row in cells.items())]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
    return [lines[0].rstrip(), "-" * len(lines[0]), *(line.rstrip() for line in lines[1:])]


def code(runs: Runs, cells: Grid) -> int:
    """3 before 1 before 2 before 0, over all targets."""
    codes = {run.scorecard.exit for run in runs.values()}
    if any(text.startswith("FAIL") for row in cells.values() for text in row.values()):
        codes.add(1)
    return next((code for code in (Broken.exit, 1, Inconclusive.exit) if code in codes), 0)


def as_json(runs: Runs, cells: Grid, exit: int) -> dict[str, Any]:
    """{"grid": {task: {target: cell}}, "targets": {target: the result of its run}, "exit": code}."""
    render = registry.leaf("renderers", "json")
    return {
        "grid": cells,
        "targets": {name: json.loads(render(run.scorecard, run.trials)) for name, run in runs.items()},
        "exit": exit,
    }
