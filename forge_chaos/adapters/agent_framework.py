"""Microsoft's agent-framework: a user's finished `Agent` with its own tools, or a stock one round a scenario's tools.

The gate goes round a `FunctionTool`'s own function, beneath its invocation limits and all middleware. Tools of
agents behind tools (`as_tool`) are found too; their calls carry that agent's name. A scenario's model takes the
place of each chat client; OpenAI's keep their settings. Each trial is a session of its own, in which all its turns
are run, and the tools' counts begin at nought in it. Not reached: tools that a provider or an MCP server carries out, and workflows, which keep their
state in their executors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any

from forge_chaos.adapters import _client, _releases
from forge_chaos.adapters._reach import carried, put, reached
from forge_chaos.adapters._rehearsal import rehearsed
from forge_chaos.adapters._threads import blocking
from forge_chaos.adapters._through import gated, offered
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Status, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[agent-framework]'."
RELEASES = ("1.23", "2")
LIMIT = "Function invocation limit reached"

_id: ContextVar[str | None] = ContextVar("id", default=None)


class AgentFramework:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "agent-framework"
    time = "virtual"
    order = "asking order"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.partition(".")[0] == "agent_framework" and base.__name__ == "RawAgent"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent: its tools are found and wrapped for the run, and left as they are."""
        if not self.recognises(thing):
            raise Misuse(f"adapter agent-framework: {type(thing).__name__} is no agent_framework.Agent.")
        _releases.supported(self.name, "agent-framework-core", *RELEASES)
        rehearsed(_bench)  # what it loads at its first run is the same
        return Seat(_own(thing), self.name, specs=_specs(thing), honest=_honest(), claims=True, turns=True)

    def framework(self) -> Seat:
        """The stock loop, `Agent(client, tools=...)`, round a scenario's tools."""
        try:
            import agent_framework.openai  # noqa: F401  # only to fail early, with the way out
            import agent_framework_openai  # noqa: F401
        except ImportError as error:
            raise Misuse(f"framework:agent-framework does not import: {error}. {WAY}") from None
        _releases.supported(self.name, "agent-framework-core", *RELEASES)
        rehearsed(_bench)
        return Seat(_bench, self.name, honest=_honest(), turns=True)


def _honest() -> tuple[type[BaseException], ...]:
    """A provider that refused, in the framework's own words."""
    from agent_framework.exceptions import ChatClientException

    return (_client.refusal(ChatClientException),)


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from agent_framework import Agent, tool

    made = [tool(offered(specs[name], tools[name], gate, _id.get)) for name in specs if name in tools]
    client = _scripted(model)
    client.function_invocation_configuration["max_iterations"] = task.max_steps
    with ExitStack() as back:
        for each in made:
            _noted(each, back)
        return await _run(Agent(client, tools=made), task)


def _own(agent: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            with ExitStack() as back:
                for tool, name in _tools(agent):
                    _noted(tool, back)
                    for count in ("invocation_count", "invocation_exception_count"):
                        carried(tool, count, 0, task.session, back)
                    through = gated(
                        tool.func,
                        specs[tool.name],
                        gate,
                        door,
                        id=_id.get,
                        awaited=getattr(tool, "_invoke_sync_on_event_loop", False),
                        by=partial(str, name),
                    )
                    put(tool, "func", through, back)
                if model.taken:
                    _modelled(agent, model, back)
                return await _run(agent, task)

    return run


async def _run(agent: Any, task: Task) -> Answer:
    """One turn in the session of its trial."""
    session = task.session.get("session")
    if session is None:
        session = task.session["session"] = agent.create_session()
    return _answer(await agent.run(task.prompt, session=session))


def _answer(response: Any) -> Answer:
    """The text of the response; a run that waits for a person's approval has not done its task."""
    if asked := list(response.user_input_requests):
        return Answer(f"waits for approval of {len(asked)} calls", status="failed", session=response.messages)
    text = str(response.text)
    status: Status | None = "limit" if text.startswith(LIMIT) else None
    return Answer(text, status=status, session=response.messages)


def _reach(agent: Any) -> list[Any]:
    """All objects of the framework's that make up this agent."""

    def parts(each: Any) -> Iterable[Any] | None:
        theirs = any(base.__module__.startswith("agent_framework") for base in type(each).__mro__)
        return list(getattr(each, "__dict__", {}).values()) if theirs else None

    return reached([agent], parts)


def _tools(agent: Any) -> list[tuple[Any, str]]:
    """Each tool that runs here, with the name of the agent whose it is, where that is not this one."""
    from agent_framework import FunctionTool, RawAgent

    inner = [each for each in _reach(agent) if isinstance(each, RawAgent)]  # this one first
    found: dict[int, tuple[Any, str]] = {}
    for owner in inner:
        for tool in (*(owner.default_options.get("tools") or ()), *_reach(owner)):
            if isinstance(tool, FunctionTool) and not tool.declaration_only:
                mine = "" if owner is agent else str(owner.name or "")
                direct = any(tool is each for each in owner.default_options.get("tools") or ())
                if direct or id(tool) not in found:
                    found[id(tool)] = (tool, mine)
    return list(found.values())


def _specs(agent: Any) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for tool, _ in _tools(agent):
        declared = getattr(tool.func, "chaos", None)
        found.setdefault(
            tool.name, spec(tool.name, tool.description or "", dict(tool.parameters()), declared)
        )
    return found


def _noted(tool: Any, back: ExitStack) -> None:
    """Note the model's call id for what runs inside of the tool."""
    invoke = tool.invoke

    @wraps(invoke)
    async def noting(*args: Any, **kwargs: Any) -> Any:
        before = _id.set(kwargs.get("tool_call_id"))
        try:
            return await invoke(*args, **kwargs)
        finally:
            _id.reset(before)

    put(tool, "invoke", noting, back)


def _scripted(model: Any) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API."""
    from agent_framework.openai import OpenAIChatCompletionClient

    return OpenAIChatCompletionClient(model=_client.NAME, async_client=_client.asynchronous(model))


def _modelled(agent: Any, model: Any, back: ExitStack) -> None:
    """Every chat client asks the trial's model: one of OpenAI's with its own settings."""
    from agent_framework import BaseChatClient
    from agent_framework_openai import RawOpenAIChatClient, RawOpenAIChatCompletionClient

    for holder in _reach(agent):
        for name, held in list(vars(holder).items()):
            if isinstance(held, RawOpenAIChatClient | RawOpenAIChatCompletionClient):
                put(held, "client", _client.asynchronous(model), back)
            elif isinstance(held, BaseChatClient):
                put(holder, name, _scripted(model), back)


adapter = AgentFramework()
