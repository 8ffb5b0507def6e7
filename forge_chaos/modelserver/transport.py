"""An in-process door for clients that speak HTTP: a pair of transports, no socket, so time stays virtual.

sync, async_ = transports(door)
openai.AsyncOpenAI(http_client=httpx.AsyncClient(transport=async_), api_key="none", max_retries=0)
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any, TypeAlias

from forge_chaos.errors import Misuse

Door: TypeAlias = Callable[[str, bytes], Coroutine[Any, Any, tuple[int, bytes]]]
Wait: TypeAlias = Callable[[Coroutine[Any, Any, tuple[int, bytes]]], tuple[int, bytes]]
RETRY = "x-stainless-retry-count"


def http() -> Any:
    """The HTTP library that the installed `openai` package is built on: httpx, or httpx2 from 3.x on.

    Raises Misuse when `openai` is not installed.
    """
    try:
        openai: Any = import_module("openai")
    except ImportError:
        raise Misuse(
            "the package openai is not installed. Install the extra of your framework, for example "
            "forge-chaos[pydantic-ai]."
        ) from None
    # The bases of its own client class say which library it is, whatever that is called.
    client = next(
        base for base in openai.DefaultHttpxClient.__mro__ if not base.__module__.startswith("openai")
    )
    return import_module(client.__module__.partition(".")[0])


def transports(door: Door, wait: Wait | None = None) -> tuple[Any, Any]:
    """(sync, async) transports of that library over `door`: `async (path, body) -> (status, body)`.

    A retry by the client reaches the door with the query `?retry=N`. The sync transport takes the door's
    coroutine to `wait`, for a client on a thread; without one it drives it where it stands, without a
    loop: a door that has to wait there raises RuntimeError.
    """
    waits: Wait = wait or drive
    library = http()

    def answer(request: Any, status: int, body: bytes) -> Any:
        headers = {"content-type": "application/json"}
        return library.Response(status, content=body, headers=headers, request=request)

    class Sync(library.BaseTransport):  # type: ignore[misc, name-defined]  # the library is known at run time only
        def handle_request(self, request: Any) -> Any:
            return answer(request, *waits(door(_path(request), request.read())))

    class Async(library.AsyncBaseTransport):  # type: ignore[misc, name-defined]  # as above
        async def handle_async_request(self, request: Any) -> Any:
            return answer(request, *await door(_path(request), await request.aread()))

    return Sync(), Async()


def drive(running: Coroutine[Any, Any, tuple[int, bytes]]) -> tuple[int, bytes]:
    """The result of a coroutine that never really waits."""
    try:
        while running.send(None) is None:  # a bare yield, as of sleep(0)
            continue
    except StopIteration as end:
        result: tuple[int, bytes] = end.value
        return result
    running.close()
    raise RuntimeError("the model's door has to wait, which it cannot for a client without a loop")


def _path(request: Any) -> str:
    tries = request.headers.get(RETRY, "0")
    path = str(request.url.path)
    return path if tries in ("", "0") else f"{path}?retry={tries}"
