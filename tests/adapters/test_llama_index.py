"""What is special to llama-index: where a function is kept, whose tools are reached, how the limit is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from llama_index.llms.openai import OpenAI

from forge_chaos.adapters.llama_index import Limit, _cell, _scripted, adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Called, Finished, Injected, find
from forge_chaos.order import Order
from tests.conformance.frameworks.llama_index import KIT, build
from tests.conformance.frameworks.play import played, raising, trial_of, tried
from tests.conformance.frameworks.wire import THEN, Wire

pytestmark = [pytest.mark.filterwarnings(each) for each in KIT.warns]
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


def with_tools(*tools: Any) -> tuple[Any, Wire]:
    wire = Wire([[READ]])
    return build(tools, wire), wire


def test_the_function_is_where_we_look_for_it() -> None:
    """A private seam: this is what tells that a new version has moved it."""
    assert _cell(FunctionTool.from_defaults(read_file)._async_fn).cell_contents is read_file
    assert FunctionTool.from_defaults(read_file_async)._async_fn is read_file_async
    assert _cell(read_file_async) is None


@pytest.mark.parametrize("function", [read_file, read_file_async])
def test_after_a_trial_the_function_is_back(function: Any) -> None:
    agent, wire = with_tools(FunctionTool.from_defaults(function, name="read_file"))
    before = played(KIT, agent, wire)
    held = agent.tools[0]._async_fn
    _, trace = tried(agent, wire, [raising(ValueError("x"))])
    assert len(list(find(trace, Injected))) == 1
    assert agent.tools[0]._async_fn is held
    assert played(KIT, agent, wire) == before


def test_a_model_is_told_the_bare_text_of_an_exception_and_the_callback_of_a_tool_is_not_asked() -> None:
    told: list[Any] = []

    def made(function: Any) -> tuple[Any, Wire]:
        return with_tools(FunctionTool.from_defaults(function, name="read_file", callback=told.append))

    plain = played(KIT, *made(broken))
    seen, _ = tried(*made(read_file), [raising(ValueError("bad value"))])
    assert seen == plain
    assert seen.requests[-1][-1]["content"] == "bad value"
    assert told == []


def test_a_context_reaches_the_function_and_stays_out_of_the_trace() -> None:
    async def with_context(ctx: Context, path: str) -> str:
        """Read a file."""
        return f"text of {path} for {type(ctx).__name__}"

    with_context.__annotations__ = {"ctx": Context, "path": str}  # it looks for the type, not for its name
    seen, trace = tried(*with_tools(FunctionTool.from_defaults(with_context, name="read_file")))
    assert "text of a.csv for" in json.dumps(seen.requests)
    assert "Context" in json.dumps(seen.requests)
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]


def test_the_tools_of_all_agents_of_a_workflow_are_gated_those_of_others_under_their_names() -> None:
    hand_over = ("handoff", {"to_agent": "clerk", "reason": "it reads"})
    wire = Wire([[hand_over], [READ]])
    clerk, front = build([read_file], wire), build([], wire)
    clerk.name, clerk.description, clerk.can_handoff_to = "clerk", "Reads files.", ["front"]
    front.name, front.description = "front", "Asks the clerk."
    agent = AgentWorkflow(agents=[clerk, front], root_agent="front")
    assert set(adapter.seat(agent).specs or {}) == {"read_file"}
    seen, trace = tried(agent, wire, [raising(ValueError("bad value"))])
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [("read_file", "clerk")]
    assert "bad value" in json.dumps(seen.requests)


def test_a_workflow_remembers_the_turn_before_whichever_agent_took_it() -> None:
    hand_over = ("handoff", {"to_agent": "clerk", "reason": "it reads"})
    wire = Wire([[hand_over], [READ]], [[hand_over], [("read_file", {"path": "b.csv"})]])
    clerk, front = build([read_file], wire), build([], wire)
    clerk.name, clerk.description, clerk.can_handoff_to = "clerk", "Reads files.", ["front"]
    front.name, front.description = "front", "Asks the clerk."
    trial_of(adapter.seat(AgentWorkflow(agents=[clerk, front], root_agent="front")), further=wire.further)
    last = json.dumps(wire.bodies[-1]["messages"])
    assert last.index("text of a.csv") < last.index(THEN)


def test_the_step_limit_is_told_by_a_text_and_is_an_honest_end() -> None:
    """A stubborn model asks for the missing file until the framework says that it is enough."""
    from llama_index.core.workflow.errors import WorkflowRuntimeError

    assert not isinstance(WorkflowRuntimeError("Something else"), Limit)
    bench = Bench(Setup(agent="framework:llama-index", persona="stubborn"))
    try:
        trace = bench.trace(Order("x", "sum_orders", ("missing_file.never@1..:read_file(orders.csv)",), 1))
    finally:
        bench.close()
    (finished,) = [body for _, body in find(trace, Finished)]
    assert (finished.end, finished.honest) == ("raised", True)
    assert str((finished.error or {})["message"]).startswith("Max iterations of ")


def test_the_settings_of_the_users_model_are_kept_and_his_own_object_is_left_alone() -> None:
    seat = Wire([])
    own = OpenAI(model="gpt-4o-mini", temperature=0.5, api_key="none", max_retries=7)
    made = _scripted(own, seat)
    assert (made.model, made.temperature, made.max_retries) == ("gpt-4o-mini", 0.5, 7)
    assert made._aclient.max_retries == 7
    assert made._get_aclient() is not own._get_aclient()
    assert str(made._get_aclient().base_url).startswith("http://model")


def test_declared_roles_are_taken_and_other_things_are_no_agent() -> None:
    def look(path: str) -> str:
        """Whatever."""
        return path

    look.chaos = {"roles": ["network"], "target": "path"}  # type: ignore[attr-defined]  # as a user declares it
    agent, _ = with_tools(look)
    specs = adapter.seat(agent).specs
    assert specs is not None
    assert (set(specs["look"].roles), specs["look"].target) == ({"network"}, "path")
    assert not adapter.recognises(FunctionTool.from_defaults(look))
    assert not adapter.recognises(FunctionAgent)
