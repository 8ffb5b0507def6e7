"""What fastmcp makes of a tool's error, and what of the server is wrapped."""

from __future__ import annotations

from typing import Any

from fastmcp import FastMCP

from forge_chaos import agents
from forge_chaos.adapters.fastmcp import _tools, adapter
from forge_chaos.events import Asked, find
from tests.conformance.frameworks.play import raising, tried
from tests.conformance.frameworks.wire import Wire

CALL: Any = ("read_file", {"path": "a.csv"})


def server() -> Any:
    made: Any = FastMCP("files")

    @made.tool
    def read_file(path: str) -> str:
        """Read a file."""
        return f"text of {path}"

    return made


def test_the_text_of_an_error_reaches_the_client() -> None:
    _, trace = tried(server(), Wire([[CALL]]), [raising(RuntimeError("the reason"))], seated=True)
    (*_, last) = [body for _, body in find(trace, Asked)]
    assert "the reason" in str(last.messages[-1]["content"])


def test_its_tools_are_put_back() -> None:
    made = server()
    (tool,) = _tools(made)
    before = tool.fn
    tried(made, Wire([[CALL]]), [raising(ValueError("x"))], seated=True)
    assert tool.fn is before


def test_other_things_are_no_server() -> None:
    assert adapter.recognises(server())
    assert not adapter.recognises(FastMCP)
    assert agents.seat("framework:fastmcp").specs is None
