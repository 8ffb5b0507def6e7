"""google-adk: a user's finished agent or `App` with its own tools, or a stock `LlmAgent` round a scenario's tools.

The gate goes round a function tool's own function, or round `run_async` of another tool, beneath every callback
and plugin. Tools of sub-agents and of agents behind tools are found; their calls carry the agent's name. A
scenario's model takes the place of each agent's model: behind `LiteLlm`, which keeps the settings of one that
was there. Each trial is a session of its own in memory, in which all its turns are run. The framework calls a `def` on the event loop's own
thread. Not reached: tools of a toolset (an MCP server's), of the model's provider, and of a workflow's nodes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any

from forge_chaos.adapters import _client, _releases
from forge_chaos.adapters._reach import put, reached
from forge_chaos.adapters._rehearsal import rehearsed
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered, value
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Call, Err, Ok, Status, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[google-adk]'."
RELEASES = ("2.8", "3")
NAME = f"openai/{_client.NAME}"
WHO = {"app_name": "forge_chaos", "user_id": "user"}
KEPT = ("session_service", "artifact_service", "memory_service")  # of a runner, from turn to turn

_id: ContextVar[str | None] = ContextVar("id", default=None)


class GoogleADK:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "google-adk"
    time = "virtual"
    order = "asking order"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.startswith("google.adk.") and base.__name__ in ("BaseAgent", "App")
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent or app: its tools are found and wrapped for the run, and left as they are."""
        if not self.recognises(thing):
            raise Misuse(f"adapter google-adk: {type(thing).__name__} is no agent or App of google.adk.")
        _releases.supported(self.name, "google-adk", *RELEASES)
        _offline()
        rehearsed(_bench)  # what it loads at its first run is the same
        return Seat(_own(thing), self.name, specs=_specs(thing), honest=_honest(), claims=True, turns=True)

    def framework(self) -> Seat:
        """The stock loop, `LlmAgent(model=LiteLlm(...), tools=...)`, round a scenario's tools."""
        _offline()
        try:
            import google.adk.models.lite_llm  # only to fail early, with the way out
            import google.adk.runners  # noqa: F401  # only to fail early, with the way out
        except ImportError as error:
            raise Misuse(f"framework:google-adk does not import: {error}. {WAY}") from None
        _releases.supported(self.name, "google-adk", *RELEASES)
        rehearsed(_bench)
        return Seat(_bench, self.name, honest=_honest(), turns=True)


def _offline() -> None:
    """Else litellm asks the network when it is imported, and waits for the answer."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def _honest() -> tuple[type[BaseException], ...]:
    """Its limit, told by an exception, and a provider that refused (litellm's errors are openai's)."""
    from google.adk.agents.invocation_context import LlmCallsLimitExceededError

    return (LlmCallsLimitExceededError, _client.refusal())


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig
    from google.adk.tools import FunctionTool

    made = [FunctionTool(offered(specs[n], tools[n], gate, _id.get)) for n in specs if n in tools]
    with ExitStack() as back:
        back.callback(_forget)
        for each in made:
            _noted(each, back)
        agent = LlmAgent(name="assistant", model=_scripted(model), tools=made)
        return await _run(agent, task, RunConfig(max_llm_calls=task.max_steps))


def _own(thing: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            with ExitStack() as back:
                back.callback(_forget)
                for agent, held in _tools(thing):
                    by = "" if agent is _root(thing) else str(agent.name)
                    for tool in held:
                        _noted(tool, back)
                        _behind(tool, specs, gate, door, by, back)
                    own = iter(held)
                    put(agent, "tools", [next(own) if _local(each) else each for each in agent.tools], back)
                if model.taken:
                    _modelled(thing, model, back)
                return await _run(thing, task)

    return run


async def _run(thing: Any, task: Task, config: Any = None) -> Answer:
    """One turn in the session of its trial: the text of the last message that is no call."""
    from google.adk.apps import App
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    given: dict[str, Any] = {"app": thing} if isinstance(thing, App) else {"agent": thing}
    runner = InMemoryRunner(**given, app_name=WHO["app_name"])
    for kept in KEPT:
        setattr(runner, kept, task.session.setdefault(kept, getattr(runner, kept)))
    if "session" not in task.session:
        made = await runner.session_service.create_session(**{**WHO, "app_name": runner.app_name})
        task.session["session"] = made.id
    said, last = "", None
    asked = types.Content(role="user", parts=[types.Part(text=task.prompt)])
    async for event in runner.run_async(
        user_id=WHO["user_id"], session_id=task.session["session"], new_message=asked, run_config=config
    ):
        last = event
        text = "".join(part.text or "" for part in (event.content and event.content.parts) or ())
        if event.is_final_response() and text:
            said = text
    if last is not None and last.error_code:
        return Answer(f"{last.error_code}: {last.error_message}", status="failed")
    status: Status | None = "failed" if last is not None and last.long_running_tool_ids else None
    return Answer(said, status=status)


def _root(thing: Any) -> Any:
    return getattr(thing, "root_agent", thing)


def _reach(thing: Any) -> list[Any]:
    """All objects of the framework's that make up this agent or app."""
    from google.adk.agents import BaseAgent
    from google.adk.tools.base_tool import BaseTool

    def parts(each: Any) -> Iterable[Any] | None:
        if isinstance(each, BaseAgent):
            return (*each.sub_agents, *getattr(each, "tools", ()))
        return list(vars(each).values()) if isinstance(each, BaseTool) else None

    return reached([_root(thing)], parts)


def _local(tool: Any) -> bool:
    """Does it run here: a plain function, or a tool with a body of its own?"""
    from google.adk.tools import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.workflow import BaseNode

    if isinstance(tool, BaseTool):
        return type(tool).run_async is not BaseTool.run_async and tool._get_declaration() is not None
    return callable(tool) and not isinstance(tool, BaseToolset | BaseNode)


def _tools(thing: Any) -> list[tuple[Any, list[Any]]]:
    """Each agent with those of its tools that run here; a plain function as the tool that it is made into."""
    from google.adk.agents import LlmAgent
    from google.adk.tools import BaseTool, FunctionTool

    return [
        (agent, [t if isinstance(t, BaseTool) else FunctionTool(t) for t in agent.tools if _local(t)])
        for agent in _reach(thing)
        if isinstance(agent, LlmAgent)
    ]


def _specs(thing: Any) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for _, tools in _tools(thing):
        for tool in tools:
            told = tool._get_declaration()
            schema = told.parameters_json_schema or _plain(told.parameters)
            declared = getattr(getattr(tool, "func", type(tool)), "chaos", None)
            found.setdefault(tool.name, spec(tool.name, tool.description or "", schema, declared))
    return found


def _plain(schema: Any) -> dict[str, Any]:
    """A schema in the provider's own form as a JSON schema."""

    def lower(each: Any) -> Any:
        if isinstance(each, dict):
            return {k: v.lower() if k == "type" and isinstance(v, str) else lower(v) for k, v in each.items()}
        return each

    known = {} if schema is None else schema.model_dump(mode="json", exclude_none=True)
    return {"type": "object", "properties": {}, **lower(known)}


def _noted(tool: Any, back: ExitStack) -> None:
    """Note the model's call id for what runs inside of the tool."""
    run = tool.run_async

    @wraps(run)
    async def noting(*, args: dict[str, Any], tool_context: Any) -> Any:
        before = _id.set(tool_context.function_call_id)
        try:
            return await run(args=args, tool_context=tool_context)
        finally:
            _id.reset(before)

    put(tool, "run_async", noting, back)


def _behind(
    tool: Any, specs: Mapping[str, ToolSpec], gate: Gate, door: Blocking, by: str, back: ExitStack
) -> None:
    """The gate round the innermost function of one tool."""
    declared = specs[tool.name]
    if getattr(tool, "func", None) is not None:
        through = gated(tool.func, declared, gate, door, id=_id.get, awaited=True, by=partial(str, by))
        put(tool, "func", through, back)
        return
    run: Callable[..., Any] = tool.run_async

    async def gating(*, args: dict[str, Any], tool_context: Any) -> Any:
        async def real(call: Call) -> Ok | Err:
            return Ok(await run(args=dict(call.args), tool_context=tool_context))

        asked = tool_context.function_call_id
        return value(await gate(declared.name, args, real, id=asked, by=by), args, declared)

    put(tool, "run_async", gating, back)


def _forget() -> None:
    """The framework keeps the last thousand functions whose schemas it has made; with them, trials would stay."""
    from google.adk.tools import function_tool

    function_tool._build_declaration_cached.cache_clear()


def _scripted(model: Any) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API."""
    from google.adk.models.lite_llm import LiteLlm

    return LiteLlm(NAME, llm_client=_door(model), api_key=_client.KEY)


def _door(model: Any) -> Any:
    """The framework's litellm client, over the trial's client for OpenAI's API."""
    from google.adk.models.lite_llm import LiteLLMClient

    class Door(LiteLLMClient):
        async def acompletion(self, model: Any, messages: Any, tools: Any, **more: Any) -> Any:
            return await super().acompletion(model, messages, tools, client=waiting, **more)

    waiting = _client.asynchronous(model)
    return Door()


def _modelled(thing: Any, model: Any, back: ExitStack) -> None:
    """Every agent's model is the trial's: one behind litellm with its own settings."""
    from google.adk.agents import LlmAgent
    from google.adk.models.lite_llm import LiteLlm

    for agent in _reach(thing):
        if not isinstance(agent, LlmAgent):
            continue
        if isinstance(agent.model, LiteLlm):
            put(agent.model, "llm_client", _door(model), back)
            if not agent.model.model.startswith("openai/"):
                put(agent.model, "model", NAME, back)
        else:
            put(agent, "model", _scripted(model), back)


adapter = GoogleADK()
