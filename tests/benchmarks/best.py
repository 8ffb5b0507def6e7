"""Timing that means something on a busy machine: rounds interleaved, and the best of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def best(rounds: int, functions: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of the fastest of `rounds` runs of each function. All take turns within a round, so that a
    slow spell of the machine falls on all of them."""
    found = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            begun = time.perf_counter()
            function()
            found[name] = min(found[name], time.perf_counter() - begun)
    return found
