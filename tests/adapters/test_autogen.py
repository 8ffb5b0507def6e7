"""What is special to autogen: where its tools and conversations lie, how it tells a limit, and that teams are seen
through."""

from __future__ import annotations

from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
from autogen_core.models import ChatCompletionClient
from autogen_core.tools import BaseTool
from autogen_ext.models.replay import ReplayChatCompletionClient
from pydantic import BaseModel

from forge_chaos import trial
from forge_chaos.adapters.autogen import adapter
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Called, Finished, Trace, find
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Limits, Scenario, ToolSpec
from forge_chaos.worlds.files import files
from tests.conformance.frameworks.autogen import build
from tests.conformance.frameworks.play import raising, trial_of, tried
from tests.conformance.frameworks.wire import PROMPT, Wire

READ = ("read_file", {"path": "a.csv"})
AGAIN = ("read_file", {"path": "b.csv"})
INFO: Any = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "family": "unknown",
    "structured_output": False,
}


async def read_file(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def agent(wire: Wire, name: str = "assistant", **more: Any) -> Any:
    client: ChatCompletionClient = build([], wire)._model_client
    return AssistantAgent(name, client, **{"tools": [read_file], "max_tool_iterations": 9, **more})


def finished(trace: Trace) -> Finished:
    (found,) = [body for _, body in find(trace, Finished)]
    return found


def test_an_exception_becomes_bare_text_that_the_model_reads() -> None:
    wire = Wire([[READ]])
    seen, _ = tried(agent(wire), wire, [raising(FileNotFoundError(2, "No such file or directory", "a.csv"))])
    assert seen.requests[-1][-1]["content"] == "[Errno 2] No such file or directory: 'a.csv'"


def test_a_cancellation_raised_by_a_tool_leaves_the_agent_waiting_for_ever() -> None:
    import asyncio

    wire = Wire([[READ]])
    _, trace = tried(agent(wire), wire, [raising(asyncio.CancelledError("from inside"))])
    assert finished(trace).end == "hung"


def test_the_tool_limit_ends_with_a_bare_result_and_is_read_as_a_limit() -> None:
    wire = Wire([[READ], [AGAIN], [READ]])
    found = finished(trial_of(adapter.seat(agent(wire, max_tool_iterations=2))))
    assert (found.end, found.answer, found.status) == ("answered", "text of b.csv", "limit")


def test_a_conversation_does_not_leak_into_the_next_trial_or_back_to_the_user() -> None:
    wire = Wire([[READ]])
    made = agent(wire)
    first, _ = tried(made, wire)
    assert tried(made, wire)[0] == first
    assert made._model_context._messages == []


def test_a_tool_that_is_a_class_passes_the_gate_once() -> None:
    class Args(BaseModel):
        path: str

    class Reader(BaseTool[Args, str]):
        def __init__(self) -> None:
            super().__init__(Args, str, "read_file", "Read a file.")

        async def run(self, args: Args, cancellation_token: Any) -> str:
            return f"text of {args.path}"

    wire = Wire([[READ], [AGAIN]])
    seen, trace = tried(agent(wire, tools=[Reader()]), wire)
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}, {"path": "b.csv"}]
    assert seen.requests[-1][-1]["content"] == "text of b.csv"


def test_the_members_of_a_team_are_told_apart_and_the_team_begins_anew() -> None:
    one, two = Wire([[READ]]), Wire([[AGAIN]])
    team = RoundRobinGroupChat(
        [agent(one, "one"), agent(two, "two")], termination_condition=MaxMessageTermination(3)
    )
    for _ in range(2):
        one.rewind()
        two.rewind()
        trace = trial_of(adapter.seat(team))
        assert [(body.args["path"], body.by) for _, body in find(trace, Called)][:1] == [("a.csv", "one")]
        assert finished(trace).end == "answered", finished(trace)
        assert len(one.bodies) == 2, "one reply for the tool's result, and none of an earlier trial"


def test_the_limit_of_a_team_is_read_as_one_and_its_goal_is_not() -> None:
    for stop, status in (
        (MaxMessageTermination(2), "limit"),
        (TextMentionTermination("DONE", sources=["one"]), "done"),
    ):
        wire = Wire([])
        team: Any = RoundRobinGroupChat([agent(wire, "one", tools=[])], termination_condition=stop)
        assert finished(trial_of(adapter.seat(team))).status == status


def test_an_agent_that_work_is_handed_to_is_behind_the_gate() -> None:
    first, second = Wire([[("transfer_to_two", {})]]), Wire([[READ]])
    team: Any = Swarm(
        [agent(first, "one", tools=[], handoffs=["two"]), agent(second, "two")],
        termination_condition=TextMentionTermination("DONE", sources=["two"]),
    )
    trace = trial_of(adapter.seat(team))
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [("read_file", "two")]


def test_a_team_under_the_gate_is_left_as_it_was() -> None:
    wire = Wire([[READ]])
    team: Any = RoundRobinGroupChat([agent(wire, "one")], termination_condition=MaxMessageTermination(2))
    before = dict(vars(team))
    trial_of(adapter.seat(team))
    assert vars(team) == before


def test_the_trials_model_takes_the_place_of_another_providers() -> None:
    async def solve(task: Any, tools: Any) -> str:
        await tools.read_file(path="a.csv", expect=str)
        return "DONE"

    own = ReplayChatCompletionClient([], model_info=INFO)
    made = AssistantAgent("assistant", own, tools=[read_file], max_tool_iterations=9)
    seat = adapter.seat(made)
    assert seat.own_model_deterministic
    scenario = Scenario(
        "wire", PROMPT, solve=solve, workspace="disk", limits=Limits(steps=20, seconds=3600.0)
    )
    known = {"read_file": ToolSpec("read_file", "", {"type": "object"}, frozenset())}
    setting = trial.Setting(
        scenario,
        seat,
        files,
        (),
        server=lambda world: ScriptedModel(scenario, "naive", known),
        contract=False,
    )
    loop = VirtualLoop()
    try:
        trace = trial.play(loop, setting)
    finally:
        loop.close()
    assert (finished(trace).end, finished(trace).answer) == ("answered", "DONE")
    assert [(body.args, body.order) for _, body in find(trace, Called)] == [({"path": "a.csv"}, (1, 0))]
    assert made._model_client is own


def test_other_things_are_not_taken_for_an_agent() -> None:
    assert not adapter.recognises(read_file)
    assert not adapter.recognises("agent")
