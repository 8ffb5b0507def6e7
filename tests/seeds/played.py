"""A scenario played by a native function, without a campaign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from forge_chaos import catalog, facts, judge, registry, trial
from forge_chaos.adapters.native import adapter
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Trace
from forge_chaos.notation import parse
from forge_chaos.nouns import Scenario
from forge_chaos.verdict import Facts, Judgement


def play(scenario: Scenario, agent: Callable[..., Any], rules: Sequence[str] = ()) -> Trace:
    known = catalog.faults()
    setting = trial.Setting(
        scenario=scenario,
        seat=adapter.seat(agent),
        world=registry.leaf("worlds", scenario.world),
        rules=[catalog.resolve(parse(text), known) for text in rules],
        seed=scenario.seed,
    )
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(trial.run(setting))
    finally:
        loop.close()


def judged(scenario: Scenario, agent: Callable[..., Any], *rules: str) -> tuple[Facts, Judgement]:
    found = facts.facts(play(scenario, agent, rules), scenario)
    return found, judge.judge(found, "full" if found.fired else None)
