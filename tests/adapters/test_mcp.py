"""What the official SDK makes of a tool's error, and what of the server is wrapped."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from forge_chaos import agents
from forge_chaos.adapters import _mcp
from forge_chaos.adapters.mcp import adapter
from forge_chaos.events import Asked, Called, Returned, find
from forge_chaos.nouns import Rule
from tests.conformance.frameworks.play import raising, tried
from tests.conformance.frameworks.wire import Wire

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
