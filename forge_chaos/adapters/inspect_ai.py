"""inspect-ai: a user's finished `Task`, agent or solver with its own tools, or `react()` round a scenario's tools.

An agent of this framework runs inside of an eval only, so a trial is an eval of one sample, the prompt, without
scoring. Its log is kept in memory and dropped, and an error of the sample's is raised instead of logged. Faults are
raised inside a tool's own function, where the framework carries a call out: tools of agents that are handed off to,
or that are tools, are reached there as well, and their calls carry the name of that agent. A scenario's model takes
the place of every model: `Model.api` is the trial's for that long. What the framework ends a run with, `submit`, and
its agents as tools pass no gate. Not reached: tools of an MCP server, and what goes on in a sandbox. Working time is
the machine's, not the trial's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from copy import copy
from importlib import import_module
from types import FunctionType
from typing import Any

from forge_chaos.adapters import _client
from forge_chaos.adapters._reach import reached
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Status, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[inspect-ai]'."
INFO, PARAMS = "__registry_info__", "__registry_params__"  # what its decorators leave on what they make
KINDS = ("task", "agent", "solver")
STEPS = ("inspect_ai.agent.", "inspect_ai.solver.")  # where tools that are steps of the framework's come from
FOLDER = "forge-chaos"
LATE = (  # what the framework imports when it runs
    "anyio._backends._asyncio",
    "fsspec.implementations.memory",
    "inspect_ai.agent._acp.server",
    "inspect_ai.hooks._startup",
    "inspect_ai.model._providers.openai_compatible",
    "openai.resources.chat",
)

_id: ContextVar[str | None] = ContextVar("id", default=None)
_by: ContextVar[str] = ContextVar("by", default="")


class InspectAI:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "inspect-ai"
    time = "virtual"
    order = "asking order"

    def recognises(self, thing: object) -> bool:
        return _kind(thing) in KINDS or _is_task(thing)

    def seat(self, thing: Any) -> Seat:
        """A finished task, agent or solver, or the decorated function that makes one."""
        if not self.recognises(thing):
            raise Misuse(
                f"adapter inspect-ai: {type(thing).__name__} is no Task, agent or solver of inspect_ai."
            )
        made = thing if _is_task(thing) or hasattr(thing, PARAMS) else _made(thing)
        _ready()
        return Seat(_own(made), self.name, specs=_specs(made), honest=_honest(), claims=True)

    def framework(self) -> Seat:
        """The stock loop, `react(tools=...)` in an eval with `turn_limit`, round a scenario's tools."""
        try:
            _ready()
        except ImportError as error:
            raise Misuse(f"framework:inspect-ai does not import: {error}. {WAY}") from None
        return Seat(_bench, self.name, honest=_honest())


def _honest() -> tuple[type[BaseException], ...]:
    """A provider that refused, as its client says it or as the framework does."""
    from inspect_ai.model._model import ModelGenerateError

    return (_client.refusal(ModelGenerateError),)


def _kind(thing: object) -> str:
    """What the framework's decorators say it is."""
    info: Any = getattr(thing, INFO, None)
    return str(info.type) if type(info).__module__.partition(".")[0] == "inspect_ai" else ""


def _is_task(thing: object) -> bool:
    return any(
        base.__module__.partition(".")[0] == "inspect_ai" and base.__name__ == "Task"
        for base in type(thing).__mro__
    )


def _made(factory: Any) -> Any:
    try:
        return factory()
    except TypeError as error:
        raise Misuse(
            f"adapter inspect-ai: {factory.__name__} cannot be called with nothing: {error}. "
            f"Name what it makes: agent = {factory.__name__}(...)."
        ) from error


def _ready() -> None:
    """What takes seconds is loaded before a trial begins. Nothing shows on the console: the framework chooses its
    display once in a process."""
    os.environ.setdefault("INSPECT_DISPLAY", "none")
    for name in LATE:
        import_module(name)
    from inspect_ai.util import display_type

    display_type()


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from inspect_ai.agent import react
    from inspect_ai.tool import ToolDef

    made = [ToolDef(offered(specs[n], tools[n], gate, _id.get)) for n in specs if n in tools]
    async with blocking() as door:
        with _behind({}, gate, door):
            return await _run(react(tools=made), task, _scripted(model), turn_limit=task.max_steps)


def _own(thing: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            with _behind(specs, gate, door):
                if not model.taken:
                    return await _run(thing, task)
                scripted = _scripted(model)
                with _everywhere(scripted.api):
                    return await _run(thing, task, scripted)

    return run


async def _run(thing: Any, task: Task, model: Any = None, **limits: Any) -> Answer:
    """An eval of one sample; a limit and an error that the task lets pass stand in the sample's log."""
    from fsspec import filesystem
    from inspect_ai import Task as Stock
    from inspect_ai import eval_async, task_with
    from inspect_ai.dataset import Sample

    sample = Sample(input=task.prompt)
    if _is_task(thing):
        chosen = {} if model is None else {"model": model}
        made = task_with(copy(thing), dataset=[sample], epochs=1, **chosen)
    else:
        made = Stock(dataset=[sample], solver=thing)
    if model is not None or (getattr(made, "model", None) is None and "INSPECT_EVAL_MODEL" not in os.environ):
        limits["model"] = model  # None is none: the agent names its own
    try:
        [log] = await eval_async(
            made,
            log_dir=f"memory://{FOLDER}",
            log_realtime=False,
            ctl_server=False,
            score=False,
            debug_errors=True,
            **limits,
        )
        [done] = log.samples  # read from the log
        said = done.error.message if done.error else done.output.completion
    finally:
        with suppress(FileNotFoundError):
            filesystem("memory").rm(f"/{FOLDER}", recursive=True)
    status: Status | None = "limit" if done.limit else "failed" if done.error else None
    return Answer(said, status=status, session=done.messages)


def _scripted(model: Any) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API."""
    from inspect_ai.model import get_model

    return get_model(
        f"openai-api/{_client.NAME}/{_client.NAME}",
        base_url=_client.BASE,
        api_key=_client.KEY,
        memoize=False,
        http_client=_client.http_client(model),
    )


@contextmanager
def _everywhere(api: Any) -> Iterator[None]:
    """Every model is served by `api`, whoever makes it; its settings and its own service stay with it."""
    from inspect_ai.model import Model

    Model.api = property(lambda _: api, lambda model, own: vars(model).update(api=own))
    try:
        yield
    finally:
        del Model.api


@contextmanager
def _behind(specs: Mapping[str, ToolSpec], gate: Gate, door: Blocking) -> Iterator[None]:
    """Where the framework carries out one call, the gate goes round the function of its tool."""
    from inspect_ai.agent._handoff import AgentTool
    from inspect_ai.model import _call_tools

    held = _call_tools.call_tool

    async def call_tool(
        tools: Any, message: Any, message_id: Any, call: Any, *more: Any, **named: Any
    ) -> Any:
        asked = next((each for each in tools if each.name == call.function), None)
        id, by = _id.set(call.id), _by.set(_by.get())
        try:
            if asked is not None and isinstance(asked.tool, AgentTool):
                _by.set(asked.tool.name)
            elif asked is not None and _step(asked.tool):
                _by.set(asked.name)
            elif asked is not None and asked.name in specs:
                twin = copy(asked)
                declared = specs[asked.name]
                twin.tool = gated(asked.tool, declared, gate, door, id=_id.get, awaited=True, by=_by.get)
                tools = [twin if each is asked else each for each in tools]
            return await held(tools, message, message_id, call, *more, **named)
        finally:
            _id.reset(id)
            _by.reset(by)

    _call_tools.call_tool = call_tool
    try:
        yield
    finally:
        _call_tools.call_tool = held


def _step(tool: Any) -> bool:
    """Is it no tool of the user's, but a step of the framework's own, such as `submit`?"""
    return str(getattr(tool, "__module__", "")).startswith(STEPS)


def _specs(thing: Any) -> dict[str, ToolSpec]:
    from inspect_ai.agent import AgentSubmit
    from inspect_ai.agent._handoff import AgentTool
    from inspect_ai.tool import ToolDef

    def parts(each: Any) -> Iterable[Any] | None:
        if isinstance(each, ToolDef):
            return (each.tool,)
        if isinstance(each, AgentTool):
            return (each.agent, each.kwargs)
        if isinstance(each, AgentSubmit):
            return ()
        if _is_task(each):
            return (each.setup, each.solver)
        if not isinstance(each, FunctionType):
            return (type(each).__call__, vars(each)) if _kind(each) else None
        if _kind(each) == "tool" and hasattr(each, PARAMS):
            return (FunctionType(each.__code__, each.__globals__, closure=each.__closure__),)
        return None

    held = reached([thing], parts)
    ends = {each.name for each in held if isinstance(each, AgentSubmit)}
    found: dict[str, ToolSpec] = {}
    for each in held:
        if isinstance(each, ToolDef) or (_kind(each) == "tool" and not isinstance(each, AgentTool)):
            known = ToolDef(each) if not isinstance(each, ToolDef) else each
            if known.name not in ends and not _step(known.tool):
                schema = known.parameters.model_dump(exclude_none=True)
                declared = getattr(known.tool, "chaos", None)
                found.setdefault(known.name, spec(known.name, known.description, schema, declared))
    return found


adapter = InspectAI()
