"""The model gate: the same shape as the tool gate, over model requests.

It records what the agent asked and what it was answered, numbers the calls of each reply for the tool
gate, lets model-seam rules change the request on its way, and keeps the request budget.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from forge_chaos import natural, schedule
from forge_chaos.errors import Misuse
from forge_chaos.events import Asked, Replied
from forge_chaos.gate import Resolved, RuleState, Stop, ToolGate, linked, seam
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.recorded import Redact, nothing_secret, plain, text, words
from forge_chaos.recorded import name as named
from forge_chaos.recorder import Recorder

if TYPE_CHECKING:
    from forge_chaos.modelserver.passage import Known

Request = dict[str, Any]
Send = Callable[[Request], Awaitable[Request]]


class ModelGate:
    """The gate over the model requests of one trial, whose task says `task`."""

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
        task: str = "",
    ) -> None:
        self._rules = tuple(RuleState(r) for r in rules if seam(r) == "model")
        self._task = " ".join(task.split())
        self._record = record
        self._now = now
        self._tools = tools
        self._seed = seed
        self._budget = budget
        self._stop = stop
        self._last: list[_Sent] = []
        self.requests = 0
        self.said = ""  # the model's last word on the task: the text of its last reply that asked for no call
        self.closed = False
        self.broken: BaseException | None = None

    async def __call__(self, request: Request, send: Send, by: str = "") -> Request:
        """Pass one chat-completions request on. Raises what `send` raises."""
        self.requests += 1
        number = self.requests
        if self.closed or number > self._budget:
            if not self.closed:
                self._stop("stopped", "requests")
            await self._never()
        self._asked(number, request, by)
        redact = self._record.redact
        try:
            reply = await (self._through(number, request, send) if self._rules else send(request))
        except (Exception, asyncio.CancelledError) as error:
            self._record(Replied, number, None, words(text(natural.worded(error), redact)))
            raise
        message = message_of(reply)
        self._record(Replied, number, plain(message, redact), None)
        calls = message.get("tool_calls") if message is not None else None
        if self._tools is not None and isinstance(calls, list) and calls:
            self._tools.announce(number, tuple(map(_asked_call, calls)))
        elif message is not None and isinstance(message.get("content"), str) and self._at_the_task(request):
            self.said = message["content"]
        return reply

    def _at_the_task(self, request: Request) -> bool:
        """Is this the agent at its task, or some other conversation of its client's, such as one for a title? It
        shows the task, as the agent sent it, or at least a call."""
        return any(
            bool(message.get("tool_calls")) or self._task in " ".join(_shown(message.get("content")).split())
            for message in _listed(request.get("messages"))
            if isinstance(message, Mapping)
        )

    def _asked(self, number: int, request: Request, by: str) -> None:
        given = _listed(request.get("messages"))
        kept = 0
        for message, last in zip(given, self._last, strict=False):
            if not last.equals(message):
                break
            kept += 1
        new = [_Sent(message) for message in given[kept:]]
        self._last[kept:] = new
        redact = self._record.redact
        forms = tuple(sent.form(redact) for sent in new)
        offered = tuple(named(_name(tool), redact) for tool in _listed(request.get("tools")))
        self._record(Asked, number, kept, forms, offered, by and named(by, redact))

    async def _through(self, number: int, request: Request, send: Send) -> Request:
        refusals: list[BaseException] = []  # the provider's own, which pass through the mechanisms unchanged

        async def innermost(call: Call) -> Ok | Err:
            try:
                return Ok(await send({**request, **call.args}))
            except Exception as error:
                refusals.append(error)
                raise

        chain: Tool = innermost
        hits: list[tuple[RuleState, int]] = []
        for state in self._rules:
            rule = state.resolved.rule
            if not schedule.matches(rule, "model", None, None):
                continue
            state.count += 1
            if not state.healed(self._now()) and schedule.due(
                rule, state.count, self._seed, "model", None, state.resolved.text
            ):
                hits.append((state, state.count))
        if not hits:
            return await send(request)  # the very same: it tells that no rule acts on it
        for state, count in reversed(hits):
            chain = linked(
                *(state, count, chain),
                seam="model",
                request=number,
                seed=self._seed,
                record=self._record,
                now=self._now,
                gate=self._tools,
            )
        given: dict[str, Any] = {key: request[key] for key in ("messages", "tools") if key in request}
        try:
            result = await chain(Call(number, "model", given))
        except Exception as error:
            if not any(error is refusal for refusal in refusals):
                if self.broken is None:
                    self.broken = error
                self._stop("broken", f"a mechanism at the model seam: {natural.worded(error)}")
                await self._never()
            raise
        if isinstance(result, Err):
            raise natural.exception(result)
        reply: Request = result.value
        return reply

    async def _never(self) -> None:
        await asyncio.get_running_loop().create_future()

    def close(self) -> None:
        self.closed = True


_body = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class _Sent:
    """A message as it was when it was sent: a copy, since an agent may change its own list later."""

    __slots__ = ("_copy", "_exact", "_raw")

    def __init__(self, message: Any) -> None:
        self._raw = message
        self._copy = plain(message)
        # Where the copy is nothing but texts, equal means the same; else True would pass for 1.
        self._exact = None if _texts(self._copy) else json.dumps(self._copy)

    def equals(self, message: Any) -> bool:
        try:
            if self._exact is None and message == self._copy:
                return True
        except Exception:  # what cannot be compared is not known to be the same
            return False
        copy = plain(message)
        return bool(copy == self._copy) if self._exact is None else json.dumps(copy) == self._exact

    def form(self, redact: Redact) -> Mapping[str, Any]:
        """The message in recorded form, asked for once; what is no message is shown as what it is."""
        form = self._copy if redact is nothing_secret else plain(self._raw, redact)
        self._raw = None
        return form if isinstance(form, dict) else {"$type": type(form).__name__, "$repr": words(form)}


def _texts(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_texts, value.values()))
    if isinstance(value, list):
        return all(map(_texts, value))
    return value is None or isinstance(value, str)


def _listed(value: Any) -> Sequence[Any]:
    """What should be a list, whatever it is."""
    return value if isinstance(value, list | tuple) else () if value is None else (value,)


def _shown(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list | tuple):
        return " ".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def message_of(reply: Any) -> Request | None:
    """The assistant message of a chat completion; None when it holds none."""
    choices = reply.get("choices") if isinstance(reply, Mapping) else None
    choice = choices[0] if isinstance(choices, list | tuple) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    return message if isinstance(message, dict) else None


def _name(tool: Any) -> str:
    function = tool.get("function", tool) if isinstance(tool, Mapping) else None
    return str(function.get("name", "")) if isinstance(function, Mapping) else ""


def _asked_call(call: Any) -> tuple[str, str, Mapping[str, Any] | None]:
    """(id, tool, arguments) as `ToolGate.announce` takes them."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return "", "", None
    try:
        args = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError, RecursionError):
        args = None
    id, name = str(call.get("id") or ""), str(function.get("name") or "")
    return id, name, args if isinstance(args, dict) else None


class Said(dict[str, Any]):
    """An assistant message as a native agent gets it: a chat dict like any other. `finish_reason` is why the
    model stopped, as its provider says: `length` for a reply that was cut."""

    def __init__(self, message: Request, finish_reason: str | None) -> None:
        super().__init__(message)
        self.finish_reason = finish_reason


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
        self._known: Known | None = None
        self._delivered = True

    @property
    def taken(self) -> bool:
        """Does a model sit here, scripted or real? Else the agent brings its own."""
        return self._server is not None or self._endpoint is not None

    async def complete(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()
    ) -> Request:
        """One assistant message, as an OpenAI chat dict (see `Said`). Raises ProviderError when the provider refuses or
        replies without a message, ValueError or UnicodeEncodeError when the request is no UTF-8 JSON, as a
        real client does."""
        from forge_chaos.modelserver.errors import ProviderError

        request: Request = {"model": self.name, "messages": list(messages)}
        if tools:
            request["tools"] = list(tools)
        came: list[Request] = []

        async def send(asked: Request) -> Request:
            came.append(await self._send(asked))
            return came[-1]

        reply = None
        try:
            reply = await self.gate(request, send)
        finally:
            if came and reply is not came[-1]:
                self._withdraw()
        message = message_of(reply)
        if message is None:
            raise ProviderError(200, b'{"error": {"message": "the reply has no message"}}')
        return Said(message, reply["choices"][0].get("finish_reason"))

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
            try:
                await asyncio.sleep(response.wait)
            except asyncio.CancelledError:
                self._withdraw()
                raise
        return response.status, response.body

    def _withdraw(self) -> None:
        """The server's last answer never reached the agent as it was: a scripted model was not asked."""
        withdraw = getattr(self._server, "withdraw", None)
        if withdraw is not None:
            withdraw()

    async def door(self, path: str, body: bytes) -> tuple[int, bytes]:
        """The wire: (path, body) in, (status, body) out, through the gate. What no fault changes goes on
        byte for byte, refusals too.

        A client's retry (`?retry=N`) is a request like any other to the gate. The server is told that it is one
        only when it had given an answer: one that a fault had kept from it, or that it refused, was no move.
        """
        from forge_chaos.modelserver import wires
        from forge_chaos.modelserver.passage import Known, Passage

        wire = wires.at(path)
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            request = None
        if wire is None or not isinstance(request, dict) or wire.HISTORY not in request:
            return await self._serve(path, body)
        if self._known is None:
            self._known = Known()
        where = path if self._delivered else path.partition("?")[0]
        passage = Passage(wire, request, body, self._known, partial(self._serve, where), self._endpoint)
        answer = None
        try:
            answer = await passage.through(self.gate)
        finally:
            self._delivered = answer is not None and any(answer[1] is each for each in passage.answers[-1:])
            if passage.answers and not self._delivered:
                self._withdraw()
        return answer
