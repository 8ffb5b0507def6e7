"""Native agents: a plain function that takes what it names of (task, tools, model).

    async def agent(task, tools, model) -> str

A plain `def` works too: it runs in a thread, with blocking twins of the same calls.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from forge_chaos import natural
from forge_chaos.clock import VirtualLoop
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Answer, Call, Err, Ok, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

T = TypeVar("T")
UNWIND = 5.0  # seconds of trial time for calls of a thread that was cut
PATIENCE = 1000  # calls after the end of the trial until a thread that swallows everything is parked


class Over(BaseException):
    """The trial is over; no `except Exception` of the agent's is meant to catch this."""


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


class _Blocking:
    """The same calls for code in a thread: each waits for the loop, parked."""

    def __init__(self, loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
        self._loop = loop
        self._over = over
        self._home = threading.get_ident()
        self._late = 0
        self.open: set[asyncio.Task[Any]] = set()

    def wait(self, wanted: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._over.is_set():
            self._late += 1
            if self._late > PATIENCE:
                threading.Event().wait()  # a daemon thread that swallows every end is left standing
            raise Over("the trial is over")
        loop = self._loop
        if threading.get_ident() == self._home:
            raise RuntimeError(
                "a blocking call on the event loop, which would wait for itself: a plain def was given "
                "blocking tools and returned a coroutine. Write the agent as async def."
            )

        async def tracked() -> T:
            here = asyncio.current_task()
            assert here is not None
            self.open.add(here)
            try:
                return await wanted()
            finally:
                self.open.discard(here)

        future = (
            loop.call_from_thread(tracked)
            if isinstance(loop, VirtualLoop)
            else asyncio.run_coroutine_threadsafe(tracked(), loop)
        )
        try:
            return future.result()
        except BaseException:
            if self._over.is_set():
                raise Over("the trial is over") from None
            raise


class BlockingToolbox:
    """`Toolbox` for a plain `def` agent."""

    def __init__(self, tools: Toolbox, door: _Blocking) -> None:
        self._tools = tools
        self._door = door
        self.specs, self.names = tools.specs, tools.names

    def call(self, name: str, args: Mapping[str, Any] | None = None, *, id: str | None = None) -> Any:
        return self._door.wait(lambda: self._tools.call(name, args, id=id))

    def limit(self, name: str) -> float:
        return self._tools.limit(name)


class BlockingModel:
    """The model seat for a plain `def` agent."""

    def __init__(self, model: Any, door: _Blocking) -> None:
        self._model = model
        self._door = door

    def complete(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        reply: dict[str, Any] = self._door.wait(lambda: self._model.complete(messages, tools))
        return reply


def agent_of(function: Callable[..., Any]) -> Agent:
    """A native function as an agent. It is given by name what it names of task, tools and model.

    Raises Misuse for a generator, which has no answer to give back.
    """
    bare = inspect.unwrap(function)
    if inspect.isgeneratorfunction(bare) or inspect.isasyncgenfunction(bare):
        raise Misuse(
            f"the agent {bare.__name__!r} is a generator: it yields. Return the answer instead, from def "
            "or async def."
        )
    wanted = [p for p in ("task", "tools", "model") if p in inspect.signature(function).parameters]

    async def agent(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        toolbox = Toolbox(specs, tools, gate)
        if inspect.iscoroutinefunction(bare):
            offer: dict[str, Any] = {"task": task, "tools": toolbox, "model": model}
            return _answer(await function(**{name: offer[name] for name in wanted}))
        loop = asyncio.get_running_loop()
        over = threading.Event()
        door = _Blocking(loop, over)
        offer = {"task": task, "tools": BlockingToolbox(toolbox, door), "model": BlockingModel(model, door)}

        def work() -> Any:
            try:
                return function(**{name: offer[name] for name in wanted})
            except KeyboardInterrupt as error:  # in a thread it is no Ctrl-C, and must not pass for one
                raise RuntimeError("the agent raised KeyboardInterrupt") from error

        try:
            running = (
                loop.run_in_daemon(work)
                if isinstance(loop, VirtualLoop)
                else loop.run_in_executor(None, work)
            )
            result = await running
            if inspect.isawaitable(result):
                result = await result
            return _answer(result)
        finally:
            over.set()
            left = set(door.open)
            for call in left:
                call.cancel("the trial is over")
            if left:
                await asyncio.wait(left, timeout=UNWIND)

    return agent


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
        return Seat(agent_of(thing), self.name)

    def framework(self) -> Seat:
        """The stock loop: the reference agent."""
        from forge_chaos import reference

        return Seat(agent_of(reference.agent), self.name, inline=True)


adapter = Native()
