"""The model gate: the same shape as the tool gate, over model requests.

It records what the agent asked and what it was answered, numbers the calls of each reply for the tool
gate, lets model-seam rules change the request on its way, and keeps the request budget.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from forge_chaos import schedule
from forge_chaos.errors import Misuse
from forge_chaos.events import Asked, Replied
from forge_chaos.gate import Environment, Resolved, RuleState, Stop, ToolGate, seam
from forge_chaos.nouns import Call, Err, Ok, Tool, dice
from forge_chaos.recorded import plain
from forge_chaos.recorder import Recorder

Request = dict[str, Any]
Send = Callable[[Request], Awaitable[Request]]


class ModelGate:
    """The gate over the model requests of one trial."""

    def __init__(
        self,
        rules: Sequence[Resolved],
        record: Recorder,
        now: Callable[[], float],
        tools: ToolGate | None = None,
        *,
        seed: int = 0,
        budget: int = 1_000_000,
        stop: Stop = lambda end, why: None,
    ) -> None:
        self._rules = tuple(RuleState(r) for r in rules if seam(r) == "model")
        self._record = record
        self._now = now
        self._tools = tools
        self._seed = seed
        self._budget = budget
        self._stop = stop
        self._last: list[str] = []
        self.requests = 0
        self.closed = False
        self.broken: BaseException | None = None

    async def __call__(self, request: Request, send: Send, by: str = "") -> Request:
        """Pass one chat-completions request on. Raises what `send` raises."""
        self.requests += 1
        number = self.requests
        if self.closed or number > self._budget:
            if not self.closed:
                self._stop("stopped", "requests")
            await asyncio.get_running_loop().create_future()
        self._asked(number, request, by)
        try:
            reply = await (self._through(number, request, send) if self._rules else send(request))
        except Exception as error:
            self._record(
                Replied, number, None, plain(f"{type(error).__name__}: {error}", self._record.redact)
            )
            raise
        message = reply["choices"][0]["message"] if reply.get("choices") else None
        self._record(Replied, number, plain(message, self._record.redact), None)
        if self._tools is not None and message and message.get("tool_calls"):
            self._tools.announce(number, tuple(_asked_call(call) for call in message["tool_calls"]))
        return reply

    def _asked(self, number: int, request: Request, by: str) -> None:
        messages = request.get("messages") or []
        texts = [_text(message) for message in messages]
        kept = 0
        for text, last in zip(texts, self._last, strict=False):
            if text != last:
                break
            kept += 1
        self._last = texts
        redact = self._record.redact
        offered = tuple(str(_name(tool)) for tool in request.get("tools") or ())
        self._record(Asked, number, kept, tuple(plain(m, redact) for m in messages[kept:]), offered, by)

    async def _through(self, number: int, request: Request, send: Send) -> Request:
        refusals: list[Exception] = []  # the provider's own, which pass through the mechanisms unchanged

        async def innermost(call: Call) -> Ok | Err:
            try:
                return Ok(await send({**request, **call.args}))
            except Exception as error:
                refusals.append(error)
                raise

        chain: Tool = innermost
        hits: list[tuple[RuleState, int]] = []
        for state in self._rules:
            if not schedule.matches(state.resolved.rule, "model", None, None):
                continue
            state.count += 1
            rule = state.resolved.rule
            healed = (
                rule.heal is not None
                and state.fired_at is not None
                and self._now() - state.fired_at >= rule.heal
            )
            if not healed and schedule.due(rule, state.count, self._seed, "model", None, state.resolved.text):
                hits.append((state, state.count))
        for state, count in reversed(hits):
            chain = self._link(state, count, number, chain)
        given: dict[str, Any] = {key: request[key] for key in ("messages", "tools") if key in request}
        try:
            result = await chain(Call(number, "model", given))
        except Exception as error:
            if error not in refusals:
                self.broken = error
                self._stop("broken", f"a mechanism at the model seam: {type(error).__name__}: {error}")
                await asyncio.get_running_loop().create_future()
            raise
        if isinstance(result, Err):
            raise RuntimeError(result.message)
        reply: Request = result.value
        return reply

    def _link(self, state: RuleState, count: int, number: int, inner: Tool) -> Tool:
        resolved = state.resolved

        async def linked(call: Call) -> Ok | Err:
            env = Environment(
                self._tools,
                state,
                call,
                count,
                dice(self._seed, resolved.text, "model", None, count),
                self._record,
                self._now,
                None,
                None,
                (),
                schedule.last(resolved.rule, count),
                resolved.rule.heal,
                request=number,
            )
            result: Ok | Err = await resolved.mechanism(call, inner, env)
            return result

        return linked

    def close(self) -> None:
        self.closed = True


_text = json.JSONEncoder(default=plain).encode
_body = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _name(tool: Any) -> Any:
    if isinstance(tool, Mapping):
        return tool.get("function", tool).get("name", "")
    return ""


def _asked_call(call: Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any]]:
    function = call.get("function") or {}
    try:
        args = json.loads(function.get("arguments") or "{}")
    except ValueError:
        args = None
    return str(call.get("id") or ""), str(function.get("name") or ""), args


class ModelSeat:
    """What an agent is handed as its model: `complete` for native agents, `door` for clients that speak
    the wire. Both pass the gate.

    `server(path, body) -> Response(status, body, wait)` is the scripted model, `endpoint` a real one:
    `async (request) -> reply`. One of the two is None, or both are.
    """

    def __init__(
        self,
        gate: ModelGate,
        server: Callable[[str, bytes], Any] | None,
        endpoint: Send | None = None,
        name: str = "scripted",
    ) -> None:
        self.gate = gate
        self.name = name
        self._server = server
        self._endpoint = endpoint

    @property
    def taken(self) -> bool:
        """Does a model sit here, scripted or real? Else the agent brings its own."""
        return self._server is not None or self._endpoint is not None

    async def complete(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()
    ) -> Request:
        """One assistant message, as an OpenAI chat dict. Raises ProviderError when the provider refuses,
        ValueError or UnicodeEncodeError when the request is no UTF-8 JSON, as a real client does."""
        request: Request = {"model": self.name, "messages": list(messages)}
        if tools:
            request["tools"] = list(tools)
        reply = await self.gate(request, self._send)
        message: Request = reply["choices"][0]["message"]
        return message

    async def _send(self, request: Request) -> Request:
        from forge_chaos.modelserver.errors import ProviderError

        if self._endpoint is not None:
            return await self._endpoint(request)
        body = _body(request).encode()
        status, answer = await self._serve("/v1/chat/completions", body)
        if status >= 400:
            raise ProviderError(status, answer)
        reply: Request = json.loads(answer)
        return reply

    async def _serve(self, path: str, body: bytes) -> tuple[int, bytes]:
        if self._server is None:
            raise Misuse("this trial has no scripted model behind a wire; name one with --model scripted")
        response = self._server(path, body)
        if response.wait:
            await asyncio.sleep(response.wait)
        return response.status, response.body

    async def door(self, path: str, body: bytes) -> tuple[int, bytes]:
        """The wire: (path, body) in, (status, body) out, through the gate."""
        from forge_chaos.modelserver.errors import ProviderError

        async def send(changed: Request) -> Request:
            if self._endpoint is not None:
                return await self._endpoint(changed)
            status, answer = await self._serve(path, json.dumps(changed, ensure_ascii=False).encode())
            if status >= 400:
                raise ProviderError(status, answer)
            reply: Request = json.loads(answer)
            return reply

        try:
            request = json.loads(body)
        except ValueError:
            request = None
        if not isinstance(request, dict) or "messages" not in request:
            return await self._serve(path, body)
        try:
            reply = await self.gate(request, send)
        except ProviderError as refusal:
            return refusal.status, refusal.body
        return 200, json.dumps(reply).encode()
