"""langgraph: any compiled graph, so LangChain's `create_agent` and deepagents too, or a stock `create_agent`
round a scenario's tools.

A graph is run by `ainvoke` on a state with `messages`. Its tools are found in tool nodes, closures and the
globals that its nodes name, those of sub-agents too; the gate goes round `func` and `coroutine` (or `_run`
and `_arun` of a subclass), so that a tool node's error policy and every middleware see what the user's own
function would give them. A scenario's model takes the place of each chat model; OpenAI's keep their
settings. Middleware that has only a `def` is carried out on a worker thread. Checkpointers and caches are
fresh in each trial, and so is an in-memory store, with what the user had put into it. Not reached: tools
that a provider or a remote graph carries out, models that are no `BaseChatModel`, stores in a database,
graphs with another state than messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from copy import deepcopy
from functools import wraps
from typing import Any

from forge_chaos.adapters import _client
from forge_chaos.adapters._reach import reached
from forge_chaos.adapters._threads import Blocking, blocking
from forge_chaos.adapters._through import gated, offered
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Status, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[langgraph]'."
OURS = ("langchain", "langgraph", "deepagents", "langsmith")
LIMITS = ("Model call limits exceeded: ", "Tool call limit reached: ", "Sorry, need more steps to process")
THREAD = {"configurable": {"thread_id": "trial"}}

_call: ContextVar[tuple[str | None, str]] = ContextVar("call", default=(None, ""))
_within: ContextVar[Any] = ContextVar("within", default=None)


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
            specs=_specs(_tools(thing)),
            own_model_deterministic=bool(models) and all("fake" in type(m).__module__ for m in models),
            honest=_honest(),
            claims=True,
        )

    def framework(self) -> Seat:
        """The stock loop, `create_agent(model, tools)`, round a scenario's tools."""
        try:
            import langchain.agents
            import langchain_openai
            import langgraph.pregel  # noqa: F401  # only to fail early, with the way out
        except ImportError as error:
            raise Misuse(f"framework:langgraph does not import: {error}. {WAY}") from None
        return Seat(_bench, self.name, honest=_honest())


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

    made = [tool(offered(specs[n], tools[n], gate, lambda: _call.get()[0])) for n in specs if n in tools]
    async with blocking() as door:
        with ExitStack() as back:
            for each in made:
                _noted(each, "", back)
            graph = create_agent(_scripted(model, door), made)
            steps = {
                "recursion_limit": 2 * task.max_steps + 1
            }  # a turn of the model and one of the tools each
            return _answer(await graph.ainvoke(_asked(task), {**steps, **THREAD}))


def _own(graph: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            with ExitStack() as back:
                for each in _tools(graph):
                    _noted(each, _named(graph), back)
                    _gated(each, specs[each.name], gate, door, back)
                for each in _reach(graph):
                    _fresh(each, back)
                    _on_threads(each, door, back)
                if model.taken:
                    back.enter_context(_modelled(model, door))
                return _answer(await graph.ainvoke(_asked(task), THREAD))

    return run


def _asked(task: Task) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": task.prompt}]}


def _answer(state: Mapping[str, Any]) -> Answer:
    """The last message; a run that waits for a person has not done its task, and some limits are told as text."""
    messages = list(state.get("messages") or ())
    if waits := state.get("__interrupt__"):
        return Answer(f"interrupted: {[each.value for each in waits]}", status="failed", session=messages)
    last = messages[-1] if messages else None
    text = str(getattr(last, "text", "") or "")
    if not text and (shaped := state.get("structured_response")) is not None:
        text = shaped.model_dump_json() if hasattr(shaped, "model_dump_json") else str(shaped)
    status: Status | None = "limit" if text.startswith(LIMITS) else None
    return Answer(text, status=status, session=messages)


def _reach(graph: Any) -> list[Any]:
    """All objects of the framework's that make up this graph, inner graphs and their parts with them."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool
    from langgraph.pregel import Pregel

    def parts(thing: Any) -> Iterable[Any] | None:
        if isinstance(thing, Pregel):
            return thing.nodes.values()
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


def _specs(tools: Iterable[Any]) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for tool in tools:
        schema = tool.tool_call_schema
        if not isinstance(schema, dict):
            schema = schema.model_json_schema()
        function = getattr(tool, "coroutine", None) or getattr(tool, "func", None) or type(tool)
        declared = getattr(function, "chaos", None)
        found.setdefault(tool.name, spec(tool.name, tool.description or "", dict(schema), declared))
    return found


def _named(graph: Any) -> str:
    """What `create_agent(name=...)` called the agent."""
    return str(((getattr(graph, "config", None) or {}).get("metadata") or {}).get("lc_agent_name") or "")


def _put(thing: Any, name: str, value: Any, back: ExitStack) -> None:
    """Set an attribute of this very object, past pydantic, until `back` is left."""
    held = vars(thing)
    if name in held:
        back.callback(object.__setattr__, thing, name, held[name])
    else:
        back.callback(object.__delattr__, thing, name)
    object.__setattr__(thing, name, value)


def _noted(tool: Any, root: str, back: ExitStack) -> None:
    """Note the model's call id, and the sub-agent that calls, for what runs inside of the tool."""
    run, arun = tool.run, tool.arun

    def here(told: Mapping[str, Any]) -> tuple[str | None, str]:
        by = str(((told.get("config") or {}).get("metadata") or {}).get("lc_agent_name") or "")
        return told.get("tool_call_id"), "" if by == root else by

    @wraps(run)
    def noting(*args: Any, **kwargs: Any) -> Any:
        before = _call.set(here(kwargs))
        try:
            return run(*args, **kwargs)
        finally:
            _call.reset(before)

    @wraps(arun)
    async def anoting(*args: Any, **kwargs: Any) -> Any:
        before = _call.set(here(kwargs))
        try:
            return await arun(*args, **kwargs)
        finally:
            _call.reset(before)

    _put(tool, "run", noting, back)
    _put(tool, "arun", anoting, back)


def _gated(tool: Any, declared: ToolSpec, gate: Gate, door: Blocking, back: ExitStack) -> None:
    """The gate round the innermost functions of one tool."""
    from langchain_core.tools import BaseTool

    def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
        return gated(function, declared, gate, door, id=lambda: _call.get()[0], by=lambda: _call.get()[1])

    if getattr(tool, "func", None) is not None or getattr(tool, "coroutine", None) is not None:
        for name in ("func", "coroutine"):
            if getattr(tool, name, None) is not None:
                _put(tool, name, guarded(getattr(tool, name)), back)
        return
    _put(tool, "_run", _once(tool, tool._run, guarded), back)
    if type(tool)._arun is not BaseTool._arun:  # else it is `_run` on a worker thread
        _put(tool, "_arun", _once(tool, tool._arun, guarded), back)


def _once(tool: Any, method: Callable[..., Any], guarded: Callable[[Any], Any]) -> Callable[..., Any]:
    """A method behind the gate, save where the tool's own other method calls it."""
    from inspect import iscoroutinefunction

    if iscoroutinefunction(method):

        @wraps(method)
        async def ainner(*args: Any, **kwargs: Any) -> Any:
            before = _within.set(tool)
            try:
                return await method(*args, **kwargs)
            finally:
                _within.reset(before)

        through = guarded(ainner)
    else:

        @wraps(method)
        def inner(*args: Any, **kwargs: Any) -> Any:
            before = _within.set(tool)
            try:
                return method(*args, **kwargs)
            finally:
                _within.reset(before)

        through = guarded(inner)

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (method if _within.get() is tool else through)(*args, **kwargs)

    return call


def _fresh(thing: Any, back: ExitStack) -> None:
    """What a graph remembers from one run to the next begins anew."""
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.pregel import Pregel
    from langgraph.store.memory import InMemoryStore

    if not isinstance(thing, Pregel):
        return
    if isinstance(thing.checkpointer, BaseCheckpointSaver):
        _put(thing, "checkpointer", InMemorySaver(), back)
    if thing.cache is not None:
        _put(thing, "cache", None, back)
    if isinstance(thing.store, InMemoryStore):
        store = type(thing.store).__new__(type(thing.store))
        store.__dict__.update({**vars(thing.store), "_data": deepcopy(thing.store._data)})
        _put(thing, "store", store, back)


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

        _put(thing, "_awrap_tool_call", awrap, back)
    elif isinstance(thing, RunnableCallable) and _only_sync(thing.afunc, "wrap_model_call"):
        function = thing.func

        async def afunc(*args: Any, **kwargs: Any) -> Any:
            return await run_in_executor(None, lambda: function(*args, **kwargs))

        _put(thing, "afunc", afunc, back)


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


def _scripted(model: Any, door: Blocking) -> Any:
    """Our model seat behind the framework's own class for OpenAI's API."""
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=_client.NAME, api_key=_client.KEY, **_clients(model, door))


def _clients(model: Any, door: Blocking) -> dict[str, Any]:
    waiting, held = _client.asynchronous(model), _client.synchronous(model, door)
    return {
        "root_async_client": waiting,
        "async_client": waiting.chat.completions,
        "root_client": held,
        "client": held.chat.completions,
    }


@contextmanager
def _modelled(model: Any, door: Blocking) -> Iterator[None]:
    """Every chat model asked in here asks the trial's model: one of OpenAI's with its own settings."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langchain_openai.chat_models.base import BaseChatOpenAI

    clients = {**_clients(model, door), "cache": False}
    stand_in = _scripted(model, door)

    def turned(original: Any) -> Any:
        @wraps(original)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(self, BaseChatOpenAI):
                return original(self.model_copy(update=clients), *args, **kwargs)
            known = {key: kwargs[key] for key in ("stop", "run_manager", "config") if key in kwargs}
            if kwargs.get("tools"):
                known["tools"] = [convert_to_openai_tool(each) for each in kwargs["tools"]]
            return original(stand_in, *args, **known)

        return method

    with ExitStack() as back:
        for name in ("_generate_with_cache", "_agenerate_with_cache", "stream", "astream"):
            original = getattr(BaseChatModel, name)
            setattr(BaseChatModel, name, turned(original))
            back.callback(setattr, BaseChatModel, name, original)
        yield


adapter = LangGraph()
