"""An in-process door for clients that speak HTTP: a pair of transports, no socket, so time stays virtual.

sync, async_ = transports(door)
openai.AsyncOpenAI(http_client=httpx.AsyncClient(transport=async_), api_key="none", max_retries=0)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from importlib import import_module
from typing import Any, TypeAlias

from forge_chaos.errors import Misuse
from forge_chaos.modelserver import sse
from forge_chaos.modelserver.errors import waiting

Door: TypeAlias = Callable[[str, bytes], Coroutine[Any, Any, tuple[int, bytes]]]
RETRY = "x-stainless-retry-count"


def http(client: str = "openai") -> Any:
    """The HTTP library that an installed client package, `openai` or `anthropic`, is built on: httpx, or httpx2
    from openai 3.x on.

    Raises Misuse when that package is not installed.
    """
    try:
        package: Any = import_module(client)
    except ImportError:
        raise Misuse(
            f"the package {client} is not installed. Install the extra of your framework, for example "
            "forge-chaos[pydantic-ai]."
        ) from None
    # The bases of its own client class say which library it is, whatever that is called.
    base = next(b for b in package.DefaultHttpxClient.__mro__ if not b.__module__.startswith(client))
    return import_module(base.__module__.partition(".")[0])


def transports(door: Door, client: str = "openai") -> tuple[Any, Any]:
    """(sync, async) transports of the library of `client` over `door`: `async (path, body) -> (status, body)`.

    An answer of events comes one event at a time. A retry by the client reaches the door with the query
    `?retry=N`. A door that raises TimeoutError or ConnectionError is a request that got no answer, and the client
    sees what its own library raises then. The sync transport drives the door where it stands, without a loop: a
    door that has to wait there raises RuntimeError.
    """
    library = http(client)

    class Events(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc, name-defined]  # the library is known at run time only
        def __init__(self, body: bytes) -> None:
            self._body = body

        def __iter__(self) -> Iterator[bytes]:
            yield from sse.parts(self._body)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for part in sse.parts(self._body):
                yield part

    def answer(request: Any, status: int, body: bytes) -> Any:
        kind = sse.content_type(body)
        told = {"stream": Events(body)} if kind == sse.EVENTS else {"content": body}
        headers = {"content-type": kind, **waiting(status, body)}
        return library.Response(status, headers=headers, request=request, **told)

    def lost(request: Any, error: OSError) -> Exception:
        kind = library.ReadTimeout if isinstance(error, TimeoutError) else library.ReadError
        raised: Exception = kind(str(error), request=request)
        return raised

    class Sync(library.BaseTransport):  # type: ignore[misc, name-defined]  # as above
        def handle_request(self, request: Any) -> Any:
            try:
                return answer(request, *drive(door(_path(request), request.read())))
            except (TimeoutError, ConnectionError) as error:
                raise lost(request, error) from error

    class Async(library.AsyncBaseTransport):  # type: ignore[misc, name-defined]  # as above
        async def handle_async_request(self, request: Any) -> Any:
            try:
                return answer(request, *await door(_path(request), await request.aread()))
            except (TimeoutError, ConnectionError) as error:
                raise lost(request, error) from error

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
    """The path for the door, with the retry that the client says this is."""
    tries = request.headers.get(RETRY, "0")
    path = str(request.url.path)
    return path if tries in ("", "0") else f"{path}?retry={tries}"
