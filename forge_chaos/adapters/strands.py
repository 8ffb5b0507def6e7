"""strands: a scenario's tools round its stock loop, or a user's finished agent with its own tools.

The gate is put round the function that a tool carries (`_tool_func`), inside the argument check, the thread of a
`def` and the text that the framework makes of an exception. The tools of agents used as tools are gated too.
Conversation, state and interrupts of an agent are put back after each turn to what they were when it was named, and
those of the last turn are there again in the next one of the trial.
Not reached: tools of MCP servers and of classes of the user's own, and a call of an agent as a tool as such. What a
session manager writes down is not undone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Any

from forge_chaos.adapters import _client, _releases
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Status, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[strands]'."
RELEASES = ("1.62", "2")
CALL: ContextVar[tuple[str | None, str]] = ContextVar(
    "CALL", default=(None, "")
)  # id and agent of the call under way
STOPS: Mapping[str, Status] = {
    "limit_turns": "limit",
    "limit_output_tokens": "limit",
    "limit_total_tokens": "limit",
    "max_tokens": "limit",
    "cancelled": "failed",
    "content_filtered": "failed",
    "guardrail_intervened": "failed",
    "interrupt": "failed",
}


class Strands:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "strands"
    time = "virtual"
    order = "asking order"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__ == "strands.agent.agent" and base.__name__ == "Agent"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent: its tools are found and wrapped for the run, and left as they are."""
        if not self.recognises(thing):
            raise Misuse(f"adapter strands: {type(thing).__name__} is no strands.Agent.")
        _releases.supported(self.name, "strands-agents", *RELEASES)
        return Seat(_own(thing), self.name, specs=_specs(thing), honest=_honest(), claims=True, turns=True)

    def framework(self) -> Seat:
        """The stock loop, `Agent(model, tools=[tool(...)])`, round a scenario's tools."""
        try:
            import strands  # noqa: F401  # only to fail early, with the way out
            from strands.models import openai  # noqa: F401
        except ImportError as error:
            raise Misuse(f"framework:strands does not import: {error}. {WAY}") from None
        _releases.supported(self.name, "strands-agents", *RELEASES)
        return Seat(_bench, self.name, honest=_honest(), turns=True)


def _honest() -> tuple[type[BaseException], ...]:
    """Its limits, told by an exception, and a provider that refused: as they are, and as its loop puts them."""
    return (*_told(), Refused)


def _told() -> tuple[type[BaseException], ...]:
    from strands.types.exceptions import (
        ContextWindowOverflowException,
        MaxTokensReachedException,
        ModelThrottledException,
    )

    limits = (ContextWindowOverflowException, MaxTokensReachedException, ModelThrottledException)
    return (*limits, _client.refusal())


class _Round(type):
    def __instancecheck__(cls, error: object) -> bool:
        return isinstance(getattr(error, "original_exception", None), _told())


class Refused(Exception, metaclass=_Round):
    """Any exception that the framework put round one of those; nothing is ever raised as this."""


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from strands import Agent as Stock
    from strands import tool

    if "agent" not in task.session:  # one for all turns of a session
        made = [tool(offered(specs[n], tools[n], gate, id=_id)) for n in specs if n in tools]
        for each in made:
            each.stream = _known(each.stream)
        task.session["agent"] = Stock(model=_scripted(None, model), tools=made, callback_handler=None)
    return await _run(task.session["agent"], task)


async def _run(agent: Any, task: Task) -> Answer:
    done = await agent.invoke_async(task.prompt, limits={"turns": task.max_steps})
    return Answer(str(done), status=STOPS.get(done.stop_reason), session=list(agent.messages))


def _scripted(own: Any, model: Any) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API, with the parameters of the agent's own
    where that is of the same class."""
    from strands.models.openai import OpenAIModel

    kept = dict(own.config) if type(own) is OpenAIModel else {}
    return OpenAIModel(_client.asynchronous(model), **{**kept, "model_id": _client.NAME})


def _own(agent: Any) -> Agent:
    agents = _agents(agent)
    fields = [
        "messages",
        "state",
        "conversation_manager_state",
        "interrupt_state",
        "system_prompt",
        "model_state",
    ]

    def taken() -> list[Any]:
        return [each.take_snapshot(include=fields) for each in agents]

    def put(snapshots: list[Any]) -> None:
        for each, snapshot in zip(agents, snapshots, strict=True):
            each.load_snapshot(snapshot)

    first = taken()

    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        def by() -> str:
            asking = CALL.get()[1]
            return "" if asking == agent.name else asking

        put(task.session.get("agents", first))
        async with blocking() as door:
            with ExitStack() as put_back:
                put_back.callback(put, first)
                put_back.callback(lambda: task.session.update(agents=taken()))
                for each in agents if model.taken else ():
                    _put(each, "model", _scripted(each.model, model), put_back)
                    _put(each, "_aux_model", None, put_back)  # it follows the model then
                for tool in _tools(agents):
                    _gate(tool, specs[tool.tool_name], gate, door, by, put_back)
                return await _run(agent, task)

    return run


def _specs(agent: Any) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for tool in _tools(_agents(agent)):
        told = tool.tool_spec
        declared = getattr(tool._tool_func, "chaos", None)
        schema = dict(told["inputSchema"].get("json", told["inputSchema"]))
        found.setdefault(tool.tool_name, spec(tool.tool_name, told["description"], schema, declared))
    return found


def _agents(agent: Any) -> list[Any]:
    """The agent, and those that it uses as tools, each once."""
    found = [agent]
    for here in found:
        for tool in here.tool_registry.registry.values():
            other = tool.agent if tool.tool_type == "agent" else None
            if other is not None and not any(other is known for known in found):
                found.append(other)
    return found


def _tools(agents: list[Any]) -> Iterator[Any]:
    """Their tools that are functions, each once."""
    seen: set[int] = set()
    for agent in agents:
        for tool in agent.tool_registry.registry.values():
            if id(tool) not in seen and callable(getattr(tool, "_tool_func", None)):
                seen.add(id(tool))
                yield tool


def _gate(
    tool: Any, declared: ToolSpec, gate: Gate, door: Blocking, by: Callable[[], str], put_back: ExitStack
) -> None:
    function = tool._tool_func
    if tool.tool_type == "python":
        made = _unpacked(function, lambda inner: gated(inner, declared, gate, door, id=_id, by=by))
    else:
        made = gated(function, declared, gate, door, id=_id, by=by)
    _put(tool, "_tool_func", made, put_back)
    _put(tool, "stream", _known(tool.stream), put_back)


def _unpacked(function: Callable[..., Any], wrap: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a module's tool takes the whole request, with the arguments in it."""

    def asked(use: dict[str, Any], state: dict[str, Any]) -> Any:
        if inspect.iscoroutinefunction(function):

            async def waits(**given: Any) -> Any:
                return await function({**use, "input": given}, **state)

            return wrap(waits)(**use["input"])

        def blocks(**given: Any) -> Any:
            return function({**use, "input": given}, **state)

        return wrap(blocks)(**use["input"])

    if inspect.iscoroutinefunction(function):

        async def through(use: dict[str, Any], **state: Any) -> Any:
            return await asked(use, state)

        return through
    return lambda use, **state: asked(use, state)


def _known(stream: Callable[..., Any]) -> Callable[..., Any]:
    """A tool's `stream`, with its call known to what runs inside it, threads included."""

    async def known(use: Mapping[str, Any], state: dict[str, Any], **kwargs: Any) -> Any:
        CALL.set((use.get("toolUseId"), str(getattr(state.get("agent"), "name", ""))))
        async for event in stream(use, state, **kwargs):
            yield event

    return known


def _put(holder: Any, name: str, new: Any, put_back: ExitStack) -> None:
    """Set an attribute until the trial is over; one that stood on the class only is taken away again."""
    if name in vars(holder):
        put_back.callback(setattr, holder, name, vars(holder)[name])
    else:
        put_back.callback(delattr, holder, name)
    setattr(holder, name, new)


def _id() -> str | None:
    return CALL.get()[0]


adapter = Strands()
