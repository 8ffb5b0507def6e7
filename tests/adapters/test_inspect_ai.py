"""What is special to inspect-ai: an agent runs in an eval alone, every model is the trial's for that long, agents that
are handed off to are seen through, a limit stands in the log, and nothing of a trial stays behind."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from fsspec import filesystem
from inspect_ai import Task, task
from inspect_ai.agent import AgentSubmit, agent, handoff, react
from inspect_ai.agent._handoff import AgentTool
from inspect_ai.model import Model, _call_tools, get_model
from inspect_ai.solver import basic_agent, generate, use_tools
from inspect_ai.tool import ToolDef, tool

from forge_chaos import agents
from forge_chaos.adapters.inspect_ai import adapter
from forge_chaos.errors import Misuse
from forge_chaos.events import Asked, Called, Finished, Injected, Trace, find
from tests.conformance.frameworks.inspect_ai import KIT, build, model
from tests.conformance.frameworks.play import raising, trial_of, tried
from tests.conformance.frameworks.wire import Wire

pytestmark = [pytest.mark.filterwarnings(each) for each in KIT.warns]
READ = ("read_file", {"path": "a.csv"})
AGAIN = ("read_file", {"path": "b.csv"})


@pytest.fixture(autouse=True)
def _what_is_left_unclosed_is_warned_of_here() -> Iterator[None]:
    yield
    gc.collect()


async def read_file(path: str) -> str:
    """Read a file.

    Args:
        path: The path of the file.
    """
    return f"text of {path}"


@tool(name="read_file")
def reader() -> Any:
    async def execute(path: str) -> str:
        """Read a file.

        Args:
            path: The path of the file.
        """
        return f"text of {path}"

    return execute


@agent
def helper(own: Any = None) -> Any:
    """Reads files for others."""
    return react(tools=[reader()], model=own)


@task
def chores() -> Any:
    return Task(solver=react(tools=[reader()]), turn_limit=2)


def finished(trace: Trace) -> Finished:
    (found,) = [body for _, body in find(trace, Finished)]
    return found


def calls(trace: Trace) -> list[tuple[str, str]]:
    return [(body.tool, body.by) for _, body in find(trace, Called)]


def test_the_seams_that_the_adapter_leans_on_are_there() -> None:
    assert list(inspect.signature(_call_tools.call_tool).parameters)[:4] == [
        "tools",
        "message",
        "message_id",
        "call",
    ]
    assert "await call_tool(" in inspect.getsource(_call_tools._execute_tools_impl)
    assert "api" not in vars(Model)
    assert "self.api = api" in inspect.getsource(Model.__init__)
    assert {"agent", "name"} <= set(inspect.signature(AgentTool.__init__).parameters)


def test_nothing_of_a_trial_stays_behind() -> None:
    before = _call_tools.call_tool
    trace = trial_of(adapter.seat(react(tools=[reader()])), [raising(ValueError("x"))], wire=Wire([[READ]]))
    assert len(list(find(trace, Injected))) == 1
    assert _call_tools.call_tool is before
    assert "api" not in vars(Model)
    assert not filesystem("memory").exists("/forge-chaos")


def test_an_error_that_the_framework_knows_is_shown_and_another_ends_the_run() -> None:
    wire = Wire([[READ]])
    known, _ = tried(
        build([read_file], wire), wire, [raising(PermissionError(13, "Permission denied", "a.csv"))]
    )
    assert known.end == "'DONE'"
    wire = Wire([[READ]])
    other, _ = tried(build([read_file], wire), wire, [raising(ConnectionResetError(104, "reset"))])
    assert other.end == "builtins.ConnectionResetError: [Errno 104] reset"


def test_the_scenarios_model_takes_the_place_of_one_that_is_named_late() -> None:
    own = model(Wire([]))
    made = react(tools=[reader()], model=own)
    wire = Wire([[READ]])
    trace = trial_of(adapter.seat(made), wire=wire)
    assert finished(trace).answer == "DONE"
    assert len(wire.bodies) == len(list(find(trace, Asked))) == 2
    assert vars(own)["api"].model_name == "own/own"


@agent
def clerk() -> Any:
    # The scripted model forgets a call whose tool is offered no more.
    again = handoff(helper(), description="Again.", tool_name="transfer_to_clerk")
    return react(tools=[reader(), again])


def test_an_agent_that_is_handed_off_to_is_gated_and_its_calls_carry_its_name() -> None:
    seat = adapter.seat(react(tools=[handoff(clerk(), description="Reads files.")]))
    assert set(seat.specs or ()) == {"read_file"}
    trace = trial_of(seat, wire=Wire([[("transfer_to_clerk", {})], [READ]]))
    assert calls(trace) == [("read_file", "clerk")]


def test_the_limit_of_a_task_is_told_as_one() -> None:
    trace = trial_of(agents.seat_of(chores), wire=Wire([[READ], [AGAIN], [READ], [AGAIN]]))
    assert (finished(trace).end, finished(trace).status) == ("answered", "limit")
    assert calls(trace) == [("read_file", ""), ("read_file", "")]


def test_a_task_is_left_as_it_was() -> None:
    made = Task(solver=[use_tools(reader()), generate()], epochs=3)
    before = dict(vars(made))
    trace = trial_of(adapter.seat(made), wire=Wire([[READ]]))
    assert (finished(trace).answer, calls(trace)) == ("DONE", [("read_file", "")])
    assert vars(made) == before


def test_what_the_framework_ends_with_is_no_tool_of_the_users() -> None:
    ends = AgentSubmit(name="hand_in", tool=ToolDef(read_file, name="hand_in"))
    for made in (react(tools=[reader()], submit=ends), basic_agent(tools=[reader()])):
        assert set(adapter.seat(made).specs or ()) == {"read_file"}


def test_a_function_that_makes_an_agent_is_called_and_one_that_needs_more_is_refused() -> None:
    @agent
    def needs(much: str) -> Any:
        return react()

    assert set(adapter.seat(helper).specs or ()) == {"read_file"}
    with pytest.raises(Misuse, match="needs"):
        adapter.seat(needs)


def test_the_declaration_of_a_function_is_read() -> None:
    async def look(path: str) -> str:
        """Look.

        Args:
            path: Where.
        """
        return path

    declared: Any = look
    declared.chaos = {"roles": ["network"]}
    specs = adapter.seat(react(tools=[ToolDef(look)])).specs
    assert specs is not None
    assert set(specs["look"].roles) == {"network"}


def test_other_things_are_not_taken_for_an_agent() -> None:
    for thing in (read_file, reader, reader(), react, get_model, "agent"):
        assert adapter.recognises(thing) is (thing is react), thing
