"""pydantic-ai: a scenario's tools round its stock loop, or a user's finished agent with its own tools.

Faults are raised inside the tool's innermost call (`FunctionToolsetTool.call_func`), so that the
framework's own timeouts, retries and error policy see what the user's own function would give them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from forge_chaos.adapters import _client
from forge_chaos.adapters._through import offered, value
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Call, Err, Ok, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[pydantic-ai]'."


class PydanticAI:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "pydantic-ai"
    time = "virtual"
    order = "asking order"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.partition(".")[0] == "pydantic_ai" and base.__name__ == "AbstractAgent"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent: its tools are found and wrapped for the run, and left as they are."""
        if not self.recognises(thing):
            raise Misuse(f"adapter pydantic-ai: {type(thing).__name__} is no pydantic_ai.Agent.")
        _load()
        model = type(getattr(thing, "model", None)).__name__
        return Seat(
            _own(thing),
            self.name,
            specs=_specs(thing),
            own_model_deterministic=model in ("FunctionModel", "TestModel"),
            honest=_honest(),
            claims=True,
            turns=True,
        )

    def framework(self) -> Seat:
        """The stock loop, `Agent(model, tools=...)`, round a scenario's tools."""
        try:
            import pydantic_ai  # noqa: F401  # only to fail early, with the way out
            from pydantic_ai.models import openai  # noqa: F401
        except ImportError as error:
            raise Misuse(f"framework:pydantic-ai does not import: {error}. {WAY}") from None
        _load()
        return Seat(_bench, self.name, honest=_honest(), turns=True)


def _load() -> None:
    """What a first trial would load, and be taken for hung on a busy machine."""
    with suppress(ImportError):  # an agent with a model of its own may do without
        from pydantic_ai.models import openai  # noqa: F401  # it is only to be there

        _client.ready()


def _honest() -> tuple[type[BaseException], ...]:
    """Its limits, told by an exception, and a provider that refused."""
    from pydantic_ai.exceptions import ModelHTTPError, UsageLimitExceeded

    return (UsageLimitExceeded, _client.refusal(ModelHTTPError))


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from pydantic_ai import Agent as Stock
    from pydantic_ai import UsageLimits

    made: Any = Stock(
        _scripted(model), tools=[_tool(specs[name], tools[name], gate) for name in specs if name in tools]
    )
    return await _turn(made, task, usage_limits=UsageLimits(tool_calls_limit=task.max_steps))


async def _turn(agent: Any, task: Task, **settings: Any) -> Answer:
    """One turn, on what the turns before have left. One that is cut leaves what was said by then, as the framework
    captures it: where more than one may come, for it captures a run but once."""
    from pydantic_ai import capture_run_messages

    if task.turns == 1:
        done = await agent.run(task.prompt, **settings)
        return Answer(str(done.output), session=done.all_messages())
    said = task.session.get("messages")
    with capture_run_messages() as messages:
        try:
            done = await agent.run(task.prompt, message_history=said, **settings)
        finally:
            task.session["messages"] = list(messages)
    task.session["messages"] = done.all_messages()
    return Answer(str(done.output), session=done.all_messages())


def _tool(declared: ToolSpec, real: Tool, gate: Gate) -> Any:
    """An ordinary function tool, so that the framework checks its arguments as it does a user's."""
    from pydantic_ai import Tool

    return Tool(offered(declared, real, gate), name=declared.name, description=declared.description)


def _scripted(model: Any) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(_client.NAME, provider=OpenAIProvider(openai_client=_client.asynchronous(model)))


def _specs(agent: Any) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}

    def look(toolset: Any) -> Any:
        for name, tool in getattr(toolset, "tools", {}).items():
            schema = tool.function_schema
            declared = getattr(schema.function, "chaos", None)
            found[name] = spec(name, tool.description or "", dict(schema.json_schema), declared)
        return toolset

    for toolset in agent.toolsets:
        toolset.visit_and_replace(look)
    return found


def _own(agent: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        wrapped = [
            toolset.visit_and_replace(lambda leaf: _gated(leaf, gate, specs)) for toolset in agent.toolsets
        ]
        held = {"model": _scripted(model)} if model.taken else {}
        with agent.override(toolsets=wrapped, tools=[], **held):
            return await _turn(agent, task)

    return run


def _gated(leaf: Any, gate: Gate, specs: Mapping[str, ToolSpec]) -> Any:
    from dataclasses import replace

    from pydantic_ai.toolsets import WrapperToolset

    class Gated(WrapperToolset[Any]):
        """Sends each call of one toolset through the gate."""

        async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
            inner = getattr(tool, "call_func", None)
            if inner is None:  # no function of Python's underneath, e.g. a remote server
                return await through(super().call_tool, name, tool_args, ctx, tool)

            async def call_func(args: dict[str, Any], inner_ctx: Any) -> Any:
                return await through(lambda _n, a, c, _t: inner(a, c), name, args, inner_ctx, tool)

            return await super().call_tool(name, tool_args, ctx, replace(tool, call_func=call_func))

    async def through(inner: Any, name: str, args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        async def real(call: Call) -> Ok | Err:
            return Ok(await inner(name, call.args, ctx, tool))

        return value(await gate(name, args, real, id=ctx.tool_call_id), args, specs.get(name))

    return Gated(leaf)


adapter = PydanticAI()
