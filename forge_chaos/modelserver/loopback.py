"""A door behind a port of 127.0.0.1, for clients that cannot be given a transport.

with loopback(model.door) as url:
    openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none")
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from forge_chaos.clock import VirtualLoop
from forge_chaos.errors import Misuse

if TYPE_CHECKING:
    from forge_chaos.modelserver.transport import Door

WAY = "Install it with: pip install 'forge-chaos[serve]'."


@contextmanager
def loopback(door: Door) -> Iterator[str]:
    """The address of a server in a thread of its own; what it is asked, `door` answers on the running event loop.

    On a virtual loop time stays virtual: the loop really waits while a request or an answer is on its way, and
    while the door works on it the client that waits does not count. That holds for a client on this loop and for
    one in a thread that the loop counts; a client on the loop's own thread without the loop would wait for ever.
    Raises Misuse when starlette or uvicorn is not installed.
    """
    loop = asyncio.get_running_loop()

    async def here(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        with loop.waited_for(client) if isinstance(loop, VirtualLoop) else nullcontext():
            return await door(path, body)

    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(here(path, body, client), loop))

    with port(answer, close=True) as number:
        yield f"http://127.0.0.1:{number}"


@contextmanager
def port(answer: Any, number: int = 0, close: bool = False) -> Iterator[int]:
    """A port of 127.0.0.1 (0: any free one) at which `app.application(answer, close)` is served in a thread.

    Raises Misuse when the port is taken.
    """
    try:
        from forge_chaos.modelserver.app import application
    except ImportError as error:
        raise missing(error) from None
    with served(application(answer, close), number) as taken:
        yield taken


@contextmanager
def served(
    application: Any, number: int = 0, leave: Callable[[], Awaitable[None]] | None = None
) -> Iterator[int]:
    """A port of 127.0.0.1 (0: any free one) at which an ASGI application is served in a thread. `leave` is awaited
    there before it ends.

    Raises Misuse when the port is taken.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise missing(error) from None

    over = asyncio.Event()
    began: asyncio.AbstractEventLoop | None = None

    class Server(uvicorn.Server):
        """One that ends when it is told to, and does not look for that ten times a second."""

        def stop(self) -> None:
            self.should_exit = self.force_exit = True
            if began is not None:
                with suppress(RuntimeError):  # it has ended by itself
                    began.call_soon_threadsafe(over.set)

        async def main_loop(self) -> None:
            nonlocal began
            began = asyncio.get_running_loop()
            if not self.should_exit:
                await over.wait()
            if leave is not None:
                await leave()

    config = uvicorn.Config(
        application,
        log_config=None,
        log_level="critical",
        lifespan="off",
        ws="none",
        loop="asyncio",
        date_header=False,
        server_header=False,
    )
    server = Server(config)
    with bound(number) as place:
        thread = Thread(target=server.run, args=([place],), daemon=True, name="forge-chaos-model")
        thread.start()
        try:
            yield place.getsockname()[1]
        finally:
            server.stop()
            thread.join()


def missing(error: ImportError) -> Misuse:
    """What to say when a package that serves is not installed."""
    return Misuse(f"a model behind a port needs starlette and uvicorn: {error}. {WAY}")


def bound(number: int) -> socket.socket:
    """A socket that listens there. Raises Misuse when the port is taken."""
    place = socket.socket()
    try:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind(("127.0.0.1", number))
        place.listen()
    except OSError as error:
        place.close()
        raise Misuse(
            f"port {number} of 127.0.0.1 cannot be had: {error.strerror}. 0 takes a free one."
        ) from None
    return place
