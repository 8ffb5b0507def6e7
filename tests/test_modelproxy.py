"""The model gate in front of an endpoint: what passes byte for byte, and when; what a rule does on each wire."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, IncompleteRead
from threading import Event
from typing import Any

import anthropic
import openai
import pytest

from forge_chaos import catalog
from forge_chaos.bench import specs_of
from forge_chaos.events import Asked, Injected, Replied, find
from forge_chaos.modelproxy import asking as is_asked
from forge_chaos.modelserver import loopback, wires
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.modelserver.trials import Trials
from forge_chaos.modelserver.upstream import Incoming
from forge_chaos.nouns import Call, Ok
from forge_chaos.worlds.files import files
from tests.modelserver import small
from tests.modelserver.clients import TALKS, loop
from tests.modelserver.clients import asking as once_by
from tests.modelserver.proxied import proxied
from tests.modelserver.raw import Part, answer, begun, chunk, nobody, raw
from tests.modelserver.test_server import CHAT, COUNT, FIRST, MESSAGES, PATHS, RESPONSES, asking, said

STREAMED = [(path, streamed) for path in PATHS for streamed in (False, True)]
Got = tuple[int, dict[str, str], bytes]


@contextmanager
def scripted(scenario: Any = small.SUM, specs: Any = small.SPECS) -> Iterator[str]:
    """A scripted model of its own behind a port, as `serve --scenario` has it."""
    trials = Trials(lambda name: ScriptedModel(scenario, "expert", specs, name=name))

    async def serve(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        response = trials(path, body)
        return response.status, response.body

    with loopback.port(serve) as number:
        yield f"http://127.0.0.1:{number}"


def got(url: str, path: str, body: bytes | None = None, method: str = "POST", **headers: str) -> Got:
    """(status, headers, body) as they come from the socket."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=30)
    try:
        given = {"content-type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        connection.request(method, path, body, given)
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
    finally:
        connection.close()


def asked(url: str, path: str, streamed: bool = False, history: Any = FIRST, **more: Any) -> Got:
    return got(url, path, asking(path, list(history), stream=streamed, **more))


def result(message: dict[str, Any], text: str) -> list[dict[str, Any]]:
    return [{"role": "tool", "tool_call_id": call["id"], "content": text} for call in message["tool_calls"]]


# --- byte for byte ------------------------------------------------------------------------------------------


def conversation(url: str, path: str, streamed: bool) -> list[Got]:
    """All that is said on a wire, from a first question to the last answer, and what is refused."""
    found = [got(url, "/v1/models", None, "GET"), got(url, f"{path}x", b"{}"), got(url, path, b"{")]
    history = list(FIRST)
    for text in ("id,amount\nA,10\nB,32\n", "wrote 2 characters to out/total.txt", "42"):
        found.append(asked(url, path, streamed, history))
        history.append(said(path, found[-1][2]))
        history += result(history[-1], text)
    found += [asked(url, path, streamed, history), asked(url, path, streamed, history[:-1])]
    more = {"stream_options": {"include_usage": True}} if path == CHAT and streamed else {}
    found.append(got(url, f"{path}?beta=true", asking(path, FIRST, stream=streamed, **more)))
    if path == MESSAGES:
        found.append(got(url, COUNT, asking(path, FIRST)))
    return found


@pytest.mark.parametrize(("path", "streamed"), STREAMED)
@pytest.mark.parametrize("plan", ["", "bad_tool_call.broken_json@99"])
def test_the_scripted_server_behind_it_is_the_same_byte_for_byte(
    path: str, streamed: bool, plan: str
) -> None:
    with scripted() as direct:
        wanted = conversation(direct, path, streamed)
    with scripted() as behind, proxied(behind, plan) as proxy:
        assert conversation(proxy.url, path, streamed) == wanted
    assert proxy.heard == []
    assert [status for status, _, _ in wanted][:4] == [200, 404, 400, 200]
    assert [status for status, _, _ in wanted][6:8] == [200, 400]
    asked_for = [body for _, body in find(proxy.trace, Asked)]
    told = [body for _, body in find(proxy.trace, Replied)]
    assert len(asked_for) == len(told) == proxy.over == 6
    assert [body.message is not None for body in told] == [True] * 4 + [False, True]
    assert [m["role"] for m in asked_for[1].messages] == ["assistant", "tool"]
    assert told[0].message == said(path, wanted[3][2])


def test_request_and_answer_pass_whole_with_their_headers() -> None:
    reply = b'{ "choices" :[{"message":  {"role":"assistant","content":"h\\u0069"}}] }\n'
    headers = (
        "X-Request-Id: r9",
        "Retry-After: 3",
        "OpenAI-Organization: o",
        "Content-Type: application/json; x=y",
    )
    body = b'{"messages" : [{"role":"user","content":"\\u00e4\xc3\xa4"}],  "model":"m"}'
    with raw([answer(reply, *headers)]) as there, proxied(there.url) as proxy:
        status, came, said = got(
            proxy.url,
            f"{CHAT}?a=1&b=%20",
            body,
            authorization="Bearer sk-1",
            x_api_key="sk-2",
            anthropic_beta="x",
            x_stainless_retry_count="1",
        )
    assert (status, said) == (200, reply)
    assert came == {
        "content-length": str(len(reply)),
        "x-request-id": "r9",
        "retry-after": "3",
        "openai-organization": "o",
        "content-type": "application/json; x=y",
    }
    [sent] = there.asked
    head, _, sent_body = sent.partition(b"\r\n\r\n")
    assert sent_body == body
    assert head.startswith(b"POST /v1/chat/completions?a=1&b=%20 HTTP/1.1\r\n")
    lines = head.lower().split(b"\r\n")
    for line in (
        b"authorization: bearer sk-1",
        b"x-api-key: sk-2",
        b"anthropic-beta: x",
        b"x-stainless-retry-count: 1",
    ):
        assert line in lines
    trace = repr(proxy.trace)
    assert "sk-1" not in trace
    assert "sk-2" not in trace


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/files", "/v1/responses/r1", COUNT])
def test_what_is_no_request_of_a_model_passes_and_is_not_recorded(path: str) -> None:
    reply = b"\x00\xff any bytes"
    with (
        raw([answer(reply, "content-type: x/y", status="201 Made")]) as there,
        proxied(there.url, "provider_error") as p,
    ):
        assert got(p.url, path, b"\xff\x00")[::2] == (201, reply)
    assert there.asked[0].endswith(b"\r\n\r\n\xff\x00")
    assert len(p.trace) == p.over == 0


def test_an_endpoint_without_v1_is_gated_too() -> None:
    assert is_asked(Incoming("POST", "/chat/completions?x", (), b'{"messages": []}'))[1] == {"messages": []}
    assert is_asked(Incoming("GET", CHAT, (), b'{"messages": []}'))[1] is None
    assert is_asked(Incoming("POST", "/v1/embeddings", (), b'{"input": []}')) == (None, None)
    with (
        scripted() as behind,
        raw([answer(asked(behind, CHAT)[2])]) as there,
        proxied(f"{there.url}/v1beta") as proxy,
    ):
        assert got(proxy.url, CHAT.removeprefix("/v1"), asking(CHAT, FIRST))[0] == 200
    assert there.asked[0].startswith(b"POST /v1beta/chat/completions HTTP/1.1\r\n")
    assert len(list(find(proxy.trace, Asked))) == 1


def test_an_encoded_answer_passes_as_it_is_and_is_read_all_the_same() -> None:
    with scripted() as behind:
        reply = asked(behind, CHAT)[2]
    packed = gzip.compress(reply, mtime=0)
    with raw([answer(packed, "content-encoding: gzip")]) as there:
        with proxied(there.url) as one:
            assert asked(one.url, CHAT)[2] == packed
        with proxied(there.url, "bad_tool_call.broken_json@1") as other:
            _, headers, body = asked(other.url, CHAT)
    assert "content-encoding" not in headers
    assert said(CHAT, body) != said(CHAT, reply)
    [told] = [body.message for _, body in find(one.trace, Replied)]
    assert told == said(CHAT, reply)


# --- as it comes --------------------------------------------------------------------------------------------


def parts(path: str) -> list[bytes]:
    with scripted() as behind:
        return [event + b"\n\n" for event in asked(behind, path, True)[2].split(b"\n\n") if event]


def slow(path: str, rest: Event) -> list[Part]:
    first, *others = parts(path)
    head = begun("content-type: text/event-stream")
    return [head, chunk(first), rest, *map(chunk, others), b"0\r\n\r\n"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("plan", ["", "provider_error@2"])
def test_the_first_event_is_there_before_the_last_is_written(path: str, plan: str) -> None:
    rest = Event()
    with raw(slow(path, rest)) as there, proxied(there.url, plan) as proxy:
        connection = HTTPConnection(proxy.url.removeprefix("http://"), timeout=20)
        connection.request("POST", path, asking(path, FIRST, stream=True))
        response = connection.getresponse()
        first = parts(path)[0]
        assert response.read(len(first)) == first
        assert not list(find(proxy.trace, Replied))
        rest.set()
        assert response.read() == b"".join(parts(path)[1:])
        connection.close()
    [told] = [body.message for _, body in find(proxy.trace, Replied)]
    assert told == said(path, b"".join(parts(path)))


def test_a_client_that_leaves_ends_the_answer_at_its_source() -> None:
    with raw(slow(CHAT, Event())) as there, proxied(there.url) as proxy:
        connection = HTTPConnection(proxy.url.removeprefix("http://"), timeout=20)
        connection.request("POST", CHAT, asking(CHAT, FIRST, stream=True))
        assert connection.getresponse().read(9)
        connection.close()
        assert there.left.wait(20)
        assert proxy.once.wait(20)
    assert [(body.message, body.error) for _, body in find(proxy.trace, Replied)] == [
        (None, "CancelledError")
    ]


def test_a_client_that_leaves_before_the_answer_begins_ends_it_too() -> None:
    with raw([Event()]) as there, proxied(there.url) as proxy:
        connection = HTTPConnection(proxy.url.removeprefix("http://"), timeout=20)
        connection.request("POST", CHAT, asking(CHAT, FIRST))
        while not there.asked:
            proxy.once.wait(0.02)
        connection.close()
        assert there.left.wait(20)
        assert proxy.once.wait(20)
    assert [body.error for _, body in find(proxy.trace, Replied)] == ["CancelledError"]


def test_several_at_once_do_not_wait_for_each_other() -> None:
    rest = Event()
    with scripted() as behind:
        quick = asked(behind, CHAT)[2]
    with raw(slow(CHAT, rest), [answer(quick)]) as there, proxied(there.url) as proxy:
        connection = HTTPConnection(proxy.url.removeprefix("http://"), timeout=20)
        connection.request("POST", CHAT, asking(CHAT, FIRST, stream=True))
        response = connection.getresponse()
        assert asked(proxy.url, CHAT)[2] == quick
        rest.set()
        assert response.read() == b"".join(parts(CHAT))
        connection.close()
    assert proxy.over == 2


def test_what_is_under_way_is_given_up_when_it_ends() -> None:
    with raw(slow(CHAT, Event())) as there:
        with proxied(there.url) as proxy:
            connection = HTTPConnection(proxy.url.removeprefix("http://"), timeout=20)
            connection.request("POST", CHAT, asking(CHAT, FIRST, stream=True))
            assert connection.getresponse().read(9)
        assert there.left.wait(20)
        connection.close()


# --- what a rule does ---------------------------------------------------------------------------------------


def broken(path: str, body: bytes) -> bool:
    try:
        json.loads(said(path, body)["tool_calls"][0]["function"]["arguments"])
    except ValueError:
        return True
    return path == MESSAGES and isinstance(
        json.loads(said(path, body)["tool_calls"][0]["function"]["arguments"]), str
    )


@pytest.mark.parametrize(("path", "streamed"), STREAMED)
def test_broken_arguments_reach_the_client(path: str, streamed: bool) -> None:
    with scripted() as direct:
        wanted = [asked(direct, path, streamed) for _ in range(2)]
    with scripted() as behind, proxied(behind, "bad_tool_call.broken_json@1") as proxy:
        first, second = (asked(proxy.url, path, streamed) for _ in range(2))
    assert broken(path, first[2])
    assert not broken(path, wanted[0][2])
    assert first[0] == 200
    assert first[1]["content-type"] == wanted[0][1]["content-type"]
    assert second == wanted[1]
    assert [(body.rule, body.request) for _, body in find(proxy.trace, Injected)] == [
        ("bad_tool_call.broken_json", 1)
    ]
    assert proxy.over == 2


@pytest.mark.parametrize(("path", "streamed"), STREAMED)
def test_a_refusal_has_the_form_of_the_wire_and_the_model_is_not_asked(path: str, streamed: bool) -> None:
    with raw([answer(b"{}")]) as there, proxied(there.url, "provider_error.rate_limited@1..") as proxy:
        status, headers, body = asked(proxy.url, path, streamed)
    assert there.asked == []
    assert (status, headers["retry-after"], headers["content-type"]) == (429, "20", "application/json")
    assert json.loads(body)["error"]["type"] == "rate_limit_error"
    assert (json.loads(body).get("type") == "error") is (path == MESSAGES)


@pytest.mark.parametrize(("path", "streamed"), STREAMED)
def test_a_cut_history_reaches_the_model_and_the_answer_passes(path: str, streamed: bool) -> None:
    with scripted() as behind:
        came = asked(behind, path, streamed)
    call = said(path, came[2])
    history = [*FIRST, call, *result(call, "x"), {"role": "user", "content": "Go on."}]
    kind = f"content-type: {came[1]['content-type']}"
    with (
        raw([answer(came[2], kind, "X-Request-Id: r")]) as there,
        proxied(there.url, "truncated_context.task_dropped@1") as proxy,
    ):
        status, headers, body = asked(proxy.url, path, streamed, history)
    assert (status, body, headers["x-request-id"]) == (200, came[2], "r")
    sent = json.loads(there.asked[0].partition(b"\r\n\r\n")[2])
    wire = wires.at(path)
    assert wire is not None
    assert [m.get("content") for m in wire.chat(sent)["messages"]].count(FIRST[0]["content"]) == 0
    assert len([*find(proxy.trace, Injected)]) == 1


@pytest.mark.parametrize("path", PATHS)
def test_a_reply_that_is_cut_off(path: str) -> None:
    with scripted() as behind, proxied(behind, "provider_error.cut_after_call@1..2") as proxy:
        status, _, body = asked(proxy.url, path, True)
        assert status == 200
        assert b"[DONE]" not in body
        assert b"message_stop" not in body
        assert b"response.completed" not in body
        with pytest.raises((IncompleteRead, ConnectionError)):
            asked(proxy.url, path)
        assert asked(proxy.url, path)[0] == 200
    assert proxy.over == 3


# --- an endpoint that is not there ----------------------------------------------------------------------------


@pytest.mark.parametrize("plan", ["", "bad_tool_call.broken_json@1"])
@pytest.mark.parametrize(("path", "streamed"), STREAMED)
def test_nobody_there_is_one_clear_refusal(path: str, streamed: bool, plan: str) -> None:
    with proxied(nobody(), plan) as proxy:
        status, headers, body = asked(proxy.url, path, streamed)
    told = json.loads(body)
    assert (status, headers["content-type"]) == (502, "application/json")
    assert "cannot be reached: All connection attempts failed" in told["error"]["message"]
    assert (told.get("type") == "error") is (path == MESSAGES)
    assert told["error"]["type"] == ("api_error" if path == MESSAGES else "server_error")
    assert [told["error"]["message"]] == [f"forge-chaos: {text}" for text in proxy.heard]
    assert ["502" in str(body.error) for _, body in find(proxy.trace, Replied)] == [True]


def test_nobody_there_is_told_on_other_paths_too() -> None:
    with proxied(nobody()) as proxy:
        status, _, body = got(proxy.url, "/v1/models", None, "GET")
    assert status == 502
    assert "cannot be reached" in json.loads(body)["error"]["message"]
    assert len(proxy.heard) == 1


@pytest.mark.parametrize("plan", ["", "bad_tool_call.broken_json@1"])
def test_an_answer_that_breaks_off_is_cut_or_where_it_was_waited_for_refused(plan: str) -> None:
    with raw([begun(), chunk(b'{"choices"')]) as there, proxied(there.url, plan) as proxy:
        if plan:
            assert asked(proxy.url, CHAT)[0] == 502
        else:
            with pytest.raises(IncompleteRead):
                asked(proxy.url, CHAT)
    assert len(proxy.heard) == proxy.over == 1
    [told] = [body for _, body in find(proxy.trace, Replied)]
    assert told.message is None
    assert "cannot be reached" in str(told.error)


# --- the official clients -----------------------------------------------------------------------------------


class Hands:
    """A client's own tools."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.specs = [world.specs[name].openai() for name in ("list_files", "read_file", "write_file")]

    async def call(self, name: str, args: dict[str, Any], id: str | None = None) -> Any:
        result = await self.world.tools[name](Call(1, name, args))
        assert isinstance(result, Ok), result
        return result.value


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", [*TALKS])
def test_official_clients_are_led_to_the_end_through_it(kind: str, streamed: bool) -> None:
    scenario = catalog.load("three_reads", 1)

    async def main(url: str) -> tuple[str, Any]:
        world = files(scenario, asyncio.sleep)
        try:
            hands = Hands(world)
            talk = TALKS[kind](scenario.prompt, hands.specs)
            maker: Any = {openai: openai.AsyncOpenAI, anthropic: anthropic.AsyncAnthropic}[talk.package]
            async with maker(base_url=url + talk.url, api_key="none", max_retries=0) as client:
                return await loop(talk, once_by(client, streamed), hands, 20), world.resources()["total.txt"]
        finally:
            world.close()

    total = str(sum(int(data.split()[1]) for name, data in scenario.files.items() if name != "total.txt"))
    with scripted(scenario, specs_of(scenario)) as behind, proxied(behind) as proxy:
        assert asyncio.run(main(proxy.url)) == ("DONE", total)
    assert len(list(find(proxy.trace, Replied))) == proxy.over > 2


GIVEN: dict[str, Callable[[Any], Any]] = {
    "chat": lambda reply: reply.choices[0].message.tool_calls[0].function.arguments,
    "responses": lambda reply: reply.output[0].arguments,
    "messages": lambda reply: reply.content[0].input,  # no text in a good one: what is broken goes on as one
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", GIVEN)
def test_official_clients_are_handed_broken_arguments(kind: str) -> None:
    async def main(url: str) -> Any:
        talk = TALKS[kind](small.SUM.prompt, [one.openai() for one in small.SPECS.values()])
        maker: Any = {openai: openai.AsyncOpenAI, anthropic: anthropic.AsyncAnthropic}[talk.package]
        async with maker(base_url=url + talk.url, api_key="none", max_retries=0) as client:
            return GIVEN[kind](await once_by(client, False)(talk))

    with scripted() as behind, proxied(behind, "bad_tool_call.broken_json@1") as proxy:
        assert asyncio.run(main(proxy.url)) == "{path: orders.csv}"


def test_an_official_client_meets_the_rate_limit_and_waits() -> None:
    waits: list[float] = []

    async def main(url: str) -> Any:
        client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        async with client:
            with pytest.raises(openai.RateLimitError) as told:
                await client.chat.completions.create(model="m", messages=FIRST, tools=[])  # type: ignore[arg-type]  # plain dicts
            waits.append(float(told.value.response.headers["retry-after"]))
            return await client.chat.completions.create(model="m", messages=FIRST)  # type: ignore[arg-type]  # as above

    with scripted() as behind, proxied(behind, "provider_error.rate_limited@1") as proxy:
        assert asyncio.run(main(proxy.url)).choices[0].message.content
    assert waits == [20.0]


def test_a_stored_conversation_goes_on_through_it() -> None:
    with scripted() as direct:
        one = asked(direct, RESPONSES)[2]
        wanted = going_on(direct, one)
    with scripted() as behind, proxied(behind) as proxy:
        assert asked(proxy.url, RESPONSES)[2] == one
        assert going_on(proxy.url, one) == wanted
    assert [body.kept for _, body in find(proxy.trace, Asked)] == [0, 1]


def going_on(url: str, before: bytes) -> Got:
    told = json.loads(before)
    output = {
        "type": "function_call_output",
        "call_id": told["output"][0]["call_id"],
        "output": "id,amount\nA,1\n",
    }
    request = json.loads(asking(RESPONSES, []))
    return got(
        url,
        RESPONSES,
        json.dumps({**request, "input": [output], "previous_response_id": told["id"]}).encode(),
    )
