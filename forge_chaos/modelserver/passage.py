"""One request over a wire, on its way through the model gate, which sees chat form whatever the wire."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from forge_chaos.modelserver import sse
from forge_chaos.modelserver.errors import BrokenOff, ProviderError
from forge_chaos.modelserver.memory import Memory
from forge_chaos.modelserver.wires import Wire

Request = dict[str, Any]
Send = Callable[[Request], Awaitable[Request]]
Serve = Callable[[bytes], Awaitable[tuple[int, bytes]]]
STREAMING = ("stream", "stream_options")


class Known:
    """What a trial's agent goes on from: the items behind each response as the agent has them, and the ids of
    those behind which the provider has kept others, because a fault came between."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.strayed: set[str] = set()


class Passage:
    """What no fault changes goes on byte for byte, refusals too.

    What one changes is written anew on its wire, with all of its history; thoughts and marks of the provider's
    own, which have no chat form, stay out of it. So is a request that goes on from where a fault came between.
    `serve` is the provider behind the wire, `endpoint` one that takes chat form.
    """

    def __init__(
        self,
        wire: Wire,
        request: Request,
        body: bytes,
        known: Known,
        serve: Serve,
        endpoint: Send | None = None,
    ) -> None:
        self._wire, self._request, self._body, self._known = wire, request, body, known
        self._serve, self._endpoint = serve, endpoint
        self._whole = known.memory.whole(request)
        self._asked = wire.chat(self._whole)
        self._came: list[tuple[Request, Request, bytes]] = []
        self._refusals: list[ProviderError] = []

    async def through(self, gate: Callable[[Request, Send], Awaitable[Request]]) -> tuple[int, bytes]:
        """(status, body) for the agent. Raises what the gate raises, except a provider's refusal."""
        try:
            completion = await gate(self._asked, self._send)
        except ProviderError as error:
            ours = any(error is refusal for refusal in self._refusals)
            return error.status, error.body if ours else self._refused(error)
        except BrokenOff as lost:
            if not self._request.get("stream"):
                raise
            return 200, sse.broken_off(self._wire.stream(self._native(lost.came), self._request))
        for came, native, answer in self._came:
            if came is completion:
                self._known.memory.keep(self._whole, native)
                return 200, answer
        native = self._native(completion)
        return 200, self._wire.stream(native, self._request) if self._request.get("stream") else _dump(native)

    def _native(self, completion: Mapping[str, Any]) -> Request:
        """A reply that a fault has changed, as an object of the wire's; who goes on from it strays."""
        native = self._wire.reply(completion, self._request)
        self._known.memory.keep(self._whole, native)
        self._known.strayed.add(str(native.get("id")))
        return native

    @property
    def answers(self) -> list[bytes]:
        """What the provider answered, refusals left out."""
        return [answer for _, _, answer in self._came]

    async def _send(self, asked: Request) -> Request:
        if self._endpoint is not None:
            return await self._endpoint({key: asked[key] for key in asked if key not in STREAMING})
        changed = asked is not self._asked and asked != self._asked
        anew = changed or str(self._request.get("previous_response_id")) in self._known.strayed
        body = _dump(self._wire.ask(asked, self._whole)) if anew else self._body
        status, answer = await self._serve(body)
        if status >= 400:
            self._refusals.append(ProviderError(status, answer))
            raise self._refusals[-1]
        native = self._read(answer)
        if changed:
            self._known.strayed.add(str(native.get("id")))
        self._came.append((self._wire.completion(native) or {}, native, answer))
        return self._came[-1][0]

    def _read(self, answer: bytes) -> Request:
        """An answer as the wire's own object; {} for one that is none, which goes on as it is."""
        if sse.content_type(answer) == sse.EVENTS:
            return self._wire.gather(answer) or {}
        try:
            found = json.loads(answer)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _refused(self, error: ProviderError) -> bytes:
        """A refusal that a fault tells: in the form of this wire, when it has another."""
        if not error.error:
            return error.body
        form = self._wire.refusal(error.status, error.error)
        given = json.loads(error.body).keys() - {"request_id"}
        return error.body if given == form.keys() - {"request_id"} else _dump(form)


def _dump(value: Any) -> bytes:
    return json.dumps(value).encode()
