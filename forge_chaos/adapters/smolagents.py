"""smolagents: a scenario's tools round its `ToolCallingAgent`, or a user's finished agent with its own tools.

The framework is synchronous: it runs on a thread whose tools and model requests come to the gates through a
door, so time stays virtual. Faults are raised inside `Tool.forward`, below the framework's check of arguments
and results. A trial has an agent of its own, a shallow copy with copies of the tools, so that neither patches
nor memory nor state come back to the user's. Calls side by side in one reply run on a thread pool of the
framework's, which is waited for in real time. A further turn goes on with the memory and the variables of the
last one, as `run(..., reset=False)` does. Not reached: remote executors of `CodeAgent`, which run a tool's
source elsewhere.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from functools import wraps
from typing import Any

from forge_chaos.adapters import _client, _code, _releases
from forge_chaos.adapters._threads import Blocking, blocking, sleeps
from forge_chaos.adapters._through import gated, offered_blocking
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[smolagents]'."
FINAL = "final_answer"  # the framework's own way to end; it passes no gate
RELEASES = ("1.9.0", "2")
TAGS = ("```py", "```<end_code>")  # round a piece of code, in releases that do not say so of an agent


class Smolagents:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "smolagents"
    time = "virtual"
    order = "asking order, by tool and target: a call's id does not reach its tool"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.partition(".")[0] == "smolagents" and base.__name__ == "MultiStepAgent"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent, with the tools of those that it manages."""
        if not self.recognises(thing):
            raise Misuse(f"adapter smolagents: {type(thing).__name__} is no agent of smolagents.")
        _releases.supported(self.name, "smolagents", *RELEASES)
        for each in _family(thing):
            away = "e2b" if getattr(each, "use_e2b_executor", False) else "local"  # how 1.9 says it
            if (executor := getattr(each, "executor_type", away)) != "local":
                raise Misuse(
                    f"adapter smolagents: the executor {executor!r} runs tools elsewhere, where no "
                    "fault reaches them. Take executor_type='local'."
                )
        return Seat(_own(thing), self.name, specs=_specs(thing), claims=True, turns=True, cancels=False)

    def framework(self) -> Seat:
        """The stock loop, `ToolCallingAgent(tools, model, max_steps=...)`, round a scenario's tools."""
        try:
            import smolagents  # noqa: F401  # early: it takes seconds, and may be missing

            _client.refusal()
        except ImportError as error:
            raise Misuse(f"framework:smolagents does not import: {error}. {WAY}") from None
        _releases.supported(self.name, "smolagents", *RELEASES)
        return Seat(_bench, self.name, turns=True, cancels=False)


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from smolagents import LogLevel, ToolCallingAgent

    async with blocking() as door:
        offered = [
            _tool(specs[n], offered_blocking(specs[n], tools[n], gate, door)) for n in specs if n in tools
        ]
        made = ToolCallingAgent(
            offered, _scripted(model, door), max_steps=task.max_steps, verbosity_level=LogLevel.OFF
        )
        return await _run(made, task, door)


def _own(agent: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            return await _run(_twin(agent, specs, gate, model, door), task, door)

    return run


async def _run(agent: Any, task: Task, door: Blocking) -> Answer:
    """The end of a run: an answer, its step limit as the last step's error, a refusal by the provider."""
    from smolagents import AgentGenerationError, AgentMaxStepsError, utils

    _go_on(agent, task.session)
    try:
        with _pauses(door, utils), _code_limit(door):
            done = await door.run(lambda: agent.run(task.prompt, reset=task.turn == 1))
    except AgentGenerationError as error:
        if isinstance(error.__cause__, _client.refusal()):
            return Answer(str(error), "failed")
        raise
    steps = agent.memory.steps
    limit = bool(steps) and isinstance(getattr(steps[-1], "error", None), AgentMaxStepsError)
    output = getattr(done, "output", done) if type(done).__name__ == "RunResult" else done
    return Answer("" if output is None else str(output), "limit" if limit else None, steps)


def _go_on(agent: Any, session: dict[str, Any]) -> None:
    """What stays from one turn to the next: the memory, and the variables of the code."""
    agent.memory = session.setdefault("memory", agent.memory)
    agent.state = session.setdefault("state", agent.state)
    if hasattr(agent, "python_executor"):
        agent.python_executor.state = session.setdefault("variables", agent.python_executor.state)


def _pauses(door: Blocking, utils: Any) -> AbstractContextManager[None]:
    """The framework's own pauses between two tries, in trial time; older releases make none."""
    return sleeps(door, utils) if hasattr(utils, "time") else nullcontext()


def _tool(declared: ToolSpec, function: Any) -> Any:
    """A scenario's tool as the subclass of `Tool` that the framework's documentation shows."""
    from smolagents import Tool as Base

    needed = set(declared.parameters.get("required") or ())
    given: Mapping[str, Mapping[str, Any]] = declared.parameters.get("properties") or {}

    class Offered(Base):
        name = declared.name
        description = declared.description
        inputs = {  # noqa: RUF012  # the framework wants it so
            key: {"type": schema.get("type", "any"), "description": schema.get("description") or key}
            | ({} if key in needed else {"nullable": True})
            for key, schema in given.items()
        }
        output_type = "any"
        skip_forward_signature_validation = True

        def forward(self, **args: Any) -> Any:
            return function(**args)

    return Offered()


def _scripted(model: Any, door: Blocking, like: Any = None, agent: Any = None) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API; with the settings of `like`, if that
    is one. For an `agent` that wants code, what the scripted model asks for is written as code."""
    import smolagents

    stock = getattr(smolagents, "OpenAIModel", None) or smolagents.OpenAIServerModel  # as it was called once
    codes = hasattr(agent, "python_executor") and model.name == _client.NAME
    client = _client.synchronous(model, door, *(_in_code(agent) if codes else ()))
    if isinstance(like, stock):
        twin = copy(like)
    else:
        twin = stock(_client.NAME, api_base=_client.BASE, api_key=_client.KEY)
    twin.client = client
    if codes:
        twin.model_id = _client.NAME  # some names are known to take no stop sequences
    return twin


def _in_code(agent: Any) -> tuple[Any, Any]:
    from smolagents.models import get_tool_json_schema

    tools = [get_tool_json_schema(tool) for name, tool in agent.tools.items() if name != FINAL]
    tags = getattr(agent, "code_block_tags", TAGS)
    return lambda body: _code.chat(body, tools, tags), lambda body, done: _code.code(body, done, tags)


@contextmanager
def _code_limit(door: Blocking) -> Iterator[None]:
    """The time limit of a piece of code, in trial time. As in the framework, code that takes too long is not cut:
    the limit is told when it has ended."""
    from smolagents import local_python_executor as local

    def timeout(seconds: float) -> Any:
        def limits(function: Any) -> Any:
            def limited() -> Any:
                begin = door.loop.time()
                result, failed = None, None
                try:
                    result = door.wait(lambda: door.run(function))
                except Exception as error:
                    failed = error
                if door.loop.time() - begin > seconds:
                    raise local.ExecutionTimeoutError(
                        f"Code execution exceeded the maximum execution time of {seconds} seconds"
                    )
                if failed is not None:
                    raise failed
                return result

            return limited

        return limits

    held = getattr(local, "timeout", None)
    if held is None:  # a release without a limit on time
        yield
        return
    local.timeout = timeout
    try:
        yield
    finally:
        local.timeout = held


def _family(agent: Any) -> Iterator[Any]:
    """The agent and those that it manages."""
    yield agent
    for each in getattr(agent, "managed_agents", {}).values():
        yield from _family(each)


def _specs(agent: Any) -> dict[str, ToolSpec]:
    from smolagents.models import get_tool_json_schema

    found: dict[str, ToolSpec] = {}
    for each in _family(agent):
        for name, tool in each.tools.items():
            if name != FINAL and name not in found:
                declared = getattr(tool, "chaos", None) or getattr(tool.forward, "chaos", None)
                schema = get_tool_json_schema(tool)["function"]["parameters"]
                found[name] = spec(name, tool.description, schema, declared)
    return found


def _twin(
    agent: Any, specs: Mapping[str, ToolSpec], gate: Gate, model: Any, door: Blocking, by: str = ""
) -> Any:
    """A copy for one trial, with gated tools, a memory of its own, and the trial's model if it has one."""
    from smolagents import AgentMemory

    twin = copy(agent)
    twin.tools = {name: _gated(tool, specs.get(name), gate, door, by) for name, tool in agent.tools.items()}
    twin.managed_agents = {
        name: _twin(each, specs, gate, model, door, name) for name, each in agent.managed_agents.items()
    }
    twin.memory = AgentMemory(agent.system_prompt)
    twin.memory.steps = list(agent.memory.steps)
    twin.state = dict(agent.state)
    if hasattr(agent, "python_executor"):
        twin.python_executor = copy(agent.python_executor)
        twin.python_executor.state = dict(agent.python_executor.state)
        known = getattr(agent.python_executor, "static_tools", None)
        if known:  # in old releases from the beginning on; later ones are sent them at every run
            mine = {name: tool for name, tool in twin.tools.items() if name in known}
            twin.python_executor.static_tools = {**known, **mine}
    if model.taken:
        twin.model = _scripted(model, door, agent.model, agent)
    return twin


def _gated(tool: Any, declared: ToolSpec | None, gate: Gate, door: Blocking, by: str) -> Any:
    if declared is None or tool.name == FINAL:
        return tool
    twin = copy(tool)
    forward = twin.forward
    if not inspect.ismethod(forward):
        forward = _selfless(forward)
    twin.forward = gated(forward, declared, gate, door, by=lambda: by)
    return twin


def _selfless(function: Any) -> Any:
    """What `@tool` makes says that it takes a self, and does not; in old releases the function itself says so."""
    function = getattr(function, "__wrapped__", function)
    signature = inspect.signature(function)
    if next(iter(signature.parameters), None) != "self":
        return function

    @wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    told: Any = plain
    told.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
    return told


adapter = Smolagents()
