"""Native agents: a plain function that takes what it names of (task, tools, model).

    async def agent(task, tools, model) -> str

A plain `def` works too: it runs in a thread, with blocking twins of the same calls. An `async def` may yield what it
streams to its user: text, or events `{"type": "start" | "delta" | "stop", "text": ...}`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forge_chaos import natural
from forge_chaos.adapters._streamed import streamed
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Answer, Call, Err, Ok, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat


class Toolbox:
    """The tools of a trial, as a native agent sees them."""

    def __init__(self, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate) -> None:
        self._specs = specs
        self._tools = tools
        self._gate = gate
        self.specs: list[dict[str, Any]] = [spec.openai() for spec in specs.values()]
        self.names: tuple[str, ...] = tuple(specs)

    async def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        """The tool's value, or the natural exception. `id` is the model's own call id, where there is one."""
        if type(name) is not str:
            name = str.__str__(name) if isinstance(name, str) else repr(name)
        given = {} if args is None else args
        tool = self._tools.get(name) or _no_such_tool(name, self._tools)
        result = await self._gate(name, given, tool, id=id)
        if isinstance(result, Ok):
            return result.value
        raise natural.exception(result, _target(self._specs.get(name), given))

    def limit(self, name: str) -> float:
        """The time limit that this tool declares, in seconds; 30 for an unknown one."""
        spec = self._specs.get(name)
        return spec.limit if spec is not None else 30.0


def _target(spec: ToolSpec | None, args: Mapping[str, Any]) -> str | None:
    if spec is None or spec.target is None or not isinstance(args, Mapping):
        return None
    value = args.get(spec.target)
    return value if isinstance(value, str) else None


def _no_such_tool(name: str, known: Mapping[str, Tool]) -> Tool:
    async def missing(call: Call) -> Ok | Err:
        return Err("unknown_tool", f"no tool {name!r}. Known: {', '.join(sorted(known))}")

    return missing


class BlockingToolbox:
    """`Toolbox` for a plain `def` agent."""

    def __init__(self, tools: Toolbox, door: Blocking) -> None:
        self._tools = tools
        self._door = door
        self.specs, self.names = tools.specs, tools.names

    def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        return self._door.wait(lambda: self._tools.call(name, args, id=id))

    def limit(self, name: str) -> float:
        return self._tools.limit(name)


class BlockingModel:
    """The model seat for a plain `def` agent."""

    def __init__(self, model: Any, door: Blocking) -> None:
        self._model = model
        self._door = door

    def complete(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        reply: dict[str, Any] = self._door.wait(lambda: self._model.complete(messages, tools))
        return reply


def agent_of(function: Callable[..., Any]) -> Agent:
    """A native function as an agent. It is given by name what it names of task, tools and model.

    Raises Misuse for a generator that is not asynchronous.
    """
    bare = inspect.unwrap(function)
    if inspect.isgeneratorfunction(bare):
        raise Misuse(
            f"the agent {bare.__name__!r} is a plain generator. Write async def to yield what it streams, or return "
            "the answer."
        )
    wanted = [p for p in ("task", "tools", "model") if p in inspect.signature(function).parameters]

    async def agent(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        toolbox = Toolbox(specs, tools, gate)
        if _asynchronous(bare):
            offer: dict[str, Any] = {"task": task, "tools": toolbox, "model": model}
            given: Any = function(**{name: offer[name] for name in wanted})
            given = given if inspect.isasyncgen(given) else await given
            return await streamed(given) if inspect.isasyncgen(given) else _answer(given)
        async with blocking() as door:
            offer = {
                "task": task,
                "tools": BlockingToolbox(toolbox, door),
                "model": BlockingModel(model, door),
            }
            result = await door.run(lambda: function(**{name: offer[name] for name in wanted}))
            if inspect.isawaitable(result):
                result = await result
            return _answer(result)

    return agent


def _asynchronous(bare: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(bare) or inspect.isasyncgenfunction(bare)


def _answer(value: Any) -> Answer:
    if isinstance(value, Answer):
        return value
    return Answer("" if value is None else value if isinstance(value, str) else str(value))


class Native:
    """The adapter for plain functions."""

    name = "native"
    time = "virtual"
    order = "asking order when call ids are passed on, else arrival"

    def recognises(self, thing: object) -> bool:
        if not (inspect.isfunction(thing) or inspect.ismethod(thing)):
            return False
        parameters = inspect.signature(thing).parameters
        required = {
            p.name
            for p in parameters.values()
            if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        }
        return required <= {"task", "tools", "model"} and bool({"task", "tools", "model"} & set(parameters))

    def seat(self, thing: Any) -> Seat:
        return Seat(
            agent_of(thing),
            self.name,
            turns=True,
            windows=True,
            costs=True,
            cancels=_asynchronous(inspect.unwrap(thing)),
        )

    def framework(self) -> Seat:
        """The stock loop: the reference agent."""
        from forge_chaos import reference

        return Seat(agent_of(reference.agent), self.name, inline=True, turns=True, windows=True, costs=True)


adapter = Native()
