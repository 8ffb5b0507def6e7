"""Searches in this process, and agents that sum up orders.csv with one bug each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from forge_chaos import campaign
from forge_chaos.adapters.native import adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.executors.inline import inline
from forge_chaos.fuzzing.found import Result
from forge_chaos.fuzzing.run import fuzz

SUMS = "sum_orders"
FAULTS = "tool_exception.runtime,tool_exception.connection,tool_exception.os"
RAISES = "tool_exception.runtime:read_file(orders.csv)"


@contextmanager
def made(
    agent: Any,
    faults: str = FAULTS,
    scenarios: str = SUMS,
    *,
    seed: int = 1,
    deterministic: bool = True,
) -> Iterator[campaign.Campaign]:
    """A campaign of the agent, which says of itself whether it is deterministic."""
    home = Bench(Setup())
    bench = Bench(Setup(), seat=replace(adapter.seat(agent), deterministic=deterministic))
    asked = campaign.Options(faults=faults, scenarios=scenarios, seed=seed)
    try:
        yield campaign.Campaign(Setup(agent="small:agent"), asked, inline(bench), bench.hello(), home)
    finally:
        bench.close()
        home.close()


def searched(
    agent: Any,
    folder: Path,
    faults: str = FAULTS,
    scenarios: str = SUMS,
    *,
    seed: int = 1,
    deterministic: bool = True,
    budget: int = 60,
    max_rules: int = 2,
    **options: Any,
) -> Result:
    with made(agent, faults, scenarios, seed=seed, deterministic=deterministic) as campaign:
        return fuzz(campaign, folder, budget=budget, max_rules=max_rules, **options)


def summing(when_it_fails: Callable[[], str]) -> Any:
    """An agent that tries everything three times and is honest. When reading fails first, `when_it_fails` is
    asked."""

    async def agent(tools: Any) -> str:
        for attempt in range(3):
            try:
                text = await tools.call("read_file", {"path": "orders.csv"})
            except Exception as error:
                why = error
                if attempt == 0 and (answer := when_it_fails()):
                    return answer
                continue
            total = sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])
            for _ in range(3):
                try:
                    await tools.call("write_file", {"path": "total.txt", "text": str(total)})
                    return "DONE"
                except Exception as error:
                    why = error
            return f"FAILED: {why}"
        return f"FAILED: {why}"

    return agent


def crashing_of(turns: Callable[[int], bool]) -> Any:
    """Crashes where a read fails for the n-th time since it was made and `turns(n)` says so."""
    count = 0

    def fails() -> str:
        nonlocal count
        count += 1
        if turns(count):
            raise RuntimeError("on this turn")
        return ""

    return summing(fails)


good = summing(lambda: "")
lying = summing(lambda: "DONE")


def needs_both() -> Any:
    """Crashes where both a read and a write have failed."""

    async def agent(tools: Any) -> str:
        failed = 0

        async def call(name: str, args: dict[str, str]) -> str:
            for _ in range(2):
                try:
                    return str(await tools.call(name, args))
                except Exception as error:
                    why = error
            raise why

        async def counted(name: str, args: dict[str, str]) -> str:
            nonlocal failed
            try:
                return str(await tools.call(name, args))
            except Exception:
                failed += 1
                return await call(name, args)

        try:
            text = await counted("read_file", {"path": "orders.csv"})
            total = sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])
            await counted("write_file", {"path": "total.txt", "text": str(total)})
        except Exception as error:
            return f"FAILED: {error}"
        assert failed < 2
        return "DONE"

    return agent
