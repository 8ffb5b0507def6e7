"""What the adapter leans on in haystack, and what it must leave as it was."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import pytest
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.tools import AgentTool, tool
from haystack.utils import Secret

from forge_chaos.adapters.haystack import LIMIT, adapter
from forge_chaos.events import Called, Finished, Injected, Trace, find
from tests.conformance.frameworks.play import raising, trial_of
from tests.conformance.frameworks.wire import PROMPT, Wire

READ = ("read_file", {"path": "a.csv"})


@tool
def read_file(path: Annotated[str, "the path of the file"]) -> str:
    """Read a file."""
    return f"text of {path}"


def model(wire: Wire) -> Any:
    made = OpenAIChatGenerator(Secret.from_token("none"), "gpt-4o")
    made.async_client = wire.asynchronous()
    return made


def agent(wire: Wire, **more: Any) -> Any:
    return Agent(chat_generator=model(wire), **{"tools": [read_file], **more})


def finished(trace: Trace) -> Finished:
    (found,) = [body for _, body in find(trace, Finished)]
    return found


def test_the_seams_that_the_adapter_leans_on_are_there() -> None:
    assert callable(read_file.function)
    assert read_file.async_function is None
    assert "async_client is None" in inspect.getsource(OpenAIChatGenerator.warm_up_async)
    assert {"tools", "chat_generator"} <= set(inspect.signature(Agent.__init__).parameters)


def test_in_a_second_turn_the_system_prompt_stands_there_once() -> None:
    wire = Wire([[READ]], [[READ]])
    trial_of(adapter.seat(agent(wire, system_prompt="Be brief.")), further=wire.further)
    said = [(message["role"], message.get("content")) for message in wire.bodies[-1]["messages"]]
    assert [role for role, _ in said] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "tool",
    ]
    assert said[1][1] == PROMPT


def test_of_a_turn_that_raised_the_users_message_is_left() -> None:
    wire = Wire([[READ]], [[READ]])
    strict = agent(wire, raise_on_tool_invocation_failure=True)
    trial_of(adapter.seat(strict), [raising(ValueError("bad value"))], further=wire.further)
    asked = [message["role"] for message in wire.bodies[1]["messages"]]
    assert asked == ["user", "user"]


def test_the_users_agent_is_left_as_it_was() -> None:
    made = agent(Wire([[READ]]))
    before = (list(made.tools), read_file.function, made.chat_generator, made.chat_generator.async_client)
    trace = trial_of(adapter.seat(made), [raising(ValueError("x"))])
    assert len(list(find(trace, Injected))) == 1
    assert (
        list(made.tools),
        read_file.function,
        made.chat_generator,
        made.chat_generator.async_client,
    ) == before


def test_the_step_limit_is_told_as_one() -> None:
    trace = trial_of(adapter.seat(agent(Wire([[READ], [READ], [READ]]), max_agent_steps=2)))
    assert finished(trace).status == "limit"
    assert LIMIT == "max_agent_steps"


def test_an_answer_is_no_limit() -> None:
    assert finished(trial_of(adapter.seat(agent(Wire([[READ]]))))).status == "done"


def test_the_tools_of_an_agent_used_as_a_tool_pass_the_gate_too() -> None:
    """The tool that is an agent passes none itself: it is no tool of the task's."""
    below = AgentTool(agent(Wire([[READ]])), name="reader", description="Reads files.")
    message = {"messages": [{"role": "user", "content": PROMPT}]}
    above = agent(Wire([[("reader", message)]]), tools=[below])
    seat = adapter.seat(above)
    assert seat.specs is not None
    assert set(seat.specs) == {"read_file"}
    trace = trial_of(seat, [raising(ValueError("bad value"))])
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [("read_file", "reader")]
    assert len(list(find(trace, Injected))) == 1


def test_with_the_framework_told_to_raise_an_injected_error_ends_the_run() -> None:
    made = agent(Wire([[READ]]), raise_on_tool_invocation_failure=True)
    trace = trial_of(adapter.seat(made), [raising(ValueError("bad value"))])
    error = finished(trace).error
    assert error is not None
    assert error["type"] == "ToolInvocationError"


@pytest.mark.parametrize("thing", [read_file, Agent, "agent"])
def test_other_things_are_not_taken_for_an_agent(thing: object) -> None:
    assert not adapter.recognises(thing)
