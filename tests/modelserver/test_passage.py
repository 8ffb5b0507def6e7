"""Requests of every wire through the model gate: what is recorded, what a fault changes, what goes on as it was."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from forge_chaos import tracefile
from forge_chaos.errors import Misuse
from forge_chaos.events import Asked, Replied, find
from forge_chaos.gate import ToolGate
from forge_chaos.modelgate import ModelGate, ModelSeat
from forge_chaos.modelserver import sse, wires
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Call, Err, Ok, Tool
from tests.modelserver import small
from tests.modelserver.bodies import requests
from tests.modelserver.test_server import CHAT, FIRST, MESSAGES, PATHS, RESPONSES, asking, said
from tests.test_modelgate import SAID, Response, at_the_model, completion, drive, replies, serving

STREAMED = [(path, streamed) for path in PATHS for streamed in (False, True)]


def result(message: dict[str, Any], text: str = "id,amount\nA,1\n") -> list[dict[str, Any]]:
    return [{"role": "tool", "tool_call_id": call["id"], "content": text} for call in message["tool_calls"]]


def scripted() -> ScriptedModel:
    return ScriptedModel(small.SUM, "expert", small.SPECS)


async def unchanged(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire()
    return await tool(call)


async def refused(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire()
    return Err("runtime", "overloaded", ProviderError(529, b'{"error": {"message": "overloaded"}}'))


async def refused_late(call: Call, tool: Tool, env: Any) -> Ok | Err:
    await tool(call)
    return await refused(call, tool, env)


async def cut(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire()
    return await tool(replace(call, args={**call.args, "messages": call.args["messages"][:1]}))


async def garbled(call: Call, tool: Tool, env: Any) -> Ok | Err:
    result = await tool(call)
    env.fire()
    assert isinstance(result, Ok)
    [choice] = result.value["choices"]
    return Ok(
        {**result.value, "choices": [{**choice, "message": {"role": "assistant", "content": "garbled"}}]}
    )


@pytest.mark.parametrize(("path", "streamed"), STREAMED)
def test_every_wire_is_recorded_in_chat_form(path: str, streamed: bool) -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> list[dict[str, Any]]:
        history = list(FIRST)
        for _ in range(2):
            status, body = await seat.door(path, asking(path, history, stream=streamed))
            assert status == 200
            assert (sse.content_type(body) == sse.EVENTS) is streamed
            history.append(said(path, body))
            history += result(history[-1])
        return history

    history, trace = drive(script, server=scripted())
    asked = [body for _, body in find(trace, Asked)]
    assert [body.kept for body in asked] == [0, 1]
    assert [m["role"] for m in asked[1].messages] == ["assistant", "tool"]
    assert asked[1].messages[1]["content"] == "id,amount\nA,1\n"
    assert asked[0].tools == tuple(small.SPECS)
    told = [body.message for body in replies(trace)]
    assert [message and message["tool_calls"] for message in told] == [
        history[1]["tool_calls"],
        history[3]["tool_calls"],
    ]


@pytest.mark.parametrize(("path", "streamed"), STREAMED)
def test_what_no_fault_changes_goes_on_byte_for_byte(path: str, streamed: bool) -> None:
    body = asking(path, FIRST, stream=streamed).replace(b": ", b" :  ")
    answer = scripted()(path, body).body
    for planned in ([], [at_the_model("a@7", refused)], [at_the_model("a", unchanged)]):
        got: list[bytes] = []
        server = scripted()

        def serve(where: str, sent: bytes, got: list[bytes] = got, server: ScriptedModel = server) -> Any:
            got.append(sent)
            return server(where, sent)

        async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> tuple[int, bytes]:
            return await seat.door(path, body)

        found, _ = drive(script, planned, server=serve)
        assert found == (200, answer)
        assert got == [body]


@pytest.mark.parametrize(("path", "streamed"), STREAMED)
def test_a_cut_reaches_the_model_on_its_wire_and_the_trace_holds_what_was_asked(
    path: str, streamed: bool
) -> None:
    got: list[dict[str, Any]] = []
    server = scripted()

    def serve(where: str, sent: bytes) -> Any:
        got.append(json.loads(sent))
        return server(where, sent)

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        history = list(FIRST)
        for _ in range(2):
            status, body = await seat.door(path, asking(path, history, stream=streamed))
            assert status == 200
            history.append(said(path, body))
            history += result(history[-1])

    _, trace = drive(script, [at_the_model("a@2", cut)], server=serve)
    wire = wires.at(path)
    assert wire is not None
    assert [len(wire.chat(request)["messages"]) for request in got] == [1, 1]
    assert got[1] == {**got[0], wire.HISTORY: got[1][wire.HISTORY]}
    assert [len(body.messages) for _, body in find(trace, Asked)] == [1, 2]


@pytest.mark.parametrize(("path", "streamed"), STREAMED)
def test_a_reply_that_a_fault_changes_is_written_anew(path: str, streamed: bool) -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> tuple[str, str]:
        told = []
        for _ in range(2):
            status, body = await seat.door(path, asking(path, FIRST, stream=streamed))
            assert status == 200
            assert (sse.content_type(body) == sse.EVENTS) is streamed
            message = said(path, body)
            told.append(message["content"] or message["tool_calls"][0]["id"])
        return told[0], told[1]

    found, trace = drive(script, [at_the_model("a", garbled)], server=scripted())
    # What it asked for first never came, so it asks for that, and not for the same again.
    assert found == ("garbled", first_id())
    assert [body.message and body.message["content"] for body in replies(trace)] == ["garbled", None]


def first_id() -> str:
    return str(said(CHAT, scripted()(CHAT, asking(CHAT, FIRST)).body)["tool_calls"][0]["id"])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("mechanism", [refused, refused_late])
def test_a_refusal_that_a_fault_tells_has_the_form_of_the_wire(path: str, mechanism: Any) -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> Any:
        status, body = await seat.door(path, asking(path, FIRST))
        again = await seat.door(path, asking(path, FIRST))
        return status, json.loads(body), said(path, again[1])["tool_calls"][0]["id"]

    (status, told, id), trace = drive(script, [at_the_model("a", mechanism)], server=scripted())
    assert status == 529
    if path == MESSAGES:
        assert (told["type"], told["error"]["type"]) == ("error", "overloaded_error")
    assert told["error"]["message"] == "overloaded"
    assert id == first_id()
    assert [body.error is not None for body in replies(trace)] == [True, False]


def test_a_model_that_was_not_heard_is_asked_again_over_messages_too() -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> str:
        with pytest.raises(ProviderError):
            await seat.complete(list(FIRST), [spec.openai() for spec in small.SPECS.values()])
        reply = await seat.complete(list(FIRST), [spec.openai() for spec in small.SPECS.values()])
        return str(reply["tool_calls"][0]["id"])

    assert drive(script, [at_the_model("a", refused_late)], server=scripted())[0] == first_id()


def test_a_request_that_the_agent_gives_up_was_not_asked() -> None:
    busy = [*FIRST, said(CHAT, scripted()(CHAT, asking(CHAT, FIRST)).body)]
    busy += result(busy[-1], "503, retry after 70 s")

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> list[str]:
        told = said(CHAT, (await seat.door(CHAT, asking(CHAT, FIRST)))[1])["tool_calls"][0]["id"]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await seat.door(CHAT, asking(CHAT, busy))
        return [told, said(CHAT, (await seat.door(CHAT, asking(CHAT, busy)))[1])["tool_calls"][0]["id"]]

    told, trace = drive(script, server=scripted())
    assert told == [first_id(), first_id()[:-1] + "1"]
    assert [body.error for body in replies(trace)] == [None, "CancelledError", None]


# --- what the provider keeps ---------------------------------------------------------------------------------


def going_on(before: dict[str, Any], *items: Any) -> bytes:
    request = json.loads(asking(RESPONSES, []))
    return json.dumps({**request, "input": list(items), "previous_response_id": before["id"]}).encode()


def output(before: dict[str, Any], text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": before["output"][0]["call_id"], "output": text}


@pytest.mark.parametrize("rule", [[], [at_the_model("a@2", cut)], [at_the_model("a@2", unchanged)]])
def test_a_stored_conversation_is_recorded_whole_and_outlives_a_cut(rule: Any) -> None:
    got: list[dict[str, Any]] = []
    server = scripted()

    def serve(where: str, sent: bytes) -> Any:
        got.append(json.loads(sent))
        return server(where, sent)

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        one = json.loads((await seat.door(RESPONSES, asking(RESPONSES, FIRST)))[1])
        two = json.loads((await seat.door(RESPONSES, going_on(one, output(one, "id,amount\nA,1\n"))))[1])
        status, body = await seat.door(RESPONSES, going_on(two, output(two, "x")))
        assert status == 200, body
        three = json.loads(body)
        status, body = await seat.door(RESPONSES, going_on(three, output(three, "x")))
        assert status == 200, body

    _, trace = drive(script, rule, server=serve)
    asked = [body for _, body in find(trace, Asked)]
    assert [body.kept for body in asked] == [0, 1, 3, 5]
    is_cut = bool(rule) and rule[0].mechanism is cut
    assert ["previous_response_id" in request for request in got] == [False, not is_cut, not is_cut, True]
    if is_cut:  # the whole of it again, since the provider has kept less
        assert [len(request["input"]) for request in got] == [1, 1, 5, 1]


def test_what_goes_on_from_a_changed_reply_is_written_whole() -> None:
    got: list[dict[str, Any]] = []
    server = scripted()

    def serve(where: str, sent: bytes) -> Any:
        got.append(json.loads(sent))
        return server(where, sent)

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        one = json.loads((await seat.door(RESPONSES, asking(RESPONSES, FIRST)))[1])
        status, body = await seat.door(RESPONSES, going_on(one, {"role": "user", "content": "Go on."}))
        assert status == 200, body

    _, trace = drive(script, [at_the_model("a", garbled)], server=serve)
    assert [item.get("role") for item in got[1]["input"]] == ["user", "assistant", "user"]
    assert "garbled" in json.dumps(got[1])
    assert [body.kept for _, body in find(trace, Asked)] == [0, 1]


# --- other models, and what is none --------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "streamed"), STREAMED)
def test_a_real_model_stands_behind_every_wire(path: str, streamed: bool) -> None:
    asked: list[dict[str, Any]] = []

    async def endpoint(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return completion({"role": "assistant", "content": "hi"})

    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> Any:
        status, body = await seat.door(path, asking(path, FIRST, stream=streamed))
        return status, said(path, body)["content"], sse.content_type(body) == sse.EVENTS

    assert drive(script, endpoint=endpoint)[0] == (200, "hi", streamed)
    assert asked[0]["messages"] == FIRST
    assert not {"stream", "stream_options", "input"} & asked[0].keys()


@pytest.mark.parametrize(
    "answer", [b"", b"oops", b"[]", b'{"x": 1}', b"data: {}\n\n", b"event: x\ndata: [DONE]\n\n"]
)
@pytest.mark.parametrize("path", PATHS)
def test_an_answer_that_is_none_goes_on_as_it_is(path: str, answer: bytes) -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> Any:
        return await seat.door(path, asking(path, FIRST))

    found, trace = drive(script, server=lambda where, body: Response(200, answer))
    assert found == (200, answer)
    assert replies(trace) == [Replied(1, None, None)]


@pytest.mark.parametrize(
    "path", ["/v1/models", "/v1/messages/count_tokens", "/v1/embeddings", RESPONSES, MESSAGES]
)
def test_what_asks_for_no_answer_is_not_counted(path: str) -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> Any:
        return await seat.door(path, b'{"model": "m"}')

    assert drive(script, server=serving(SAID))[1] == ()


def test_without_a_model_the_way_out_is_told() -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> None:
        with pytest.raises(Misuse, match="--model scripted"):
            await ModelSeat(gate, None).door(MESSAGES, asking(MESSAGES, FIRST))

    drive(script)


@given(requests)
@settings(max_examples=30, deadline=None)
def test_whatever_comes_is_recorded_and_answered(request: dict[str, Any]) -> None:
    async def script(seat: ModelSeat, gate: ModelGate, tools: ToolGate) -> list[int]:
        return [(await seat.door(path, json.dumps(request).encode()))[0] for path in PATHS]

    statuses, trace = drive(script, [at_the_model("a@1..", unchanged)], server=scripted())
    assert set(statuses) <= {200, 400}
    tracefile.loads(tracefile.dumps(trace))
    assert len(list(find(trace, Asked))) == len(replies(trace)) == 3
