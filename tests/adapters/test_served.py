"""Tools over HTTP: to a client of the protocol, and to a shell that knows only how to post."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.request import Request, urlopen

import pytest
from fastmcp import Client

from forge_chaos.adapters._served import http, server
from forge_chaos.errors import Misuse
from forge_chaos.events import Abandoned, Called, find
from forge_chaos.gate import ToolGate
from forge_chaos.nouns import Call, Err, Ok, Rule, Scenario, Task, Tool
from forge_chaos.recorder import Recorder
from forge_chaos.worlds.files import files
from tests.gates import Planned

pytestmark = pytest.mark.slow
SCENARIO = Scenario("sums", "Add up.", tools=("read_file",), files={"a.csv": b"1\n2\n"})
ACCEPTED = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def served(talk: Any, rules: list[Planned], plain: bool) -> tuple[Any, Any]:
    """What `talk` gives back of a server's address, and the trace."""

    async def main() -> tuple[Any, Any]:
        loop = asyncio.get_running_loop()
        record = Recorder(loop.time)
        world = files(SCENARIO, asyncio.sleep)
        gate = ToolGate(rules, world.specs, record, loop.time, world=world)
        made = server(Task("Add up.", 9), world.specs, world.tools, gate)
        async with asyncio.timeout(60), http(made, plain=plain) as web:
            said = await talk(web.url)
        return said, record.trace

    return asyncio.run(main())


async def client(url: str) -> Any:
    async with Client(url) as session:
        return (await session.call_tool("read_file", {"path": "a.csv"})).content[0].text


def posted(url: str) -> Any:
    params = {"name": "read_file", "arguments": {"path": "a.csv"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with urlopen(Request(url, json.dumps(body).encode(), ACCEPTED), timeout=30) as answer:
        return json.load(answer)["result"]["content"][0]["text"]


@pytest.mark.parametrize("plain", [True, False])
def test_a_client_of_the_protocol_notices_no_difference(plain: bool) -> None:
    said, trace = served(client, [], plain)
    assert said == "1\n2\n"
    assert [body.target for _, body in find(trace, Called)] == ["a.csv"]


def test_one_post_is_a_call_where_it_is_plain() -> None:
    said, trace = served(lambda url: asyncio.to_thread(posted, url), [], True)
    assert said == "1\n2\n"
    assert len(list(find(trace, Called))) == 1


def test_a_call_that_is_open_at_the_end_is_abandoned() -> None:
    async def hang(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    async def asks(url: str) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await client(url)

    _, trace = served(asks, [Planned(Rule("timeout"), hang)], True)
    assert len(list(find(trace, Abandoned))) == 1


def test_a_port_that_is_taken_is_told() -> None:
    async def main() -> None:
        world = files(SCENARIO, asyncio.sleep)
        made = server(Task("", 9), world.specs, {}, None)  # type: ignore[arg-type]  # no tool, no gate
        async with http(made) as web, http(made, int(web.url.split(":")[2].partition("/")[0])):
            raise AssertionError

    with pytest.raises(Misuse, match=r"port \d+ of 127\.0\.0\.1 cannot be had"):
        asyncio.run(main())
