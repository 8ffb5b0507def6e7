"""llama-index: a scenario's tools round its `FunctionAgent`, or a user's finished agent or `AgentWorkflow`.

The gate is put round the function of a `FunctionTool`, inside the thread of a `def`, the tool's callbacks and the
text that the framework makes of an exception. All agents of a workflow are reached. Each trial has a memory of its
own, with which all its turns are run, each in a context of its own. Not reached: tools that are no `FunctionTool`
(query engines, tools of MCP servers), those of a tool retriever, and the functions that a `CodeActAgent` calls from
its code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from forge_chaos.adapters import _client, _releases
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[llama-index]'."
RELEASES = ("0.14", "0.15")
RETRIES = 3  # of its client, unless it is told otherwise
KNOWN = "gpt-4o"  # its class for OpenAI's API takes only names whose context window it knows
KINDS = ("BaseWorkflowAgent", "AgentWorkflow")


class LlamaIndex:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "llama-index"
    time = "virtual"
    order = "asking order, by tool and target: a call's id does not reach its tool"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.startswith("llama_index.core.agent.workflow.") and base.__name__ in KINDS
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent or workflow: its tools are found and wrapped for the run, and left as they are."""
        if not self.recognises(thing):
            raise Misuse(f"adapter llama-index: {type(thing).__name__} is no agent workflow of llama_index.")
        _releases.supported(self.name, "llama-index-core", *RELEASES)
        return Seat(_own(thing), self.name, specs=_specs(thing), honest=_honest(), claims=True, turns=True)

    def framework(self) -> Seat:
        """The stock loop, `FunctionAgent(tools, llm).run(...)`, round a scenario's tools."""
        try:
            import llama_index.core.agent.workflow
            import llama_index.llms.openai  # noqa: F401  # only to fail early, with the way out
        except ImportError as error:
            raise Misuse(f"framework:llama-index does not import: {error}. {WAY}") from None
        _releases.supported(self.name, "llama-index-core", *RELEASES)
        return Seat(_bench, self.name, honest=_honest(), turns=True)


def _honest() -> tuple[type[BaseException], ...]:
    return (Limit, _client.refusal())


class _Told(type):
    def __instancecheck__(cls, error: object) -> bool:
        return type(error).__name__ == "WorkflowRuntimeError" and str(error).startswith("Max iterations of ")


class Limit(Exception, metaclass=_Told):
    """The framework's exception for many things, where its text tells of the step limit; nothing is ever raised
    as this."""


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.tools import FunctionTool

    made = [FunctionTool.from_defaults(offered(specs[n], tools[n], gate)) for n in specs if n in tools]
    return await _run(FunctionAgent(tools=made, llm=_scripted(None, model)), task)


async def _run(agent: Any, task: Task) -> Answer:
    """One turn with the memory of its trial. The context of a run is no place for it: the framework leaves the
    memory out when it carries one over to the next run."""
    from llama_index.core.memory import ChatMemoryBuffer

    memory = task.session.get("memory")
    if memory is None:
        memory = task.session["memory"] = ChatMemoryBuffer.from_defaults(llm=_agents(agent)[0].llm)
    done = await agent.run(user_msg=task.prompt, memory=memory, max_iterations=task.max_steps)
    return Answer(str(done), session=done)


def _scripted(own: Any, model: Any) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API; an LLM of that class keeps its settings."""
    from llama_index.llms.openai import OpenAI

    client = _client.asynchronous(model, max_retries=getattr(own, "max_retries", RETRIES))
    if not isinstance(own, OpenAI):
        return OpenAI(model=KNOWN, api_key=_client.KEY, async_openai_client=client)
    made = own.model_copy(update={"reuse_client": True})
    made._aclient = client
    return made


def _own(agent: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            with ExitStack() as put_back:
                for each in _agents(agent) if model.taken else ():
                    _put(each, "llm", _scripted(each.llm, model), put_back)
                for tool, owner in _tools(agent):
                    _gate(tool, specs[tool.metadata.get_name()], gate, door, _by(owner), put_back)
                return await _run(agent, task)

    return run


def _specs(agent: Any) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for tool, _ in _tools(agent):
        told, name = tool.metadata, tool.metadata.get_name()
        declared = getattr(tool.real_fn, "chaos", None)
        found.setdefault(name, spec(name, told.description, told.get_parameters_dict(), declared))
    return found


def _agents(agent: Any) -> list[Any]:
    """The agent itself, or all those of a workflow, the first to act first."""
    agents = getattr(agent, "agents", None)
    if agents is None:
        return [agent]
    return sorted(agents.values(), key=lambda each: each.name != agent.root_agent)


def _tools(agent: Any) -> Iterator[tuple[Any, str]]:
    """Their function tools, each once, with the name of a sub-agent that holds it."""
    from llama_index.core.tools import FunctionTool

    first, seen = True, set[int]()
    for each in _agents(agent):
        for tool in each.tools or ():
            if isinstance(tool, FunctionTool) and id(tool) not in seen:
                seen.add(id(tool))
                yield tool, "" if first else each.name
        first = False


def _by(owner: str) -> Callable[[], str]:
    return lambda: owner


def _gate(
    tool: Any, declared: ToolSpec, gate: Gate, door: Blocking, by: Callable[[], str], put_back: ExitStack
) -> None:
    cell = _cell(tool._async_fn)
    if cell is None:
        _put(tool, "_async_fn", gated(tool._async_fn, declared, gate, door, by=by), put_back)
    else:
        _put(cell, "cell_contents", gated(cell.cell_contents, declared, gate, door, by=by), put_back)


def _cell(function: Any) -> Any:
    """Where `FunctionTool` keeps a `def` that it runs on a thread; None for an `async def`."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_name != "_async_wrapped_fn" or "fn" not in code.co_freevars:
        return None
    return function.__closure__[code.co_freevars.index("fn")]


def _put(holder: Any, name: str, new: Any, put_back: ExitStack) -> None:
    put_back.callback(setattr, holder, name, getattr(holder, name))
    setattr(holder, name, new)


adapter = LlamaIndex()
