"""autogen (agentchat): a user's finished agent or team with its own tools, or the stock `AssistantAgent` round a
scenario's tools.

The gate goes round a `FunctionTool`'s own function, or round `run` of another tool, beneath the workbench that
turns exceptions into text. Tools of every member of a team and of agents behind tools are found; their calls
carry the agent's name. A scenario's model takes the place of each model client; OpenAI's keep their settings.
Conversations are fresh in each trial, and so is a team's runtime unless the user brought one. Not reached: tools
of a workbench that is not static (an MCP server's), and tools that stream, save for the agents behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from functools import wraps
from typing import Any

from forge_chaos.adapters import _client
from forge_chaos.adapters._reach import carried, put, reached
from forge_chaos.adapters._rehearsal import rehearsed
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered, value
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Call, Err, Ok, Status, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[autogen]'."
THEIRS = ("autogen_agentchat", "autogen_core", "autogen_ext")
LIMITS = ("Maximum number of ", "Token usage limit reached", "Timeout of ")  # what stops a team early
INFO = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False}

_id: ContextVar[str | None] = ContextVar("id", default=None)


class AutoGen:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "autogen"
    time = "virtual"
    order = "asking order"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.startswith("autogen_agentchat.")
            and base.__name__ in ("BaseChatAgent", "BaseGroupChat")
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent or team: its tools are found and wrapped for the run, and left as they are."""
        if not self.recognises(thing):
            raise Misuse(f"adapter autogen: {type(thing).__name__} is no agent or team of autogen_agentchat.")
        clients = [type(client).__name__ for _, _, client in _clients(thing)]
        return Seat(
            _own(thing),
            self.name,
            specs=_specs(thing),
            own_model_deterministic=bool(clients) and set(clients) == {"ReplayChatCompletionClient"},
            honest=(_client.refusal(),),
            claims=True,
            turns=True,
        )

    def framework(self) -> Seat:
        """The stock loop, `AssistantAgent(name, model_client, tools=...)`, round a scenario's tools."""
        try:
            import autogen_agentchat.agents  # noqa: F401  # only to fail early, with the way out
            import autogen_ext.models.openai  # noqa: F401
        except ImportError as error:
            raise Misuse(f"framework:autogen does not import: {error}. {WAY}") from None
        rehearsed(_bench)
        return Seat(_bench, self.name, honest=(_client.refusal(),), turns=True)


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from autogen_agentchat.agents import AssistantAgent

    agent = task.session.get("agent")  # it keeps the conversation from turn to turn
    if agent is None:
        agent = task.session["agent"] = AssistantAgent(
            "assistant",
            _scripted(model),
            tools=[offered(specs[name], tools[name], gate, _id.get) for name in specs if name in tools],
            max_tool_iterations=task.max_steps,
        )
    with ExitStack() as back:
        for tool, _ in _tools(agent):
            _noted(tool, back)
        return _answer(await agent.run(task=task.prompt))


def _own(thing: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            with ExitStack() as back:
                for tool, by in _tools(thing):
                    _noted(tool, back)
                    _behind(tool, specs[tool.name], gate, door, by, back)
                for part in _reach(thing):
                    _fresh(part, task.session, back)
                if model.taken:
                    _modelled(thing, model, back)
                return _answer(await thing.run(task=task.prompt))

    return run


def _answer(result: Any) -> Answer:
    """The last message. Where that is a tool's bare result, the loop has ended without the model's answer."""
    last = result.messages[-1] if result.messages else None
    text = "" if last is None else str(last.to_text())
    early = type(last).__name__ == "ToolCallSummaryMessage" or str(result.stop_reason or "").startswith(
        LIMITS
    )
    status: Status | None = "limit" if early else None
    return Answer(text, status=status, session=result.messages)


def _reach(thing: Any) -> list[Any]:
    """All objects of the framework's that make up this agent or team."""

    def parts(each: Any) -> Iterable[Any] | None:
        theirs = any(base.__module__.partition(".")[0] in THEIRS for base in type(each).__mro__)
        return list(getattr(each, "__dict__", {}).values()) if theirs else None

    return reached([thing], parts)


def _tools(thing: Any) -> list[tuple[Any, str]]:
    """Each tool that the gate can be put round, with the name of the agent whose it is, where that is not this one."""
    from autogen_agentchat.agents import BaseChatAgent
    from autogen_core.tools import BaseStreamTool, BaseTool, StaticWorkbench

    found: dict[int, tuple[Any, str]] = {}
    for agent in _reach(thing):
        if not isinstance(agent, BaseChatAgent):
            continue
        held = getattr(agent, "_workbench", None) or []
        for bench in held if isinstance(held, list | tuple) else [held]:
            for tool in bench._tools if isinstance(bench, StaticWorkbench) else ():
                if isinstance(tool, BaseTool) and not isinstance(tool, BaseStreamTool):
                    found.setdefault(id(tool), (tool, "" if agent is thing else agent.name))
    return list(found.values())


def _specs(thing: Any) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for tool, _ in _tools(thing):
        declared = getattr(getattr(tool, "_func", type(tool)), "chaos", None)
        schema = tool.schema
        found.setdefault(tool.name, spec(tool.name, tool.description, dict(schema["parameters"]), declared))
    return found


def _noted(tool: Any, back: ExitStack) -> None:
    """Note the model's call id for what runs inside of the tool."""
    run = tool.run_json

    @wraps(run)
    async def noting(args: Any, cancellation_token: Any, call_id: str | None = None) -> Any:
        before = _id.set(call_id)
        try:
            return await run(args, cancellation_token, call_id=call_id)
        finally:
            _id.reset(before)

    put(tool, "run_json", noting, back)


def _behind(tool: Any, declared: ToolSpec, gate: Gate, door: Blocking, by: str, back: ExitStack) -> None:
    """The gate round the innermost function of one tool."""
    if hasattr(tool, "_func"):
        put(tool, "_func", gated(tool._func, declared, gate, door, id=_id.get, by=lambda: by), back)
        return
    run: Callable[..., Any] = tool.run

    async def through(args: Any, cancellation_token: Any) -> Any:
        given = args.model_dump()

        async def real(call: Call) -> Ok | Err:
            asked = args if call.args == given else type(args).model_validate(call.args)
            return Ok(await run(asked, cancellation_token))

        return value(await gate(declared.name, given, real, id=_id.get(), by=by), given, declared)

    put(tool, "run", through, back)


def _fresh(part: Any, session: dict[str, Any], back: ExitStack) -> None:
    """What an agent or a team remembers begins in each trial as it stands now, goes on from turn to turn, and
    no further."""
    import asyncio
    from copy import deepcopy

    from autogen_agentchat.teams import BaseGroupChat
    from autogen_core import SingleThreadedAgentRuntime
    from autogen_core.model_context import ChatCompletionContext

    if isinstance(part, ChatCompletionContext) and hasattr(part, "_messages"):
        carried(part, "_messages", list(part._messages), session, back)
    elif isinstance(part, BaseGroupChat):
        begins: dict[str, Any] = {"_termination_condition": deepcopy(part._termination_condition)}
        if part._embedded_runtime:
            begins |= {
                "_runtime": SingleThreadedAgentRuntime(ignore_unhandled_exceptions=False),
                "_output_message_queue": asyncio.Queue(),
                "_initialized": False,
                "_is_running": False,
            }
        for name, value in begins.items():
            carried(part, name, value, session, back)


def _clients(thing: Any) -> list[tuple[Any, str, Any]]:
    """Who holds a model client, under which name, and the client."""
    from autogen_core.models import ChatCompletionClient

    return [
        (holder, name, held)
        for holder in _reach(thing)
        for name, held in vars(holder).items()
        if isinstance(held, ChatCompletionClient)
    ]


def _scripted(model: Any) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API."""
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    info: Any = {**INFO, "family": "unknown"}
    made: Any = OpenAIChatCompletionClient(model=_client.NAME, api_key=_client.KEY, model_info=info)
    made._client = _client.asynchronous(model)
    return made


def _modelled(thing: Any, model: Any, back: ExitStack) -> None:
    """Every model client asks the trial's model: one of OpenAI's with its own settings."""
    from autogen_ext.models.openai import BaseOpenAIChatCompletionClient

    for holder, name, client in _clients(thing):
        if isinstance(client, BaseOpenAIChatCompletionClient):
            put(client, "_client", _client.asynchronous(model), back)
        else:
            put(holder, name, _scripted(model), back)


adapter = AutoGen()
