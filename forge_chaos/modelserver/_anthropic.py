"""A chat-completions request as an Anthropic messages request, and the message that comes back as a
chat completion.

The forms are those of the OpenAI API, `POST /v1/chat/completions`, and of the Anthropic API,
`POST /v1/messages`. What the latter has no word for (`seed`, `n`, `response_format`) is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MAX_TOKENS = 4096  # the provider wants a number; every model of theirs can write this many
KEPT = ("temperature", "top_p")
FINISH: Mapping[str, str] = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
CUT_OFF = "(The beginning of this conversation is not shown.)"
NATIVE = ("image", "document")
NO_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}

Block = dict[str, Any]


def request(chat: Mapping[str, Any]) -> dict[str, Any]:
    """The messages request that asks the same.

    A turn's tool results become one user message, and a user message after them joins it. System
    messages, wherever they stand, become the system prompt. Raises ValueError for content that is no
    text.
    """
    messages: Sequence[Mapping[str, Any]] = chat.get("messages") or ()
    limit = chat.get("max_completion_tokens") or chat.get("max_tokens") or MAX_TOKENS
    made: dict[str, Any] = {"model": chat["model"], "max_tokens": limit, **conversation(messages)}
    made |= _tools(chat, messages)
    made |= {name: chat[name] for name in KEPT if chat.get(name) is not None}
    if chat.get("stop"):
        made["stop_sequences"] = [chat["stop"]] if isinstance(chat["stop"], str) else chat["stop"]
    return made


def conversation(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`messages` and, where there is any, `system`. Raises ValueError as `request`.

    The first turn must be the user's here: a history without its beginning says that this is missing.
    """
    turns = _turns(messages)
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": CUT_OFF}]})
    made: dict[str, Any] = {"messages": turns}
    system = [_text(m.get("content")) for m in messages if m.get("role") in ("system", "developer")]
    return {**made, "system": "\n\n".join(filter(None, system))} if any(system) else made


def reply(message: Any) -> dict[str, Any] | None:
    """The chat completion that says the same as the provider's message; None where it is no message."""
    blocks = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(blocks, list) or not all(isinstance(block, Mapping) for block in blocks):
        return None
    said = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    answer: dict[str, Any] = {"role": "assistant", "content": "".join(said) or None, "refusal": None}
    calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
    if calls:
        answer["tool_calls"] = calls
    finish = FINISH.get(str(message.get("stop_reason")), "stop")
    return {
        "id": message.get("id") or "",
        "object": "chat.completion",
        "created": 0,  # the provider does not say
        "model": message.get("model") or "",
        "choices": [{"index": 0, "message": answer, "finish_reason": finish, "logprobs": None}],
        "usage": _usage(message.get("usage")),
    }


def _turns(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """User and assistant messages in turn; an empty one is none, the provider refuses it."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.get("role") == "assistant" else "user"
        blocks = _blocks(message)
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    role = message.get("role")
    if role in ("system", "developer"):
        return []
    if role == "tool":
        text = _text(message.get("content"))
        result: Block = {"type": "tool_result", "tool_use_id": message.get("tool_call_id")}
        if message.get("is_error"):
            result["is_error"] = True
        return [{**result, "content": text} if text else result]
    return _said(message.get("content")) + [_use(call) for call in message.get("tool_calls") or ()]


def _said(content: Any) -> list[Block]:
    """A content as blocks. What came over this wire goes back as it was; else only text can."""
    if isinstance(content, list) and any(_native(part) for part in content):
        return [dict(part) if _native(part) else {"type": "text", "text": _text([part])} for part in content]
    text = _text(content)
    return [{"type": "text", "text": text}] if text else []


def _native(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in NATIVE


def _use(call: Mapping[str, Any]) -> Block:
    """A tool call of the history. Arguments that are no object have no form here: they go in as text."""
    function = call["function"]
    try:
        given = json.loads(function.get("arguments") or "{}")
    except ValueError:
        given = function["arguments"]
    if not isinstance(given, dict):
        given = {"arguments": function["arguments"]}
    return {"type": "tool_use", "id": call["id"], "name": function["name"], "input": given}


def _tools(chat: Mapping[str, Any], messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """`tools` and `tool_choice`. A history that holds calls must name their tools even when none is
    offered any more."""
    offered = [tool["function"] for tool in chat.get("tools") or ()]
    choice = _choice(chat.get("tool_choice"), chat.get("parallel_tool_calls"))
    if not offered:
        used = (call["function"] for m in messages for call in m.get("tool_calls") or ())
        offered = [{"name": name} for name in dict.fromkeys(function["name"] for function in used)]
        choice = {"type": "none"}
    if not offered:
        return {}
    tools = [
        {
            "name": function["name"],
            "description": function.get("description") or "",
            "input_schema": function.get("parameters") or NO_SCHEMA,
        }
        for function in offered
    ]
    return {"tools": tools} if choice is None else {"tools": tools, "tool_choice": choice}


def _choice(choice: Any, parallel: Any) -> dict[str, Any] | None:
    if isinstance(choice, Mapping):
        made: dict[str, Any] = {"type": "tool", "name": choice["function"]["name"]}
    elif choice is None and parallel is not False:
        return None
    else:
        made = {"type": {"required": "any", "none": "none"}.get(str(choice), "auto")}
    return made if parallel is not False or choice == "none" else {**made, "disable_parallel_tool_use": True}


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    if not all(isinstance(part, Mapping) and isinstance(part.get("text"), str) for part in parts):
        raise ValueError("only text can be sent to this provider")
    return "".join(part["text"] for part in parts)


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
    function = {"name": block.get("name"), "arguments": arguments}
    return {"id": block.get("id"), "type": "function", "function": function}


def _usage(usage: Any) -> dict[str, int]:
    found: Mapping[str, Any] = usage if isinstance(usage, Mapping) else {}
    asked = sum(
        found.get(name) or 0
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    said = found.get("output_tokens") or 0
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
