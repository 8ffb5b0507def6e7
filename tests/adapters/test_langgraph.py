"""What is special to langgraph: where its tools, policies and memory lie, and that a trial finds them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, wrap_model_call, wrap_tool_call
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from forge_chaos import agents, trial
from forge_chaos.adapters.langgraph import adapter
from forge_chaos.clock import VirtualLoop
from forge_chaos.errors import Misuse
from forge_chaos.events import Called, Finished, Injected, Trace, find
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Call, Err, Limits, Ok, Rule, Scenario, Tool, ToolSpec
from forge_chaos.worlds.files import files
from tests.conformance.frameworks.langgraph import build
from tests.conformance.frameworks.play import raising, shown, trial_of, tried
from tests.conformance.frameworks.wire import PROMPT, Wire
from tests.gates import Planned

READ = ("read_file", {"path": "a.csv"})
AGAIN = ("read_file", {"path": "b.csv"})
LOST = FileNotFoundError(2, "No such file or directory", "a.csv")


@tool
def read_file(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def model(wire: Wire) -> Any:
    """The chat model of the kit's agent."""
    graph = build([read_file.func], wire)
    from forge_chaos.adapters.langgraph import _reach

    return next(each for each in _reach(graph) if isinstance(each, BaseChatModel))


def by_hand(wire: Wire, node: Any) -> Any:
    """A graph of the user's own: one node that asks the model, one that carries out what it asked for."""
    bound = model(wire).bind_tools([read_file])

    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("tools", node)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition)
    graph.add_edge("tools", "ask")
    return graph.compile()


def carried_out(state: MessagesState) -> dict[str, Any]:
    """The tool node as the Graph API's first page writes it."""
    last: Any = state["messages"][-1]
    known = {read_file.name: read_file}
    return {
        "messages": [
            ToolMessage(content=known[call["name"]].invoke(call["args"]), tool_call_id=call["id"])
            for call in last.tool_calls
        ]
    }


def told(seen: Any) -> str:
    return str(seen.requests[-1][-1]["content"])


def test_a_tool_nodes_own_policy_meets_the_fault() -> None:
    wire = Wire([[READ]])
    seen, _ = tried(by_hand(wire, ToolNode([read_file], handle_tool_errors=True)), wire, [raising(LOST)])
    assert "No such file" in told(seen)
    wire = Wire([[READ]])
    seen, _ = tried(by_hand(wire, ToolNode([read_file])), wire, [raising(LOST)])
    assert seen.end.startswith("builtins.FileNotFoundError")


def test_a_policy_for_one_type_does_not_meet_another() -> None:
    """Through the wrapper of a tool node, a handler would be handed what it is not for."""

    def handler(error: ValueError) -> str:
        return "handled"

    wire = Wire([[READ]])
    seen, _ = tried(by_hand(wire, ToolNode([read_file], handle_tool_errors=handler)), wire, [raising(LOST)])
    assert seen.end.startswith("builtins.FileNotFoundError")


def test_a_node_that_calls_its_tools_by_hand_passes_the_gate() -> None:
    wire = Wire([[READ], [AGAIN]])
    graph = by_hand(wire, carried_out)
    assert set(adapter.seat(graph).specs or ()) == {"read_file"}
    seen, trace = tried(graph, wire)
    assert "DONE" in seen.end
    assert [body.args["path"] for _, body in find(trace, Called)] == ["a.csv", "b.csv"]


def test_middleware_of_plain_functions_is_carried_out() -> None:
    """The documented way to handle tool errors has no `async def` at all."""
    asked: list[str] = []

    @wrap_tool_call
    def handle(request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except FileNotFoundError as error:
            return ToolMessage(content=f"handled {error}", tool_call_id=request.tool_call["id"])

    @wrap_model_call
    def note(request: Any, handler: Any) -> Any:
        asked.append("model")
        return handler(request)

    wire = Wire([[READ]])
    graph = create_agent(model(wire), tools=[read_file], middleware=[handle, note])
    seen, trace = tried(graph, wire, [raising(LOST)])
    assert "DONE" in seen.end
    assert told(seen).startswith("handled [Errno 2]")
    assert len(asked) == 2
    assert len(list(find(trace, Injected))) == 1


def test_tools_of_a_sub_agent_are_found_and_told_apart() -> None:
    inner = Wire([[READ]])
    helper = create_agent(model(inner), tools=[read_file], name="helper")

    @tool
    async def ask_helper(question: str) -> str:
        """Ask the helper."""
        done = await helper.ainvoke({"messages": [{"role": "user", "content": PROMPT}]})
        return str(done["messages"][-1].text)

    outer = Wire([[("ask_helper", {"question": "go"})]])
    graph = create_agent(model(outer), tools=[ask_helper], name="lead")
    assert set(adapter.seat(graph).specs or ()) == {"ask_helper", "read_file"}
    _, trace = tried(graph, outer)
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [
        ("ask_helper", ""),
        ("read_file", "helper"),
    ]


def test_a_tool_that_is_a_class_passes_the_gate_once() -> None:
    class Reader(BaseTool):
        name: str = "read_file"
        description: str = "Read a file."

        def _run(self, path: str) -> str:
            return f"text of {path}"

        async def _arun(self, path: str) -> str:
            return self._run(path)

    wire = Wire([[READ]])
    seen, trace = tried(create_agent(model(wire), tools=[Reader()]), wire)
    assert told(seen) == "text of a.csv"
    assert len(list(find(trace, Called))) == 1


def test_a_conversation_does_not_leak_into_the_next_trial() -> None:
    wire = Wire([[READ]])
    saver = InMemorySaver()
    graph = create_agent(model(wire), tools=[read_file], checkpointer=saver)
    first, _ = tried(graph, wire)
    assert tried(graph, wire)[0] == first
    assert graph.checkpointer is saver
    assert not saver.storage


def two_turns(graph: Any, wire: Wire, rules: list[Any] | None = None) -> Trace:
    wire.rewind()
    return trial_of(adapter.seat(graph), rules or [], further=wire.further)


def cancelling() -> Planned:
    """The caller cancels the turn in the middle of the first call."""

    async def cancel(call: Call, tool: Tool, env: Any) -> Ok | Err:
        if env.cancel():
            env.fire()
        await env.sleep(60)
        return await tool(call)

    return Planned(Rule("cancelled"), cancel, "caller")


def roles(wire: Wire) -> list[str]:
    return [message["role"] for message in wire.bodies[-1]["messages"]]


def test_a_graph_with_a_checkpointer_goes_on_in_its_thread_and_one_without_is_told_all_again() -> None:
    wire = Wire([[READ]], [[AGAIN]])
    saver = InMemorySaver()
    remembering = create_agent(model(wire), tools=[read_file], checkpointer=saver)
    two_turns(remembering, wire)
    said = roles(wire)
    assert said == ["user", "assistant", "tool", "assistant", "user", "assistant", "tool"]
    assert not saver.storage
    two_turns(create_agent(model(wire), tools=[read_file]), wire)
    assert roles(wire) == said


def test_a_turn_that_was_cut_is_in_the_thread_and_in_no_other_history() -> None:
    """What a checkpointer has kept of it holds a call without an answer, which providers refuse."""
    wire = Wire([[READ]], [[AGAIN]])
    remembering = create_agent(model(wire), tools=[read_file], checkpointer=InMemorySaver())
    two_turns(remembering, wire, [cancelling()])
    assert roles(wire) == ["user", "assistant", "user"]
    trace = two_turns(create_agent(model(wire), tools=[read_file]), wire, [cancelling()])
    assert roles(wire) == ["user", "user", "assistant", "tool"]
    ((_, finished),) = find(trace, Finished)
    assert finished.answer == "DONE"


def test_the_step_limit_is_an_honest_end() -> None:
    wire = Wire([[READ]] * 9)
    graph = create_agent(model(wire), tools=[read_file]).with_config({"recursion_limit": 4})
    trace = trial_of(adapter.seat(graph))
    (finished,) = [body for _, body in find(trace, Finished)]
    assert (finished.end, finished.honest) == ("raised", True)
    assert finished.error is not None
    assert finished.error["type"] == "GraphRecursionError"


def test_a_limit_that_is_told_as_text_is_read_as_one() -> None:
    wire = Wire([[READ]] * 9)
    graph = create_agent(model(wire), tools=[read_file], middleware=[ModelCallLimitMiddleware(run_limit=2)])
    (finished,) = [body for _, body in find(trial_of(adapter.seat(graph)), Finished)]
    assert (finished.end, finished.status) == ("answered", "limit")


class Foreign(BaseChatModel):
    """A chat model of another provider, whose service cannot be reached."""

    @property
    def _llm_type(self) -> str:
        return "foreign"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        named = [
            {"name": t.name, "description": t.description, "input_schema": t.args_schema.model_json_schema()}
            for t in tools
        ]
        return self.bind(tools=named, **kwargs)

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        if len(messages) > 1:
            return ChatResult(generations=[ChatGeneration(message=AIMessage("alone"))])
        raise AssertionError("the provider was asked")


def behind_a_model(graph: Any, model_of: Callable[[Any], Any]) -> Trace:
    scenario = Scenario(
        "wire", PROMPT, solve=_solve, workspace="disk", limits=Limits(steps=20, seconds=3600.0)
    )
    setting = trial.Setting(scenario, agents.seat_of(graph), files, (), server=model_of, contract=False)
    loop = VirtualLoop()
    try:
        return trial.play(loop, setting)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _solve(task: Any, tools: Any) -> str:
    await tools.read_file(path="a.csv", expect=str)
    return "DONE"


@pytest.mark.parametrize("kind", ["of another provider", "of OpenAI's", "asked by a plain function"])
def test_the_trials_model_takes_the_place_of_the_agents_own(kind: str) -> None:
    if kind == "asked by a plain function":
        graph = by_hand(Wire([]), carried_out)
    else:
        own: Any = Foreign() if kind == "of another provider" else model(Wire([]))
        graph = create_agent(own, tools=[read_file])
    spec = ToolSpec("read_file", "", {"type": "object"}, frozenset())
    scenario = Scenario("wire", PROMPT, solve=_solve)
    before = vars(BaseChatModel)["_agenerate_with_cache"]
    trace = behind_a_model(graph, lambda world: ScriptedModel(scenario, "naive", {"read_file": spec}))
    (finished,) = [body for _, body in find(trace, Finished)]
    assert (finished.end, finished.answer) == ("answered", "DONE")
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.csv"}]
    assert vars(BaseChatModel)["_agenerate_with_cache"] is before


def test_calls_of_one_reply_are_numbered_as_the_model_asked() -> None:
    """By the call ids, which the framework keeps from its tools."""
    graph = create_agent(Foreign(), tools=[read_file])
    spec = ToolSpec("read_file", "", {"type": "object"}, frozenset())

    async def both(task: Any, tools: Any) -> str:
        calls = [tools.read_file(path=path, expect=str) for path in ("a.csv", "b.csv", "c.csv")]
        await tools.together(*calls)
        return "DONE"

    trace = behind_a_model(
        graph, lambda world: ScriptedModel(Scenario("wire", PROMPT, solve=both), "naive", {"read_file": spec})
    )
    orders = {body.args["path"]: body.order for _, body in find(trace, Called)}
    assert orders == {"a.csv": (1, 0), "b.csv": (1, 1), "c.csv": (1, 2)}


def test_a_graph_without_messages_is_refused_with_a_way_out() -> None:
    class State(dict[str, Any]):
        pass

    graph = StateGraph(dict)
    graph.add_node("only", lambda state: state)
    graph.add_edge(START, "only")
    graph.add_edge("only", END)
    with pytest.raises(Misuse, match="no messages in its state"):
        adapter.seat(graph.compile())


def test_other_things_are_not_taken_for_a_graph() -> None:
    assert not adapter.recognises(read_file)
    assert not adapter.recognises("agent")


def test_a_deep_agents_own_tools_are_reached() -> None:
    from deepagents import create_deep_agent

    wire = Wire(
        [[("write_file", {"file_path": "/a.txt", "content": "x"})], [("read_file", {"file_path": "/a.txt"})]]
    )
    graph = create_deep_agent(model=model(wire), tools=[])
    specs = adapter.seat(graph).specs or {}
    assert {"read_file", "write_file", "task"} <= set(specs)
    seen, trace = tried(graph, wire, [raising(TimeoutError("slow"), Rule("timeout", tool="read_file"))])
    assert [body.tool for _, body in find(trace, Called)] == ["write_file", "read_file"]
    assert seen.end == "builtins.TimeoutError: slow"
    assert shown({"messages": []}) == []
