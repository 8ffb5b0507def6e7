"""What a fault does inside pydantic-ai must be what the user's own tool would do by raising."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, capture_run_messages
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from forge_chaos.adapters.pydantic_ai import adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Asked, Called, Executed, Finished, Injected, find
from forge_chaos.gate import ToolGate
from forge_chaos.modelgate import ModelGate, ModelSeat
from forge_chaos.nouns import Call, Err, Ok, Rule, Task, Tool
from forge_chaos.order import Order
from forge_chaos.recorder import Recorder
from tests.gates import Planned

ERRORS: list[Callable[[], BaseException]] = [
    lambda: FileNotFoundError(2, "No such file or directory", "a.csv"),
    lambda: TimeoutError("timed out after 30 seconds"),
    lambda: PermissionError(13, "Permission denied", "a.csv"),
    lambda: ConnectionResetError(104, "Connection reset by peer"),
    lambda: ValueError("bad value"),
    lambda: KeyError("rows"),
    lambda: RuntimeError("broken"),
    lambda: OSError(28, "No space left on device"),
    lambda: ModelRetry("try another path"),
    lambda: asyncio.CancelledError("from inside"),
]


def made(is_async: bool, error: BaseException | None, timeout: float | None = None) -> Agent[None, str]:
    """An agent that reads twice, then ends; its tool raises `error` at the first call."""
    calls: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = sum(isinstance(m, ModelResponse) for m in messages)
        if asked < 2:
            return ModelResponse(parts=[ToolCallPart("read_file", {"path": "a.csv"}, f"id{asked}")])
        return ModelResponse(parts=[TextPart("DONE")])

    agent = Agent(FunctionModel(model), retries=3)

    def read(path: str) -> str:
        calls.append(path)
        if error is not None and len(calls) == 1:
            raise error
        return f"text of {path}"

    if is_async:

        @agent.tool_plain(timeout=timeout)
        async def read_file(path: str) -> str:
            """Read a file."""
            return read(path)
    else:

        @agent.tool_plain(name="read_file", timeout=timeout)
        def read_file_sync(path: str) -> str:
            """Read a file."""
            return read(path)

    return agent


def shown(messages: list[ModelMessage]) -> list[Any]:
    """A message list without what differs from run to run: times and run ids."""
    return [
        (
            m.kind,
            [(p.part_kind, getattr(p, "tool_call_id", None), str(getattr(p, "content", p))) for p in m.parts],
        )
        for m in messages
    ]


def plainly(agent: Agent[None, str]) -> tuple[str, list[Any]]:
    async def main() -> tuple[str, list[Any]]:
        with capture_run_messages() as messages:
            try:
                end = repr((await agent.run("go")).output)
            except BaseException as error:
                end = f"{type(error).__name__}: {error}"
        return end, shown(messages)

    return asyncio.run(main())  # nothing of ours in the process but the agent itself


def gated(agent: Agent[None, str], rules: list[Planned]) -> tuple[str, list[Any], Any]:
    seat = adapter.seat(agent)
    assert seat.specs is not None
    specs = seat.specs
    traces: list[Any] = []

    async def main() -> tuple[str, list[Any]]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.watch_anyio()
        record = Recorder(loop.time)
        gate = ToolGate(rules, specs, record, loop.time)
        with capture_run_messages() as messages:
            try:
                own_model = ModelSeat(ModelGate([], record, loop.time, gate), None)
                answer = await seat.agent(Task("go", 20), specs, {}, gate, own_model)
                end = repr(answer.text)
            except BaseException as error:
                end = f"{type(error).__name__}: {error}"
        traces.append(record.trace)
        return end, shown(messages)

    end, messages = on_a_loop(main)
    return end, messages, traces[0]


def on_a_loop(main: Callable[[], Any]) -> Any:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main())
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def raising(error: BaseException) -> Planned:
    async def raise_it(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        return Err("runtime", str(error), error)

    return Planned(Rule("tool_exception"), raise_it)


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
@pytest.mark.parametrize("error", ERRORS, ids=lambda make: type(make()).__name__)
def test_we_inject_it_and_the_own_tool_raises_it_are_the_same(
    error: Callable[[], BaseException], is_async: bool
) -> None:
    end, messages = plainly(made(is_async, error()))
    injected_end, injected_messages, trace = gated(made(is_async, None), [raising(error())])
    assert (injected_end, injected_messages) == (end, messages)
    assert len(list(find(trace, Injected))) == 1


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
def test_a_tool_with_a_time_limit_turns_a_timeout_into_a_retry_either_way(is_async: bool) -> None:
    """Raised at the wrong layer, a TimeoutError would pass the framework's own limit by."""
    end, messages = plainly(made(is_async, TimeoutError("slow"), timeout=5))
    injected_end, injected_messages, _ = gated(
        made(is_async, None, timeout=5), [raising(TimeoutError("slow"))]
    )
    assert "Timed out after 5" in str(messages)
    assert (injected_end, injected_messages) == (end, messages)


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
def test_an_empty_plan_changes_nothing_and_every_call_passes_the_gate_once(is_async: bool) -> None:
    end, messages = plainly(made(is_async, None))
    injected_end, injected_messages, trace = gated(made(is_async, None), [])
    assert (injected_end, injected_messages) == (end, messages)
    assert len(list(find(trace, Called))) == len(list(find(trace, Executed))) == 2


def test_a_hang_is_cut_by_the_frameworks_own_limit_in_virtual_time() -> None:
    async def hang(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    end, messages, _ = gated(made(True, None, timeout=600), [Planned(Rule("timeout"), hang)])
    assert "Timed out after 600" in str(messages)
    assert end == "'DONE'"


def test_the_agent_is_left_as_it_was() -> None:
    agent = made(True, None)
    before = [id(t) for t in agent.toolsets]
    gated(agent, [raising(ValueError("x"))])
    assert [id(t) for t in agent.toolsets] == before
    assert plainly(agent) == plainly(made(True, None))


def test_specs_roles_and_targets_are_read_off_the_agent() -> None:
    specs = adapter.seat(made(True, None)).specs
    assert specs is not None
    assert (set(specs["read_file"].roles), specs["read_file"].target) == ({"read"}, "path")


def conversed(agent: str, *rules: str) -> list[list[str]]:
    """The roles of the messages of each request, in a scenario of two turns by the stock loop."""
    bench = Bench(Setup(agent=agent))
    try:
        trace = bench.trace(Order("x", "count_then_write", rules, 1))
    finally:
        bench.close()
    assert [finished.end for _, finished in find(trace, Finished)] == ["answered"]
    assert len(list(find(trace, Injected))) == len(rules)
    found: list[list[str]] = []
    for _, asked in find(trace, Asked):
        kept = found[-1][: asked.kept] if found else []
        found.append([*kept, *(str(message["role"]) for message in asked.messages)])
    return found


def test_a_second_turn_goes_on_with_the_messages_of_the_first() -> None:
    assert conversed("framework:pydantic-ai")[2] == ["user", "assistant", "tool", "assistant", "user"]


def test_a_turn_that_is_cancelled_leaves_what_was_said_by_then() -> None:
    shown = conversed("framework:pydantic-ai", "cancelled.late:read_file(visits.log)")
    assert shown[1] == ["user", "assistant", "tool", "user"]


def test_other_things_are_not_taken_for_an_agent() -> None:
    assert adapter.recognises(made(True, None))
    assert not adapter.recognises(made)
    assert not adapter.recognises("agent")
