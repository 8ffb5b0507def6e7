"""Trials per second on one core, against the bare loop: the same agent, world and scripted model with no
gate, no trace and no store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from forge_chaos import reference
from forge_chaos.bench import Bench, Setup
from forge_chaos.campaign import Campaign, Options
from forge_chaos.events import Called, find
from forge_chaos.executors.inline import inline
from forge_chaos.order import Order
from forge_chaos.store import Store
from tests.benchmarks.best import best
from tests.conformance import bare

SCENARIO = "charge_once"
TRIALS = 20
BARS = {"messages": 0.3, "live": 1.5}


def rates(rounds: int = 7) -> dict[str, float]:
    """Trials per second: `bare`, `messages` (judged and stored, through messages), `live` (the path of the
    bar), and `calls`, the tool calls of one trial through messages."""
    setup = Setup()
    bench = Bench(setup)
    scenario = bench.scenario(SCENARIO, 1)
    campaign = Campaign(setup, Options(scenarios=SCENARIO), inline(bench), bench.hello(), bench)
    orders = [Order(f"t{n}", SCENARIO, (), 1, n, "clean") for n in range(TRIALS)]
    loop = asyncio.new_event_loop()

    async def bare_trial() -> None:
        _, world = await bare.run(scenario, reference.agent)
        world.close()

    def alone() -> None:
        for _ in range(TRIALS):
            loop.run_until_complete(bare_trial())

    def live() -> None:
        for _ in range(TRIALS):
            bench.expert(scenario, (), 1)

    with TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "run", campaign.config())

        def stored() -> None:
            for order in orders:
                trace = bench.trace(order)
                store.add(campaign.judged(order, trace, store.directory), trace)
            store.commit()

        try:
            store.plan([order.id for order in orders])
            seconds = best(rounds, {"bare": alone, "messages": stored, "live": live})
        finally:
            store.close()
    trace = bench.trace(replace(orders[0]))
    bench.close()
    loop.close()
    calls = sum(1 for _ in find(trace, Called))
    return {"calls": calls, **{name: TRIALS / spent for name, spent in seconds.items()}}
