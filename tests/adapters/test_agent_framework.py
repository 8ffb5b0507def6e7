"""What is special to agent-framework: what its model is told of an error, how it tells limits, and whose tools are
reached."""

from __future__ import annotations

from typing import Any

from agent_framework import (
    Agent,
    AgentResponse,
    FunctionInvocationContext,
    Message,
    function_middleware,
    tool,
)
from agent_framework._tools import _FUNCTION_INVOCATION_LIMIT_FALLBACK_TEXT

from forge_chaos.adapters.agent_framework import _answer, adapter
from forge_chaos.events import Called, Finished, Injected, Trace, find
from forge_chaos.nouns import Rule
from tests.conformance.frameworks.agent_framework import build
from tests.conformance.frameworks.play import raising, trial_of, tried
from tests.conformance.frameworks.wire import PROMPT, Wire

READ = ("read_file", {"path": "a.csv"})
AGAIN = ("read_file", {"path": "b.csv"})
LOST = FileNotFoundError(2, "No such file or directory", "a.csv")


async def read_file(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def client(wire: Wire) -> Any:
    return build([read_file], wire).client


def finished(trace: Trace) -> Finished:
    (found,) = [body for _, body in find(trace, Finished)]
    return found


def told(seen: Any) -> str:
    return str(seen.requests[-1][-1]["content"])


def test_the_model_is_told_that_a_function_failed_and_not_how() -> None:
    wire = Wire([[READ]])
    seen, _ = tried(Agent(client(wire), tools=[read_file]), wire, [raising(LOST)])
    assert told(seen) == "Error: Function failed."


def test_with_detailed_errors_it_is_told_how() -> None:
    wire = Wire([[READ]])
    made = client(wire)
    made.function_invocation_configuration["include_detailed_errors"] = True
    seen, _ = tried(Agent(made, tools=[read_file]), wire, [raising(LOST)])
    assert "No such file or directory: 'a.csv'" in told(seen)


def test_middleware_of_the_user_sees_the_fault() -> None:
    caught: list[str] = []

    @function_middleware
    async def watch(context: FunctionInvocationContext, call_next: Any) -> None:
        try:
            await call_next()
        except FileNotFoundError as error:
            caught.append(str(error))
            context.result = "no such file"

    wire = Wire([[READ]])
    seen, _ = tried(Agent(client(wire), tools=[read_file], middleware=[watch]), wire, [raising(LOST)])
    assert caught == ["[Errno 2] No such file or directory: 'a.csv'"]
    assert told(seen) == "no such file"


def test_a_tools_own_limit_counts_from_nought_in_each_trial() -> None:
    wire = Wire([[READ], [AGAIN]])
    limited = tool(read_file, max_invocations=1)
    made = Agent(client(wire), tools=[limited])
    for _ in range(2):
        seen, trace = tried(made, wire)
        assert [body.args["path"] for _, body in find(trace, Called)] == ["a.csv"]
        assert told(seen) == "Error: Function failed."
    assert limited.invocation_count == 0


def test_a_tools_own_limit_goes_on_counting_from_turn_to_turn() -> None:
    wire = Wire([[READ]], [[AGAIN]])
    limited = tool(read_file, max_invocations=1)
    trace = trial_of(adapter.seat(Agent(client(wire), tools=[limited])), further=wire.further)
    assert [body.args["path"] for _, body in find(trace, Called)] == ["a.csv"]
    assert limited.invocation_count == 0


def test_at_its_limit_it_asks_once_more_without_tools_and_its_own_words_are_read_as_a_limit() -> None:
    wire = Wire([[READ], [AGAIN], [READ]])
    made = client(wire)
    made.function_invocation_configuration["max_iterations"] = 2
    trace = trial_of(adapter.seat(Agent(made, tools=[read_file])))
    assert [body.args["path"] for _, body in find(trace, Called)] == ["a.csv", "b.csv"]
    assert wire.bodies[-1]["tool_choice"] == "none"
    said = _answer(AgentResponse(messages=[Message("assistant", [_FUNCTION_INVOCATION_LIMIT_FALLBACK_TEXT])]))
    assert said.status == "limit"


def test_who_waits_for_approval_has_not_done_the_task() -> None:
    wire = Wire([[READ]])
    guarded = tool(read_file, approval_mode="always_require")
    trace = trial_of(adapter.seat(Agent(client(wire), tools=[guarded])))
    assert (finished(trace).end, finished(trace).status) == ("answered", "failed")
    assert not list(find(trace, Called))


def test_tools_of_an_agent_behind_a_tool_are_found_and_told_apart() -> None:
    inner, outer = Wire([[READ]]), Wire([[("helper", {"task": PROMPT})]])
    helper = Agent(client(inner), name="helper", tools=[read_file])
    lead = Agent(client(outer), name="lead", tools=[helper.as_tool()])
    assert set(adapter.seat(lead).specs or ()) == {"helper", "read_file"}
    _, trace = tried(lead, outer, [raising(TimeoutError("slow"), Rule("timeout", tool="read_file"))])
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [
        ("helper", ""),
        ("read_file", "helper"),
    ]
    assert len(list(find(trace, Injected))) == 1


def test_a_method_is_a_tool_too() -> None:
    class Files:
        @tool
        def read_file(self, path: str) -> str:
            """Read a file."""
            return f"text of {path}"

    wire = Wire([[READ]])
    seen, trace = tried(Agent(client(wire), tools=[Files().read_file]), wire)
    assert told(seen) == "text of a.csv"
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]


def test_other_things_are_not_taken_for_an_agent() -> None:
    assert not adapter.recognises(read_file)
    assert not adapter.recognises("agent")
