"""A search of an agent in this process, as its tests use it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from forge_chaos import campaign
from forge_chaos.adapters.native import adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.executors.inline import inline
from forge_chaos.fuzzing.found import Result
from forge_chaos.fuzzing.run import fuzz


def fuzzed(
    agent: Any,
    scenarios: str,
    faults: str,
    folder: Path,
    *,
    seed: int = 1,
    budget: int = 300,
    deterministic: bool = True,
    **options: Any,
) -> Result:
    """What a search with that budget finds."""
    home = Bench(Setup())
    bench = Bench(Setup(), seat=replace(adapter.seat(agent), deterministic=deterministic))
    asked = campaign.Options(faults=faults, scenarios=scenarios, seed=seed)
    try:
        made = campaign.Campaign(Setup(agent="frail:agent"), asked, inline(bench), bench.hello(), home)
        options = {"max_rules": 4, **options}
        return fuzz(made, folder, budget=budget, **options)
    finally:
        bench.close()
        home.close()
