"""The gate in front of a server that runs in a process of its own, with the official client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from forge_chaos import catalog, notation
from forge_chaos.events import Called, Executed, Injected, Returned, Trace, find
from forge_chaos.proxy import Proxy
from forge_chaos.recorder import Recorder

pytestmark = pytest.mark.slow
SHOP = [sys.executable, str(Path(__file__).parent / "servers" / "shop.py")]
FAULTS = catalog.faults()


def talked(plan: str, talk: Callable[[Any], Awaitable[Any]]) -> tuple[Any, Trace]:
    """What `talk(client)` gives back, with a client of fastmcp's on the proxy, and the trace."""
    rules = [catalog.resolve(rule, FAULTS) for rule in notation.parse_plan(plan).rules] if plan else []

    async def main() -> tuple[Any, Trace]:
        record = Recorder(asyncio.get_running_loop().time)
        proxy = Proxy(SHOP, rules, record, 1)
        async with Client(proxy.server) as client:
            return await asyncio.wait_for(talk(client), 60), record.trace

    return asyncio.run(main())


async def twice(client: Any) -> list[tuple[bool, str]]:
    found = []
    for _ in range(2):
        done = await client.call_tool("look_up", {"item": "apples"}, raise_on_error=False)
        found.append((done.is_error, done.content[0].text))
    return found


def test_without_a_plan_everything_passes_as_it_is() -> None:
    async def talk(client: Any) -> Any:
        tools = {tool.name: tool.description for tool in await client.list_tools()}
        wrong = await client.call_tool("look_up", {"item": "plums"}, raise_on_error=False)
        return tools, await twice(client), wrong.is_error

    (tools, said, wrong), trace = talked("", talk)
    assert tools == {"look_up": "Look up how many of an item are there.", "order": "Order some of an item."}
    assert said == [(False, "apples: 3")] * 2
    assert wrong
    assert len(list(find(trace, Called))) == len(list(find(trace, Executed))) == 3


def test_a_fault_is_the_error_of_a_tool_and_the_server_is_not_asked() -> None:
    said, trace = talked("timeout@1:look_up", twice)
    assert said[0][0]
    assert "timed out" in said[0][1]
    assert said[1] == (False, "apples: 3")
    assert [body.call for _, body in find(trace, Injected)] == [1]
    assert [body.call for _, body in find(trace, Executed)] == [2]


def test_a_result_is_changed_on_its_way_back() -> None:
    async def talk(client: Any) -> Any:
        done = await client.call_tool("look_up", {"item": "apples"}, raise_on_error=False)
        return done.is_error, [part.text for part in done.content]

    (failed, texts), trace = talked("empty_output@1:look_up(apples)", talk)
    assert (failed, "".join(texts)) == (False, "")
    assert len(list(find(trace, Executed))) == 1


def test_an_effect_happens_though_its_reply_is_lost() -> None:
    async def talk(client: Any) -> Any:
        first = await client.call_tool("order", {"item": "pears", "count": 2}, raise_on_error=False)
        left = await client.call_tool("look_up", {"item": "pears"}, raise_on_error=False)
        return first.is_error, left.content[0].text

    (failed, left), trace = talked("lost_reply.done_then_timeout@1:order", talk)
    assert failed
    assert left == "pears: 3"
    assert len(list(find(trace, Returned))) == 2


def test_what_the_tools_are_for_is_read_off_the_server() -> None:
    async def talk(client: Any) -> Any:
        return await twice(client)

    _, trace = talked("tool_exception@2:look_up(apples)", talk)
    assert [(body.target, body.nth) for _, body in find(trace, Called)] == [("apples", 1), ("apples", 2)]
    assert [body.call for _, body in find(trace, Injected)] == [2]
