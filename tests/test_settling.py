"""After the end: late effects, what is left at work, and check commands on equal files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Noted, Trace, find
from forge_chaos.gate import ToolGate
from forge_chaos.nouns import Check, Scenario
from forge_chaos.recorder import Recorder
from forge_chaos.settling import left, resources, settled
from tests.gates import Shelf

CHECKED = Scenario("s", "p", full=(Check("check_command", {"command": "make test"}),))


class Checking(Shelf):
    """A shelf that counts how often its check command is run."""

    runs = 0

    def check_command(self, argv: Sequence[str] | str, seconds: float) -> Mapping[str, Any]:
        self.runs += 1
        return {"exit": 0, "output": "Ran 2 tests in 0.04s"}


def driven(world: Shelf, script: Callable[[ToolGate, Recorder], Awaitable[Any]]) -> tuple[Any, Trace]:
    loop = VirtualLoop()
    record = Recorder(loop.time)

    async def main() -> Any:
        return await script(ToolGate((), world.specs, record, loop.time, world=world), record)

    try:
        return loop.run_until_complete(main()), record.trace
    finally:
        loop.close()


def test_what_lands_late_is_in_the_world_that_is_judged() -> None:
    world = Shelf({"a": "1"}, {})

    async def late() -> None:
        await asyncio.sleep(5)
        world.things["a"] = "2"

    async def script(gate: ToolGate, record: Recorder) -> Any:
        gate.hand(late())
        return await settled(world, gate, record, Scenario("s", "p"))

    after, trace = driven(world, script)
    assert after == {"a": "2"}
    assert trace == ()


def test_a_check_command_is_run_once_for_equal_files_and_told_each_time() -> None:
    world, known = Checking({"a": "1"}, {}), dict[tuple[str, str], Mapping[str, Any]]()

    async def script(gate: ToolGate, record: Recorder) -> None:
        for _ in range(2):
            await settled(world, gate, record, CHECKED, known)
        world.things["a"] = "2"
        await settled(world, gate, record, CHECKED, known)

    _, trace = driven(world, script)
    told = [noted.detail for _, noted in find(trace, Noted) if noted.what == "check_command"]
    assert world.runs == 2
    assert told == [{"command": "make test", "exit": 0, "output": "Ran 2 tests in a while"}] * 3


def test_nothing_goes_on_after_it() -> None:
    async def script(gate: ToolGate, record: Recorder) -> bool:
        task = asyncio.ensure_future(asyncio.sleep(1000))
        await asyncio.sleep(0)
        await left(gate, 10.0)
        return task.cancelled()

    cancelled, _ = driven(Shelf({}, {}), script)
    assert cancelled


def test_the_world_is_told_without_secrets_and_in_order() -> None:
    world: Any = Shelf({"b": b"\xff", "a": "secret"}, {})
    found = resources(world, lambda text: text.replace("secret", "***"))
    assert list(found) == ["a", "b"]
    assert found["a"] == "***"
