"""What the gate adds to a tool call that no fault hits: three records, counted against a bare `await`.

A bare await is that of the smallest tool there is, which makes its result and does nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from forge_chaos import catalog, notation
from forge_chaos.gate import ToolGate
from forge_chaos.nouns import Call, Err, Ok, ToolSpec
from forge_chaos.recorder import Recorder
from tests.benchmarks.best import best

CALLS = 5_000
BARS = {"empty": "<= 25 x", "elsewhere": "<= 30 x", "of nothing": ""}
SPEC = ToolSpec("read_file", "", {"type": "object", "properties": {}}, frozenset({"read"}), "path")
ARGS = {"path": "orders.csv"}
ELSEWHERE = "timeout.raises:read_file(invoices.csv)"


async def tool(call: Call) -> Ok | Err:
    return Ok("id,amount")


async def nothing(call: Call) -> None:
    """Not even a result."""


async def idle(loop: asyncio.AbstractEventLoop) -> None:
    call = Call(1, "read_file", dict(ARGS), "orders.csv")
    for _ in range(CALLS):
        await nothing(call)


async def bare(loop: asyncio.AbstractEventLoop) -> None:
    call = Call(1, "read_file", dict(ARGS), "orders.csv")
    for _ in range(CALLS):
        await tool(call)


async def gated(loop: asyncio.AbstractEventLoop, rules: Sequence[catalog.Resolved] = ()) -> None:
    record = Recorder(loop.time)
    gate = ToolGate(rules, {"read_file": SPEC}, record, loop.time)
    for _ in range(CALLS):
        await gate("read_file", ARGS, tool)
    assert len(record) == 3 * CALLS


def ratios(rounds: int = 15) -> dict[str, float]:
    """How many bare awaits the gate adds to a call: with an `empty` plan, with a rule for a target
    `elsewhere`; and, for comparison, how many awaits of a coroutine that makes no result (`of nothing`)."""
    rules = [catalog.resolve(notation.parse(ELSEWHERE), catalog.faults())]
    loop = asyncio.new_event_loop()

    def on_loop(run: Callable[[], Awaitable[None]]) -> Callable[[], object]:
        async def main() -> None:
            await run()

        return lambda: loop.run_until_complete(main())

    try:
        found = best(
            rounds,
            {
                "nothing": on_loop(lambda: idle(loop)),
                "bare": on_loop(lambda: bare(loop)),
                "empty": on_loop(lambda: gated(loop)),
                "elsewhere": on_loop(lambda: gated(loop, rules)),
            },
        )
    finally:
        loop.close()
    added = {name: found[name] - found["bare"] for name in ("empty", "elsewhere")}
    return {
        **{name: seconds / found["bare"] for name, seconds in added.items()},
        "of nothing": added["empty"] / found["nothing"],
    }
