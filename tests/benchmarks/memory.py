"""Does what stays in memory grow with the number of trials?"""

from __future__ import annotations

import gc
import tracemalloc

from forge_chaos.bench import Bench, Setup
from forge_chaos.order import Order

RULE = "timeout.raises:read_file"


def growth(trials: int = 150) -> float:
    """Bytes that each trial leaves behind, once everything that is kept on purpose is there."""
    bench = Bench(Setup())

    def run() -> None:
        for n in range(trials):
            bench.trace(Order(f"t{n}", "sum_orders", (RULE,), 1, n))

    tracemalloc.start()
    try:
        run()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        run()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        bench.close()
    return (after - before) / trials
