"""The side of a cell that runs in the environment: a control without the plan, then the plan.

`python -m forge_chaos.history.play ASK` with ASK = {"setup", "scenario", "rules", "seed", "package"} as JSON.
Two JSON objects come out on standard output, one a line: what became of the control, and of the plan. What the
agent prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from forge_chaos import campaign, judge, story
from forge_chaos.bench import Bench, Setup
from forge_chaos.errors import Broken, Misuse
from forge_chaos.events import Trace
from forge_chaos.executors.child import child
from forge_chaos.order import Order, trial_id
from forge_chaos.verdict import Trial

EVIDENCE = 6  # events that are told
Say = Callable[[Mapping[str, Any]], None]


def main(ask: str) -> None:
    """Play what is asked. Whatever keeps it from an end is said as one more object."""
    mouth = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(told: Mapping[str, Any]) -> None:
        mouth.write(json.dumps(told) + "\n")
        mouth.flush()

    try:
        play(json.loads(ask), say)
    except Misuse as error:
        say({"part": "refused", "why": str(error)})
    except Exception as error:
        import traceback

        traceback.print_exc()
        say({"part": "broken", "why": f"{type(error).__name__}: {error}"})


def play(ask: Mapping[str, Any], say: Say) -> None:
    """The control; and the plan, unless the control says that it would prove nothing. Raises Misuse for what
    this release, or this adapter, does not take."""
    setup, rules = Setup.from_json(ask["setup"]), tuple(ask["rules"])
    home = Bench(replace(setup, agent=None, adapter=None))
    executor = child(setup.to_json(), watchdog=setup.watchdog)
    try:
        options = campaign.Options(plan=",".join(rules), scenarios=ask["scenario"], seed=ask["seed"])
        made = campaign.Campaign(setup, options, executor, executor.hello(), home)
        if not made.scenarios:
            raise Misuse(f"scenario {made.skipped[0].scenario!r} cannot be played: {made.skipped[0].why}.")
        id = trial_id(ask["scenario"], setup.agent or "", rules, ask["seed"], 0)
        order = Order(id, ask["scenario"], rules, ask["seed"])
        for done, trace in executor.run([replace(order, id=f"{id}-control", rules=(), kind="clean"), order]):
            trial = made.judged(done, trace, Path())
            say(_told(trial, trace) | {"release": version(ask["package"])})
            if done.id != order.id and not judge.clean_pass(trial.facts):
                return
    finally:
        executor.close()
        home.close()


def _told(trial: Trial, trace: Trace) -> dict[str, Any]:
    found = trial.judgement
    fired = {hit.rule for hit in trial.facts.fired}
    first = [hit.event for hit in trial.facts.fired[:1]]
    proof = sorted({*(hit.event for hit in trial.facts.fired[1:3]), *found.evidence} - {*first})
    marks = [*first, *proof[len(first) - EVIDENCE :]]
    told = {
        "part": "control" if trial.kind == "clean" else "plan",
        "outcome": found.outcome,
        "why": found.why,
        "lines": story.lines(trace, marks),
    }
    if trial.kind == "clean":
        return told | {"passed": judge.clean_pass(trial.facts)}
    return told | {
        "acceptable": found.acceptable,
        "stale": [rule for rule in trial.rules if rule not in fired],
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise Broken("one argument: what is asked, as JSON.")
    main(sys.argv[1])
