"""Whole HTTP requests through an ASGI application: headers and all, and answers that pass while they still come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from forge_chaos.modelserver import sse
from forge_chaos.modelserver.app import CUT, gone
from forge_chaos.modelserver.refusals import error
from forge_chaos.modelserver.upstream import Incoming, Reply

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class _Passed(StreamingResponse):
    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.body, reply.status)
        self.raw_headers = list(reply.headers)
        self._reply = reply

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._reply.body.aclose()
            await self._reply.over()


def application(handle: Callable[[Incoming], Awaitable[Reply]]) -> Starlette:
    """An application over `handle`, for any method and path.

    When the client goes away its request is cancelled. Where no answer comes (TimeoutError, ConnectionError), the
    connection is closed in the midst of one.
    """

    async def serve(request: Request) -> Response:
        incoming = Incoming(
            request.method, _target(request.scope), tuple(request.headers.raw), await request.body()
        )
        asked = asyncio.ensure_future(handle(incoming))
        left = asyncio.ensure_future(gone(request))
        try:
            await asyncio.wait({asked, left}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                return Response(status_code=499)  # nobody reads it
            return _Passed(asked.result())
        except (TimeoutError, ConnectionError):
            return Response(b"", headers={"content-length": str(CUT), "connection": "close"})
        except Exception as broken:
            said = sse.dump(error("server_error", f"{type(broken).__name__}: {broken}"))
            return Response(said, 500, media_type=sse.JSON)
        finally:
            asked.cancel()
            left.cancel()

    return Starlette(routes=[Route("/{path:path}", serve, methods=list(METHODS))])


def _target(scope: Any) -> str:
    """Path and query as the client wrote them."""
    path = scope.get("raw_path") or scope["path"].encode()
    query = scope["query_string"]
    target: bytes = path.partition(b"?")[0] + (b"?" + query if query else b"")
    return target.decode("latin-1")


__all__ = ["METHODS", "application"]
