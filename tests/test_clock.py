import asyncio
import threading
import time

import pytest

from forge_chaos.clock import VirtualLoop


def test_a_sleep_costs_no_real_time() -> None:
    loop = VirtualLoop()
    began = time.monotonic()
    loop.run_until_complete(asyncio.sleep(86_400))
    assert loop.time() == 86_400
    assert time.monotonic() - began < 60
    loop.close()


def test_a_blocking_thread_beside_a_virtual_sleep_gives_the_same_order_every_time() -> None:
    """The clock must not leap past work in a thread: 200 of 200 runs."""
    loop = VirtualLoop()
    seen: set[tuple[tuple[str, float], ...]] = set()

    async def once() -> None:
        start, order = loop.time(), []

        async def sleeper() -> None:
            await asyncio.sleep(30)
            order.append(("slept", loop.time() - start))

        async def blocked() -> None:
            await asyncio.to_thread(time.sleep, 0.003)
            order.append(("thread", loop.time() - start))
            await asyncio.sleep(1)
            order.append(("after", loop.time() - start))

        await asyncio.gather(sleeper(), blocked())
        seen.add(tuple(order))

    for _ in range(200):
        loop.run_until_complete(once())
    loop.close()
    assert seen == {(("thread", 0.0), ("after", 1.0), ("slept", 30.0))}


def test_what_nothing_can_wake_is_recognised() -> None:
    loop = VirtualLoop()
    woken: list[str] = []

    async def hang() -> str:
        never = loop.create_future()
        loop.on_idle = lambda: (woken.append("idle"), never.set_result(None))[0]
        await never
        return "woken"

    assert loop.run_until_complete(hang()) == "woken"
    assert woken == ["idle"]
    loop.close()


def test_a_hang_that_nobody_watches_is_an_error_not_a_wait() -> None:
    loop = VirtualLoop()
    with pytest.raises(RuntimeError, match="nothing is left that could wake"):
        loop.run_until_complete(loop.create_future())
    loop.close()


def test_the_deadline_is_no_timer_and_fires_before_a_later_one() -> None:
    loop = VirtualLoop()
    passed: list[float] = []

    async def sleepy() -> None:
        loop.deadline = 10.0
        loop.on_deadline = lambda: passed.append(loop.time())
        await asyncio.sleep(50)

    loop.run_until_complete(sleepy())
    assert passed == [10.0]
    loop.close()


def test_anyio_threads_hold_the_clock_too() -> None:
    anyio = pytest.importorskip("anyio")
    loop = VirtualLoop()

    async def main() -> list[str]:
        order: list[str] = []
        loop.watch_anyio()

        async def thread() -> None:
            await anyio.to_thread.run_sync(time.sleep, 0.05)
            order.append("thread")

        async def timer() -> None:
            await asyncio.sleep(5)
            order.append("timer")

        await asyncio.gather(timer(), thread())
        return order

    assert loop.run_until_complete(main()) == ["thread", "timer"]
    loop.close()


def test_a_thread_that_waits_for_the_loop_is_parked_and_time_goes_on() -> None:
    loop = VirtualLoop()

    async def main() -> float:
        def work() -> float:
            async def nap() -> float:
                await asyncio.sleep(30)
                return loop.time()

            return loop.call_from_thread(nap).result(timeout=5)

        return await loop.run_in_daemon(work)

    assert loop.run_until_complete(main()) == 30.0
    assert not loop.busy()
    loop.close()


def test_patience_ends_when_a_thread_never_comes_back() -> None:
    """A stuck thread holds the timers only for a while, so that the agent's own time limit still works."""
    loop = VirtualLoop(patience=0.1)
    release = threading.Event()

    async def main() -> str:
        stuck = asyncio.ensure_future(asyncio.to_thread(release.wait, 20))
        try:
            async with asyncio.timeout(30):
                await asyncio.shield(stuck)
        except TimeoutError:
            release.set()
            return "own limit"
        return "waited"

    assert loop.run_until_complete(main()) == "own limit"
    loop.close()


def test_a_cancelled_daemon_thread_counts_no_longer() -> None:
    loop = VirtualLoop()
    release = threading.Event()

    async def main() -> bool:
        running = loop.run_in_daemon(release.wait)
        await asyncio.sleep(0)
        assert loop.busy()
        running.cancel()
        await asyncio.sleep(0)
        return loop.busy()

    assert loop.run_until_complete(main()) is False
    release.set()
    loop.close()
