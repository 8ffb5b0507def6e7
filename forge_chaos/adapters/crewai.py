"""crewai: a scenario's tools round a crew of one agent, or a user's finished `Crew` or `Agent` with its own tools.

A trial runs a copy (`Crew.copy`, `Agent.copy`) by `akickoff`, with copies of its tools: faults are raised in a tool's
`func`, or in its `_run`. An agent of a crew has its role as the name on its calls. The framework works on threads of
the loop, where its requests and calls wait for the gates; calls side by side in one reply run on a pool of its own,
which is waited for in real time, as is the body of an `async def`, which gets a loop of its own there. A scenario's
model is put behind the clients of the framework's own class for OpenAI's API. At its step limit the framework asks for
a last answer without tools and has no word for that: the answer is all there is to judge. What counts the tokens of a
request asks the model's provider, which the scripted one does not answer. Not reached: tools that a crew makes when it
runs (delegation, memory, MCP), flows, memory that a crew keeps.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from typing import Any

from forge_chaos.adapters import _client
from forge_chaos.adapters._reach import put
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered_blocking
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[crewai]'."
OFFLINE = {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}
MODELS = ("llm", "function_calling_llm", "manager_llm", "planning_llm", "chat_llm")


class CrewAI:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "crewai"
    time = "virtual"
    order = "asking order, by tool and target: a call's id does not reach its tool"

    def recognises(self, thing: object) -> bool:
        return _is(thing, "Crew", "BaseAgent")

    def seat(self, thing: Any) -> Seat:
        """A finished agent, which is given the prompt, or a crew with one input, which is the prompt."""
        if not self.recognises(thing):
            raise Misuse(f"adapter crewai: {type(thing).__name__} is no Crew or Agent of crewai.")
        inputs = sorted(thing.fetch_inputs()) if _is(thing, "Crew") else ["messages"]
        if len(inputs) != 1:
            raise Misuse(
                f"adapter crewai: the crew has the inputs {', '.join(inputs) or '(none)'}. Take one with a single "
                "input, for the prompt: Task(description='{task}', ...)."
            )
        return Seat(
            _own(thing, inputs[0]), self.name, specs=_specs(thing), honest=(_client.refusal(),), claims=True
        )

    def framework(self) -> Seat:
        """The stock loop, `Crew(agents=[Agent(...)], tasks=[Task(...)])`, round a scenario's tools."""
        for name, value in OFFLINE.items():
            os.environ.setdefault(name, value)
        try:
            import crewai
            import crewai.llms.providers.openai.completion  # noqa: F401  # early: both take seconds
        except ImportError as error:
            raise Misuse(f"framework:crewai does not import: {error}. {WAY}") from None
        return Seat(_bench, self.name, honest=(_client.refusal(),))


def _is(thing: object, *names: str) -> bool:
    return any(
        base.__module__.partition(".")[0] == "crewai" and base.__name__ in names
        for base in type(thing).__mro__
    )


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    import crewai
    from crewai.tools import tool

    async with blocking() as door:
        agent = crewai.Agent(
            role="Assistant",
            goal="Do the task that you are given.",
            backstory="You work with the tools that you have.",
            llm=_scripted(model, door),
            tools=[tool(n)(offered_blocking(specs[n], tools[n], gate, door)) for n in specs if n in tools],
            max_iter=task.max_steps,
        )
        work = crewai.Task(description=task.prompt, expected_output="What the task asks for.", agent=agent)
        with _listeners_counted():
            done = await crewai.Crew(agents=[agent], tasks=[work]).akickoff()
        return Answer(done.raw, session=done)


def _own(thing: Any, name: str) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            twin = thing.copy()
            members = _members(twin)
            for each in members:
                by = _role(each) if _is(thing, "Crew") and len(thing.agents) > 1 else ""
                if getattr(each, "tools", None):
                    each.tools = [_gated(one, specs, gate, door, by) for one in each.tools]
            for each in (twin, *members) if model.taken else ():
                for seat in MODELS:
                    if (own := vars(each).get(seat)) is not None:
                        setattr(each, seat, _scripted(model, door, own))
            with _listeners_counted():
                done = await twin.akickoff({name: task.prompt} if _is(thing, "Crew") else task.prompt)
            return Answer(done.raw, session=done)

    return run


@contextmanager
def _listeners_counted() -> Iterator[None]:
    """Events are heard on threads of the framework's that the loop does not know of, and runs wait for them: each is
    waited for on a thread that it counts. What the framework says of them goes to standard error."""
    from crewai.events import crewai_event_bus, event_context

    loop = asyncio.get_running_loop()
    track = crewai_event_bus._track_future

    def counted(heard: Any) -> Any:
        tracked = track(heard)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: loop.run_in_executor(None, futures.wait, [tracked]))
        return tracked

    with ExitStack() as back:
        put(crewai_event_bus, "_track_future", counted, back)
        for console in (crewai_event_bus._console, event_context._console):
            put(console.console, "stderr", True, back)
        yield


def _members(thing: Any) -> list[Any]:
    """What has tools: the agents, the one that leads them, and tasks with some of their own."""
    if not _is(thing, "Crew"):
        return [thing]
    lead = [thing.manager_agent] if thing.manager_agent is not None else []
    return [*thing.agents, *lead, *thing.tasks]


def _role(member: Any) -> str:
    """The name of an agent, or of the one that has the task."""
    agent = getattr(member, "agent", None) or member
    return str(getattr(agent, "role", ""))


def _scripted(model: Any, door: Blocking, like: Any = None) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API; with the settings of `like`, if that is
    one."""
    from crewai.llms.providers.openai.completion import OpenAICompletion

    if isinstance(like, OpenAICompletion):
        made: Any = like.model_copy()
    else:
        made = OpenAICompletion(model=_client.NAME, api_key=_client.KEY, base_url=_client.BASE)
    made._client = _client.synchronous(model, door)
    made._async_client = _client.asynchronous(model)
    return made


def _specs(thing: Any) -> dict[str, ToolSpec]:
    from crewai.utilities.string_utils import sanitize_tool_name

    found: dict[str, ToolSpec] = {}
    for each in _members(thing):
        for tool in getattr(each, "tools", None) or ():
            name = sanitize_tool_name(tool.name)
            declared = getattr(_inner(tool), "chaos", None)
            schema = tool.args_schema.model_json_schema()
            found.setdefault(name, spec(name, tool.description, schema, declared))
    return found


def _inner(tool: Any) -> Callable[..., Any]:
    """The user's own function: what `@tool` was written over, or the method of a subclass."""
    function: Callable[..., Any] = tool.func if hasattr(tool, "func") else tool._run
    return function


def _gated(tool: Any, specs: Mapping[str, ToolSpec], gate: Gate, door: Blocking, by: str) -> Any:
    from crewai.utilities.string_utils import sanitize_tool_name

    inner = _inner(tool)
    through = gated(_waited_for(inner), specs[sanitize_tool_name(tool.name)], gate, door, by=lambda: by)
    if hasattr(tool, "func"):
        return tool.model_copy(update={"func": through})
    twin = tool.model_copy()
    object.__setattr__(twin, "_run", through)
    return twin


def _waited_for(function: Callable[..., Any]) -> Callable[..., Any]:
    """An `async def` as the framework calls one from its threads."""
    if not inspect.iscoroutinefunction(function):
        return function

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return asyncio.run(function(*args, **kwargs))

    return run


adapter = CrewAI()
