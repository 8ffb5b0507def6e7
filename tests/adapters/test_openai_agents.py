"""What is special to openai-agents: where the user's function is kept, who else has tools, how limits are told."""

from __future__ import annotations

import json
from copy import copy
from typing import Any

import pytest
from agents import Agent, FunctionTool, RunContextWrapper, function_tool, handoff

from forge_chaos import agents as specs_of
from forge_chaos.adapters.openai_agents import OpenAIAgents, _cell, adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Asked, Called, Finished, Injected, find
from forge_chaos.order import Order
from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.openai_agents import build, play
from tests.conformance.frameworks.play import played, raising, tried
from tests.conformance.frameworks.wire import Wire

KIT = Kit("openai-agents", "agents", build, play)
READ = ("read_file", {"path": "a.csv"})


def read_file(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def with_model(agent: Any, wire: Wire) -> Any:
    from agents import OpenAIResponsesModel

    agent.model = OpenAIResponsesModel("gpt-4o", wire.asynchronous())
    return agent


def test_the_function_is_where_we_look_for_it() -> None:
    """A private seam: this is what tells that a new version has moved it."""
    tool = function_tool(read_file)
    cell = _cell(tool.on_invoke_tool._invoke_tool_impl)
    assert cell.cell_contents is read_file
    assert _cell(Agent(name="x").as_tool("ask", "ask").on_invoke_tool._invoke_tool_impl) is None


def test_after_a_trial_the_function_is_back_also_in_a_copy_of_the_tool() -> None:
    tool = function_tool(read_file)
    twin = copy(tool)
    wire = Wire([[READ]])
    agent = with_model(Agent(name="Reader", tools=[tool, twin]), wire)
    before = [each.on_invoke_tool._invoke_tool_impl for each in (tool, twin)]
    tried(agent, wire, [raising(ValueError("x"))])
    assert [each.on_invoke_tool._invoke_tool_impl for each in (tool, twin)] == before
    assert _cell(before[0]).cell_contents is read_file


def by_hand() -> FunctionTool:
    async def invoke(context: Any, text: str) -> str:
        return read_file(**json.loads(text))

    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return FunctionTool("read_file", "Read a file.", schema, invoke, strict_json_schema=False)


@pytest.mark.parametrize(
    "error", [None, ValueError("bad value"), FileNotFoundError(2, "No such file", "a.csv")]
)
def test_a_tool_made_by_hand_is_gated_and_its_exception_ends_the_run(error: Exception | None) -> None:
    """There is no `failure_error_function` in such a tool: what it raises ends the run."""

    def made(raises: Exception | None) -> tuple[Any, Wire]:
        wire = Wire([[READ]])
        tool = by_hand()
        inner = tool.on_invoke_tool
        if raises is not None:

            async def broken(context: Any, text: str) -> Any:
                raise raises

            tool.on_invoke_tool = broken
        assert inner is not None
        return with_model(Agent(name="Reader", tools=[tool]), wire), wire

    plain = played(KIT, *made(error))
    agent, wire = made(None)
    seen, trace = tried(agent, wire, [] if error is None else [raising(error)])
    assert seen == plain
    assert ("DONE" in seen.end) == (error is None)
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]


def test_the_tools_own_error_function_has_its_say() -> None:
    def told(context: Any, error: Exception) -> str:
        return f"sorry: {type(error).__name__}"

    def made(raises: Exception | None) -> tuple[Any, Wire]:
        def broken(path: str) -> str:
            """Read a file."""
            if raises is not None:
                raise raises
            return f"text of {path}"

        wire = Wire([[READ]])
        tool = function_tool(broken, name_override="read_file", failure_error_function=told)
        return with_model(Agent(name="Reader", tools=[tool]), wire), wire

    plain = played(KIT, *made(ValueError("x")))
    seen, _ = tried(*made(None), [raising(ValueError("x"))])
    assert "sorry: ValueError" in json.dumps(plain.requests)
    assert seen == plain


def test_a_context_reaches_the_function_and_stays_out_of_the_trace() -> None:
    def with_context(context: RunContextWrapper[Any], path: str) -> str:
        """Read a file."""
        return f"text of {path} for {type(context).__name__}"

    wire = Wire([[READ]])
    tool = function_tool(with_context, name_override="read_file")
    seen, trace = tried(with_model(Agent(name="Reader", tools=[tool]), wire), wire)
    assert "text of a.csv for ToolContext" in json.dumps(seen.requests)
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]


@pytest.mark.parametrize("how", ["agent", "handoff"])
def test_a_hand_off_takes_its_tools_through_the_gate_under_its_name(how: str) -> None:
    wire = Wire([[("transfer_to_clerk", {})], [READ]])
    clerk = with_model(Agent(name="clerk", tools=[function_tool(read_file)]), wire)
    clerk.handoffs = [clerk]  # the scripted model forgets a call whose tool is offered no more
    agent = with_model(Agent(name="Front", handoffs=[clerk if how == "agent" else handoff(clerk)]), wire)
    seen, trace = tried(agent, wire, [raising(ValueError("bad value"))])
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [("read_file", "clerk")]
    assert len(list(find(trace, Injected))) == 1
    assert "bad value" not in json.dumps(seen.requests), "the framework's default text says nothing of it"


def test_the_tools_of_an_agent_used_as_a_tool_are_found() -> None:
    clerk = Agent(name="clerk", tools=[function_tool(read_file)])
    seat = specs_of.seat_of(Agent(name="Front", tools=[clerk.as_tool("ask_clerk", "Ask the clerk.")]))
    assert seat.adapter == "openai-agents"
    assert set(seat.specs or {}) == {"read_file"}


def test_a_circle_of_hand_offs_ends() -> None:
    one, two = Agent(name="one", tools=[function_tool(read_file)]), Agent(name="two")
    one.handoffs, two.handoffs = [two], [one]
    assert set(adapter.seat(two).specs or {}) == {"read_file"}


def test_declared_roles_are_taken() -> None:
    def look(path: str) -> str:
        """Whatever."""
        return path

    look.chaos = {"roles": ["network"], "target": "path"}  # type: ignore[attr-defined]  # as a user declares it
    specs = adapter.seat(Agent(name="Reader", tools=[function_tool(look)])).specs
    assert specs is not None
    assert (set(specs["look"].roles), specs["look"].target) == ({"network"}, "path")


def test_the_step_limit_is_told_and_is_an_honest_end() -> None:
    """A stubborn model asks for the missing file until the framework says that it is enough."""
    bench = Bench(Setup(agent="framework:openai-agents", persona="stubborn"))
    try:
        trace = bench.trace(Order("x", "sum_orders", ("missing_file.never@1..:read_file(orders.csv)",), 1))
    finally:
        bench.close()
    (finished,) = [body for _, body in find(trace, Finished)]
    assert (finished.end, finished.honest) == ("raised", True)
    assert (finished.error or {})["type"] == "MaxTurnsExceeded"


def conversed(*rules: str) -> Any:
    """A scenario of two turns by the stock loop."""
    bench = Bench(Setup(agent="framework:openai-agents"))
    try:
        return bench.trace(Order("x", "count_then_write", rules, 1))
    finally:
        bench.close()


def shown(trace: Any) -> list[list[str]]:
    """The roles of the messages of each request."""
    found: list[list[str]] = []
    for _, asked in find(trace, Asked):
        kept = found[-1][: asked.kept] if found else []
        found.append([*kept, *(str(message["role"]) for message in asked.messages)])
    return found


TALK = ["user", "assistant", "tool", "assistant", "user"]


def test_a_second_turn_goes_on_in_the_frameworks_own_session() -> None:
    trace = conversed()
    assert shown(trace)[2] == TALK
    assert next(finished.answer for _, finished in find(trace, Finished)).endswith("DONE")


def test_the_callers_window_is_the_limit_of_the_session_in_that_turn() -> None:
    trace = conversed("truncated_context.session_window@2")
    assert [injected.request for _, injected in find(trace, Injected)] == [3]
    assert shown(trace)[2] == TALK[3:]
    assert next(finished.end for _, finished in find(trace, Finished)) == "answered"


def test_a_turn_that_is_cancelled_stays_in_the_session() -> None:
    trace = conversed("cancelled.late:read_file(visits.log)")
    assert len(list(find(trace, Injected))) == 1
    assert shown(trace)[1][0] == "user"
    assert shown(trace)[1][-1] == "user"
    assert next(finished.end for _, finished in find(trace, Finished)) == "answered"


def test_a_single_turn_needs_no_session() -> None:
    from agents import Runner

    given: list[dict[str, Any]] = []
    run = Runner.run

    async def watched(*args: Any, **kwargs: Any) -> Any:
        given.append(kwargs)
        return await run(*args, **kwargs)

    wire = Wire([[READ]])
    agent = with_model(Agent(name="Reader", tools=[function_tool(read_file)]), wire)
    Runner.run = watched
    try:
        tried(agent, wire)
    finally:
        Runner.run = run
    assert [set(each) for each in given] == [{"max_turns", "run_config"}]


def test_the_class_of_model_that_a_user_chose_is_kept() -> None:
    from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel

    from forge_chaos.adapters.openai_agents import _scripted

    seat = Wire([])
    chat = OpenAIChatCompletionsModel("gpt-4o", seat.asynchronous())
    assert type(_scripted(chat, seat)) is OpenAIChatCompletionsModel
    assert type(_scripted("gpt-4o", seat)) is OpenAIResponsesModel


def test_other_things_are_not_taken_for_an_agent() -> None:
    assert OpenAIAgents().recognises(Agent(name="x"))
    assert not adapter.recognises(Agent)
    assert not adapter.recognises(function_tool(read_file))
