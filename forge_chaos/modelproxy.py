"""The model gate in front of any model: `forge-chaos serve --upstream URL --plan RULES`.

What no rule acts on goes through byte for byte, as it comes. Where one acts, the answer is waited for whole, and
what it changes is written anew.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from forge_chaos.modelgate import ModelGate, Send
from forge_chaos.modelserver import chat, sse, wires
from forge_chaos.modelserver.errors import waiting
from forge_chaos.modelserver.passage import Known, Passage
from forge_chaos.modelserver.refusals import error
from forge_chaos.modelserver.upstream import (
    Came,
    Headers,
    Incoming,
    Reply,
    Unreached,
    Upstream,
    passed_on,
)

Request = dict[str, Any]
Through = asyncio.Task[tuple[int, bytes]]
UNREACHED = 502
GRACE = 0.5  # real seconds
WRITTEN = (b"content-length", b"content-encoding")  # what no longer holds of a body that was written anew


class ModelProxy:
    """All that comes to one port, on its way to `upstream`: one trial. `say` is told what goes wrong there, `over`
    each time when a request of the model is, however it ended."""

    def __init__(
        self,
        upstream: Upstream,
        gate: ModelGate,
        say: Callable[[str], None],
        over: Callable[[], None] = lambda: None,
    ) -> None:
        self.upstream, self.gate, self.say, self.over = upstream, gate, say, over
        self.known = Known()
        self.under_way: set[Through] = set()

    async def __call__(self, incoming: Incoming) -> Reply:
        """What the client gets. Raises ConnectionError where a fault leaves it without an answer."""
        wire, request = asking(incoming)
        if wire is not None and request is not None:
            try:
                return await _Crossing(self, incoming, wire, request).reply()
            except BaseException:
                self.over()
                raise
        try:
            came = await self.upstream.ask(incoming, incoming.body)
        except Unreached as lost:
            self.say(str(lost))
            return _written(UNREACHED, _refusal(wire or chat, lost))
        return Reply(came.status, came.headers, came.parts(), came.leave)

    async def close(self) -> None:
        """Give up what is under way, when it has had the time to end by itself."""
        if self.under_way:
            await asyncio.wait(self.under_way, timeout=GRACE)
        for task in self.under_way:
            task.cancel()
        await asyncio.gather(*self.under_way, return_exceptions=True)
        await self.upstream.close()


def asking(incoming: Incoming) -> tuple[wires.Wire | None, Request | None]:
    """The wire, and the request where this is one of the model. Some endpoints have no `/v1` in their address."""
    wire = wires.at(incoming.path) or wires.at(f"/v1{incoming.path}")
    if wire is None or incoming.method != "POST":
        return wire, None
    try:
        found = json.loads(incoming.body)
    except (ValueError, RecursionError):
        return wire, None
    return wire, found if isinstance(found, dict) and wire.HISTORY in found else None


class _Crossing:
    """One request of the model on its way through the gate, and the answer on its way back."""

    def __init__(self, proxy: ModelProxy, incoming: Incoming, wire: wires.Wire, request: Request) -> None:
        self._proxy, self._incoming, self._wire = proxy, incoming, wire
        self._passage = Passage(wire, request, incoming.body, proxy.known, self._serve)
        self._untouched = False
        loop = asyncio.get_running_loop()
        self._begun: asyncio.Future[Came] = loop.create_future()
        self._whole: asyncio.Future[bytes] = loop.create_future()
        self._gathered: list[tuple[bytes, Came, bytes]] = []

    async def reply(self) -> Reply:
        task: Through = asyncio.ensure_future(self._passage.through(self._gate))
        self._proxy.under_way.add(task)
        task.add_done_callback(self._proxy.under_way.discard)
        first: set[asyncio.Future[Any]] = {task, self._begun}
        try:
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await _ended(task)
            raise
        if self._begun.done():
            came = self._begun.result()
            return Reply(came.status, came.headers, self._passing(came, task), lambda: self._left(came, task))
        status, said = task.result()
        for read, came, raw in self._gathered:
            if read is said:
                return _written(came.status, raw, came.headers, self._over)
        last = self._gathered[-1][1] if self._gathered else None
        kept = passed_on(last.headers, WRITTEN) if last is not None and last.status == status else None
        return _written(status, said, kept, self._over)

    async def _gate(self, asked: Request, send: Send) -> Request:
        async def sending(given: Request) -> Request:
            self._untouched = given is asked
            return await send(given)

        return await self._proxy.gate(asked, sending)

    async def _serve(self, body: bytes) -> tuple[int, bytes]:
        """(status, what can be read of the answer): waited for here when a rule acts on this request, else by
        whoever passes it on to the client meanwhile."""
        untouched = self._untouched
        try:
            came = await self._proxy.upstream.ask(self._incoming, body, plain=True)
            if untouched:
                self._begun.set_result(came)
                return came.status, came.read(await self._whole)
            raw = b"".join([part async for part in came.parts()])
        except Unreached as lost:
            if self._begun.done():
                raise
            self._proxy.say(str(lost))
            return UNREACHED, _refusal(self._wire, lost)
        self._gathered.append((came.read(raw), came, raw))
        return came.status, self._gathered[-1][0]

    async def _passing(self, came: Came, task: Through) -> AsyncGenerator[bytes, None]:
        """The answer as it comes. It ends when it has been recorded."""
        seen: list[bytes] = []
        try:
            async with aclosing(came.parts()) as parts:
                async for part in parts:
                    seen.append(part)
                    yield part
        except Unreached as lost:
            self._proxy.say(str(lost))
            if not self._whole.done():
                self._whole.set_exception(lost)
            raise
        if not self._whole.done():
            self._whole.set_result(b"".join(seen))
        await asyncio.wait({task})

    async def _left(self, came: Came, task: Through) -> None:
        """The client has it all, or has gone."""
        await came.leave()
        if self._whole.done():
            await asyncio.wait({task})
        await _ended(task)
        await self._over()

    async def _over(self) -> None:
        self._proxy.over()


async def _ended(task: Through) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _refusal(wire: wires.Wire, lost: Unreached) -> bytes:
    told = error("server_error", f"forge-chaos: {lost}")["error"]
    return sse.dump(wire.refusal(UNREACHED, told))


def _written(
    status: int,
    body: bytes,
    headers: Headers | None = None,
    over: Callable[[], Awaitable[None]] | None = None,
) -> Reply:
    """An answer that is there whole; without headers, one of ours."""

    async def parts() -> AsyncGenerator[bytes, None]:
        yield body

    if headers is None:
        ours = {
            "content-type": sse.content_type(body),
            "content-length": str(len(body)),
            **waiting(status, body),
        }
        headers = tuple((name.encode(), value.encode()) for name, value in ours.items())
    return Reply(status, headers, parts()) if over is None else Reply(status, headers, parts(), over)


__all__ = ["ModelProxy", "asking"]
