"""Code that blocks beside a loop whose time is virtual: a thread for a synchronous agent, and the door
through which threads - ours or a framework's own - reach the gates on the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Executor, Future
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any, TypeVar

from forge_chaos.clock import Desk, VirtualLoop

T = TypeVar("T")
UNWIND = 5.0  # seconds of trial time for calls of a thread that was cut
PATIENCE = 1000  # calls after the end of the trial until a thread that swallows everything is parked


class Over(BaseException):
    """The trial is over; no `except Exception` of the agent's is meant to catch this."""


class Blocking:
    """The door of one trial: a thread that waits there is parked, so that virtual time can pass."""

    def __init__(self, loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
        self.loop = loop
        self._over = over
        self._home = threading.get_ident()
        self._late = 0
        self.open: set[asyncio.Task[Any]] = set()

    def wait(self, wanted: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """From a thread: what the coroutine returns or raises. Raises Over when the trial has ended."""
        return self._result(self._begun(wanted))

    def serve(self, wanted: Callable[[Executor], Coroutine[Any, Any, T]]) -> T:
        """As `wait`, for a coroutine that has something to be done in the very thread that waits: it is
        handed an executor for that."""
        desk = Desk()
        future = self._begun(lambda: wanted(desk))
        future.add_done_callback(lambda _: desk.close())
        desk.work()
        return self._result(future)

    def _begun(self, wanted: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        if self._over.is_set():
            self._late += 1
            if self._late > PATIENCE:
                threading.Event().wait()  # a daemon thread that swallows every end is left standing
            raise Over("the trial is over")
        loop = self.loop
        if threading.get_ident() == self._home:
            raise RuntimeError(
                "a blocking call on the event loop, which would wait for itself: a plain def was given "
                "blocking tools and returned a coroutine. Write the agent as async def."
            )

        async def tracked() -> T:
            here = asyncio.current_task()
            assert here is not None
            self.open.add(here)
            try:
                return await wanted()
            finally:
                self.open.discard(here)

        if isinstance(loop, VirtualLoop):
            return loop.call_from_thread(tracked)
        return asyncio.run_coroutine_threadsafe(tracked(), loop)

    def _result(self, future: Future[T]) -> T:
        try:
            return future.result()
        except BaseException:
            if self._over.is_set():
                raise Over("the trial is over") from None
            raise

    async def run(self, work: Callable[[], T]) -> T:
        """A blocking function in a daemon thread of its own. What it returns or raises."""

        def body() -> T:
            try:
                return work()
            except KeyboardInterrupt as error:  # in a thread it is no Ctrl-C, and must not pass for one
                raise RuntimeError("the agent raised KeyboardInterrupt") from error

        loop = self.loop
        if isinstance(loop, VirtualLoop):
            return await loop.run_in_daemon(body)
        return await loop.run_in_executor(None, body)


@asynccontextmanager
async def blocking() -> AsyncIterator[Blocking]:
    """The door of this trial; when the agent has ended, what still waits there is cut."""
    over = threading.Event()
    door = Blocking(asyncio.get_running_loop(), over)
    try:
        yield door
    finally:
        over.set()
        left = set(door.open)
        for call in left:
            call.cancel("the trial is over")
        if left:
            await asyncio.wait(left, timeout=UNWIND)


@contextmanager
def sleeps(door: Blocking, module: Any) -> Iterator[None]:
    """What a module of a framework calls `time.sleep` takes trial time, for its pauses between two tries."""
    held = module.time

    def sleep(seconds: float) -> None:
        door.wait(lambda: asyncio.sleep(seconds))

    module.time = SimpleNamespace(**{**vars(held), "sleep": sleep})
    try:
        yield
    finally:
        module.time = held


__all__ = ["Blocking", "Over", "blocking", "sleeps"]
