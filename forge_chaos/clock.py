"""Virtual time for asyncio: when nothing can run, jump to the next timer (cf. trio's MockClock).

A 30 s time limit costs microseconds, and a state that nothing can ever wake is recognised instead of
waited for. Time never leaps past work outside of the loop: while a worker thread is busy or a socket or
pipe is open the loop really waits, up to `patience` real seconds; what takes longer no longer holds the
timers. A thread that itself waits for the loop is *parked*: it does not count while it waits.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
GLANCE = 0.02  # real seconds between two looks at threads still working
PATIENCE = 5.0  # real seconds for which work outside of the loop holds the virtual clock
ANYIO = "AnyIO worker thread"  # what anyio calls its own
SPINS = 100_000  # turns of the loop in which no time passes, until going round counts as waiting


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock moves only when every task is asleep.

    `on_idle` is called when nothing is left that could wake any task, `on_deadline` when the clock
    would pass `deadline`; both must make a task runnable. One trial at a time, with `clear` between
    two. Tasks that go round for ever without sleeping do not stop the clock: after `spins` turns of
    the loop they count as asleep.
    """

    # asyncio's own, which its types do not tell
    _ready: Collection[asyncio.Handle]
    _scheduled: Collection[asyncio.TimerHandle]
    _ssock: socket.socket
    _default_executor: ThreadPoolExecutor | None
    _executor_shutdown_called: bool

    def __init__(self, patience: float = PATIENCE) -> None:
        self.now = 0.0
        self.patience = patience
        self.spins = SPINS
        self.on_idle: Callable[[], None] | None = None
        self.on_deadline: Callable[[], None] | None = None
        self.deadline: float | None = None
        self._threads: set[object] = set()  # one token for each at work
        self._here = threading.local()
        self._waiting: list[
            int | None
        ] = []  # those outside that wait for this loop: the port of a socket of its own
        self._trial = 0
        self._limiter: Any = None
        self._borrowed = 0
        self._selecting = _Jump(self)
        super().__init__(self._selecting)

    def time(self) -> float:
        return self.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """As asyncio's, with the thread counted until it has really ended, cancelled or not."""
        if executor is None:
            executor = self._default_executor
            if executor is None:
                executor = ThreadPoolExecutor(thread_name_prefix="asyncio")
                self.set_default_executor(executor)
        token = object()

        def here() -> T:
            before = getattr(self._here, "token", None)
            self._here.token = token
            try:
                return func(*args)
            finally:
                self._here.token = before

        work: Future[T] = (
            executor.submit(here)
            if isinstance(executor, ThreadPoolExecutor | Desk)
            else executor.submit(func, *args)  # to another process, which a closure does not reach
        )
        outer = asyncio.wrap_future(work, loop=self)
        self._threads.add(token)
        # Counted until its result is there, and where nobody wants that any more, until the thread ends.
        # Registered after wrap_future's own callback: the other order lets the clock jump in between.
        outer.add_done_callback(lambda done: None if done.cancelled() else self._threads.discard(token))
        work.add_done_callback(lambda _: self._soon(self._threads.discard, token))
        return outer

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """As asyncio's; the thread that joins the others counts as one at work."""
        token = object()
        self._threads.add(token)
        try:
            await super().shutdown_default_executor()
        finally:
            self._threads.discard(token)

    def run_in_daemon(self, func: Callable[[], T]) -> asyncio.Future[T]:
        """Run a blocking function in a daemon thread of its own, which nothing waits for at exit.

        Cancelled, the thread no longer counts: it cannot be stopped, only left behind.
        """
        work: Future[T] = Future()
        outer = asyncio.wrap_future(work, loop=self)
        token = object()

        def body() -> None:
            self._here.token = token
            result: Any = None
            failed: BaseException | None = None
            try:
                result = func()
            except StopIteration as error:  # no future can hold one; a coroutine turns it into this as well
                failed = RuntimeError(f"the function raised StopIteration: {error}")
            except BaseException as error:
                failed = error
            if not self.is_closed():
                _settle(work, result, failed)
                self._soon(self._threads.discard, token)  # where nobody wanted the result any more

        self._threads.add(token)
        outer.add_done_callback(lambda _: self._threads.discard(token))
        threading.Thread(target=body, daemon=True, name="forge-chaos-agent").start()
        return outer

    def _soon(self, callback: Callable[[object], object], token: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody counts any more
            self.call_soon_threadsafe(callback, token)

    def watch_anyio(self) -> None:
        """From inside a task: count anyio's worker threads too, which do not go through executors."""
        if "anyio" in sys.modules and self._limiter is None:
            from anyio.to_thread import current_default_thread_limiter

            self._limiter = current_default_thread_limiter()

    def busy(self) -> bool:
        """Is something at work outside of this loop that may yet wake a task: a worker thread, or
        whoever is at the other end of an open socket or pipe?"""
        return self.threads() > self._waiting.count(None) or self._sockets() > 0

    def _sockets(self) -> int:
        """Open sockets and pipes of this loop, without its own and without those that wait for it."""
        opened = [key.fd for key in (self._selecting.get_map() or {}).values()]
        if len(opened) <= 1 or not self._waiting:
            return len(opened) - 1
        return sum(_port(fd) not in self._waiting for fd in opened if fd != self._ssock.fileno())

    @contextmanager
    def waited_for(self, port: int) -> Iterator[None]:
        """On the loop: a client on this machine, at its own end `port`, waits for what is done in here, and does
        not count meanwhile. If that socket is none of this loop's, it is in the hands of a worker thread."""
        mine = any(_port(key.fd) == port for key in (self._selecting.get_map() or {}).values())
        trial, waiting = self._trial, port if mine else None
        self._waiting.append(waiting)
        try:
            yield
        finally:
            if trial == self._trial:
                self._waiting.remove(waiting)

    def threads(self) -> int:
        """How many worker threads are at work for this trial."""
        if self._limiter is None:
            return len(self._threads)
        self._borrowed = min(self._borrowed, self._limiter.borrowed_tokens)
        borrowed: int = self._limiter.borrowed_tokens - self._borrowed
        return len(self._threads) + borrowed

    def call_from_thread(self, wanted: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """From a worker thread: run a coroutine on the loop, the thread parked until it is done.

        A thread that was never counted, such as one that a worker has started, is not parked either.
        """
        token, trial = getattr(self._here, "token", None), self._trial
        anyios = token is None and threading.current_thread().name == ANYIO

        async def run() -> T:
            held = token in self._threads
            self._threads.discard(token)
            self._borrowed += anyios
            try:
                return await wanted()
            finally:
                if trial == self._trial:
                    if held:
                        self._threads.add(token)
                    self._borrowed = max(0, self._borrowed - anyios)

        return asyncio.run_coroutine_threadsafe(run(), self)

    def clear(self) -> None:
        """The end of a trial, from its last task: nothing that it has left on this loop ever runs again.

        Tasks that swallow every cancellation are left asleep for good, timers and callbacks are
        dropped, threads still at work are written off, and the clock starts anew.
        """
        here = asyncio.current_task(self)
        for task in asyncio.all_tasks(self):
            if task is not here:
                _put_to_sleep(task)
        for handle in (*self._ready, *self._scheduled):
            handle.cancel()
        self._trial += 1
        if self._default_executor is not None and (self._threads or self._executor_shutdown_called):
            self._default_executor.shutdown(wait=False)
            self._default_executor, self._executor_shutdown_called = None, False
        self._threads.clear()
        self._waiting.clear()
        if self._limiter is not None:
            self._borrowed = self._limiter.borrowed_tokens
        self.on_idle = self.on_deadline = self.deadline = None
        self.spins = SPINS
        self.set_exception_handler(None)
        self.set_task_factory(None)
        self.now = 0.0

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

    def wait(self, timeout: float | None) -> None:
        """Nothing can run for so long; None: nothing ever will."""
        if timeout is None:
            self.idle()
        else:
            self.jump(timeout)

    def next_timer(self) -> float | None:
        """Seconds until the next timer."""
        due = [timer.when() for timer in self._scheduled if not timer.cancelled()]
        return max(0.0, min(due) - self.now) if due else None


class Desk(Executor):
    """An executor whose one worker is a thread that waits for the loop and meanwhile does what it is given,
    until the desk is closed."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        work: Future[T] = Future()

        def job() -> None:
            result: Any = None
            failed: BaseException | None = None
            try:
                result = fn(*args, **kwargs)
            except StopIteration as error:  # no future can hold one
                failed = RuntimeError(f"the function raised StopIteration: {error}")
            except BaseException as error:
                failed = error
            _settle(work, result, failed)

        self._jobs.put(job)
        return work

    def work(self) -> None:
        """From the thread itself: do what comes, until `close`."""
        while (job := self._jobs.get()) is not None:
            job()

    def close(self) -> None:
        self._jobs.put(None)


def _port(fd: int) -> int:
    """The port of this end of a socket; -1 for what has none."""
    with suppress(OSError), socket.socket(fileno=os.dup(fd)) as twin:
        name = twin.getsockname()
        return int(name[1]) if isinstance(name, tuple) and len(name) > 1 else -1
    return -1


def hide(task: asyncio.Task[Any]) -> None:
    """Keep a task of ours out of `asyncio.all_tasks()`: an agent that cancels every other task when it
    cleans up must not cancel its own trial."""
    asyncio.tasks._unregister_task(task)


def show(task: asyncio.Task[Any]) -> None:
    """Undo `hide`."""
    asyncio.tasks._register_task(task)


def _put_to_sleep(task: asyncio.Task[Any]) -> None:
    """A task that swallows every cancellation is never woken again, and never destroyed: that would run
    it once more, and where each of its calls fails at once, for ever."""
    waiter: Any = getattr(task, "_fut_waiter", None)
    for callback, _ in list(getattr(waiter, "_callbacks", None) or ()):
        waiter.remove_done_callback(callback)
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(task))


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
        self._turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if ready:
            self._busy_since, self._turns = None, 0
            return ready
        loop = self._loop
        if timeout is not None and timeout <= 0:
            self._turns += 1
            if self._turns < loop.spins or loop.busy():
                return ready
            timeout = loop.next_timer()
            if timeout is None and loop.on_idle is None:
                return ready
        elif loop.busy():
            since = self._busy_since = self._busy_since or time.monotonic()
            if timeout is None or time.monotonic() - since < loop.patience:
                ready = super().select(GLANCE)
                if ready:  # a sign of life: what comes next is waited for as long again
                    self._busy_since, self._turns = None, 0
                return ready
        self._busy_since, self._turns = None, 0
        loop.wait(timeout)
        return []
