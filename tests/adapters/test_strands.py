"""What is special to strands: where the user's function is kept, what an agent remembers, how limits are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from strands import Agent, ToolContext, tool
from strands.tools.tools import PythonAgentTool

from forge_chaos.adapters.strands import Refused, _honest, _scripted, adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Called, Finished, Injected, find
from forge_chaos.order import Order
from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.play import Seen, played, raising, tried
from tests.conformance.frameworks.strands import build, play
from tests.conformance.frameworks.wire import PROMPT, Wire

KIT = Kit("strands", "strands", build, play)
READ = ("read_file", {"path": "a.csv"})


def read_file(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def with_tools(*tools: Any, turns: Any = ((READ,),)) -> tuple[Any, Wire]:
    from strands.models.openai import OpenAIModel

    wire = Wire(turns)
    model = OpenAIModel(wire.asynchronous(), model_id="gpt-4o")
    return Agent(model=model, tools=list(tools), callback_handler=None), wire


def test_the_function_is_where_we_look_for_it_and_back_after_a_trial() -> None:
    """A private seam: this is what tells that a new version has moved it."""
    made = tool(read_file)
    assert made._tool_func is read_file
    agent, wire = with_tools(made)
    _, trace = tried(agent, wire, [raising(ValueError("x"))])
    assert len(list(find(trace, Injected))) == 1
    assert made._tool_func is read_file
    assert "stream" not in vars(made)


def test_a_trial_leaves_nothing_in_the_conversation_and_starts_with_what_was_there() -> None:
    agent, wire = with_tools(tool(read_file))
    agent.messages = [
        {"role": "user", "content": [{"text": "Hello."}]},
        {"role": "assistant", "content": [{"text": "Hello!"}]},
    ]
    before = json.dumps(agent.messages)
    seen, _ = tried(agent, wire, [raising(ValueError("x"))])
    assert seen.requests[0][0]["content"][0]["text"] == "Hello."
    assert json.dumps(agent.messages) == before
    again, _ = tried(agent, wire, [raising(ValueError("x"))])
    assert again == seen


def module_tool(error: Exception | None = None) -> PythonAgentTool:
    """As a module with a TOOL_SPEC is loaded."""

    def function(use: Any, **state: Any) -> Any:
        if error is not None:
            raise error
        text = f"text of {use['input']['path']}"
        return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": text}]}

    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    told: Any = {"name": "read_file", "description": "Read a file.", "inputSchema": {"json": schema}}
    return PythonAgentTool("read_file", told, function)


@pytest.mark.parametrize(
    "error", [None, ValueError("bad value"), FileNotFoundError(2, "No such file", "a.csv")]
)
def test_a_tool_of_a_module_is_gated_too(error: Exception | None) -> None:
    plain = played(KIT, *with_tools(module_tool(error)))
    seen, trace = tried(*with_tools(module_tool()), [] if error is None else [raising(error)])
    assert seen == plain
    assert "DONE" in seen.end
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]


def test_a_context_reaches_the_function_and_stays_out_of_the_trace() -> None:
    @tool(name="read_file", context=True)
    def with_context(path: str, tool_context: ToolContext) -> str:
        """Read a file."""
        return f"text of {path} for {type(tool_context).__name__}"

    seen, trace = tried(*with_tools(with_context))
    assert "text of a.csv for ToolContext" in json.dumps(seen.requests)
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]


def test_an_agent_used_as_a_tool_takes_its_tools_through_the_gate_under_its_name() -> None:
    clerk, wire = with_tools(tool(read_file), turns=[[READ]])
    clerk.name = "clerk"
    front, asked = with_tools(clerk.as_tool(name="clerk"), turns=[[("clerk", {"input": PROMPT})]])
    seen, trace = tried(front, asked, [raising(ValueError("bad value"))])
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [("read_file", "clerk")]
    assert "Error: bad value" in json.dumps(wire.bodies)
    assert "DONE" in seen.end
    assert clerk.messages == []


def test_the_step_limit_is_told_by_a_field_of_the_result() -> None:
    """A stubborn model asks for the missing file until the framework says that it is enough."""
    bench = Bench(Setup(agent="framework:strands", persona="stubborn"))
    try:
        trace = bench.trace(Order("x", "sum_orders", ("missing_file.never@1..:read_file(orders.csv)",), 1))
    finally:
        bench.close()
    (finished,) = [body for _, body in find(trace, Finished)]
    assert (finished.end, finished.status) == ("answered", "limit")


def test_a_provider_that_refused_is_known_inside_the_frameworks_own_exception() -> None:
    from openai import APIStatusError
    from strands.types.exceptions import EventLoopException, ModelThrottledException

    refused = APIStatusError.__new__(APIStatusError)
    assert isinstance(EventLoopException(refused), Refused)
    assert isinstance(EventLoopException(ModelThrottledException("slow down")), Refused)
    assert any(isinstance(refused, kind) for kind in _honest())  # of the first request, as it is
    assert not any(isinstance(EventLoopException(ValueError("x")), kind) for kind in _honest())
    assert not isinstance(EventLoopException(ValueError("x")), Refused)
    assert not isinstance(ValueError("x"), Refused)


def test_the_parameters_of_the_users_model_are_kept() -> None:
    from strands.models.openai import OpenAIModel

    own = OpenAIModel(client_args={"api_key": "none"}, model_id="gpt-4o", params={"temperature": 0.5})
    made = _scripted(own, Wire([]))
    assert made.config == {"model_id": "scripted", "params": {"temperature": 0.5}}


def test_declared_roles_are_taken_and_other_things_are_no_agent() -> None:
    def look(path: str) -> str:
        """Whatever."""
        return path

    look.chaos = {"roles": ["network"], "target": "path"}  # type: ignore[attr-defined]  # as a user declares it
    agent, _ = with_tools(tool(look))
    specs = adapter.seat(agent).specs
    assert specs is not None
    assert (set(specs["look"].roles), specs["look"].target) == ({"network"}, "path")
    assert not adapter.recognises(tool(look))
    assert not adapter.recognises(Seen)
