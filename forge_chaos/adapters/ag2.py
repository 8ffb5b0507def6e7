"""ag2: a scenario's tools round its stock loop, or a user's finished agent with its own tools.

The gate is put round the function that a tool calls in the end, inside the check of the arguments, the thread of a
`def` and the error event that the framework makes of an exception. The tools of toolkits and of agents used as
tools are gated too. Each trial is a conversation of its own (`Agent.ask` begins one); what an agent keeps in its
knowledge store, or in a stream that it was given for its sub-agents, stays. Not reached: tools that the provider or
a client carries out, tools of MCP servers, and a call of an agent as a tool as such. The framework has no limit of
steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Any

from forge_chaos.adapters import _client
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[ag2]'."
CALL: ContextVar[tuple[str | None, str]] = ContextVar(
    "CALL", default=(None, "")
)  # id and agent of the call under way


class AG2:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "ag2"
    time = "virtual"
    order = "asking order"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__ == "ag2.agent" and base.__name__ == "Agent" for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent: its tools are found and wrapped for the run, and left as they are."""
        if not self.recognises(thing):
            raise Misuse(f"adapter ag2: {type(thing).__name__} is no ag2.Agent.")
        return Seat(_own(thing), self.name, specs=_specs(thing), honest=(_client.refusal(),), claims=True)

    def framework(self) -> Seat:
        """The stock loop, `Agent(name, config=..., tools=[tool(...)]).ask(...)`, round a scenario's tools."""
        try:
            import ag2  # noqa: F401  # only to fail early, with the way out
            from ag2.config import OpenAIConfig  # noqa: F401
        except ImportError as error:
            raise Misuse(f"framework:ag2 does not import: {error}. {WAY}") from None
        return Seat(_bench, self.name, honest=(_client.refusal(),))


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from ag2 import Agent as Stock
    from ag2.tools import tool

    made = [tool(offered(specs[n], tools[n], gate, id=_id), middleware=[_known]) for n in specs if n in tools]
    return await _run(Stock("assistant", config=_scripted(None, model), tools=made), task)


async def _run(agent: Any, task: Task) -> Answer:
    reply = await agent.ask(task.prompt)
    return Answer(reply.body or "", session=reply.history)


def _scripted(own: Any, model: Any) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API, with the settings of the agent's own where
    that is of such a class."""
    from ag2.config import OpenAIConfig, OpenAIResponsesConfig

    seat = {"api_key": _client.KEY, "base_url": _client.BASE, "http_client": _client.http_client(model)}
    changes = {"model": _client.NAME, **seat}
    if isinstance(own, OpenAIConfig | OpenAIResponsesConfig):
        return own.copy(**changes)
    return OpenAIConfig(**changes)


def _own(agent: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        def by() -> str:
            asking = CALL.get()[1]
            return "" if asking == agent.name else asking

        agents = _agents(agent)
        async with blocking() as door:
            with ExitStack() as put_back:
                for each in agents if model.taken else ():
                    _put(each, "config", _scripted(each.config, model), put_back)
                for tool in _tools(agents):
                    _gate(tool, specs[tool.name], gate, door, by, put_back)
                return await _run(agent, task)

    return run


def _specs(agent: Any) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for tool in _tools(_agents(agent)):
        told = tool.schema.function
        declared = getattr(tool.model.call, "chaos", None)
        found.setdefault(tool.name, spec(tool.name, told.description, dict(told.parameters), declared))
    return found


def _agents(agent: Any) -> list[Any]:
    """The agent, and those that it uses as tools, each once."""
    found = [agent]
    for here in found:
        for tool in _flat(here.tools):
            other = getattr(tool, "agent", None)
            if other is not None and not any(other is known for known in found):
                found.append(other)
    return found


def _tools(agents: list[Any]) -> Iterator[Any]:
    """Their tools that are functions, each once."""
    from ag2.tools.final import FunctionTool

    seen: set[int] = set()
    for agent in agents:
        for tool in _flat(agent.tools):
            if isinstance(tool, FunctionTool) and not hasattr(tool, "agent") and id(tool) not in seen:
                seen.add(id(tool))
                yield tool


def _flat(tools: Any) -> Iterator[Any]:
    """The tools, those of toolkits in the place of these."""
    from ag2.tools import Toolkit

    for tool in tools:
        if isinstance(tool, Toolkit):
            yield from _flat(tool.tools)
        else:
            yield tool


def _gate(
    tool: Any, declared: ToolSpec, gate: Gate, door: Blocking, by: Callable[[], str], put_back: ExitStack
) -> None:
    def wrapped(function: Callable[..., Any], awaited: bool = False) -> Callable[..., Any]:
        return gated(function, declared, gate, door, id=_id, by=by, awaited=awaited)

    call = tool.model.call
    inner, threaded = _inner(call)
    if inner is None:
        _put(tool.model, "call", wrapped(call), put_back)
    elif not threaded:  # a `def` on the loop's own thread
        _put(tool.model, "call", wrapped(inner.cell_contents, awaited=True), put_back)
    else:
        _put(inner, "cell_contents", wrapped(inner.cell_contents), put_back)
    _put(tool, "_middleware", (*tool._middleware, _known), put_back)  # the last is the innermost


def _inner(call: Any) -> tuple[Any, bool]:
    """Where the framework keeps a `def`, and whether it runs it on a thread; (None, False) for an `async def`."""
    code = getattr(call, "__code__", None)
    if code is None or code.co_name != "async_wrapper" or "func" not in code.co_freevars:
        return None, False
    return call.__closure__[code.co_freevars.index("func")], "run_in_threadpool" in code.co_names


async def _known(inner: Callable[..., Any], event: Any, context: Any) -> Any:
    """Innermost middleware of a tool: its call is known to what runs inside it, threads included."""
    from ag2.utils import AGENT_CONTEXT_DEPENDENCY_KEY

    CALL.set((event.id, str(getattr(context.dependencies.get(AGENT_CONTEXT_DEPENDENCY_KEY), "name", ""))))
    return await inner(event, context)


def _put(holder: Any, name: str, new: Any, put_back: ExitStack) -> None:
    put_back.callback(setattr, holder, name, getattr(holder, name))
    setattr(holder, name, new)


def _id() -> str | None:
    return CALL.get()[0]


adapter = AG2()
