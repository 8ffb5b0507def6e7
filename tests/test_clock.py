import asyncio
import socket
import threading
import time
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from forge_chaos.clock import VirtualLoop, hide, show


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

        def wake() -> None:
            woken.append("idle")
            never.set_result(None)

        loop.on_idle = wake
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


def test_an_open_socket_holds_the_clock_as_a_thread_does() -> None:
    """Whoever is at the other end works in real time: no leap past it, and no hang while it may answer."""
    loop = VirtualLoop()
    idle: list[str] = []
    loop.on_idle = lambda: idle.append("idle")

    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                time.sleep(0.1)
                peer.sendall(b"hello")

        thread = threading.Thread(target=serve)
        thread.start()

        async def main(limit: float | None) -> tuple[bytes, float]:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.getsockname()[1])
            async with asyncio.timeout(limit):
                got = await reader.read()
            writer.close()
            await writer.wait_closed()
            return got, loop.time()

        assert loop.run_until_complete(main(30)) == (b"hello", 0.0)
        thread.join()
        thread = threading.Thread(target=serve)
        thread.start()
        assert loop.run_until_complete(main(None)) == (b"hello", 0.0)
        thread.join()
    assert idle == []
    loop.close()


def test_going_round_without_sleeping_counts_as_waiting_after_a_while() -> None:
    loop = VirtualLoop()
    loop.spins = 1000

    async def main() -> float:
        async def round_and_round() -> None:
            while True:
                await asyncio.sleep(0)

        spinning = asyncio.ensure_future(round_and_round())
        try:
            async with asyncio.timeout(30):
                await asyncio.shield(spinning)
        except TimeoutError:
            spinning.cancel()
        return loop.time()

    assert loop.run_until_complete(main()) == 30.0
    loop.close()


def test_going_round_is_idle_when_there_is_no_timer_at_all() -> None:
    loop = VirtualLoop()
    loop.spins = 1000

    async def main() -> int:
        turns, stop = 0, loop.create_future()
        loop.on_idle = lambda: stop.set_result(None)
        while not stop.done():
            turns += 1
            await asyncio.sleep(0)
        loop.on_idle = None
        for _ in range(3000):  # nobody watches: it may go round as long as it likes
            await asyncio.sleep(0)
        return turns

    assert 900 < loop.run_until_complete(main()) < 1100
    loop.close()


def test_a_few_thousand_turns_are_no_waiting() -> None:
    loop = VirtualLoop()

    async def main() -> float:
        loop.call_later(30, lambda: None)
        for _ in range(5000):
            await asyncio.sleep(0)
        return loop.time()

    assert loop.run_until_complete(main()) == 0.0
    loop.close()


@pytest.mark.parametrize("error", [StopIteration(1), KeyError("a"), SystemExit(1), asyncio.CancelledError()])
def test_whatever_a_daemon_thread_raises_arrives(error: BaseException) -> None:
    loop = VirtualLoop()

    def work() -> None:
        raise error

    async def main() -> str:
        try:
            await loop.run_in_daemon(work)
        except BaseException as raised:
            return type(raised).__name__
        return "nothing"

    expected = "RuntimeError" if isinstance(error, StopIteration) else type(error).__name__
    assert loop.run_until_complete(main()) == expected
    assert not loop.busy()
    loop.close()


def test_a_thread_that_was_never_counted_is_not_parked() -> None:
    """Else two waiting children of one worker would hide that a third is still at work."""
    loop = VirtualLoop(patience=20)

    async def main() -> tuple[float, float]:
        async def nap(seconds: float) -> float:
            await asyncio.sleep(seconds)
            return loop.time()

        def work() -> tuple[float, float]:
            found: list[float] = []
            child = threading.Thread(
                target=lambda: found.append(loop.call_from_thread(lambda: nap(50)).result(timeout=20))
            )
            child.start()
            time.sleep(0.1)
            quick = loop.call_from_thread(lambda: nap(1)).result(timeout=20)
            child.join()
            return quick, found[0]

        return await loop.run_in_daemon(work)

    loop.patience = 0.5
    quick, slow = loop.run_until_complete(main())
    assert (quick, slow) == (1.0, 50.0)
    loop.close()


class Inline(Executor):
    """An executor of another kind than threads, as a pool of processes is."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result((fn is divmod, fn(*args)))
        return done


def test_another_executor_is_given_the_function_itself() -> None:
    """A wrapper of ours could not be sent to another process."""
    loop = VirtualLoop()

    async def main() -> Any:
        return await loop.run_in_executor(Inline(), divmod, 7, 2)

    assert loop.run_until_complete(main()) == (True, (3, 1))
    assert not loop.busy()
    loop.close()


# --- between two trials -------------------------------------------------------------------------------------


def test_nothing_that_a_trial_has_left_ever_runs_again() -> None:
    loop = VirtualLoop()
    ran: list[str] = []

    async def first() -> None:
        async def swallows(name: str, pause: float) -> None:
            while True:
                try:
                    await asyncio.sleep(pause)
                    ran.append(name)
                except BaseException:
                    continue

        def again() -> None:
            ran.append("callback")
            loop.call_soon(again)

        left = [asyncio.ensure_future(swallows("task", 1)), asyncio.ensure_future(swallows("spin", 0))]
        loop.call_later(5, ran.append, "timer")
        again()
        loop.set_exception_handler(lambda loop, context: ran.append("handler"))
        for _ in range(3):
            await asyncio.sleep(0)
        for task in left:
            task.cancel()
        await asyncio.sleep(0)
        ran.clear()
        loop.now += 100
        loop.clear()

    async def second() -> float:
        idle = loop.create_future()
        loop.on_idle = lambda: idle.set_result(None)
        await idle
        await asyncio.sleep(10)
        return loop.time()

    loop.run_until_complete(first())
    assert loop.time() == 0.0
    assert loop.run_until_complete(second()) == 10.0
    assert ran == []
    assert loop.get_exception_handler() is None
    loop.close()


def test_a_task_that_waits_for_a_thread_is_not_woken_by_its_end() -> None:
    loop = VirtualLoop(patience=20)
    release, ran = threading.Event(), []

    async def first() -> None:
        async def swallows() -> None:
            while True:
                try:
                    await loop.run_in_executor(None, release.wait, 20)
                    ran.append("woken")
                    await asyncio.sleep(3)
                except BaseException:
                    continue

        left = asyncio.ensure_future(swallows())
        await asyncio.sleep(0)
        for _ in range(2):
            left.cancel()
            await asyncio.sleep(0)
        loop.clear()

    async def second() -> float:
        release.set()
        time.sleep(0.05)
        await asyncio.to_thread(time.sleep, 0.05)
        await asyncio.sleep(1)
        return loop.time()

    loop.run_until_complete(first())
    assert loop.run_until_complete(second()) == 1.0
    assert ran == []
    loop.close()


def test_patience_with_a_pipe_begins_anew_with_each_sign_of_life() -> None:
    """A process that takes long to start has not used up what its answers may take."""
    loop = VirtualLoop(patience=1.0)
    near, far = socket.socketpair()

    def talk() -> None:
        for _ in range(4):
            time.sleep(0.5)
            far.send(b"x")

    async def listen() -> float:
        reader, writer = await asyncio.open_connection(sock=near)
        threading.Thread(target=talk, daemon=True).start()
        await reader.readexactly(3)
        async with asyncio.timeout(30):
            await reader.readexactly(1)
        writer.close()
        return loop.time()

    assert loop.run_until_complete(listen()) == 0.0
    far.close()
    loop.close()


def test_a_thread_that_is_written_off_no_longer_counts_nor_takes_a_place() -> None:
    loop = VirtualLoop(patience=0.2)
    release = threading.Event()
    workers = 40  # more than the default executor has

    async def first() -> None:
        for _ in range(workers):
            loop.run_in_executor(None, release.wait, 20)
        running = loop.run_in_daemon(lambda: release.wait(20))
        assert loop.threads() == workers + 1
        del running
        loop.clear()

    async def second() -> tuple[int, float]:
        await asyncio.to_thread(time.sleep, 0.001)
        await asyncio.sleep(30)
        return loop.threads(), loop.time()

    loop.run_until_complete(first())
    began = time.monotonic()
    assert loop.run_until_complete(second()) == (0, 30.0)
    release.set()
    time.sleep(0.05)
    assert loop.run_until_complete(second()) == (0, 60.0)
    assert time.monotonic() - began < 10
    loop.close()


def test_a_call_of_a_thread_that_is_written_off_does_not_count_again() -> None:
    loop = VirtualLoop(patience=0.2)
    release = threading.Event()

    async def first() -> None:
        async def wanted() -> None:
            await asyncio.sleep(0.5)

        def work() -> None:
            loop.call_from_thread(wanted).result(timeout=20)
            release.wait(20)

        running = asyncio.ensure_future(asyncio.shield(loop.run_in_daemon(work)))
        while loop.threads():
            await asyncio.sleep(0)
        loop._trial += 1  # what `clear` does, with the call still open
        await asyncio.sleep(1)
        running.cancel()

    loop.run_until_complete(first())
    assert loop.threads() == 0
    release.set()
    loop.close()


def test_a_hidden_task_is_not_among_all_and_can_be_shown_again() -> None:
    async def main() -> None:
        here = asyncio.current_task()
        assert here is not None
        hide(here)
        assert here not in asyncio.all_tasks()
        assert asyncio.current_task() is here
        show(here)
        assert here in asyncio.all_tasks()

    asyncio.run(main())


def test_a_loop_that_was_closed_is_no_trouble_for_its_threads() -> None:
    loop = VirtualLoop()
    release, ended = threading.Event(), threading.Event()
    errors: list[Any] = []
    before, threading.excepthook = threading.excepthook, lambda args: errors.append(args)

    async def main() -> None:
        def work() -> None:
            release.wait(20)
            ended.set()

        loop.run_in_daemon(work)
        await asyncio.sleep(0)

    try:
        loop.run_until_complete(main())
        loop.close()
        release.set()
        assert ended.wait(20)
        time.sleep(0.05)
    finally:
        threading.excepthook = before
    assert errors == []


def test_an_anyio_thread_that_waits_for_the_loop_is_parked_and_counts_again_after() -> None:
    anyio = pytest.importorskip("anyio")
    loop = VirtualLoop(patience=60)

    async def slow() -> str:
        await asyncio.sleep(3600)
        return "late"

    async def main() -> tuple[str, int, int]:
        loop.watch_anyio()
        counts: list[int] = []

        def work() -> str:
            said = loop.call_from_thread(slow).result(10)
            counts.append(loop.threads())
            return said

        said = await anyio.to_thread.run_sync(work)
        return said, counts[0], loop.threads()

    start = time.monotonic()
    assert loop.run_until_complete(main()) == ("late", 1, 0)
    assert loop.now == 3600
    assert time.monotonic() - start < 30, "the clock waited for the thread that waited for the clock"
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def test_a_socket_whose_other_end_waits_for_the_loop_does_not_hold_the_clock() -> None:
    loop = VirtualLoop(patience=60.0)

    async def main() -> float:
        with socket.create_server(("127.0.0.1", 0)) as server:
            _, writer = await asyncio.open_connection(*server.getsockname())
            port = writer.get_extra_info("sockname")[1]
            assert loop.busy()
            with loop.waited_for(port):
                assert not loop.busy()
                await asyncio.sleep(30)
                end = threading.Event()
                worker = loop.run_in_executor(None, end.wait)
                assert loop.busy()  # a thread beside it is at work all the same
                end.set()
                await worker
            with loop.waited_for(server.getsockname()[1]):  # another's: this loop has no such socket
                assert loop.busy()
            assert loop.busy()
            writer.close()
            await writer.wait_closed()
        assert not loop.busy()
        return loop.time()

    assert loop.run_until_complete(main()) == 30.0
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def test_a_thread_that_waits_at_a_socket_for_the_loop_does_not_hold_the_clock() -> None:
    loop = VirtualLoop(patience=60.0)
    end = threading.Event()

    async def main() -> float:
        worker = loop.run_in_executor(None, end.wait)
        assert loop.busy()
        with loop.waited_for(1):
            assert not loop.busy()
            await asyncio.sleep(30)
        assert loop.busy()
        end.set()
        await worker
        return loop.time()

    assert loop.run_until_complete(main()) == 30.0
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
