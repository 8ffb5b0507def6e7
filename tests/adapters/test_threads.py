from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from types import SimpleNamespace
from typing import Any

import pytest

from forge_chaos.adapters._threads import Over, blocking, sleeps
from forge_chaos.clock import VirtualLoop


def on_a_loop(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main())
    finally:
        loop.close()


def test_a_thread_that_waits_lets_virtual_time_pass() -> None:
    async def main() -> tuple[str, float]:
        async def slow() -> str:
            await asyncio.sleep(3600)
            return "late"

        async with blocking() as door:
            said = await door.run(lambda: door.wait(slow))
        return said, asyncio.get_running_loop().time()

    assert on_a_loop(main) == ("late", 3600.0)


def test_work_is_done_in_the_thread_that_waits() -> None:
    async def main() -> tuple[int, int, int]:
        loop = asyncio.get_running_loop()

        async def wanted(here: Executor) -> int:
            await asyncio.sleep(60)
            return await loop.run_in_executor(here, threading.get_ident)

        async with blocking() as door:
            here, there = await door.run(lambda: (threading.get_ident(), door.serve(wanted)))
        return here, there, threading.get_ident()

    here, there, loop_thread = on_a_loop(main)
    assert here == there != loop_thread


def test_time_stands_still_while_the_thread_works() -> None:
    """Else a 30 s timer beside a tool that computes would go off at once."""

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        log: list[str] = []
        go = threading.Event()

        async def wanted(here: Executor) -> None:
            def work() -> None:
                go.wait(0.2)
                log.append("worked")

            await loop.run_in_executor(here, work)

        async def timer() -> None:
            await asyncio.sleep(30)
            log.append("timer")

        async with blocking() as door:
            ticking = asyncio.create_task(timer())
            await door.run(lambda: door.serve(wanted))
            await ticking
        return log

    assert on_a_loop(main) == ["worked", "timer"]


def test_a_call_within_a_call_parks_the_thread_again() -> None:
    async def main() -> tuple[str, float]:
        loop = asyncio.get_running_loop()

        async def inner() -> str:
            await asyncio.sleep(50)
            return "inner"

        async with blocking() as door:

            async def outer(here: Executor) -> str:
                return await loop.run_in_executor(here, lambda: door.wait(inner))

            said = await door.run(lambda: door.serve(outer))
        return said, loop.time()

    assert on_a_loop(main) == ("inner", 50.0)


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("k"), StopIteration(3)], ids=repr)
def test_what_the_work_raises_comes_back(error: Exception) -> None:
    def fail() -> None:
        raise error

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def wanted(here: Executor) -> None:
            await loop.run_in_executor(here, fail)

        async with blocking() as door:
            await door.run(lambda: door.serve(wanted))

    kind = RuntimeError if isinstance(error, StopIteration) else type(error)
    with pytest.raises(kind):
        on_a_loop(main)


def test_a_thread_that_still_waits_at_the_end_is_told_so() -> None:
    ended: list[BaseException] = []

    async def main() -> None:
        async def never(here: Executor) -> None:
            await asyncio.get_running_loop().create_future()

        async with blocking() as door:

            def work() -> None:
                try:
                    door.serve(never)
                except BaseException as error:
                    ended.append(error)

            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            await asyncio.sleep(1)
        while thread.is_alive():
            await asyncio.get_running_loop().run_in_executor(None, thread.join, 0.1)

    on_a_loop(main)
    assert [type(each) for each in ended] == [Over]


def test_the_loops_own_thread_must_not_wait_for_itself() -> None:
    async def main() -> None:
        async with blocking() as door:
            door.wait(lambda: asyncio.sleep(1))

    with pytest.raises(RuntimeError, match="Write the agent as async def"):
        on_a_loop(main)


def test_what_a_module_calls_sleep_takes_trial_time_and_is_put_back() -> None:
    module = SimpleNamespace(time=time)

    async def main() -> float:
        async with blocking() as door:
            with sleeps(door, module):
                await door.run(lambda: module.time.sleep(7200))
                assert module.time.monotonic is time.monotonic
        return asyncio.get_running_loop().time()

    assert on_a_loop(main) == 7200.0
    assert module.time is time
