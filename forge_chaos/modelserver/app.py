"""The model's door as an ASGI application: what a client in any language reaches by a port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from forge_chaos.modelserver import sse
from forge_chaos.modelserver.errors import waiting
from forge_chaos.modelserver.refusals import error
from forge_chaos.modelserver.transport import RETRY

Answer = Callable[[str, bytes, int], Awaitable[tuple[int, bytes]]]
CUT = 1_000  # bytes that an answer which is cut off would still have had


def application(answer: Answer, close: bool = False) -> Starlette:
    """An application over `answer(path, body, port of the client) -> (status, body)`.

    A retry by the client comes with the query `?retry=N`. When the client goes away its request is cancelled.
    Where no answer comes (TimeoutError, ConnectionError), the connection is closed in the midst of one. `close`:
    after every answer it is closed too.
    """

    async def serve(request: Request) -> Response:
        body = await request.body()
        asked = asyncio.ensure_future(
            answer(_path(request), body, request.client.port if request.client else 0)
        )
        left = asyncio.ensure_future(gone(request))
        try:
            await asyncio.wait({asked, left}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                return Response(status_code=499)  # nobody reads it
            status, said = asked.result()
        except (TimeoutError, ConnectionError):
            return Response(b"", headers={"content-length": str(CUT), "connection": "close"})
        except Exception as broken:
            status, said = 500, sse.dump(error("server_error", f"{type(broken).__name__}: {broken}"))
        finally:
            asked.cancel()
            left.cancel()
        headers = {"connection": "close"} if close else {}
        headers |= waiting(status, said)
        kind = sse.content_type(said)
        if kind == sse.EVENTS:
            return StreamingResponse(_events(said), status, headers, kind)
        return Response(said, status, headers, kind)

    return Starlette(routes=[Route("/{path:path}", serve, methods=["GET", "POST"])])


def _events(body: bytes) -> Iterator[bytes]:
    yield from sse.parts(body)


async def gone(request: Request) -> None:
    """Until the client has closed its end."""
    message: Any = {}
    while message.get("type") != "http.disconnect":
        message = await request.receive()


def _path(request: Request) -> str:
    tries = request.headers.get(RETRY, "0")
    path = request.url.path
    return path if tries in ("", "0") else f"{path}?retry={tries}"
