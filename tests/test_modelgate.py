"""The model gate: what was asked, what was answered, and what a fault did on the way."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_chaos import notation, tracefile
from forge_chaos.clock import VirtualLoop
from forge_chaos.errors import Misuse
from forge_chaos.events import Asked, Called, Injected, Replied, Trace, find
from forge_chaos.gate import ToolGate
from forge_chaos.modelgate import ModelGate, ModelSeat
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.nouns import Call, Err, Ok, Rule, Tool
from forge_chaos.recorded import plain, redactor
from forge_chaos.recorder import Recorder
from tests.gates import SPECS, Planned, failing, good

Message = dict[str, Any]
HELLO: Message = {"role": "user", "content": "hello"}
SAID: Message = {"role": "assistant", "content": "hi"}


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes
    wait: float = 0.0


def completion(message: Message) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def serving(*messages: Message) -> Callable[[str, bytes], Response]:
    """A server that says these one after the other, then the last for ever, and keeps what it was sent."""
    said = list(messages)

    def serve(path: str, body: bytes) -> Response:
        serve.got.append((path, body))  # type: ignore[attr-defined]  # a function with a memory
        return Response(200, json.dumps(completion(said.pop(0) if len(said) > 1 else said[0])).encode())

    serve.got = []  # type: ignore[attr-defined]  # as above
    return serve


def drive(
    script: Callable[[ModelSeat, ModelGate, ToolGate], Awaitable[Any]],
    rules: list[Planned] | None = None,
    *,
    server: Callable[[str, bytes], Any] | None = None,
    endpoint: Any = None,
    redact: Any = None,
    seed: int = 0,
    **options: Any,
) -> tuple[Any, Trace]:
    """What `script` made of a model seat behind its gate, and the trace."""
    loop = VirtualLoop()
    record = Recorder(loop.time, *([redact] if redact else []))

    async def main() -> Any:
        tools = ToolGate(rules or [], SPECS, record, loop.time, seed=seed)
        gate = ModelGate(rules or [], record, loop.time, tools, seed=seed, **options)
        seat = ModelSeat(gate, server or (None if endpoint else serving(SAID)), endpoint)
        try:
            return await script(seat, gate, tools)
        finally:
            gate.close()
            tools.close()

    try:
        return loop.run_until_complete(main()), record.trace
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.close()


def rebuilt(trace: Trace) -> list[list[Any]]:
    """Every request's messages, from what was new in each."""
    requests: list[list[Any]] = []
    for _, asked in find(trace, Asked):
        before = requests[-1] if requests else []
        assert asked.kept <= len(before)
        requests.append([*before[: asked.kept], *asked.messages])
    return requests


def replies(trace: Trace) -> list[Replied]:
    return [body for _, body in find(trace, Replied)]


# --- what was asked -----------------------------------------------------------------------------------------

contents = (
    st.none()
    | st.text(max_size=6)
    | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=3)}), max_size=2)
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": contents},
    optional={"n": st.booleans() | st.integers(0, 1) | st.just(1.0), "tool_call_id": st.sampled_from("ab")},
)
edits = st.lists(
    st.one_of(
        st.tuples(st.just("append"), messages),
        st.tuples(st.just("change"), st.integers(0, 5), contents),
        st.tuples(st.just("deep"), st.integers(0, 5)),
        st.tuples(st.just("drop"), st.integers(0, 5)),
        st.tuples(st.just("insert"), st.integers(0, 5), messages),
        st.tuples(st.just("swap"), st.integers(0, 5)),
        st.tuples(st.just("ask")),
    ),
    max_size=15,
)


def edit(history: list[Any], step: tuple[Any, ...]) -> None:
    """What harnesses do to the list that they hand over again and again."""
    kind, *rest = step
    place = rest[0] % max(1, len(history)) if rest and isinstance(rest[0], int) else 0
    if kind == "append":
        history.append(deepcopy(rest[0]))
    elif kind == "insert":
        history.insert(place, deepcopy(rest[1]))
    elif not history:
        return
    elif kind == "change":
        history[place]["content"] = rest[1]
    elif kind == "deep":
        if isinstance(history[place]["content"], list):
            history[place]["content"].append({"type": "text", "text": "more"})
        history[place]["n"] = True if history[place].get("n") == 1 else 1
    elif kind == "drop":
        del history[place]
    elif kind == "swap":
        history.reverse()


@given(edits)
@settings(max_examples=150)
def test_what_is_new_in_each_request_rebuilds_every_one(steps: list[tuple[Any, ...]]) -> None:
    sent: list[Any] = []

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        history: list[Any] = []
        for step in [*steps, ("ask",)]:
            if step == ("ask",):
                sent.append(deepcopy(history))
                await seat.complete(history)
            else:
                edit(history, step)

    trace = drive(script)[1]
    found = rebuilt(trace)
    # As JSON, since True is no 1; the order of keys says nothing, and equal messages may differ in it.
    written = partial(json.dumps, sort_keys=True)
    assert [written(each) for each in found] == [written(plain(each)) for each in sent]
    for (_, asked), before, now in zip(list(find(trace, Asked))[1:], sent, sent[1:], strict=False):
        same = 0
        while same < min(len(before), len(now)) and json.dumps(before[same]) == json.dumps(now[same]):
            same += 1
        assert asked.kept == same


def test_a_message_that_is_changed_later_is_asked_anew() -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        history = [dict(HELLO), {"role": "tool", "content": [{"type": "text", "text": "long"}]}]
        await seat.complete(history)
        history[1]["content"][0]["text"] = "cut"
        history.append(dict(SAID))
        await seat.complete(history)
        await seat.complete(history)

    asked = [body for _, body in find(drive(script)[1], Asked)]
    assert [body.kept for body in asked] == [0, 1, 3]
    assert asked[0].messages[1]["content"] == [{"type": "text", "text": "long"}]
    assert asked[1].messages == ({"role": "tool", "content": [{"type": "text", "text": "cut"}]}, SAID)
    assert asked[2].messages == ()


def test_the_tools_that_were_offered_are_named() -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        await seat.complete([HELLO], [SPECS["read_file"].openai(), {"name": "flat"}, {"function": 3}, 7])  # type: ignore[list-item]  # a careless agent's

    assert [body.tools for _, body in find(drive(script)[1], Asked)] == [("read_file", "flat", "", "")]


class Hostile:
    def __eq__(self, other: object) -> bool:
        raise ValueError

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("request_messages", "error"),
    [
        ([{"role": "user", "content": "half \ud800"}], UnicodeEncodeError),
        ([{"role": "user", "content": math.nan}], ValueError),
        ([{"role": "user", "content": b"bytes"}], TypeError),
        ([{"role": "user", "content": Hostile()}], TypeError),
        ([{"role": "user", ("a", 1): "x"}], TypeError),
    ],
)
def test_a_request_that_is_no_json_raises_as_in_a_client_and_is_recorded(
    request_messages: list[Any], error: type[Exception]
) -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        for _ in range(2):
            with pytest.raises(error):
                await seat.complete(request_messages)

    trace = drive(script)[1]
    tracefile.loads(tracefile.dumps(trace))
    assert [body.error.partition(":")[0] for body in replies(trace) if body.error] == [error.__name__] * 2
    assert rebuilt(trace)[0] == [plain(request_messages[0])]


def test_a_request_without_end_raises_as_in_a_client_and_is_recorded() -> None:
    ring: dict[str, Any] = {"role": "user"}
    ring["content"] = [ring]
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        with pytest.raises(ValueError, match="Circular"):
            await seat.complete([ring])
        with pytest.raises(RecursionError):
            await seat.complete([{"role": "user", "content": deep}])

    trace = drive(script)[1]
    tracefile.loads(tracefile.dumps(trace))
    assert len(replies(trace)) == 2


@pytest.mark.parametrize("given_messages", [["text"], [3, None], [Hostile()], ("tuple",)])
def test_messages_that_are_none_are_recorded_as_what_they_are(given_messages: Any) -> None:
    async def send(request: dict[str, Any]) -> dict[str, Any]:
        return completion(SAID)

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        await gate({"messages": given_messages}, send)
        await gate({"messages": given_messages}, send)
        await gate({"messages": "text"}, send)
        await gate({}, send)

    trace = drive(script)[1]
    tracefile.loads(tracefile.dumps(trace))
    asked = [body for _, body in find(trace, Asked)]
    assert all(isinstance(message, dict) for body in asked for message in body.messages)
    assert len(asked) == 4
    assert asked[1].kept == (0 if isinstance(given_messages[0], Hostile) else len(given_messages))


# --- what was answered --------------------------------------------------------------------------------------


def call(id: str, name: str, arguments: Any) -> Message:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asking(*calls: Any) -> Message:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def test_the_calls_of_a_reply_are_numbered_in_their_order() -> None:
    message = asking(*(call(f"c{n}", "read_file", json.dumps({"path": f"{n}"})) for n in range(3)))

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> Message:
        reply = await seat.complete([HELLO])
        for n in (2, 0, 1):
            await tools("read_file", {"path": f"{n}"}, good, id=f"c{n}")
        return reply

    reply, trace = drive(script, server=serving(message))
    assert reply == message
    assert [body.order for _, body in find(trace, Called)] == [(1, 2), (1, 0), (1, 1)]
    assert [body.message for body in replies(trace)] == [message]


def test_ids_that_a_model_uses_again_are_numbered_by_their_turn() -> None:
    """Some models start anew with `call_0` in every turn, and a harness may leave a call out."""
    said = [asking(call("call_0", "read_file", json.dumps({"path": path}))) for path in ("a", "b")]

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> bool:
        await seat.complete([HELLO])
        await seat.complete([HELLO])
        return isinstance(await tools("read_file", {"path": "b"}, good, id="call_0"), Err)

    rule = Planned(notation.parse("timeout@1:read_file(b)"), failing)
    hit, trace = drive(script, [rule], server=serving(*said))
    assert hit
    assert [(body.order, body.nth) for _, body in find(trace, Called)] == [((2, 0), 1)]


@pytest.mark.parametrize(
    "calls",
    [
        [None],
        ["text"],
        [{}],
        [{"id": "x", "function": None}],
        [{"id": "x", "function": "read_file"}],
        [call("x", "read_file", "{")],
        [call("x", "read_file", "[]")],
        [call("x", "read_file", None)],
        [call("x", "read_file", {"path": "a"})],
        [call("x", "read_file", "[" * 100_000)],
        [{"id": 3, "function": {"name": 7, "arguments": "{}"}}],
        "text",
        {"0": call("x", "read_file", "{}")},
    ],
)
def test_a_reply_that_no_model_should_give_reaches_the_agent_as_it_is(calls: Any) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": calls}

    async def endpoint(request: dict[str, Any]) -> dict[str, Any]:
        return completion(message)

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> Any:
        reply = await seat.complete([HELLO])
        await tools("read_file", {"path": "a"}, good, id="x")
        return reply

    reply, trace = drive(script, endpoint=endpoint)
    assert reply == message
    tracefile.loads(tracefile.dumps(trace))
    assert [body.message for body in replies(trace)] == [plain(message)]


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        [],
        None,
        "x",
    ],
)
def test_a_reply_without_a_message_is_a_refusal(reply: Any) -> None:
    async def endpoint(request: dict[str, Any]) -> Any:
        return reply

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        with pytest.raises(ProviderError, match="no message"):
            await seat.complete([HELLO])

    assert replies(drive(script, endpoint=endpoint)[1]) == [Replied(1, None, None)]


def refusing(path: str, body: bytes) -> Response:
    return Response(429, b'{"error": {"message": "slow down", "type": "rate"}}', wait=2.0)


def test_a_refusal_is_raised_and_recorded() -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> tuple[int, bool]:
        with pytest.raises(ProviderError) as caught:
            await seat.complete([HELLO])
        return caught.value.status, caught.value.transient

    found, trace = drive(script, server=refusing)
    assert found == (429, True)
    assert replies(trace) == [Replied(1, None, "ProviderError: Error code: 429 - slow down")]
    assert trace[-1].at == 2.0


def test_a_request_that_the_agent_gives_up_is_recorded_as_such() -> None:
    async def endpoint(request: dict[str, Any]) -> Any:
        await asyncio.sleep(60)

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await seat.complete([HELLO])

    trace = drive(script, endpoint=endpoint)[1]
    assert replies(trace) == [Replied(1, None, "CancelledError")]


def test_without_a_model_the_way_out_is_told() -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> bool:
        empty = ModelSeat(gate, None)
        with pytest.raises(Misuse, match="--model scripted"):
            await empty.complete([HELLO])
        return empty.taken or not seat.taken

    assert drive(script)[0] is False


def test_no_secret_is_recorded_and_none_is_kept_from_the_model() -> None:
    secret = "tok-123456"
    server = serving(asking(call(secret, "read_file", json.dumps({"path": secret}))))

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> Message:
        reply = await seat.complete([{"role": "user", "content": secret}], [{"name": secret}])
        await seat.complete([{"role": "user", "content": secret}])
        await gate({"messages": [{"role": "user", "content": secret}]}, failed, by=secret)
        return reply

    async def failed(request: dict[str, Any]) -> dict[str, Any]:
        return completion({"role": "assistant", "content": f"denied: {secret}"})

    reply, trace = drive(script, server=server, redact=redactor({"A_TOKEN": secret}))
    assert reply["tool_calls"][0]["id"] == secret
    assert secret in server.got[0][1].decode()  # type: ignore[attr-defined]  # a function with a memory
    assert secret not in tracefile.dumps(trace)
    assert [body.kept for _, body in find(trace, Asked)] == [0, 1, 1]


# --- the budget, and the end --------------------------------------------------------------------------------


def test_past_the_budget_a_request_never_returns_and_the_trial_is_told() -> None:
    stopped: list[tuple[str, str]] = []

    done = 0

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        nonlocal done
        while True:
            try:
                await seat.complete([HELLO])
                done += 1
            except Exception:
                continue

    async def limited(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(script(seat, gate, tools), 100)

    _, trace = drive(limited, budget=4, stop=lambda end, why: stopped.append((end, why)))
    assert done == 4
    assert stopped == [("stopped", "requests")]
    assert len(list(find(trace, Asked))) == len(replies(trace)) == 4


def test_a_request_after_the_end_never_returns() -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> str:
        gate.close()
        try:
            async with asyncio.timeout(5):
                await seat.complete([HELLO])
        except TimeoutError:
            return "never"
        return "answered"

    assert drive(script) == ("never", ())


# --- faults at the model seam -------------------------------------------------------------------------------


async def shortened(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire(before=len(call.args["messages"]))
    return await tool(replace(call, args={**call.args, "messages": call.args["messages"][-1:]}))


async def refused(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire()
    return Err("runtime", "overloaded", ProviderError(529, b'{"error": {"message": "overloaded"}}'))


async def timed_out(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire()
    return Err("timeout", "no answer")


async def garbled(call: Call, tool: Tool, env: Any) -> Ok | Err:
    result = await tool(call)
    env.fire()
    if isinstance(result, Err):
        return Err("runtime", f"garbled {result.code}")
    return Ok(completion({**result.value["choices"][0]["message"], "content": "garbled"}))


async def broken(call: Call, tool: Tool, env: Any) -> Ok | Err:
    await tool(call)
    raise ZeroDivisionError


def at_the_model(rule: str, mechanism: Any) -> Planned:
    return Planned(notation.parse(rule), mechanism, "model")


async def thrice(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> list[str]:
    told = []
    for n in range(1, 4):
        try:
            reply = await seat.complete([{"role": "user", "content": str(k)} for k in range(n)])
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
        else:
            told.append(str(reply["content"]))
        await asyncio.sleep(4)
    return told


def test_a_rule_counts_requests_and_its_fault_changes_what_the_model_gets_alone() -> None:
    server = serving(SAID)
    told, trace = drive(thrice, [at_the_model("truncated_context@2..3", shortened)], server=server)
    assert told == ["hi"] * 3
    got = [json.loads(body)["messages"] for _, body in server.got]  # type: ignore[attr-defined]  # a memory
    assert [len(messages) for messages in got] == [1, 1, 1]
    assert [len(messages) for messages in rebuilt(trace)] == [1, 2, 3]
    injected = [body for _, body in find(trace, Injected)]
    assert [(body.request, body.call, body.nth, body.tool, body.detail) for body in injected] == [
        (2, None, 2, "model", {"before": 2}),
        (3, None, 3, "model", {"before": 3}),
    ]


def test_what_a_mechanism_tells_is_raised_as_what_it_is() -> None:
    rules = [at_the_model("provider_error@1", refused), at_the_model("provider_error.b@2", timed_out)]
    told, trace = drive(thrice, rules)
    assert told == ["ProviderError: Error code: 529 - overloaded", "TimeoutError: no answer", "hi"]
    assert [body.error for body in replies(trace)] == [*told[:2], None]


def test_the_first_rule_is_the_outermost_at_the_model_too() -> None:
    rules = [at_the_model("a@1..", garbled), at_the_model("b@1", refused)]
    told, trace = drive(thrice, rules)
    assert told == ["RuntimeError: garbled runtime", "garbled", "garbled"]
    assert [body.rule for _, body in find(trace, Injected)] == ["b", "a@1..", "a@1..", "a@1.."]


def test_the_providers_own_refusal_passes_a_mechanism_unchanged() -> None:
    told = drive(thrice, [at_the_model("truncated_context@1..", shortened)], server=refusing)[0]
    assert told == ["ProviderError: Error code: 429 - slow down"] * 3


def test_a_broken_mechanism_stops_the_trial_and_convicts_nobody() -> None:
    stopped: list[tuple[str, str]] = []

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> BaseException | None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await seat.complete([HELLO])
        return gate.broken

    found, _ = drive(script, [at_the_model("a", broken)], stop=lambda end, why: stopped.append((end, why)))
    assert isinstance(found, ZeroDivisionError)
    assert stopped == [("broken", "a mechanism at the model seam: ZeroDivisionError")]


def test_heal_ends_a_rule_some_seconds_after_it_first_fired() -> None:
    told = drive(thrice, [at_the_model("provider_error@1..+heal=5", refused)])[0]
    assert [text.startswith("ProviderError") for text in told] == [True, True, False]


def test_a_chance_is_the_same_for_equal_seeds() -> None:
    def hits(seed: int) -> list[bool]:
        rule = at_the_model("50%provider_error", refused)
        return [text != "hi" for text in drive(thrice, [rule], seed=seed)[0]]

    assert hits(1) == hits(1)
    assert len({tuple(hits(seed)) for seed in range(12)}) > 2


def test_a_rule_at_the_tool_seam_leaves_requests_alone() -> None:
    told, trace = drive(thrice, [Planned(Rule("timeout", last=None), failing)])
    assert told == ["hi"] * 3
    assert not list(find(trace, Injected))


# --- the wire -----------------------------------------------------------------------------------------------

PATH = "/v1/chat/completions"
BODY = b'{ "model": "m",  "messages": [{"content": "\\ud83d\\ude00 \\ud800", "role": "user"}], "n": 1.0 }'


def test_the_wire_passes_what_no_fault_changes_byte_for_byte() -> None:
    answer = b'{ "choices": [{"message": {"role": "assistant", "content": "\\u00e4"}}],  "x": 1e2 }'
    got: list[bytes] = []

    def serve(path: str, body: bytes) -> Response:
        got.append(body)
        return Response(200, answer)

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> tuple[int, bytes]:
        return await seat.door(PATH, BODY)

    for rules in ([], [at_the_model("a@7", refused)], [at_the_model("a", unchanged)]):
        found, trace = drive(script, rules, server=serve)
        assert found == (200, answer)
        assert got.pop() == BODY
        tracefile.loads(tracefile.dumps(trace))


async def unchanged(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire()
    return await tool(call)


def test_what_a_fault_changes_goes_on_changed() -> None:
    server = serving(SAID)

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> tuple[int, bytes]:
        return await seat.door(PATH, json.dumps({"model": "m", "messages": [HELLO, SAID, HELLO]}).encode())

    (status, body), _ = drive(
        script, [at_the_model("a", shortened), at_the_model("b", garbled)], server=server
    )
    assert json.loads(server.got[0][1]) == {"model": "m", "messages": [HELLO]}  # type: ignore[attr-defined]  # a memory
    assert status == 200
    assert json.loads(body)["choices"][0]["message"]["content"] == "garbled"


def test_a_refusal_goes_on_unchanged() -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> list[tuple[int, bytes]]:
        return [await seat.door(PATH, BODY) for _ in range(2)]

    plain_refusal = (429, refusing("", b"").body)
    assert drive(script, server=refusing)[0] == [plain_refusal] * 2
    found, trace = drive(script, [at_the_model("a", refused)], server=refusing)
    assert found == [(529, b'{"error": {"message": "overloaded"}}'), plain_refusal]
    assert [body.error is not None for body in replies(trace)] == [True, True]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"input": "x"}', b"\xff", b"[" * 100_000, b"null"])
def test_what_is_no_chat_request_goes_to_the_server_and_is_not_counted(body: bytes) -> None:
    def serve(path: str, got: bytes) -> Response:
        return Response(400, got[:10])

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> tuple[int, bytes]:
        return await seat.door(PATH, body)

    assert drive(script, server=serve) == ((400, body[:10]), ())


def test_a_real_model_stands_behind_the_wire_too() -> None:
    async def endpoint(request: dict[str, Any]) -> dict[str, Any]:
        return completion({"role": "assistant", "content": request["messages"][0]["content"]})

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> Any:
        status, body = await seat.door(PATH, json.dumps({"messages": [HELLO]}).encode())
        return status, json.loads(body)["choices"][0]["message"]["content"]

    assert drive(script, endpoint=endpoint)[0] == (200, "hello")


def test_a_native_agent_is_told_why_the_model_stopped() -> None:
    """Beside the message, which is a chat dict as any other and goes back as it came."""
    cut = {"choices": [{"index": 0, "message": SAID, "finish_reason": "length"}]}

    async def endpoint(request: Message) -> Message:
        return cut

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> Message:
        said = await seat.complete([HELLO])
        await seat.complete([HELLO, said])
        return said

    said, trace = drive(script, endpoint=endpoint)
    assert (said, said.finish_reason) == (SAID, "length")
    assert json.dumps(said) == json.dumps(SAID)
    assert rebuilt(trace)[1] == [HELLO, SAID]


def test_the_last_word_is_about_the_task_and_of_no_other_conversation() -> None:
    """A client of somebody else's may ask for more than its task: for a title, or whether anyone is there."""
    read = call("call_0", "read_file", '{"path": "a"}')
    task = {"role": "user", "content": [{"type": "text", "text": "You are asked:\nAdd up  a.csv."}]}
    ends = {"role": "assistant", "content": "DONE"}
    title = {"role": "assistant", "content": "FAILED: I no longer know the task"}

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> list[str]:
        heard = []
        for messages in (
            [HELLO],
            [task],
            [HELLO],
            [
                asking(read),
                {"role": "tool", "tool_call_id": "call_0", "content": "1"},
            ],  # the task was cut away
        ):
            await seat.complete(messages)
            heard.append(gate.said)
        return heard

    heard, _ = drive(script, server=serving(title, ends, title, SAID), task="Add up a.csv.")
    assert heard == ["", "DONE", "DONE", "hi"]


def test_a_retry_by_the_client_is_a_request_and_a_retry_to_the_server_only_of_what_it_answered() -> None:
    """A fault that refuses before the server is asked has cost the server no move, so there is none to take back."""
    body = json.dumps({"messages": [HELLO]}).encode()
    server = serving(SAID)

    async def refuse(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        return Err("rate_limited", "slow down", ProviderError(429, b"{}"))

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> list[int]:
        paths = (PATH, f"{PATH}?retry=1", f"{PATH}?retry=2", PATH)
        return [(await seat.door(path, body))[0] for path in paths] + [gate.requests]

    twice = Planned(Rule("provider_error", last=1), refuse, seam="model")
    assert drive(script, [twice], server=server)[0] == [429, 200, 200, 200, 4]
    asked = [path for path, _ in server.got]  # type: ignore[attr-defined]  # as above
    assert asked == [PATH, f"{PATH}?retry=2", PATH]
