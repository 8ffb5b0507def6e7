"""Virtual time for asyncio: when nothing can run, jump to the next timer (cf. trio's MockClock).

A 30 s time limit costs microseconds, and a state that nothing can ever wake is recognised instead of
waited for. Time never leaps past work in threads: while a worker thread is busy the loop really
waits, up to `patience` real seconds; a thread that takes longer no longer holds the timers.
A thread that itself waits for the loop is *parked*: counted out while it waits.
"""

from __future__ import annotations

import asyncio
import selectors
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
GLANCE = 0.02  # real seconds between two looks at threads still working
PATIENCE = 5.0  # real seconds for which a busy thread holds the virtual clock


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock moves only when every task is asleep.

    `on_idle` is called when nothing is left that could wake any task, `on_deadline` when the clock
    would pass `deadline`; both must make a task runnable. One trial at a time; the clock goes on
    counting from trial to trial.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self.now = 0.0
        self.patience = patience
        self.on_idle: Callable[[], None] | None = None
        self.on_deadline: Callable[[], None] | None = None
        self.deadline: float | None = None
        self._threads = 0
        self._limiter: Any = None
        super().__init__(_Jump(self))

    def time(self) -> float:
        return self.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """As asyncio's, with the thread counted until it has really ended, cancelled or not."""
        if executor is None:
            executor = getattr(self, "_default_executor", None)
            if executor is None:
                executor = ThreadPoolExecutor(thread_name_prefix="asyncio")
                self.set_default_executor(executor)
        work: Future[T] = executor.submit(func, *args)
        outer = asyncio.wrap_future(work, loop=self)
        # Registered after wrap_future's own callback, so that the result is on its way into the loop
        # before the thread stops counting: the other order lets the clock jump in between.
        self._threads += 1
        work.add_done_callback(self._thread_ended)
        return outer

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """As asyncio's; the thread that joins the others counts as one at work."""
        self._threads += 1
        try:
            await super().shutdown_default_executor()
        finally:
            self._threads -= 1

    def run_in_daemon(self, func: Callable[[], T]) -> asyncio.Future[T]:
        """Run a blocking function in a daemon thread of its own, which nothing waits for at exit.

        Cancelled, the thread no longer counts: it cannot be stopped, only left behind.
        """
        work: Future[T] = Future()
        outer = asyncio.wrap_future(work, loop=self)
        counted = [True]

        def uncount(_: object = None) -> None:
            if counted[0]:
                counted[0] = False
                self._threads -= 1

        def body() -> None:
            try:
                result = func()
            except BaseException as error:
                _settle(work, error=error)
            else:
                _settle(work, result)
            finally:
                if not self.is_closed():
                    self.call_soon_threadsafe(uncount)

        self._threads += 1
        outer.add_done_callback(lambda future: uncount() if future.cancelled() else None)
        threading.Thread(target=body, daemon=True, name="forge-chaos-agent").start()
        return outer

    def _thread_ended(self, _: Future[Any]) -> None:
        if not self.is_closed():
            self.call_soon_threadsafe(self._uncount)

    def _uncount(self) -> None:
        self._threads -= 1

    def watch_anyio(self) -> None:
        """From inside a task: count anyio's worker threads too, which do not go through executors."""
        if "anyio" in sys.modules:
            from anyio.to_thread import current_default_thread_limiter

            self._limiter = current_default_thread_limiter()

    def busy(self) -> bool:
        """Is a worker thread at work that may yet wake a task?"""
        return self._threads > 0 or (self._limiter is not None and self._limiter.borrowed_tokens > 0)

    async def parked(self, wanted: Awaitable[T]) -> T:
        """Await something on behalf of a thread that stands still meanwhile."""
        self._threads -= 1
        try:
            return await wanted
        finally:
            self._threads += 1

    def call_from_thread(self, wanted: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """From a worker thread: run a coroutine on the loop, the thread parked until it is done."""

        async def run() -> T:
            return await self.parked(wanted())

        return asyncio.run_coroutine_threadsafe(run(), self)

    def idle(self) -> None:
        if self.on_idle is None:
            raise RuntimeError("nothing is left that could wake this event loop")
        self.on_idle()

    def jump(self, seconds: float) -> None:
        if self.deadline is not None and self.now + seconds > self.deadline and self.on_deadline is not None:
            self.now, self.deadline = max(self.now, self.deadline), None
            self.on_deadline()
        else:
            self.now += seconds


def _settle(work: Future[T], result: Any = None, error: BaseException | None = None) -> None:
    if work.set_running_or_notify_cancel():
        if error is not None:
            work.set_exception(error)
        else:
            work.set_result(result)


class _Jump(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop
        self._busy_since: float | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            if ready:
                self._busy_since = None
            return ready
        loop = self._loop
        if loop.busy():
            since = self._busy_since = self._busy_since or time.monotonic()
            if timeout is None or time.monotonic() - since < loop.patience:
                ready = super().select(GLANCE)
                return ready
        self._busy_since = None
        if timeout is None:
            loop.idle()
        else:
            loop.jump(timeout)
        return []
