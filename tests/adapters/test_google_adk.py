"""What is special to google-adk: a fault passes its callbacks and plugins, sub-agents are seen through, the limit is
told by an exception, and nothing of a trial stays behind."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm
from google.adk.plugins import ReflectAndRetryToolPlugin
from google.adk.tools import AgentTool, BaseTool, FunctionTool, ToolContext, function_tool
from google.genai import types

from forge_chaos import trial
from forge_chaos.adapters.google_adk import adapter
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Called, Finished, Injected, Trace, find
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Limits, Rule, Scenario, ToolSpec
from forge_chaos.worlds.files import files
from tests.conformance.frameworks.google_adk import build
from tests.conformance.frameworks.play import raising, trial_of, tried
from tests.conformance.frameworks.wire import PROMPT, Wire

READ = ("read_file", {"path": "a.csv"})
AGAIN = ("read_file", {"path": "b.csv"})
LOST = FileNotFoundError(2, "No such file or directory", "a.csv")


def read_file(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def agent(wire: Wire, name: str = "assistant", **more: Any) -> Any:
    return LlmAgent(name=name, model=build([], wire).model, **{"tools": [read_file], **more})


def finished(trace: Trace) -> Finished:
    (found,) = [body for _, body in find(trace, Finished)]
    return found


def told(seen: Any) -> str:
    return str(seen.requests[-1][-1]["content"])


def test_the_state_of_a_session_goes_on_from_turn_to_turn_and_no_further() -> None:
    seen: list[int] = []

    def count(path: str, tool_context: ToolContext) -> str:
        """Read a file."""
        seen.append(tool_context.state.get("reads", 0))
        tool_context.state["reads"] = seen[-1] + 1
        return f"text of {path}"

    wire = Wire([[("count", {"path": "a.csv"})]], [[("count", {"path": "b.csv"})]])
    seat = adapter.seat(agent(wire, tools=[count]))
    for _ in range(2):
        wire.rewind()
        trial_of(seat, further=wire.further)
    assert seen == [0, 1, 0, 1]


def test_an_exception_of_a_tool_ends_the_run() -> None:
    wire = Wire([[READ]])
    seen, _ = tried(agent(wire), wire, [raising(LOST)])
    assert seen.end.startswith("builtins.FileNotFoundError")


def test_the_users_error_callback_meets_the_fault() -> None:
    def handle(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, str]:
        return {"error": f"handled {error}"}

    wire = Wire([[READ]])
    seen, trace = tried(agent(wire, on_tool_error_callback=handle), wire, [raising(LOST)])
    assert "handled [Errno 2]" in told(seen)
    assert len(list(find(trace, Injected))) == 1


def test_an_apps_plugins_meet_the_fault() -> None:
    wire = Wire([[READ], [AGAIN]])
    app = App(name="app", root_agent=agent(wire), plugins=[ReflectAndRetryToolPlugin(max_retries=2)])
    seen, trace = tried(app, wire, [raising(LOST)])
    assert "No such file" in str(seen.requests[1])
    assert [body.args["path"] for _, body in find(trace, Called)] == ["a.csv", "b.csv"]
    assert "DONE" in seen.end


def test_a_context_reaches_the_function_and_stays_out_of_the_trace() -> None:
    ids: list[Any] = []

    def read_file(path: str, tool_context: ToolContext) -> str:
        """Read a file."""
        ids.append(tool_context.function_call_id)
        return f"text of {path}"

    wire = Wire([[READ]])
    seen, trace = tried(agent(wire, tools=[read_file]), wire)
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]
    assert ids[0]
    assert "text of a.csv" in told(seen)


def test_a_tool_that_is_a_class_passes_the_gate_once() -> None:
    class Reader(BaseTool):
        def __init__(self) -> None:
            super().__init__(name="read_file", description="Read a file.")

        def _get_declaration(self) -> types.FunctionDeclaration:
            path = types.Schema(type=types.Type.STRING)
            schema = types.Schema(type=types.Type.OBJECT, properties={"path": path}, required=["path"])
            return types.FunctionDeclaration(name=self.name, description="Read a file.", parameters=schema)

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            return {"text": f"text of {args['path']}"}

    wire = Wire([[READ]])
    made = agent(wire, tools=[Reader()])
    assert (adapter.seat(made).specs or {})["read_file"].parameters["properties"] == {
        "path": {"type": "string"}
    }
    seen, trace = tried(made, wire)
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]
    assert "text of a.csv" in told(seen)


def test_agents_that_work_is_handed_to_are_behind_the_gate() -> None:
    first, second = Wire([[("transfer_to_agent", {"agent_name": "two"})]]), Wire([[READ]])
    lead = agent(first, "one", tools=[], sub_agents=[agent(second, "two", description="Reads files.")])
    trace = trial_of(adapter.seat(lead))
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [("read_file", "two")]


@pytest.mark.filterwarnings(
    "ignore:The `plugins` argument:DeprecationWarning"
)  # its own call of its own runner
def test_tools_of_an_agent_behind_a_tool_are_found_and_told_apart() -> None:
    inner, outer = Wire([[READ]]), Wire([[("helper", {"request": PROMPT})]])
    lead = agent(outer, "lead", tools=[AgentTool(agent(inner, "helper", description="Reads files."))])
    assert set(adapter.seat(lead).specs or ()) == {"helper", "read_file"}
    _, trace = tried(lead, outer, [raising(TimeoutError("slow"), Rule("timeout", tool="read_file"))])
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [
        ("helper", ""),
        ("read_file", "helper"),
    ]
    assert len(list(find(trace, Injected))) == 1


def test_the_tools_are_left_as_they_were_and_no_function_of_a_trial_is_kept() -> None:
    wire = Wire([[READ]])
    held = FunctionTool(read_file)
    made = agent(wire, tools=[held, read_file])
    tools, before = list(made.tools), dict(vars(held))
    trial_of(adapter.seat(made))
    assert all(one is other for one, other in zip(made.tools, tools, strict=True))
    assert held.func is before["func"]
    assert "run_async" not in vars(held)
    assert function_tool._build_declaration_cached.cache_info().currsize == 0


class Gemini(BaseLlm):
    """A model of another provider, whose service cannot be reached."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        raise AssertionError("the provider was asked")
        yield


def scripted(thing: Any, reads: list[str], steps: int = 20, taken: Any = None) -> Trace:
    """A trial whose model asks for these files, one a turn, all of which are there."""

    async def solve(task: Any, tools: Any) -> str:
        for path in reads:
            await tools.read_file(path=path, expect=str)
        return "DONE"

    limits, there = Limits(steps=steps, seconds=3600.0), dict.fromkeys(reads, b"text")
    scenario = Scenario("wire", PROMPT, files=there, solve=solve, workspace="disk", limits=limits)
    known = {"read_file": ToolSpec("read_file", "", {"type": "object"}, frozenset())}
    setting = trial.Setting(
        scenario,
        adapter.seat(thing) if taken is None else taken,
        files,
        (),
        server=lambda world: ScriptedModel(scenario, "naive", known),
        contract=False,
    )
    loop = VirtualLoop()
    try:
        return trial.play(loop, setting)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def test_the_trials_model_takes_the_place_of_another_providers() -> None:
    own = Gemini(model="gemini-2.5-flash")
    made = LlmAgent(name="assistant", model=own, tools=[read_file])
    trace = scripted(made, ["a.csv"])
    assert (finished(trace).end, finished(trace).answer) == ("answered", "DONE")
    assert [(body.args, body.order) for _, body in find(trace, Called)] == [({"path": "a.csv"}, (1, 0))]
    assert made.model is own


def test_the_step_limit_is_an_honest_end() -> None:
    trace = scripted(None, ["a.csv", "b.csv", "c.csv", "d.csv"], steps=2, taken=adapter.framework())
    found = finished(trace)
    assert (found.end, found.honest) == ("raised", True), found
    assert found.error is not None
    assert found.error["type"] == "LlmCallsLimitExceededError"


def test_other_things_are_not_taken_for_an_agent() -> None:
    assert not adapter.recognises(read_file)
    assert not adapter.recognises("agent")
