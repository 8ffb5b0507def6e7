"""The chat-completions wire: requests read into a View, moves written as responses, and what a strict
provider refuses.

The form is that of the OpenAI API, `POST /v1/chat/completions`, without streaming.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from forge_chaos.modelserver.move import Move, Say
from forge_chaos.modelserver.refusals import Refusal, invalid, too_long, unanswered, unasked
from forge_chaos.modelserver.view import Pair, Reply, ToolCall, View

ROLES = ("system", "developer", "user", "assistant", "tool")
ANSWERS = ("final_answer", "final_result", "submit")
CREATED = 1_700_000_000


def view(body: Mapping[str, Any]) -> View:
    """What a checked request shows."""
    task: str | None = None
    pairs: list[Pair] = []
    open_calls: dict[str, int] = {}
    for message in body["messages"]:
        text = _text(message.get("content"))
        if message["role"] == "user" and task is None:
            task = text
        elif message["role"] == "assistant":
            for call in message.get("tool_calls") or ():
                open_calls[call["id"]] = len(pairs)
                function = call["function"]
                pairs.append(
                    (ToolCall(function["name"], _arguments(function["arguments"]), call["id"]), None)
                )
        elif message["role"] == "tool":
            at = open_calls.get(message["tool_call_id"])
            if at is None:
                pairs.append((None, Reply(text)))
            else:
                pairs[at] = (pairs[at][0], Reply(text))
    tools = frozenset(tool["function"]["name"] for tool in body.get("tools") or ())
    choice = body.get("tool_choice")
    forced = choice == "required" or isinstance(choice, dict)
    answer = next((name for name in ANSWERS if name in tools), None) if forced else None
    return View(task, tuple(pairs), tools, not tools or choice == "none", answer)


def render(body: Mapping[str, Any], view: View, move: Move) -> dict[str, Any]:
    """The response that makes the move."""
    if isinstance(move, Say) and view.answer_tool is None:
        message: dict[str, Any] = {"role": "assistant", "content": move.text, "refusal": None}
        finish = "stop"
    else:
        calls = (_answer(body, view, move),) if isinstance(move, Say) else move.calls
        message = {
            "role": "assistant",
            "content": None,
            "refusal": None,
            "tool_calls": [_call(c) for c in calls],
        }
        finish = "tool_calls"
    asked_text, said_text = json.dumps(body["messages"]), json.dumps(message)
    asked, said = len(asked_text) // 4, max(1, len(said_text) // 4)
    number = blake2b(f"{asked_text}\n{said_text}".encode(), digest_size=12).hexdigest()
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": CREATED,
        "model": body.get("model") or "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }


def check(body: Any, window: int | None = None) -> Refusal | None:
    """The error with which a strict provider refuses the request, None for a good one.

    `window` is its context length in tokens of four characters.
    """
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list):
        return invalid("Missing required parameter: 'messages', an array.", "messages")
    if not messages:
        return invalid("Invalid 'messages': an array with at least 1 item is expected.", "messages")
    if body.get("stream"):
        return invalid("This model does not support streaming.", "stream", "unsupported_value")
    wrong = _tools(body.get("tools")) or _pairs(messages)
    if wrong is None and window is not None:
        tokens = len(json.dumps([messages, body.get("tools")], ensure_ascii=False)) // 4
        wrong = too_long(window, tokens) if tokens > window else None
    return wrong


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
        return None if _whole(content) else invalid("The body of the request is not valid JSON.")
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


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return ""


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {"": text}
    return found if isinstance(found, dict) else {"": found}


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(dict(call.args), ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _answer(body: Mapping[str, Any], view: View, move: Say) -> ToolCall:
    """The last word as a call of the answer tool: its only required argument, else `answer`."""
    schema: Any = next(
        tool["function"].get("parameters") or {}
        for tool in body["tools"]
        if tool["function"]["name"] == view.answer_tool
    )
    needed = schema.get("required") or ["answer"]
    call = ToolCall(str(view.answer_tool), {str(needed[0]): move.text})
    return ToolCall(call.name, call.args, f"call_{call.key}_{len(view.pairs)}")
