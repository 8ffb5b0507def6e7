"""What a search costs beside its trials: an example of Hypothesis's, drawn, tried and judged, against a bare
trial of the same plan."""

from __future__ import annotations

from typing import Any

from forge_chaos.bench import Bench, Setup
from forge_chaos.campaign import Campaign, Options
from forge_chaos.executors.inline import inline
from forge_chaos.fuzzing.attempts import Attempts, Tried
from forge_chaos.fuzzing.search import Search
from forge_chaos.order import Order
from tests.benchmarks.best import best

SCENARIO = "charge_once"
FAULTS = "timeout,lost_reply,tool_exception"
TRIALS = 60
BAR = 3.0


def ratio(rounds: int = 5) -> float:
    """Seconds of an example, drawn from the plans of a search, as a multiple of those of its trial alone."""
    setup = Setup()
    bench = Bench(setup)
    campaign = Campaign(
        setup, Options(faults=FAULTS, scenarios=SCENARIO), inline(bench), bench.hello(), bench
    )
    plans: list[tuple[str, ...]] = []

    class Noted(Attempts):
        """Remembers the plans that were run."""

        def anew(self, scenario: str, texts: tuple[str, ...], once: bool) -> Tried:
            plans.append(texts)
            return super().anew(scenario, texts, once)

    def examples(attempts: Attempts) -> None:
        plans.clear()
        trace: Any = clean
        search = Search(attempts, SCENARIO, trace, campaign.wanted.swept, (), 1, 4, TRIALS)
        search._drawn(0)

    def alone() -> None:
        for texts in plans:
            bench.trace(Order("t", SCENARIO, texts, 1))

    clean = bench.trace(Order("clean", SCENARIO, (), 1, 0, "clean"))
    examples(Noted(campaign, TRIALS))  # what the expert reaches is known from here on
    ran = len(plans)
    found = best(rounds, {"alone": alone, "fuzz": lambda: examples(Noted(campaign, TRIALS))})
    bench.close()
    assert ran == len(plans) == TRIALS, (ran, len(plans))
    return found["fuzz"] / found["alone"]
