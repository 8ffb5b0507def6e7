"""langgraph: any compiled graph, so LangChain's `create_agent` and deepagents too, or a stock `create_agent`
round a scenario's tools.

A graph is run by `ainvoke` on a state with `messages`. Its tools are found in tool nodes, closures and the
globals that its nodes name, those of sub-agents too; the gate goes round `func` and `coroutine` (or `_run`
and `_arun` of a subclass), so that a tool node's error policy and every middleware see what the user's own
function would give them. A scenario's model takes the place of each chat model; OpenAI's keep their
settings. Middleware that has only a `def` is carried out on a worker thread. Checkpointers and caches are
fresh in each trial, and so is an in-memory store, with what the user had put into it. A further turn goes on in
the same thread; a graph without a checkpointer is given the messages so far: those of the turns that came to
an end, and what the user has said. Not reached: tools that a provider or a remote graph carries out, models that
are no `BaseChatModel`, stores in a database, graphs with another state than messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from copy import deepcopy
from typing import Any

from forge_chaos.adapters import _client, _releases
from forge_chaos.adapters._langchain import behind, call_id, modelled, noted, scripted, specs_of
from forge_chaos.adapters._reach import put, reached
from forge_chaos.adapters._rehearsal import rehearsed
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import offered
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Answer, Status, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[langgraph]'."
RELEASES = ("1.0", "2.0")
OURS = ("langchain", "langgraph", "deepagents", "langsmith")
LIMITS = re.compile(
    r"Model call limits exceeded: |(Tool|'.*' tool) call limit reached: |Sorry, need more steps to process"
)
THREAD = {"configurable": {"thread_id": "trial"}}


class LangGraph:
    """The adapter. Nothing of the framework is imported before a graph is used."""

    name = "langgraph"
    time = "virtual"
    order = "asking order"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.partition(".")[0] == "langgraph" and base.__name__ == "PregelProtocol"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A compiled graph: its tools are found and wrapped for the run, and left as they are."""
        if not self.recognises(thing):
            raise Misuse(f"adapter langgraph: {type(thing).__name__} is no compiled graph.")
        _releases.supported(self.name, "langgraph", *RELEASES)
        if "messages" not in getattr(thing, "channels", ()):
            raise Misuse(
                f"adapter langgraph: the graph {thing.get_name()!r} has no messages in its state, so there is no "
                "place for a task. Wrap it in a graph that has, or in a native agent (async def agent(task, tools))."
            )
        from langchain_core.language_models import BaseChatModel

        models = [each for each in _reach(thing) if isinstance(each, BaseChatModel)]
        return Seat(
            _own(thing),
            self.name,
            specs=specs_of(_tools(thing)),
            own_model_deterministic=bool(models) and all("fake" in type(m).__module__ for m in models),
            honest=_honest(),
            claims=True,
            turns=True,
        )

    def framework(self) -> Seat:
        """The stock loop, `create_agent(model, tools)`, round a scenario's tools."""
        try:
            import langchain.agents  # noqa: F401  # only to fail early, with the way out
            import langchain_openai  # noqa: F401
        except ImportError as error:
            raise Misuse(f"framework:langgraph does not import: {error}. {WAY}") from None
        _releases.supported(self.name, "langgraph", *RELEASES)
        rehearsed(_bench)
        return Seat(_bench, self.name, honest=_honest(), turns=True)


def _honest() -> tuple[type[BaseException], ...]:
    """Its limits, told by an exception, and a provider that refused."""
    from langgraph.errors import GraphRecursionError

    found: list[type[BaseException]] = [GraphRecursionError, _client.refusal()]
    try:
        from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
        from langchain.agents.middleware.tool_call_limit import ToolCallLimitExceededError
    except ImportError:  # langgraph without langchain
        return tuple(found)
    return (*found, ModelCallLimitExceededError, ToolCallLimitExceededError)


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver

    made = [tool(offered(specs[n], tools[n], gate, call_id)) for n in specs if n in tools]
    async with blocking() as door:
        with ExitStack() as back:
            for each in made:
                noted(each, "", back)
            memory = task.session.setdefault("checkpointer", InMemorySaver())
            graph = create_agent(scripted(model, door), made, checkpointer=memory)
            steps = {
                "recursion_limit": 2 * task.max_steps + 1
            }  # a turn of the model and one of the tools each
            return _answer(await graph.ainvoke(_said(task), {**steps, **THREAD}))


def _own(graph: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            with ExitStack() as back:
                for each in _tools(graph):
                    noted(each, _named(graph), back)
                    behind(each, specs[each.name], gate, door, back)
                for each in _reach(graph):
                    _fresh(each, task.session, back)
                    _on_threads(each, door, back)
                if model.taken:
                    back.enter_context(modelled(model, door))
                if _remembers(graph):
                    return _answer(await graph.ainvoke(_said(task), THREAD))
                said = task.session["messages"] = [
                    *task.session.get("messages", ()),
                    *_said(task)["messages"],
                ]
                state = await graph.ainvoke({"messages": said}, THREAD)
                task.session["messages"] = list(state.get("messages") or said)
                return _answer(state)

    return run


def _said(task: Task) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": task.prompt}]}


def _remembers(graph: Any) -> bool:
    """Does it keep the messages of a thread from one run to the next?"""
    from langgraph.checkpoint.base import BaseCheckpointSaver

    return isinstance(graph.checkpointer, BaseCheckpointSaver)


def _answer(state: Mapping[str, Any]) -> Answer:
    """The last message; a run that waits for a person has not done its task, and some limits are told as text."""
    messages = list(state.get("messages") or ())
    if waits := state.get("__interrupt__"):
        return Answer(f"interrupted: {[each.value for each in waits]}", status="failed", session=messages)
    last = messages[-1] if messages else None
    text = str(getattr(last, "text", "") or "")
    if not text and (shaped := state.get("structured_response")) is not None:
        text = shaped.model_dump_json() if hasattr(shaped, "model_dump_json") else str(shaped)
    status: Status | None = "limit" if LIMITS.match(text) else None
    return Answer(text, status=status, session=messages)


def _reach(graph: Any) -> list[Any]:
    """All objects of the framework's that make up this graph, inner graphs and their parts with them."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool
    from langgraph.pregel import Pregel

    def parts(thing: Any) -> Iterable[Any] | None:
        if isinstance(thing, Pregel):
            return list(thing.nodes.values())
        if isinstance(thing, BaseChatModel):
            return ()
        of_theirs = any(base.__module__.partition(".")[0].startswith(OURS) for base in type(thing).__mro__)
        if isinstance(thing, BaseTool) or (of_theirs and not isinstance(thing, type)):
            return (*getattr(thing, "__dict__", {}).values(), getattr(thing, "bound", None))
        return None

    return reached([graph], parts)


def _tools(graph: Any) -> list[Any]:
    from langchain_core.tools import BaseTool

    return [each for each in _reach(graph) if isinstance(each, BaseTool)]


def _named(graph: Any) -> str:
    """What `create_agent(name=...)` called the agent."""
    return str(((getattr(graph, "config", None) or {}).get("metadata") or {}).get("lc_agent_name") or "")


def _fresh(thing: Any, session: dict[str, Any], back: ExitStack) -> None:
    """What a graph remembers from one run to the next begins anew with the session, and lasts as long."""
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.pregel import Pregel
    from langgraph.store.memory import InMemoryStore

    if not isinstance(thing, Pregel):
        return
    if isinstance(thing.checkpointer, BaseCheckpointSaver):
        put(thing, "checkpointer", session.setdefault(f"checkpointer {id(thing)}", InMemorySaver()), back)
    if thing.cache is not None:
        put(thing, "cache", None, back)
    if isinstance(thing.store, InMemoryStore):
        kind: Any = type(thing.store)
        store = kind.__new__(kind)
        store.__dict__.update({**vars(thing.store), "_data": deepcopy(thing.store._data)})
        put(thing, "store", session.setdefault(f"store {id(thing)}", store), back)


def _on_threads(thing: Any, door: Blocking, back: ExitStack) -> None:
    """Middleware that has only a `def` has no place in `ainvoke`; it gets one, on a worker thread."""
    from langchain_core.runnables.config import run_in_executor
    from langgraph._internal._runnable import RunnableCallable
    from langgraph.prebuilt import ToolNode

    if isinstance(thing, ToolNode) and _only_sync(thing._awrap_tool_call, "wrap_tool_call"):
        policy = thing._wrap_tool_call

        async def awrap(request: Any, execute: Any) -> Any:
            return await run_in_executor(
                None, policy, request, lambda asked: door.wait(lambda: execute(asked))
            )

        put(thing, "_awrap_tool_call", awrap, back)
    elif isinstance(thing, RunnableCallable) and _only_sync(thing.afunc, "wrap_model_call"):
        function = thing.func

        async def afunc(*args: Any, **kwargs: Any) -> Any:
            return await run_in_executor(None, lambda: function(*args, **kwargs))

        put(thing, "afunc", afunc, back)


def _only_sync(chain: Any, hook: str) -> bool:
    """Is there middleware in the chain that has the hook as a `def` and not as an `async def`?"""
    try:
        from langchain.agents.middleware import AgentMiddleware
    except ImportError:
        return False

    def parts(thing: Any) -> Iterable[Any] | None:
        return () if isinstance(thing, AgentMiddleware) else None

    return any(
        getattr(type(each), f"a{hook}") is getattr(AgentMiddleware, f"a{hook}")
        and getattr(type(each), hook) is not getattr(AgentMiddleware, hook)
        for each in reached([chain], parts)
    )


adapter = LangGraph()
