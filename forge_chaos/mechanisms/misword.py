"""The model words a call badly: no JSON, no object, no such tool, wrong arguments, ids that name nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from forge_chaos.mechanisms._completion import Item, calls_of, put, saying
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env

How = Literal[
    "broken",
    "list",
    "null",
    "number",
    "unknown_tool",
    "wrong_type",
    "missing",
    "huge",
    "equal_ids",
    "counted_ids",
    "empty_ids",
    "cut",
    "contradicted",
    "lone_surrogate",
]
HUGE = 50_000  # characters
Schemas = Mapping[str, Mapping[str, Any]]
Worded = dict[str, Any] | None  # what of a call's function is worded otherwise; None: it cannot be
Wording = Callable[[Mapping[str, Any], Schemas, Env], Worded]


async def misword(call: Call, tool: Tool, env: Env, *, how: How) -> Ok | Err:
    """The reply comes with its first call for which that can be done worded badly; of `cut` its last one, and of
    the ids all. A reply without a call goes on as it is.

    A call that is worded otherwise has an id of its own: it is not the one that the model would have made. A tool
    that there is not has another name each time, and after the last one again the first.
    Responses have no stop reason beside a call, so that over that wire nothing shows of `contradicted`.
    """
    result = await tool(call)
    calls = calls_of(result)
    spoilt = _ids(calls, how) if how in ("equal_ids", "counted_ids", "empty_ids") else None
    finish = {"cut": "length", "contradicted": "stop"}.get(how)
    if how == "contradicted" and calls:
        spoilt = calls
    elif spoilt is None:
        schemas = _schemas(call.args.get("tools"))
        places = reversed(range(len(calls))) if how == "cut" else range(len(calls))
        for place in places:
            worded = WORDED[how](calls[place]["function"], schemas, env)
            if worded is not None:
                spoilt = put(calls, place, f"call_{call.id}_{place}", **worded)
                break
    if not spoilt:
        return result
    env.fire(how=how)
    return Ok(saying(result, {"tool_calls": spoilt}, finish))


def _ids(calls: Sequence[Item], how: str) -> list[Item] | None:
    if how == "equal_ids" and len(calls) < 2:
        return []
    ids = {"equal_ids": "call_0", "empty_ids": ""}
    return [{**call, "id": ids.get(how, f"call_{n}")} for n, call in enumerate(calls)]


def _schemas(tools: Any) -> Schemas:
    """{tool: the schema of its arguments}"""
    offered = tools if isinstance(tools, list) else []
    functions = [each.get("function") for each in offered if isinstance(each, Mapping)]
    return {
        str(function.get("name")): function.get("parameters") or {}
        for function in functions
        if isinstance(function, Mapping)
    }


def _arguments(function: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _unquoted(function: Mapping[str, Any], schemas: Schemas, env: Env) -> Worded:
    text = str(function.get("arguments") or "{}")
    return {"arguments": text.replace('"', "") if '"' in text else text[:-1]}


def _without_end(function: Mapping[str, Any], schemas: Schemas, env: Env) -> Worded:
    text = str(function.get("arguments") or "{}")
    return {"arguments": text[: max(1, len(text) // 2)]}


def _no_such_tool(function: Mapping[str, Any], schemas: Schemas, env: Env) -> Worded:
    """The misspellings in turn: a model that is told of one comes up with the next."""
    name = str(function.get("name") or "tool")
    turned = "_".join(reversed(name.split("_")))
    thought_of = (turned, f"{name}_tool", f"do_{name}")
    names = [other for other in thought_of if other not in (name, *schemas)]
    names = names or [max(schemas, key=len) + "_tool"]
    told: int = env.kept.get("told", 0)
    env.kept["told"] = told + 1
    return {"name": names[told % len(names)]}


def _wrong_type(function: Mapping[str, Any], schemas: Schemas, env: Env) -> Worded:
    """Its first argument is an object that holds the value."""
    given = _arguments(function)
    first = next((name for name, value in given.items() if not isinstance(value, dict)), None)
    if first is None:
        return None
    return {"arguments": json.dumps({**given, first: {"value": given[first]}}, ensure_ascii=False)}


def _missing(function: Mapping[str, Any], schemas: Schemas, env: Env) -> Worded:
    """Its first required argument is left out. A tool that nobody has described is taken to need its first."""
    given = _arguments(function)
    schema = schemas.get(str(function.get("name")))
    needed = list(given)[:1] if schema is None else schema.get("required") or ()
    first = next((name for name in given if name in needed), None)
    if first is None:
        return None
    left = {name: value for name, value in given.items() if name != first}
    return {"arguments": json.dumps(left, ensure_ascii=False)}


def _huge(function: Mapping[str, Any], schemas: Schemas, env: Env) -> Worded:
    """All its arguments inside one that the tool does not take, and beside them a long thought."""
    inside = {"arguments": _arguments(function), "thought": "and so on, " * (HUGE // 11)}
    return {"arguments": json.dumps(inside, ensure_ascii=False)}


def _lone_surrogate(function: Mapping[str, Any], schemas: Schemas, env: Env) -> Worded:
    """Its longest text ends in half of an emoji, which JSON can say and UTF-8 cannot."""
    given = _arguments(function)
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    if not texts:
        return None
    longest = max(texts, key=lambda name: len(texts[name]))
    return {"arguments": json.dumps({**given, longest: texts[longest] + "\ud83d"})}


def _always(arguments: str) -> Wording:
    return lambda function, schemas, env: {"arguments": arguments}


WORDED: Mapping[str, Wording] = {
    "broken": _unquoted,
    "list": _always("[]"),
    "null": _always("null"),
    "number": _always("7"),
    "unknown_tool": _no_such_tool,
    "wrong_type": _wrong_type,
    "missing": _missing,
    "huge": _huge,
    "cut": _without_end,
    "lone_surrogate": _lone_surrogate,
}
