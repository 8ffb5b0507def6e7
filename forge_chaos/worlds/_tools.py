"""A tool of a world: what it says of itself, and a plain function that raises what Python code would.

The specs of a set of tools are built once and shared by all trials; a trial only binds the functions
to its own ground truth.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from forge_chaos import natural
from forge_chaos.errors import unknown
from forge_chaos.nouns import Call, Err, Ok, Role, Scenario, Tool, ToolSpec, Verify

Json = Literal["string", "integer", "number", "boolean", "object"]
Result: TypeAlias = Ok | Err

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool. `default` is told in the schema; without one it may be left out or null."""

    type: Json
    description: str
    required: bool = True
    default: Any = None
    minimum: int | None = None


def optional(type: Json, description: str, default: Any = None, minimum: int | None = None) -> Parameter:
    return Parameter(type, description, False, default, minimum)


@dataclass(frozen=True, slots=True)
class Block:
    """A tool before it meets a trial: `function(ground, **arguments)`, plain or async."""

    spec: ToolSpec
    parameters: Mapping[str, Parameter]
    function: Callable[..., Any]
    required: frozenset[str]
    waits: bool


def block(
    function: Callable[..., Any],
    description: str,
    parameters: Mapping[str, Parameter],
    roles: Iterable[Role],
    *,
    target: str | None = None,
    limit: float = 30.0,
    poll: bool = False,
    returns: str | None = None,
    verify: Verify | None = None,
    settle: float = 0.0,
    idempotency: str | None = None,
) -> Block:
    """The tool named like its function."""
    spec = ToolSpec(
        name=function.__name__,
        description=description,
        parameters=_schema(parameters),
        roles=frozenset(roles),
        target=target,
        limit=limit,
        poll=poll,
        returns=returns,
        verify=verify,
        settle=settle,
        idempotency=idempotency,
    )
    needed = frozenset(name for name, parameter in parameters.items() if parameter.required)
    return Block(spec, parameters, function, needed, iscoroutinefunction(function))


def _schema(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, parameter in parameters.items():
        shown: dict[str, Any] = {"type": parameter.type, "description": parameter.description}
        if parameter.default is not None:
            shown["default"] = parameter.default
        if parameter.minimum is not None:
            shown["minimum"] = parameter.minimum
        properties[name] = shown
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, parameter in parameters.items() if parameter.required],
        "additionalProperties": False,
    }


@dataclass(frozen=True, slots=True)
class Toolset:
    """The tools that a scenario gets, chosen once."""

    specs: Mapping[str, ToolSpec]
    blocks: tuple[Block, ...]

    def bind(self, ground: Any) -> dict[str, Tool]:
        return {one.spec.name: partial(_run, one, ground) for one in self.blocks}


# By the identity of `blocks`, which is kept here so that its id stays its own.
_chosen: dict[tuple[int, tuple[str, ...], tuple[Role, ...]], tuple[Mapping[str, Block], Toolset]] = {}


def choose(blocks: Mapping[str, Block], scenario: Scenario) -> Toolset:
    """The tools that the scenario names, else those of the roles that it names, else all.

    Raises Misuse, with the near miss, for a tool that is not among `blocks`.
    """
    key = (id(blocks), scenario.tools, scenario.roles)
    found = _chosen.get(key)
    if found is not None:
        return found[1]
    for name in scenario.tools:
        if name not in blocks:
            raise unknown("tool", name, blocks, f"scenario {scenario.name!r}", "forge-chaos list worlds")
    roles = frozenset(scenario.roles)
    names = scenario.tools or tuple(n for n, b in blocks.items() if not roles or b.spec.roles & roles)
    picked = tuple(blocks[name] for name in dict.fromkeys(names))
    toolset = Toolset(MappingProxyType({one.spec.name: one.spec for one in picked}), picked)
    _chosen[key] = (blocks, toolset)
    return toolset


async def _run(one: Block, ground: Any, call: Call) -> Result:
    """The tool's own behaviour: its value, or the exception that it raised, kept alive."""
    arguments = call.args
    wrong = _wrong(one, arguments)
    if wrong is not None:
        return wrong
    if None in arguments.values():
        arguments = {name: value for name, value in arguments.items() if value is not None}
    try:
        if one.waits:
            waiting: Awaitable[Any] = one.function(ground, **arguments)
            return Ok(await waiting)
        return Ok(one.function(ground, **arguments))
    except Exception as error:
        return natural.err(error)


def _wrong(one: Block, arguments: Mapping[str, Any]) -> Err | None:
    """What is wrong with the arguments: the same TypeError or ValueError that a Python function raises."""
    parameters = one.parameters
    for name, value in arguments.items():
        parameter = parameters.get(name)
        if parameter is None:
            return _refused(one, TypeError, f"got an unexpected argument {name!r}")
        if value is None and not parameter.required:
            continue
        if not isinstance(value, _TYPES[parameter.type]) or (
            isinstance(value, bool) and parameter.type != "boolean"
        ):
            return _refused(
                one, TypeError, f"argument {name!r} must be of type {parameter.type}, not {_named(value)}"
            )
        if isinstance(value, str) and not value.isascii() and not _is_utf8(value):
            return _refused(
                one, ValueError, f"argument {name!r} is no text: it holds half of a surrogate pair"
            )
        if parameter.minimum is not None and isinstance(value, int) and value < parameter.minimum:
            return _refused(
                one, ValueError, f"argument {name!r} must be at least {parameter.minimum}, not {value}"
            )
    missing = one.required - arguments.keys()
    if missing:
        names = ", ".join(repr(name) for name in parameters if name in missing)
        return _refused(one, TypeError, f"missing required argument {names}")
    return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refused(one: Block, kind: type[Exception], fact: str) -> Err:
    accepted = ", ".join(
        f"{name} ({parameter.type}{'' if parameter.required else ', optional'})"
        for name, parameter in one.parameters.items()
    )
    message = f"{one.spec.name}() {fact}. It takes: {accepted or 'nothing'}."
    return Err("invalid_arguments", message, kind(message))


def _named(value: Any) -> str:
    names = {
        type(None): "null",
        str: "string",
        bool: "boolean",
        int: "integer",
        float: "number",
        list: "array",
        dict: "object",
    }
    return names.get(type(value), type(value).__name__)
