"""What adapters share: a tool's innermost callable with the gate round it.

A fault has to be raised where the user's own function would raise, so that the framework's own retries,
limits and error policy see what they would see without us. So the function itself is wrapped, and the
framework's seams only serve to find it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from functools import wraps
from types import TracebackType
from typing import Any

from forge_chaos import natural
from forge_chaos.adapters._threads import Blocking
from forge_chaos.nouns import Call, Err, Ok, Result, Tool, ToolSpec
from forge_chaos.ports import Gate

OURS = (
    __name__.partition(".")[0] + ".",
    "asyncio.",
    "concurrent.",
)  # what lies between the agent and its tool
CallId = Callable[[], "str | None"]
JSON_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def no_id() -> str | None:
    """For a framework that keeps the model's call id from its tools: the gate goes by tool and target."""
    return None


def nobody() -> str:
    """For calls of the agent itself; those of a sub-agent carry its name."""
    return ""


def value(result: Result, args: Mapping[str, Any], declared: ToolSpec | None) -> Any:
    """What a framework gets from a tool: the value, or the natural exception raised."""
    if isinstance(result, Ok):
        return result.value
    target = args.get(declared.target) if declared is not None and declared.target is not None else None
    error = natural.exception(result, target if isinstance(target, str) else None)
    raise error.with_traceback(_users_own(error.__traceback__))


def _users_own(trace: TracebackType | None) -> TracebackType | None:
    """The frames from the tool's own on: some frameworks show a model the whole traceback."""
    while trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith(OURS):
        trace = trace.tb_next
    return trace


def gated(
    function: Callable[..., Any],
    declared: ToolSpec,
    gate: Gate,
    door: Blocking,
    *,
    id: CallId = no_id,
    awaited: bool = False,
    by: Callable[[], str] = nobody,
) -> Callable[..., Any]:
    """A user's own function, `async def` or `def`, with the gate round it: same name, signature and kind.

    A `def` is called on a worker thread, where it waits parked and its body then runs. `awaited`: for a
    framework that calls a `def` on the event loop's own thread and awaits what it gets back: the wrapper
    is an `async def` then, and the body runs on the loop, as it would have. Arguments that the tool's
    schema does not name (a context, a session) reach the function and are kept out of the trace.
    """
    signature = inspect.signature(function)
    name = declared.name
    known = declared.parameters.get("properties") or {}

    def bound(args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        return signature.bind(*args, **kwargs)

    def shown(call: inspect.BoundArguments) -> dict[str, Any]:
        return {key: given for key, given in _flat(call).items() if not known or key in known}

    if inspect.iscoroutinefunction(function) or awaited:

        @wraps(function)
        async def through(*args: Any, **kwargs: Any) -> Any:
            call = bound(args, kwargs)

            async def real(asked: Call) -> Ok | Err:
                result = _called(function, call, asked.args)
                return Ok(await result if inspect.isawaitable(result) else result)

            given = shown(call)
            return value(await gate(name, given, real, id=id(), by=by()), given, declared)

        return through

    @wraps(function)
    def waits(*args: Any, **kwargs: Any) -> Any:
        call = bound(args, kwargs)
        given, asked_id, asking = shown(call), id(), by()

        async def wanted(here: Executor) -> Result:
            async def real(asked: Call) -> Ok | Err:
                return Ok(await door.loop.run_in_executor(here, lambda: _called(function, call, asked.args)))

            return await gate(name, given, real, id=asked_id, by=asking)

        return value(door.serve(wanted), given, declared)

    return waits


def offered(declared: ToolSpec, real: Tool, gate: Gate, id: CallId = no_id) -> Callable[..., Any]:
    """A scenario's tool as an `async def` with the name, docstring and signature that its schema says."""

    async def tool(**args: Any) -> Any:
        return value(await gate(declared.name, args, real, id=id()), args, declared)

    return typed(tool, declared)


def offered_blocking(
    declared: ToolSpec, real: Tool, gate: Gate, door: Blocking, id: CallId = no_id
) -> Callable[..., Any]:
    """`offered` as a plain `def`, for frameworks that call their tools on a thread."""

    def tool(**args: Any) -> Any:
        asked_id = id()
        return value(door.wait(lambda: gate(declared.name, args, real, id=asked_id)), args, declared)

    return typed(tool, declared)


def typed(function: Callable[..., Any], declared: ToolSpec) -> Callable[..., Any]:
    """Give a `**args` function what frameworks read off a function: name, docstring, types, defaults."""
    properties: Mapping[str, Mapping[str, Any]] = declared.parameters.get("properties") or {}
    required = set(declared.parameters.get("required") or ())
    parameters = []
    for key in sorted(properties, key=lambda key: key not in required):  # Python wants defaults last
        kind = JSON_TYPES.get(str(properties[key].get("type")), str)
        default = inspect.Parameter.empty if key in required else properties[key].get("default")
        annotation: Any = kind if key in required or default is not None else kind | None
        parameters.append(
            inspect.Parameter(
                key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation
            )
        )
    signature = inspect.Signature(parameters, return_annotation=Any)

    def named(*args: Any, **kwargs: Any) -> dict[str, Any]:
        given = signature.bind(*args, **kwargs).arguments
        return {key: each for key, each in given.items() if each is not None or key in required}

    if inspect.iscoroutinefunction(function):

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await function(**named(*args, **kwargs))
    else:

        def call(*args: Any, **kwargs: Any) -> Any:  # type: ignore[misc]  # the other kind of the same
            return function(**named(*args, **kwargs))

    made: Any = call
    made.__name__ = made.__qualname__ = declared.name
    made.__doc__ = _docstring(declared, properties)
    made.__signature__ = signature
    made.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": Any}
    return call


def _docstring(declared: ToolSpec, properties: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [
        f"    {key}: {schema.get('description') or key.replace('_', ' ')}"
        for key, schema in properties.items()
    ]
    return "\n".join([declared.description, "", "Args:", *lines]) if lines else declared.description


def _flat(call: inspect.BoundArguments) -> dict[str, Any]:
    """The arguments by name; those of a `**rest` beside the others."""
    found: dict[str, Any] = {}
    for key, given in call.arguments.items():
        if call.signature.parameters[key].kind is inspect.Parameter.VAR_KEYWORD:
            found.update(given)
        elif key not in ("self", "cls"):
            found[key] = given
    return found


def _called(function: Callable[..., Any], call: inspect.BoundArguments, args: Mapping[str, Any]) -> Any:
    """The function with the arguments that the framework gave, as far as no mechanism has changed them."""
    for key, given in args.items():
        if key in call.arguments:
            call.arguments[key] = given
        else:
            rest = next(
                (
                    n
                    for n, p in call.signature.parameters.items()
                    if p.kind is inspect.Parameter.VAR_KEYWORD and n in call.arguments
                ),
                None,
            )
            if rest is not None:
                call.arguments[rest] = {**call.arguments[rest], key: given}
    return function(*call.args, **call.kwargs)


__all__ = ["CallId", "gated", "no_id", "nobody", "offered", "offered_blocking", "typed", "value"]
