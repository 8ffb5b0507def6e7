"""What a strict provider of the chat-completions wire refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge_chaos.modelserver.refusals import NO_JSON, Refusal, invalid, unanswered, unasked

ROLES = ("system", "developer", "user", "assistant", "tool")


def check(body: Any) -> Refusal | None:
    """The error with which the provider refuses the request, None for a good one."""
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list):
        return invalid("Missing required parameter: 'messages', an array.", "messages")
    if not messages:
        return invalid("Invalid 'messages': an array with at least 1 item is expected.", "messages")
    return _options(body) or _tools(body.get("tools")) or _pairs(messages)


def _options(body: dict[str, Any]) -> Refusal | None:
    if body.get("stream_options") is not None and not body.get("stream"):
        return invalid("'stream_options' is only allowed when 'stream' is true.", "stream_options")
    if body.get("n") not in (None, 1):
        return invalid("This model gives one choice: 'n' must be 1.", "n", "unsupported_value")
    choice = body.get("tool_choice")
    if choice is None:
        return None
    if body.get("tools") is None and choice != "none":
        return invalid("'tool_choice' is only allowed when 'tools' are given.", "tool_choice")
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        offered = [tool.get("function") for tool in body["tools"] or () if isinstance(tool, dict)]
        if not any(isinstance(one, dict) and one.get("name") == name for one in offered):
            return invalid(f"Invalid 'tool_choice': there is no tool {name!r} in 'tools'.", "tool_choice")
    elif choice not in ("none", "auto", "required"):
        return invalid("Invalid value for 'tool_choice': none, auto, required or a tool.", "tool_choice")
    return None


def _pairs(messages: Sequence[Any]) -> Refusal | None:
    """Each call answered exactly once before the next message of another kind, and no other answers."""
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        wrong = _message(message, f"messages.[{index}]")
        if wrong is not None:
            return wrong
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                return unasked(index)
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            return unanswered(open_ids, index)
        open_ids = [call["id"] for call in message.get("tool_calls") or ()]
    return unanswered(open_ids, len(messages) - 1) if open_ids else None


def _message(message: Any, where: str) -> Refusal | None:
    if not isinstance(message, dict) or message.get("role") not in ROLES:
        return invalid(f"Invalid value for '{where}.role': one of {', '.join(ROLES)} is expected.", where)
    calls = message.get("tool_calls")
    if calls is not None:
        if message["role"] != "assistant" or not isinstance(calls, list) or not calls:
            return invalid(f"Invalid '{where}.tool_calls': a non-empty array of an assistant message.", where)
        for number, call in enumerate(calls):
            function = call.get("function") if isinstance(call, dict) else None
            named = isinstance(function, dict) and all(
                isinstance(function.get(part), str) for part in ("name", "arguments")
            )
            if not named or not isinstance(call.get("id"), str) or call.get("type") != "function":
                return invalid(
                    f"Invalid type for '{where}.tool_calls[{number}]': id, type and function with a name and "
                    "arguments, all strings, are expected.",
                    where,
                )
    if message["role"] == "tool" and not isinstance(message.get("tool_call_id"), str):
        return invalid(f"Missing required parameter: '{where}.tool_call_id'.", where)
    return _content(message.get("content"), calls is not None, where)


def _content(content: Any, optional: bool, where: str) -> Refusal | None:
    if content is None and optional:
        return None
    if isinstance(content, str):
        return None if _whole(content) else invalid(NO_JSON)
    if isinstance(content, list) and content:
        parts = all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content)
        if parts:
            return None
    kind = "null" if content is None else type(content).__name__
    return invalid(f"Invalid value for '{where}.content': a string is expected, got {kind}.", where)


def _whole(content: str) -> bool:
    """Is it UTF-8, without half a surrogate pair?"""
    if content.isascii():
        return True
    try:
        content.encode()
    except UnicodeEncodeError:
        return False
    return True


def _tools(tools: Any) -> Refusal | None:
    if tools is None:
        return None
    if not isinstance(tools, list) or not tools:
        return invalid("Invalid 'tools': a non-empty array is expected.", "tools")
    for index, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return invalid(f"Missing required parameter: 'tools[{index}].function.name'.", f"tools.[{index}]")
    return None
