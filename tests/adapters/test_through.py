from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from traceback import extract_tb
from typing import Any

import pytest

from forge_chaos.adapters._threads import blocking
from forge_chaos.adapters._through import gated, offered, offered_blocking, typed
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Called, Executed, Trace, find
from forge_chaos.gate import ToolGate
from forge_chaos.nouns import Call, Err, Ok, Rule, Tool, ToolSpec
from forge_chaos.recorder import Recorder
from tests.gates import Planned

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "where to"},
        "text": {"type": "string"},
        "times": {"type": "integer", "default": 1},
        "mode": {"type": "string"},
    },
    "required": ["text", "path"],
}
SPEC = ToolSpec("write_file", "Write a file.", SCHEMA, frozenset({"write"}), "path")
HALF = Rule("partial_write")


async def halve(call: Call, tool: Tool, env: Any) -> Ok | Err:
    """A mechanism that has the tool do something else than it was asked."""
    env.fire()
    call.args = {**call.args, "text": call.args["text"][:2]}
    return await tool(call)


def through(use: Callable[..., Any], rules: Sequence[Planned] = ()) -> tuple[Any, Trace]:
    """`use(gate, door)` on a virtual loop; what it gives back, and the trace."""
    loop = VirtualLoop()
    record = Recorder(loop.time)

    async def main() -> Any:
        gate = ToolGate(rules, {"write_file": SPEC}, record, loop.time)
        async with blocking() as door:
            done = use(gate, door)
            return await done if inspect.isawaitable(done) else done

    try:
        return loop.run_until_complete(main()), record.trace
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


class Context:
    """What some frameworks pass to tools beside the model's arguments."""


written: list[tuple[Any, ...]] = []


async def write_async(path: str, text: str, *, context: Context | None = None, **rest: Any) -> str:
    """Write."""
    written.append((path, text, context, rest))
    return "written"


def write_sync(path: str, text: str, context: Context | None = None, **rest: Any) -> str:
    """Write."""
    written.append((path, text, context, rest))
    return "written"


@pytest.mark.parametrize("kind", ["async", "sync", "awaited"])
def test_a_function_goes_through_the_gate_as_it_is_called(kind: str) -> None:
    context = Context()
    function: Any = write_async if kind == "async" else write_sync

    def use(gate: ToolGate, door: Any) -> Any:
        call = gated(function, SPEC, gate, door, awaited=kind == "awaited")
        assert (call.__name__, call.__doc__) == (function.__name__, "Write.")
        assert inspect.signature(call) == inspect.signature(function)
        assert inspect.iscoroutinefunction(call) is (kind != "sync")
        if kind == "sync":
            return asyncio.get_running_loop().run_in_executor(
                None, lambda: call("a.txt", text="hello", context=context, mode="x")
            )
        return call("a.txt", text="hello", context=context, mode="x")

    for rules, text in (((), "hello"), ((Planned(HALF, halve),), "he")):
        written.clear()
        said, trace = through(use, rules)
        assert said == "written"
        assert written == [("a.txt", text, context, {"mode": "x"})]
        ((_, called),) = find(trace, Called)
        assert called.args == {"path": "a.txt", "text": "hello", "mode": "x"}
        assert (called.target, len(list(find(trace, Executed)))) == ("a.txt", 1)


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_an_error_is_raised_where_the_function_would_raise(kind: str) -> None:
    async def missing(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        return Err("not_found", "No such file or directory")

    function: Any = write_async if kind == "async" else write_sync

    def use(gate: ToolGate, door: Any) -> Any:
        call = gated(function, SPEC, gate, door)
        if kind == "sync":
            return asyncio.get_running_loop().run_in_executor(None, call, "a.txt", "x")
        return call("a.txt", "x")

    with pytest.raises(FileNotFoundError) as raised:
        through(use, [Planned(Rule("missing_file"), missing)])
    assert raised.value.filename == "a.txt"


async def real(call: Call) -> Ok | Err:
    return Ok(sorted(call.args.items()))


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_a_scenarios_tool_is_a_function_with_the_schemas_signature(kind: str) -> None:
    def use(gate: ToolGate, door: Any) -> Any:
        if kind == "async":
            tool = offered(SPEC, real, gate)
            return tool("a.txt", text="some text")
        tool = offered_blocking(SPEC, real, gate, door)
        return asyncio.get_running_loop().run_in_executor(None, lambda: tool("a.txt", text="some text"))

    said, trace = through(use)
    assert said == [("path", "a.txt"), ("text", "some text")]
    assert [body.args for _, body in find(trace, Called)] == [{"path": "a.txt", "text": "some text"}]


def test_name_docstring_types_and_defaults_are_the_schemas() -> None:
    async def call(**args: Any) -> Any:
        return args

    tool = typed(call, SPEC)
    signature = inspect.signature(tool)
    assert tool.__name__ == "write_file"
    assert list(signature.parameters)[:2] == ["path", "text"]
    assert signature.parameters["times"].default == 1
    assert signature.parameters["times"].annotation is int
    assert signature.parameters["mode"].default is None
    assert signature.parameters["path"].default is inspect.Parameter.empty
    assert "path: where to" in (tool.__doc__ or "")
    assert asyncio.run(tool("p", "t", mode=None)) == {"path": "p", "text": "t"}
    with pytest.raises(TypeError):
        asyncio.run(tool("p"))


def break_sync(path: str, text: str) -> str:
    """Write."""
    raise ValueError("bad value")


async def break_async(path: str, text: str) -> str:
    """Write."""
    return break_sync(path, text)


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_a_traceback_shows_the_function_and_nothing_of_the_gate(kind: str) -> None:
    """Some frameworks show a model all of it; it begins where the wrapper stands for the function."""

    async def use(gate: Any, door: Any) -> list[str]:
        made = gated(break_async if kind == "async" else break_sync, SPEC, gate, door)
        try:
            await (made("a", "b") if kind == "async" else door.run(lambda: made("a", "b")))
        except ValueError as error:
            return [Path(frame.filename).name for frame in extract_tb(error.__traceback__)]
        return []

    files, _ = through(use)
    wrapped = files.index("_through.py")
    assert files[wrapped:] == ["_through.py"] * 2 + ["test_through.py"] * (2 if kind == "async" else 1)


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_the_trace_says_by_whom_a_call_was_made(kind: str) -> None:
    def use(gate: Any, door: Any) -> Any:
        made = gated(write_async if kind == "async" else write_sync, SPEC, gate, door, by=lambda: "clerk")
        return made("a", "b") if kind == "async" else door.run(lambda: made("a", "b"))

    _, trace = through(use)
    assert [body.by for _, body in find(trace, Called)] == ["clerk"]
