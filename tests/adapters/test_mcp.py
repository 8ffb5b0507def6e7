"""What the official SDK makes of a tool's error, and what of the server is wrapped."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from forge_chaos import agents
from forge_chaos.adapters import _mcp
from forge_chaos.adapters.mcp import _session, _tools, adapter
from forge_chaos.events import Asked, Called, Executed, Finished, Returned, Trace, find
from forge_chaos.nouns import Call, Err, Ok, Rule, Tool
from forge_chaos.ports import Seat
from tests.conformance.frameworks.play import raising, trial_of, tried
from tests.conformance.frameworks.wire import Wire
from tests.gates import Planned

CALL: Any = ("read_file", {"path": "a.csv"})


def server() -> Any:
    made: Any = MCPServer("files")

    @made.tool()
    def read_file(path: str) -> str:
        """Read a file."""
        return f"text of {path}"

    return made


def last_text(trace: Any) -> str:
    (*_, last) = [body for _, body in find(trace, Asked)]
    return str(last.messages[-1]["content"])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ToolError("no such slug, try list_slugs"), "no such slug, try list_slugs"),
        (RuntimeError("the reason"), "Error executing tool read_file"),
    ],
    ids=["anticipated", "crash"],
)
def test_an_anticipated_failure_keeps_its_text_and_a_crash_does_not(error: Exception, told: str) -> None:
    wire = Wire([[CALL]])
    _, trace = tried(server(), wire, [raising(error)], seated=True)
    text = last_text(trace)
    assert told in text
    assert "the reason" not in text
    ((_, returned),) = find(trace, Returned)
    assert str(error) in str(returned.result)


def test_calls_of_one_batch_are_numbered_in_the_models_order() -> None:
    wire = Wire([[("read_file", {"path": name}) for name in ("c", "a", "b")]])
    rule = raising(ConnectionResetError(104, "reset"), Rule("tool_exception", member=2))
    _, trace = tried(server(), wire, [rule], seated=True)
    orders = {body.args["path"]: body.order for _, body in find(trace, Called)}
    assert [path for path, _ in sorted(orders.items(), key=lambda item: item[1] or (0, 0))] == ["c", "a", "b"]


def two_turns(seat: Seat, wire: Wire, *rules: Any) -> Trace:
    wire.rewind()
    return trial_of(seat, rules, wire, wire.further)


def test_all_turns_of_a_trial_share_one_connection_which_its_end_closes() -> None:
    made, happened = server(), []

    @asynccontextmanager
    async def connect(given: Any) -> AsyncIterator[Any]:
        happened.append("opened")
        try:
            async with _session(given) as session:
                yield session
        finally:
            happened.append("closed")

    seat = replace(adapter.seat(made), agent=_mcp.served(made, _tools, connect))
    wire = Wire([[CALL]], [[("read_file", {"path": "b.csv"})]])
    for _ in range(2):
        trace = two_turns(seat, wire)
        assert len(list(find(trace, Executed))) == 2
    assert happened == ["opened", "closed"] * 2


def test_the_server_is_told_of_a_cancel_and_serves_the_next_turn() -> None:
    async def cancel(call: Call, tool: Tool, env: Any) -> Ok | Err:
        if env.cancel():
            env.fire()
        await env.sleep(60)
        return await tool(call)

    wire = Wire([[CALL]], [[("read_file", {"path": "b.csv"})]])
    trace = two_turns(adapter.seat(server()), wire, Planned(Rule("cancelled"), cancel, "caller"))
    first, second = [body for _, body in find(trace, Called)]
    assert (first.args, second.args) == ({"path": "a.csv"}, {"path": "b.csv"})
    assert [body.call for _, body in find(trace, Executed)] == [second.call]
    ((_, finished),) = find(trace, Finished)
    assert finished.answer == "DONE"


def test_its_tools_are_put_back_and_its_log_is_heard_again() -> None:
    made = server()
    (tool,) = made._tool_manager.list_tools()
    before = tool.fn
    level = logging.getLogger("mcp").level
    tried(made, Wire([[CALL]]), [raising(ValueError("x"))], seated=True)
    assert tool.fn is before
    assert logging.getLogger("mcp").level == level


def test_roles_can_be_declared_on_the_function() -> None:
    made: Any = MCPServer("shop")

    def settle(order: str) -> str:
        """Settle an order."""
        return order

    settle.chaos = {"roles": ["effect"], "target": "order"}  # type: ignore[attr-defined]  # as a user declares it
    made.add_tool(settle)
    specs = adapter.seat(made).specs
    assert specs is not None
    assert (set(specs["settle"].roles), specs["settle"].target) == ({"effect"}, "order")


def test_other_things_are_no_server() -> None:
    assert adapter.recognises(server())
    assert not adapter.recognises(MCPServer)
    assert agents.seat("framework:mcp").specs is None
    assert issubclass(_mcp.ToolFailed, Exception)
