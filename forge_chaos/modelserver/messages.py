"""The messages wire: `POST /v1/messages` of the Anthropic API, read into chat form and written from it.

A turn's results are blocks of one user message here, and one message each in chat form; a result that says
`is_error` says so there too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from forge_chaos.modelserver import _anthropic, sse
from forge_chaos.modelserver.messages_rules import check
from forge_chaos.modelserver.refusals import Refusal, invalid

HISTORY = "messages"  # where a request holds it
PATH = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
ENDS = {"tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
CHOICES = {"any": "required", "auto": "auto", "none": "none"}
KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def chat(request: Mapping[str, Any]) -> dict[str, Any]:
    """The chat request that asks the same, of any JSON object."""
    made = {key: request[key] for key in ("model", "temperature", "top_p") if request.get(key) is not None}
    system = _text(request.get("system"))
    made["messages"] = [{"role": "system", "content": system}] if system else []
    given = request.get("messages")
    for message in given if isinstance(given, list) else ():
        made["messages"] += _messages(message)
    if request.get("max_tokens") is not None:
        made["max_completion_tokens"] = request["max_tokens"]
    tools = request.get("tools")
    offered = [_tool(tool) for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []
    if offered:
        made["tools"] = offered
    choice = request.get("tool_choice")
    if isinstance(choice, Mapping):
        named = {"type": "function", "function": {"name": choice.get("name")}}
        made["tool_choice"] = CHOICES.get(str(choice.get("type")), named)
        if choice.get("disable_parallel_tool_use"):
            made["parallel_tool_calls"] = False
    config = request.get("output_config")
    form = config.get("format") if isinstance(config, Mapping) else request.get("output_format")
    if isinstance(form, Mapping):
        made["response_format"] = {"type": form.get("type"), "json_schema": form}
    return made


def _messages(message: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(message, Mapping) or not isinstance(message.get("content"), list):
        yield dict(message) if isinstance(message, Mapping) else {"role": "user", "content": message}
        return
    said: list[Any] = []
    calls: list[dict[str, Any]] = []
    role = message.get("role")
    for block in message["content"]:
        kind = block.get("type") if isinstance(block, Mapping) else None
        if kind == "tool_result":
            if said:
                yield {"role": role, "content": _text(said)}
                said = []
            result = {"role": "tool", "tool_call_id": block.get("tool_use_id")}
            failed = {"is_error": True} if block.get("is_error") else {}
            yield {**result, "content": _text(block.get("content", "")), **failed}
        elif kind == "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False)
            function = {"name": block.get("name"), "arguments": arguments}
            calls.append({"id": block.get("id"), "type": "function", "function": function})
        elif kind not in ("thinking", "redacted_thinking"):
            said.append(block)
    if calls:
        yield {"role": role, "content": _text(said) if said else None, "tool_calls": calls}
    elif said:
        yield {"role": role, "content": _text(said)}


def _text(content: Any) -> Any:
    """The text of a content, of its blocks when they are nothing but text; what is neither stays as it is."""
    if isinstance(content, list) and all(
        isinstance(block, Mapping) and isinstance(block.get("text"), str) for block in content
    ):
        return "".join(block["text"] for block in content)
    return content


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {key: tool[key] for key in ("name", "description") if key in tool}
    return {"type": "function", "function": {**function, "parameters": tool.get("input_schema")}}


def ask(asked: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """`request` with the messages of a chat request in place of its own. Raises ValueError for content that has
    no form here."""
    kept = {key: request[key] for key in request if key not in ("messages", "system")}
    return {**kept, **_anthropic.conversation(asked["messages"])}


def reply(completion: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """The message that says the same as a completion."""
    choice = (completion.get("choices") or [{}])[0]
    message = choice.get("message") or {}
    unique = str(completion.get("id") or "").removeprefix("chatcmpl-")
    content: list[dict[str, Any]] = []
    if message.get("content"):
        content.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls") or ():
        function = call["function"]
        head = {"type": "tool_use", "id": call["id"], "name": function["name"]}
        content.append({**head, "input": _input(function.get("arguments"))})
    used: Mapping[str, Any] = completion.get("usage") or {}
    return {
        "id": f"msg_{unique}",
        "type": "message",
        "role": "assistant",
        "model": completion.get("model"),
        "content": content,
        "stop_reason": ENDS.get(str(choice.get("finish_reason")), "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": used.get("prompt_tokens") or 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": used.get("completion_tokens") or 0,
        },
    }


def _input(arguments: Any) -> Any:
    """Arguments as the value that they are. Broken JSON has no form here: it goes on as text."""
    try:
        return json.loads(arguments or "{}")
    except (TypeError, ValueError, RecursionError):
        return arguments


def completion(reply: Mapping[str, Any]) -> dict[str, Any] | None:
    return _anthropic.reply(reply)


def refusal(status: int, error: Mapping[str, Any]) -> Refusal:
    message = str(error.get("message") or "")
    usual = "api_error" if status >= 500 else "invalid_request_error"
    kind = KINDS.get(status, usual)
    unique = blake2b(f"{status}\n{message}".encode("utf-8", "replace"), digest_size=12).hexdigest()
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": f"req_{unique}"}


def over(window: int, tokens: int) -> Refusal:
    return invalid(f"prompt is too long: {tokens} tokens > {window} maximum", code="context_length_exceeded")


def stream(reply: Mapping[str, Any], request: Mapping[str, Any]) -> bytes:
    """The message in events: its head, each block piece by piece, the reason of the end."""
    usage: Mapping[str, Any] = reply.get("usage") or {}
    head = {**reply, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events = [_event("message_start", message=head), _event("ping")]
    for index, block in enumerate(reply.get("content") or ()):
        text = block["type"] == "text"
        empty: dict[str, Any] = {"text": ""} if text else {"input": {}}
        events.append(_event("content_block_start", index=index, content_block={**block, **empty}))
        whole = block["text"] if text else _written(block["input"])
        kind, field = ("text_delta", "text") if text else ("input_json_delta", "partial_json")
        for piece in sse.pieces(whole):
            events.append(_event("content_block_delta", index=index, delta={"type": kind, field: piece}))
        events.append(_event("content_block_stop", index=index))
    end = {key: reply.get(key) for key in ("stop_reason", "stop_sequence")}
    said = {"output_tokens": usage.get("output_tokens") or 0}
    events += [_event("message_delta", delta=end, usage=said), _event("message_stop")]
    return b"".join(events)


def _written(given: Any) -> str:
    """The JSON of an input; one that was broken before it came here is text, and goes out as broken."""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _event(kind: str, **more: Any) -> bytes:
    return sse.event({"type": kind, **more}, kind)


def gather(events: bytes) -> dict[str, Any] | None:
    """The message that was streamed; None when it never began. Input that is no JSON stays text."""
    whole: dict[str, Any] | None = None
    blocks: dict[int, dict[str, Any]] = {}
    written: dict[int, str] = {}
    for event in sse.read(events):
        kind, index, delta = event.get("type"), event.get("index", 0), event.get("delta") or {}
        if kind == "message_start":
            whole = dict(event.get("message") or {})
        elif kind == "content_block_start":
            blocks[index] = dict(event.get("content_block") or {})
        elif kind == "content_block_delta":
            block = blocks.setdefault(index, {"type": "text"})
            if "text" in delta:
                block["text"] = str(block.get("text") or "") + str(delta["text"])
            written[index] = written.get(index, "") + str(delta.get("partial_json") or "")
        elif kind == "message_delta" and whole is not None:
            whole |= delta
            whole["usage"] = {**(whole.get("usage") or {}), **(event.get("usage") or {})}
    if whole is None:
        return None
    for index, text in written.items():
        if text and blocks[index].get("type") == "tool_use":
            blocks[index]["input"] = _input(text)
    whole["content"] = [block for _, block in sorted(blocks.items())]
    return whole


__all__ = [
    "COUNT",
    "HISTORY",
    "PATH",
    "ask",
    "chat",
    "check",
    "completion",
    "gather",
    "over",
    "refusal",
    "reply",
    "stream",
]
