"""What trials cost that the agent itself would never end, against one that it ends: a stubborn model, an
agent that swallows every exception, a tool that never returns."""

from __future__ import annotations

from typing import Any

from forge_chaos.adapters.native import adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.order import Order
from tests.benchmarks.best import best

SCENARIO = "sum_orders"


async def swallows(tools: Any) -> str:
    while True:
        try:
            return str(await tools.call("read_file", {"path": "orders.csv"}))
        except Exception:
            continue


def swallows_in_a_thread(tools: Any) -> str:
    while True:
        try:
            return str(tools.call("read_file", {"path": "orders.csv"}))
        except Exception:
            continue


def seconds(rounds: int = 7) -> dict[str, float]:
    """Real seconds of one trial each; `clean` is the reference agent's clean trial."""
    benches = {name: Bench(Setup(persona=name)) for name in ("expert", "stubborn")}
    for name, function in (("async", swallows), ("plain", swallows_in_a_thread)):
        benches[name] = Bench(Setup())
        benches[name].seat = adapter.seat(function)

    def trial(name: str, *rules: str) -> Any:
        return lambda: benches[name].trace(Order("x", SCENARIO, rules, 1))

    try:
        return best(
            rounds,
            {
                "clean": trial("expert"),
                "stubborn": trial("stubborn", "missing_file.never@1..:read_file"),
                "swallowed": trial("async", "timeout.raises@1..:read_file"),
                "swallowed in a thread": trial("plain", "timeout.raises@1..:read_file"),
                "hung": trial("async", "timeout.hangs:read_file"),
                "hung in a thread": trial("plain", "timeout.hangs:read_file"),
            },
        )
    finally:
        for bench in benches.values():
            bench.close()
