from __future__ import annotations

import asyncio
import json
import sys
from types import ModuleType
from typing import Any

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.modelserver import sse
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.modelserver.transport import drive, http, transports
from tests.modelserver import small

openai: Any = pytest.importorskip("openai")
anthropic: Any = pytest.importorskip("anthropic")
MESSAGES = [{"role": "user", "content": small.SUM.prompt}]
TOOLS = [one.openai() for one in small.SPECS.values()]


def test_it_is_the_library_that_the_client_is_built_on() -> None:
    assert issubclass(openai.DefaultHttpxClient, http().Client)


def test_both_clients_reach_the_scripted_model_without_a_socket() -> None:
    scripted = ScriptedModel(small.SUM, "expert", small.SPECS)

    async def door(path: str, body: bytes) -> tuple[int, bytes]:
        await asyncio.sleep(0)
        response = scripted(path, body)
        return response.status, response.body

    library = http()
    one, other = transports(door)
    with library.Client(transport=one) as plain:
        client = openai.OpenAI(api_key="none", base_url="http://model/v1", http_client=plain, max_retries=0)
        reply = client.chat.completions.create(model="m", messages=MESSAGES, tools=TOOLS)
    assert reply.choices[0].message.tool_calls[0].function.name == "read_file"

    async def run() -> Any:
        async with library.AsyncClient(transport=other) as plain:
            client = openai.AsyncOpenAI(
                api_key="none", base_url="http://model/v1", http_client=plain, max_retries=0
            )
            return await client.chat.completions.create(model="m", messages=MESSAGES, tools=TOOLS)

    assert asyncio.run(run()).choices[0].message.tool_calls[0].id.endswith("_1")


def test_a_retry_by_the_client_is_marked() -> None:
    paths: list[str] = []

    async def door(path: str, body: bytes) -> tuple[int, bytes]:
        paths.append(path)
        return 503, b"{}"

    with http().Client(transport=transports(door)[0]) as plain:
        client = openai.OpenAI(api_key="none", base_url="http://model/v1", http_client=plain, max_retries=1)
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="m", messages=MESSAGES)
    assert paths == ["/v1/chat/completions", "/v1/chat/completions?retry=1"]


def test_a_refusal_is_the_client_s_own_exception() -> None:
    scripted = ScriptedModel(small.SUM, "expert", small.SPECS)

    async def door(path: str, body: bytes) -> tuple[int, bytes]:
        response = scripted(path, body)
        return response.status, response.body

    with http().Client(transport=transports(door)[0]) as plain:
        client = openai.OpenAI(api_key="none", base_url="http://model/v1", http_client=plain)
        with pytest.raises(openai.BadRequestError, match="at least 1 item"):
            client.chat.completions.create(model="m", messages=[])


def test_a_sync_door_cannot_wait() -> None:
    async def waits() -> tuple[int, bytes]:
        await asyncio.get_running_loop().create_future()
        return 200, b""

    async def inside() -> None:
        with pytest.raises(RuntimeError, match="has to wait"):
            drive(waits())

    asyncio.run(inside())


def test_without_the_client_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Misuse, match="openai is not installed"):
        http()


def test_an_older_client_is_built_on_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    httpx: Any = pytest.importorskip("httpx")
    older = ModuleType("openai")
    older.DefaultHttpxClient = type("Client", (httpx.Client,), {"__module__": "openai._base"})  # type: ignore[attr-defined]  # a stand-in
    monkeypatch.setitem(sys.modules, "openai", older)
    assert http() is httpx
    assert json.loads(httpx.Response(200, content=b"{}").text) == {}


def test_an_answer_of_events_comes_one_event_at_a_time() -> None:
    body = sse.event({"a": 1}) + sse.event({"b": 2}, "x") + sse.DONE

    async def door(path: str, given: bytes) -> tuple[int, bytes]:
        return 200, body

    async def run() -> list[bytes]:
        client = http().AsyncClient(transport=transports(door)[1])
        async with client as plain, plain.stream("POST", "http://model/v1/x") as response:
            assert response.headers["content-type"] == "text/event-stream"
            return [part async for part in response.aiter_raw()]

    wanted = [sse.event({"a": 1}), sse.event({"b": 2}, "x"), sse.DONE]
    assert asyncio.run(run()) == wanted
    with (
        http().Client(transport=transports(door)[0]) as plain,
        plain.stream("POST", "http://model/v1/x") as response,
    ):
        assert list(response.iter_raw()) == wanted


@pytest.mark.parametrize(
    ("error", "seen"), [(TimeoutError, "APITimeoutError"), (ConnectionResetError, "APIConnectionError")]
)
def test_an_answer_that_never_came_is_what_the_client_makes_of_it(error: type[Exception], seen: str) -> None:
    async def door(path: str, given: bytes) -> tuple[int, bytes]:
        raise error("gone")

    with http().Client(transport=transports(door)[0]) as plain:
        client = openai.OpenAI(api_key="none", base_url="http://model/v1", http_client=plain, max_retries=0)
        with pytest.raises(openai.APIConnectionError) as caught:
            client.chat.completions.create(model="m", messages=MESSAGES)
    assert type(caught.value).__name__ == seen

    async def run() -> str:
        async with http("anthropic").AsyncClient(transport=transports(door, "anthropic")[1]) as plain:
            client = anthropic.AsyncAnthropic(
                api_key="none", base_url="http://model", http_client=plain, max_retries=0
            )
            with pytest.raises(anthropic.APIConnectionError) as caught:
                await client.messages.create(model="m", max_tokens=9, messages=MESSAGES)
        return type(caught.value).__name__

    assert asyncio.run(run()) == seen


def test_a_refusal_that_asks_to_wait_says_so_in_its_header() -> None:
    told = b'{"error": {"message": "Rate limit reached. Please try again in 20 seconds."}}'

    async def door(path: str, body: bytes) -> tuple[int, bytes]:
        return (429, told) if b"now" in body else (200, told)

    with http().Client(transport=transports(door)[0]) as plain:
        refused, taken = (plain.post("http://model/v1/x", content=word) for word in (b"now", b"later"))
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "20")
    assert "retry-after" not in taken.headers
