"""What is special to ag2: where a function is kept, whose tools are reached, that a model reads tracebacks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ag2 import Agent, Context
from ag2.config import OpenAIConfig
from ag2.tools import Toolkit, tool

from forge_chaos.adapters.ag2 import _inner, _scripted, adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Called, Finished, Injected, find
from forge_chaos.order import Order
from tests.conformance.frameworks.ag2 import build, play
from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.play import played, raising, tried
from tests.conformance.frameworks.wire import PROMPT, Wire

KIT = Kit("ag2", "ag2", build, play)
READ = ("read_file", {"path": "a.csv"})


def read_file(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


async def read_file_async(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def broken(path: str) -> str:
    """Read a file."""
    raise ValueError("bad value")


def with_tools(*tools: Any, turns: Any = ((READ,),), name: str = "reader") -> tuple[Any, Wire]:
    wire = Wire(turns)
    agent = build(tools, wire)
    agent.name = name
    return agent, wire


def test_the_function_is_where_we_look_for_it() -> None:
    """A private seam: this is what tells that a new version has moved it."""
    cell, threaded = _inner(tool(read_file).model.call)
    assert (cell.cell_contents, threaded) == (read_file, True)
    cell, threaded = _inner(tool(read_file, sync_to_thread=False).model.call)
    assert (cell.cell_contents, threaded) == (read_file, False)
    made = tool(read_file_async)
    assert (made.model.call, _inner(made.model.call)) == (read_file_async, (None, False))


@pytest.mark.parametrize("how", ["thread", "loop", "async"])
def test_every_kind_of_tool_is_gated_and_put_back(how: str) -> None:
    def made(function: Any) -> Any:
        return tool(function, name="read_file", sync_to_thread=how != "loop")

    async def broken_async(path: str) -> str:
        """Read a file."""
        raise ValueError("bad value")

    plain = played(KIT, *with_tools(made(broken_async if how == "async" else broken)))
    agent, wire = with_tools(made(read_file_async if how == "async" else read_file))
    before = played(KIT, agent, wire)
    seen, trace = tried(agent, wire, [raising(ValueError("bad value"))])
    assert seen == plain
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]
    assert played(KIT, agent, wire) == before
    assert agent.tools[0]._middleware == ()


def test_a_model_reads_the_traceback_and_nothing_of_the_gate_stands_between_call_and_function() -> None:
    agent, wire = with_tools(tool(broken, name="read_file"))
    tried(agent, wire)
    told = json.dumps(wire.bodies)
    assert "Traceback (most recent call last)" in told
    assert "in broken" in told
    assert "gate.py" not in told
    assert "clock.py" not in told


def test_the_tools_of_a_toolkit_are_found() -> None:
    agent, wire = with_tools(Toolkit(read_file))
    seen, trace = tried(agent, wire, [raising(ValueError("bad value"))])
    assert len(list(find(trace, Injected))) == 1
    assert "ValueError: bad value" in json.dumps(seen.requests)


def test_an_agent_used_as_a_tool_takes_its_tools_through_the_gate_under_its_name() -> None:
    clerk, wire = with_tools(read_file, name="clerk")
    ask = clerk.as_tool(description="Ask the clerk.", name="clerk")
    front, asked = with_tools(ask, turns=[[("clerk", {"objective": PROMPT})]])
    seen, trace = tried(front, asked, [raising(ValueError("bad value"))])
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [("read_file", "clerk")]
    assert "ValueError: bad value" in json.dumps(wire.bodies)
    assert "DONE" in seen.end


def test_a_context_reaches_the_function_and_stays_out_of_the_trace() -> None:
    def with_context(path: str, context: Context) -> str:
        """Read a file."""
        return f"text of {path} for {type(context).__name__}"

    seen, trace = tried(*with_tools(tool(with_context, name="read_file")))
    assert "text of a.csv for ConversationContext" in json.dumps(seen.requests)
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]


def test_there_is_no_limit_of_steps_so_a_stubborn_model_is_stopped_by_ours() -> None:
    bench = Bench(Setup(agent="framework:ag2", persona="stubborn"))
    try:
        trace = bench.trace(Order("x", "sum_orders", ("missing_file.never@1..:read_file(orders.csv)",), 1))
    finally:
        bench.close()
    (finished,) = [body for _, body in find(trace, Finished)]
    assert (finished.end, finished.why) == ("stopped", "calls")


def test_the_settings_of_the_users_model_are_kept() -> None:
    made = _scripted(OpenAIConfig(model="gpt-4o", temperature=0.5, streaming=True), Wire([]))
    assert (made.model, made.temperature, made.streaming) == ("scripted", 0.5, True)


def test_declared_roles_are_taken_and_other_things_are_no_agent() -> None:
    def look(path: str) -> str:
        """Whatever."""
        return path

    look.chaos = {"roles": ["network"], "target": "path"}  # type: ignore[attr-defined]  # as a user declares it
    specs = adapter.seat(Agent("reader", tools=[look])).specs
    assert specs is not None
    assert (set(specs["look"].roles), specs["look"].target) == ({"network"}, "path")
    assert not adapter.recognises(tool(read_file))
    assert not adapter.recognises(Agent)
