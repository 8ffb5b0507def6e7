"""What a strict provider of the responses wire refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forge_chaos.modelserver.refusals import NO_JSON, Refusal, invalid

ROLES = ("system", "developer", "user", "assistant")
TEXTS = ("input_text", "output_text", "text", "refusal")


def check(body: Any) -> Refusal | None:
    """The error with which the provider refuses a request that is whole: see `memory`. None for a good one."""
    if not isinstance(body, Mapping):
        return invalid(NO_JSON)
    given = body.get("input")
    if given is None:
        return invalid("Missing required parameter: 'input'.", "input", "missing_required_parameter")
    if not isinstance(given, str | list):
        return invalid("Invalid type for 'input': a string or an array of items is expected.", "input")
    if not given:
        return invalid("Invalid 'input': at least one item is expected.", "input")
    if not isinstance(body.get("instructions"), str | None):
        return invalid("Invalid type for 'instructions': a string is expected.", "instructions")
    for unknown in ("conversation", "background", "prompt"):
        if body.get(unknown):
            return invalid(f"This model does not support '{unknown}'.", unknown, "unsupported_parameter")
    return _tools(body) or (_items(given) if isinstance(given, list) else None)


def _tools(body: Mapping[str, Any]) -> Refusal | None:
    tools = body.get("tools")
    if not isinstance(tools, list | None):
        return invalid("Invalid type for 'tools': an array is expected.", "tools")
    for index, tool in enumerate(tools or ()):
        if not isinstance(tool, Mapping) or not isinstance(tool.get("type"), str):
            return invalid(f"Missing required parameter: 'tools[{index}].type'.", f"tools[{index}].type")
        if tool["type"] == "function" and not isinstance(tool.get("name"), str):
            return invalid(f"Missing required parameter: 'tools[{index}].name'.", f"tools[{index}].name")
    names = [tool.get("name") for tool in tools or ()]
    choice = body.get("tool_choice")
    if isinstance(choice, Mapping):
        if choice.get("name") not in names:
            return invalid(f"There is no tool {choice.get('name')!r} in 'tools'.", "tool_choice")
    elif choice not in (None, "none", "auto", "required"):
        return invalid("Invalid value for 'tool_choice': none, auto, required or a tool.", "tool_choice")
    elif choice == "required" and not tools:
        return invalid("Tool choice 'required' must be given with 'tools'.", "tool_choice")
    return None


def _items(items: Sequence[Any]) -> Refusal | None:
    """Each call has its one output after it, and each output its call before it."""
    waiting: list[str] = []
    for index, item in enumerate(items):
        where = f"input[{index}]"
        wrong = _item(item, where)
        if wrong is not None:
            return wrong
        kind = item.get("type")
        if kind == "function_call":
            if item["call_id"] in waiting:
                return invalid(f"Duplicate function call with call_id {item['call_id']}.", "input")
            waiting.append(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in waiting:
                return invalid(
                    f"No tool call found for function call output with call_id {item['call_id']}.", "input"
                )
            waiting.remove(item["call_id"])
    return invalid(f"No tool output found for function call {waiting[0]}.", "input") if waiting else None


def _item(item: Any, where: str) -> Refusal | None:
    if not isinstance(item, Mapping):
        return invalid(f"Invalid type for '{where}': an object is expected.", where)
    kind = item.get("type") or "message"
    if kind == "message":
        if item.get("role") not in ROLES:
            return invalid(f"Invalid value for '{where}.role': one of {', '.join(ROLES)}.", f"{where}.role")
        return _content(item.get("content"), f"{where}.content")
    if kind == "function_call":
        for part in ("call_id", "name", "arguments"):
            if not isinstance(item.get(part), str):
                return invalid(f"Missing required parameter: '{where}.{part}', a string.", f"{where}.{part}")
        return None
    if kind == "function_call_output":
        if not isinstance(item.get("call_id"), str):
            return invalid(f"Missing required parameter: '{where}.call_id'.", f"{where}.call_id")
        return _content(item.get("output"), f"{where}.output")
    if kind == "reasoning":
        return None
    return invalid(f"This model does not take items of type {kind!r}.", f"{where}.type", "unsupported_value")


def _content(content: Any, where: str) -> Refusal | None:
    if isinstance(content, str):
        return None
    if isinstance(content, list) and all(
        isinstance(part, Mapping)
        and part.get("type") in TEXTS
        and isinstance(part.get("text", part.get("refusal")), str)
        for part in content
    ):
        return None
    kind = "null" if content is None else type(content).__name__
    return invalid(
        f"Invalid type for '{where}': a string or an array of texts is expected, got {kind}.", where
    )
