"""haystack: a scenario's tools round its stock `Agent`, or a user's finished agent with its own tools.

Faults are raised inside a tool's `function` or `async_function`, below `Tool.invoke`, which turns what is raised
into the framework's own error. A trial runs a clone of the agent (`Agent.clone`), by `run_async`: a plain function
runs on a worker thread then, as the framework does it. A component that is used as a tool is gated at its call,
an `AgentTool` at the tools of its agent. It has no sessions: from turn to turn its caller keeps the
messages, and of a turn that did not come to its end the user's alone. Not looked into: agents inside of other components, pipelines round the
agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from forge_chaos.adapters import _releases
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[haystack]'."
RELEASES = ("3.4", "4")
RETRIES = 5  # of its client, unless it is told otherwise
LIMIT = "max_agent_steps"  # what the framework says in `exit_reason`


class Haystack:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "haystack"
    time = "virtual"
    order = "asking order, by tool and target: a call's id does not reach its tool"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.startswith("haystack.components.agents") and base.__name__ == "Agent"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent: a clone of it with gated tools runs, and the agent stays as it is."""
        if not self.recognises(thing):
            raise Misuse(f"adapter haystack: {type(thing).__name__} is no haystack Agent.")
        _releases.supported(self.name, "haystack-ai", *RELEASES)
        return Seat(_own(thing), self.name, specs=_specs(thing), honest=_honest(), claims=True, turns=True)

    def framework(self) -> Seat:
        """The stock loop, `Agent(chat_generator=..., tools=..., max_agent_steps=...)`, round a scenario's tools."""
        try:
            from haystack.components.generators import chat  # noqa: F401  # early: it takes seconds, and may be missing
        except ImportError as error:
            raise Misuse(f"framework:haystack does not import: {error}. {WAY}") from None
        _releases.supported(self.name, "haystack-ai", *RELEASES)
        return Seat(_bench, self.name, honest=_honest(), turns=True)


def _honest() -> tuple[type[BaseException], ...]:
    """A provider that refused. The step limit is no exception here but an exit reason."""
    from forge_chaos.adapters import _client

    return (_client.refusal(),)


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from haystack.components.agents import Agent as Stock

    made = Stock(
        chat_generator=_scripted(model),
        tools=[_tool(specs[name], tools[name], gate) for name in specs if name in tools],
        max_agent_steps=task.max_steps,
    )
    return await _run(made, task)


def _own(agent: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            return await _run(_clone(agent, specs, gate, door, model), task)

    return run


def _clone(
    agent: Any, specs: Mapping[str, ToolSpec], gate: Gate, door: Blocking, model: Any, by: str = ""
) -> Any:
    """The agent for one trial: gated tools, those of its sub-agents too, and the trial's model if it has one."""

    def twin(tool: Any) -> Any:
        if not _hands_over(tool):
            return _gated(tool, specs.get(tool.name), gate, door, by)
        below = _clone(tool._component, specs, gate, door, model, tool.name)
        return type(tool)(
            below,
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            outputs_to_string=tool.outputs_to_string,
            inputs_from_state=tool.inputs_from_state,
            outputs_to_state=tool.outputs_to_state,
        )

    held = {"chat_generator": _scripted(model, agent.chat_generator)} if model.taken else {}
    return agent.clone(tools=[twin(tool) for tool in _tools(agent)], **held)


async def _run(agent: Any, task: Task) -> Answer:
    from haystack.dataclasses import ChatMessage

    said = [*task.session.get("messages", ()), ChatMessage.from_user(task.prompt)]
    task.session["messages"] = said
    done = await agent.run_async(messages=said)
    task.session["messages"] = [each for each in done["messages"] if not each.is_from("system")]
    last = done.get("last_message")
    limit = done.get("exit_reason") == LIMIT
    return Answer(
        (last.text if last is not None else None) or "", "limit" if limit else None, done.get("messages")
    )


def _tool(declared: ToolSpec, real: Tool, gate: Gate) -> Any:
    from haystack.tools import Tool as Stock

    return Stock(
        name=declared.name,
        description=declared.description,
        parameters=dict(declared.parameters),
        async_function=offered(declared, real, gate),
    )


def _scripted(model: Any, like: Any = None) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API; with the settings of `like`, if that
    is one."""
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret

    from forge_chaos.adapters import _client

    if isinstance(like, OpenAIChatGenerator):
        made: Any = copy(like)
    else:
        made = OpenAIChatGenerator(Secret.from_token(_client.KEY), _client.NAME)
    retries = RETRIES if made.max_retries is None else made.max_retries
    made.async_client = _client.asynchronous(model, max_retries=retries)
    return made


def _tools(agent: Any) -> list[Any]:
    from haystack.tools import flatten_tools_or_toolsets

    found: list[Any] = flatten_tools_or_toolsets(agent.tools)
    return found


def _hands_over(tool: Any) -> bool:
    """Is it another agent (`AgentTool`)?"""
    return type(tool).__name__ == "AgentTool"


def _specs(agent: Any) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for tool in _tools(agent):
        if _hands_over(tool):
            found = _specs(tool._component) | found
        else:
            declared = getattr(tool.async_function or tool.function, "chaos", None)
            found[tool.name] = spec(tool.name, tool.description, tool.parameters, declared)
    return found


def _gated(tool: Any, declared: ToolSpec | None, gate: Gate, door: Blocking, by: str) -> Any:
    """A copy of the tool whose own functions pass the gate."""
    if declared is None:
        return tool
    twin = copy(tool)
    for each in ("function", "async_function"):
        function = getattr(tool, each)
        if function is not None:
            setattr(twin, each, gated(function, declared, gate, door, by=lambda: by))
    return twin


adapter = Haystack()
