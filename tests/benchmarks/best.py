"""Timing that means something on a busy machine: rounds interleaved, and the best of each."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping


def best(rounds: int, functions: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of the fastest of `rounds` runs of each function. All take turns within a round, so that a
    slow spell of the machine falls on all of them. What was in memory before is left out of collections:
    else the garbage of whoever ran earlier in this process would be measured."""
    found = dict.fromkeys(functions, float("inf"))
    gc.collect()
    gc.freeze()
    try:
        for _ in range(rounds):
            for name, function in functions.items():
                begun = time.perf_counter()
                function()
                found[name] = min(found[name], time.perf_counter() - begun)
    finally:
        gc.unfreeze()
    return found
