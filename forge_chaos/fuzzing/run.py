"""A whole search: the scenarios in turn, every failure replayed in a fresh process, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from forge_chaos import notation, story
from forge_chaos.agents import stock
from forge_chaos.bench import SCRIPTED, Setup
from forge_chaos.campaign import Campaign, Progress, silent
from forge_chaos.events import Event, Trace
from forge_chaos.fuzzing.attempts import Attempts, Spent
from forge_chaos.fuzzing.found import Failure, Result
from forge_chaos.fuzzing.search import Search, Shrunk
from forge_chaos.nouns import Rule
from forge_chaos.verdict import Outcome, Skipped, Trial

EVIDENCE = 6  # lines of the trace that are shown
EXAMPLES = "examples.jsonl"  # every trial in its order, in the run's directory
CAUSES = (
    "Usual causes: state kept in a module from one trial to the next, the clock, dice without a seed, "
    "the order of a set, threads, the network."
)


class Enough(Exception):
    """As many failures as were asked for."""


def fuzz(
    made: Campaign,
    directory: Path,
    *,
    budget: int,
    max_rules: int,
    outcome: Outcome | None = None,
    most: int | None = None,
    progress: Progress = silent,
    told: Callable[[Failure], Failure] = lambda failure: failure,
) -> Result:
    """Search every scenario of `made` for plans that break its agent. `told` gets each failure when it is
    known and may add to it; after the `most`-th the search ends. Ctrl-C ends the search: what was found is given back all the same."""
    attempts = Attempts(made, budget, progress)
    failures: list[Failure] = []
    flaky: list[Failure] = []
    notes: list[str] = []
    cells = 0
    names = [scenario.name for scenario in made.scenarios]
    skipped = list(made.skipped)
    try:
        for number, name in enumerate(names):
            share = attempts.left // (len(names) - number)
            until = attempts.spent + share
            clean = attempts.clean(name)
            if isinstance(clean, Skipped):
                skipped.append(clean)
                continue
            search = _search(attempts, name, clean, until, max_rules, outcome)
            cells += len(search.cells)
            if not search.cells:
                skipped.append(Skipped(name, "none of the faults asked for has a place in its clean trial"))
                continue
            for shrunk in search.run():
                failure = told(_confirmed(attempts, shrunk))
                (failures if failure.failed else flaky).append(failure)
                if most is not None and len(failures) >= most:
                    raise Enough
    except Enough:
        notes.append(f"The search ended with failure {most}; there may be others.")
    except Spent:
        notes.append(f"The budget of {budget} trials was spent before every scenario was searched.")
    except KeyboardInterrupt:
        notes.append(f"Stopped after {attempts.spent} of {budget} trials.")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / EXAMPLES).write_text(
        "".join(json.dumps(line) + "\n" for line in attempts.log), encoding="utf-8"
    )
    broken = tuple(
        f"{trial.scenario} under {', '.join(trial.rules)}: {trial.judgement.why}" for trial in attempts.broken
    )
    return Result(
        directory=str(directory),
        agent=made.agent,
        seed=made.options.seed,
        budget=budget,
        trials=attempts.spent,
        fired=attempts.fired,
        cells=cells,
        failures=tuple(failures),
        flaky=tuple(flaky),
        skipped=tuple(skipped),
        broken=broken,
        notes=tuple(notes),
        exit=_exit(failures, flaky, broken, attempts.fired),
        demonstration=made.setup.agent is None,
    )


def _exit(failures: Sequence[Failure], flaky: Sequence[Failure], broken: Sequence[str], fired: int) -> int:
    if broken:
        return 3
    if failures:
        return 1
    return 2 if flaky or not fired else 0


def _search(
    attempts: Attempts,
    name: str,
    clean: Trace,
    until: int,
    max_rules: int,
    outcome: Outcome | None,
) -> Search:
    made = attempts.made
    fixed = [_named(rule, made) for plan in made.wanted.plans for rule in plan]
    return Search(
        attempts,
        name,
        clean,
        made.wanted.swept,
        fixed,
        made.options.seed,
        max_rules,
        until,
        outcome,
    )


def _named(rule: Rule, made: Campaign) -> Rule:
    """The rule with its variant, which may be left out where it is the first."""
    return replace(rule, variant=made.home.resolve(notation.write(rule)).variant.id)


def _confirmed(attempts: Attempts, shrunk: Shrunk) -> Failure:
    """The failure, its plan run again in a process in which the agent has done nothing before."""
    tried, made = shrunk.tried, attempts.made
    scenario = made.home.scenario(shrunk.key.scenario, made.options.seed)
    failure = Failure(
        key=shrunk.key,
        plan=tuple(map(notation.write, shrunk.plan)),
        seed=made.options.seed,
        hash=scenario.hash,
        why=tried.trial.judgement.why,
        evidence=tried.trial.judgement.evidence,
        lines=tuple(_convicting(tried.trial, tried.trace)),
        layer=layer(made.setup),
        at=shrunk.at,
        trials=shrunk.trials,
        minimal=shrunk.minimal,
        simpler=shrunk.simpler,
        failed=tried.failed,
        runs=tried.runs,
    )
    if not made.deterministic:
        return failure
    try:
        attempts.fresh()
        again = attempts.anew(shrunk.key.scenario, failure.plan, once=True)
        differs = story.difference(tried.trace, again.trace, timed=made.timed)
        if differs is None:
            return replace(failure, replayed=True)
        failure = replace(failure, differs=(_line(differs[0]), _line(differs[1])), minimal=False)
        attempts.fresh()
        again = attempts.anew(shrunk.key.scenario, failure.plan, once=False)
    except Spent:
        return failure
    same = again.failed if again.key == shrunk.key else 0
    return replace(failure, replayed=bool(same), failed=same, runs=again.runs)


def _line(event: Event | None) -> str:
    return story.line(event) if event is not None else "nothing more"


def _convicting(trial: Trial, trace: Trace) -> list[str]:
    """The lines of the trace that convict: the faults, and what the judgement rests on."""
    marks = sorted({*(fired.event for fired in trial.facts.fired[:3]), *trial.judgement.evidence})
    return story.lines(trace, marks[-EVIDENCE:])


def layer(setup: Setup) -> str:
    """Whose fault it is, where that follows from who played: the expert's model never fails by itself,
    and neither does our own agent."""
    if setup.model == SCRIPTED and setup.persona == "expert":
        return "harness"
    if setup.agent is None or (stock(setup.agent) and setup.agent == "reference"):
        return "model"
    return "unknown"
