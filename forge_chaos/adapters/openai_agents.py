"""openai-agents: a scenario's tools round its stock loop, or a user's finished agent with its own tools.

`function_tool` keeps the user's function in a closure of the tool's invoker. The gate is put round it right there,
so that the argument check, the thread of a `def`, the tool's own time limit and its `failure_error_function` see
what the function would give them. A `FunctionTool` made by hand is gated at its `on_invoke_tool`, which is the
user's function then. The tools of hand-offs and of agents used as tools are gated too. Not reached: tools of MCP
servers, tools that the provider carries out itself, and a call of an agent as a tool or a hand-off as such.

Runs are not traced, since the framework would send its traces away.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from functools import wraps
from typing import Any

from forge_chaos.adapters import _client
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered, value
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Call, Err, Ok, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[openai-agents]'."
GATED = "__forge_chaos_gated__"
CALL: ContextVar[Any] = ContextVar("CALL", default=None)  # the framework's context of the call under way


class OpenAIAgents:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "openai-agents"
    time = "virtual"
    order = "asking order"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__ == "agents.agent" and base.__name__ == "Agent" for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent: its tools are found and wrapped for the run, and left as they are."""
        if not self.recognises(thing):
            raise Misuse(f"adapter openai-agents: {type(thing).__name__} is no agents.Agent.")
        _client.ready()
        return Seat(
            _own(thing),
            self.name,
            specs=_specs(thing),
            honest=_honest(),
            claims=True,
            turns=True,
            windows=_settings() is not None,
        )

    def framework(self) -> Seat:
        """The stock loop, `Runner.run(Agent(tools=[function_tool(...)]))`, round a scenario's tools."""
        try:
            import agents  # noqa: F401  # only to fail early, with the way out
        except ImportError as error:
            raise Misuse(f"framework:openai-agents does not import: {error}. {WAY}") from None
        _client.ready()
        return Seat(_bench, self.name, honest=_honest(), turns=True, windows=_settings() is not None)


def _honest() -> tuple[type[BaseException], ...]:
    """Its limit and the model's own refusal, told by an exception, and a provider that refused."""
    from agents import exceptions

    names = ("MaxTurnsExceeded", "ModelRefusalError")  # the second one is not as old
    told = [getattr(exceptions, name) for name in names if hasattr(exceptions, name)]
    return (*told, _client.refusal())


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from agents import Agent as Stock
    from agents import function_tool

    made = [function_tool(offered(specs[n], tools[n], gate, id=_id)) for n in specs if n in tools]
    for tool in made:
        tool.on_invoke_tool._invoke_tool_impl = _known(tool.on_invoke_tool._invoke_tool_impl)
    return await _run(Stock(name="Assistant", tools=made), task, _scripted(None, model))


async def _run(agent: Any, task: Task, model: Any) -> Answer:
    """One turn. Where more than one may come, what is said is kept in the framework's own session."""
    from agents import RunConfig, Runner, SQLiteSession

    kept: dict[str, Any] = {}
    if task.turns > 1:
        kept["session"] = task.session.setdefault("session", SQLiteSession("trial"))
    more = {} if task.window is None else {"session_settings": _settings()(limit=task.window)}
    config = RunConfig(model=model, tracing_disabled=True, **more)
    done = await Runner.run(agent, task.prompt, max_turns=task.max_steps, run_config=config, **kept)
    return Answer(str(done.final_output), session=done.to_input_list())


def _settings() -> Any:
    """How a session is told its limit in one run; None in a release that has no such thing."""
    try:
        from agents.memory import SessionSettings
    except ImportError:
        return None
    return SessionSettings


def _scripted(own: Any, model: Any) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API: the one that its user chose, else the
    framework's default."""
    from agents import OpenAIChatCompletionsModel, OpenAIProvider

    client = _client.asynchronous(model)
    if isinstance(own, OpenAIChatCompletionsModel):
        return OpenAIChatCompletionsModel(_client.NAME, client)
    return OpenAIProvider(openai_client=client).get_model(_client.NAME)


def _own(agent: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        def by() -> str:
            asking = getattr(getattr(CALL.get(), "agent", None), "name", "")
            return "" if asking == agent.name else str(asking)

        taken = _scripted(agent.model, model) if model.taken else None
        async with blocking() as door:
            with ExitStack() as put_back:
                for tool in _tools(agent):
                    _gate(tool, specs[tool.name], gate, door, by, put_back)
                return await _run(agent, task, taken)

    return run


def _specs(agent: Any) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for tool in _tools(agent):
        declared = getattr(getattr(tool, "__wrapped__", None), "chaos", None)
        schema = dict(tool.params_json_schema)
        found.setdefault(tool.name, spec(tool.name, tool.description or "", schema, declared))
    return found


def _tools(agent: Any) -> Iterator[Any]:
    """The function tools of an agent and of those that it hands off to or uses as tools, each once."""
    from agents import FunctionTool

    agents, seen = [agent], {id(agent)}
    while agents:
        here = agents.pop(0)
        reached = [other if hasattr(other, "tools") else _handed(other) for other in here.handoffs]
        for tool in here.tools:
            if getattr(tool, "_is_agent_tool", False):
                reached.append(tool._agent_instance)
            elif isinstance(tool, FunctionTool) and id(tool) not in seen:
                seen.add(id(tool))
                yield tool
        for other in reached:
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                agents.append(other)


def _handed(handoff: Any) -> Any:
    reference = getattr(handoff, "_agent_ref", None)
    return reference() if reference is not None else None


def _gate(
    tool: Any, declared: ToolSpec, gate: Gate, door: Blocking, by: Callable[[], str], put_back: ExitStack
) -> None:
    def put(holder: Any, name: str, new: Any) -> None:
        put_back.callback(setattr, holder, name, getattr(holder, name))
        setattr(holder, name, new)

    invoker = tool.on_invoke_tool
    impl: Any = getattr(invoker, "_invoke_tool_impl", None)
    cell = _cell(impl)
    if cell is not None:
        put(invoker, "_invoke_tool_impl", _known(impl))
        function = cell.cell_contents
        if not hasattr(function, GATED):  # a copy of a tool shares its function
            made = gated(function, declared, gate, door, id=_id, by=by)
            setattr(made, GATED, True)
            put(cell, "cell_contents", made)
    elif impl is not None:
        put(invoker, "_invoke_tool_impl", _whole(impl, declared, gate, by))
    else:
        put(tool, "on_invoke_tool", _whole(invoker, declared, gate, by))


def _cell(impl: Any) -> Any:
    """Where `function_tool` keeps the user's function; None in a tool that was made in another way."""
    code = getattr(impl, "__code__", None)
    if code is None or "the_func" not in code.co_freevars:
        return None
    return impl.__closure__[code.co_freevars.index("the_func")]


def _known(impl: Callable[..., Any]) -> Callable[..., Any]:
    """The invoker's inner function, with its call known to what runs inside it, threads included."""

    @wraps(impl)
    async def known(context: Any, text: str) -> Any:
        CALL.set(context)  # each call is a task of its own
        return await impl(context, text)

    return known


def _whole(
    inner: Callable[..., Any], declared: ToolSpec, gate: Gate, by: Callable[[], str]
) -> Callable[..., Any]:
    """A tool that takes its arguments as text."""

    @wraps(inner)
    async def through(context: Any, text: str) -> Any:
        CALL.set(context)
        given = _object(text)

        async def real(call: Call) -> Ok | Err:
            return Ok(await inner(context, text if dict(call.args) == given else json.dumps(dict(call.args))))

        return value(await gate(declared.name, given, real, id=_id(), by=by()), given, declared)

    return through


def _object(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text or "{}")
    except ValueError:
        given = None
    return given if isinstance(given, dict) else {}


def _id() -> str | None:
    id: str | None = getattr(CALL.get(), "tool_call_id", None)
    return id


adapter = OpenAIAgents()
