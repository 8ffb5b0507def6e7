"""LangChain's tools and chat models, of which graphs are made: the gate round a tool's own functions, and a
trial's model in the place of a chat model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from forge_chaos.adapters import _client
from forge_chaos.adapters._reach import put
from forge_chaos.adapters._threads import Blocking
from forge_chaos.adapters._through import gated
from forge_chaos.inference import spec
from forge_chaos.nouns import ToolSpec
from forge_chaos.ports import Gate

_call: ContextVar[tuple[str | None, str]] = ContextVar("call", default=(None, ""))
_within: ContextVar[Any] = ContextVar("within", default=None)


def call_id() -> str | None:
    """The id under which the model asked for the call that runs here; see `noted`."""
    return _call.get()[0]


def caller() -> str:
    """The sub-agent that makes the call; empty for the agent itself."""
    return _call.get()[1]


def specs_of(tools: Iterable[Any]) -> dict[str, ToolSpec]:
    found: dict[str, ToolSpec] = {}
    for tool in tools:
        schema = tool.tool_call_schema
        if not isinstance(schema, dict):
            schema = schema.model_json_schema()
        function = getattr(tool, "coroutine", None) or getattr(tool, "func", None) or type(tool)
        declared = getattr(function, "chaos", None)
        found.setdefault(tool.name, spec(tool.name, tool.description or "", dict(schema), declared))
    return found


def noted(tool: Any, root: str, back: ExitStack) -> None:
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

    put(tool, "run", noting, back)
    put(tool, "arun", anoting, back)


def behind(tool: Any, declared: ToolSpec, gate: Gate, door: Blocking, back: ExitStack) -> None:
    """The gate round the innermost functions of one tool."""
    from langchain_core.tools import BaseTool

    def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
        return gated(function, declared, gate, door, id=call_id, by=caller)

    if getattr(tool, "func", None) is not None or getattr(tool, "coroutine", None) is not None:
        for name in ("func", "coroutine"):
            if getattr(tool, name, None) is not None:
                put(tool, name, guarded(getattr(tool, name)), back)
        return
    put(tool, "_run", _once(tool, tool._run, guarded), back)
    if type(tool)._arun is not BaseTool._arun:  # else it is `_run` on a worker thread
        put(tool, "_arun", _once(tool, tool._arun, guarded), back)


def _once(tool: Any, method: Callable[..., Any], guarded: Callable[[Any], Any]) -> Callable[..., Any]:
    """A method behind the gate, save where the tool's own other method calls it."""
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


def scripted(model: Any, door: Blocking) -> Any:
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
def modelled(model: Any, door: Blocking) -> Iterator[None]:
    """Every chat model asked in here asks the trial's model: one of OpenAI's with its own settings."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langchain_openai.chat_models.base import BaseChatOpenAI

    clients = {**_clients(model, door), "cache": False}
    stand_in = scripted(model, door)

    def turned(original: Any) -> Any:
        @wraps(original)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(self, BaseChatOpenAI):
                return original(self.model_copy(update=clients), *args, **kwargs)
            known: dict[str, Any] = {k: kwargs[k] for k in ("stop", "run_manager", "config") if k in kwargs}
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


__all__ = ["behind", "call_id", "caller", "modelled", "noted", "scripted", "specs_of"]
