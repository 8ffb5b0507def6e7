"""A scenario's tools as an MCP server: what an agent in any language is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastmcp import Client

from forge_chaos.errors import Misuse
from forge_chaos.events import Called, Injected, Trace, find
from forge_chaos.gate import ToolGate
from forge_chaos.nouns import Scenario, Task
from forge_chaos.outside import server
from forge_chaos.recorder import Recorder
from forge_chaos.worlds.files import files
from tests.conformance.frameworks.play import raising
from tests.gates import Planned

SCENARIO = Scenario("sums", "Add up.", tools=("read_file", "write_file"), files={"a.csv": b"1\n2\n"})


def served(talk: Any, rules: list[Planned]) -> tuple[Any, Trace]:
    async def main() -> tuple[Any, Trace]:
        loop = asyncio.get_running_loop()
        record = Recorder(loop.time)
        world = files(SCENARIO, asyncio.sleep)
        gate = ToolGate(rules, world.specs, record, loop.time, world=world)
        async with Client(server(Task("Add up.", 9), world.specs, world.tools, gate)) as client:
            return await talk(client), record.trace

    return asyncio.run(main())


async def reads(client: Any) -> Any:
    done = await client.call_tool("read_file", {"path": "a.csv"}, raise_on_error=False)
    return done.is_error, done.content[0].text


def test_the_tools_are_those_of_the_scenario_with_their_schemas() -> None:
    async def talk(client: Any) -> Any:
        return {tool.name: tool.input_schema for tool in await client.list_tools()}

    found, _ = served(talk, [])
    assert sorted(found) == ["read_file", "write_file"]
    assert found["write_file"]["required"] == ["path", "text"]
    assert found["read_file"]["properties"]["path"]["type"] == "string"


def test_a_call_passes_the_gate_once_and_gets_the_file() -> None:
    said, trace = served(reads, [])
    assert said == (False, "1\n2\n")
    ((_, called),) = find(trace, Called)
    assert (called.tool, called.target) == ("read_file", "a.csv")


def test_a_fault_comes_as_the_error_of_a_tool_with_its_text() -> None:
    said, trace = served(reads, [raising(FileNotFoundError(2, "No such file or directory", "a.csv"))])
    assert said == (True, "FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'")
    assert len(list(find(trace, Injected))) == 1


def test_without_fastmcp_there_is_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from forge_chaos import outside

    monkeypatch.setitem(sys.modules, "fastmcp", None)
    with pytest.raises(Misuse, match=r"forge-chaos\[mcp\]"):
        outside.seat("stdio", 0, print)
