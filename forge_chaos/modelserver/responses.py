"""The responses wire: `POST /v1/responses` of the OpenAI API, read into chat form and written from it.

A call is an item of its own, and so is its output; they find each other by `call_id`. What stands between
two other items of the assistant is one turn of it: one chat message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from forge_chaos.modelserver import sse
from forge_chaos.modelserver.refusals import Refusal, invalid
from forge_chaos.modelserver.responses_rules import check

HISTORY = "input"  # where a request holds it
PATH = "/v1/responses"
SAME = ("model", "temperature", "top_p", "parallel_tool_calls")
ENDS = {"max_output_tokens": "length", "content_filter": "content_filter"}


def chat(request: Mapping[str, Any]) -> dict[str, Any]:
    """The chat request that asks the same, of any JSON object."""
    made = {key: request[key] for key in SAME if request.get(key) is not None}
    messages: list[dict[str, Any]] = []
    if isinstance(request.get("instructions"), str):
        messages.append({"role": "system", "content": request["instructions"]})
    made["messages"] = [*messages, *_messages(items(request.get("input")))]
    if request.get("max_output_tokens") is not None:
        made["max_completion_tokens"] = request["max_output_tokens"]
    tools = [_tool(tool) for tool in _dicts(request.get("tools")) if tool.get("type") == "function"]
    if tools:
        made["tools"] = tools
    choice = request.get("tool_choice")
    if isinstance(choice, Mapping):
        made["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}}
    elif choice is not None:
        made["tool_choice"] = choice
    text = request.get("text")
    form = text.get("format") if isinstance(text, Mapping) else None
    if isinstance(form, Mapping) and form.get("type") != "text":
        made["response_format"] = {"type": form.get("type"), "json_schema": form}
    return made


def items(given: Any) -> list[Any]:
    """The input as items, whichever of its two forms it has."""
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return list(given) if isinstance(given, list) else []


def _messages(given: Iterable[Any]) -> Iterator[dict[str, Any]]:
    turn: dict[str, Any] | None = None  # the assistant's, as long as its items follow each other
    for item in given:
        if not isinstance(item, Mapping):
            item = {"role": "user", "content": item}
        kind = item.get("type") or "message"
        if kind in ("reasoning", "item_reference"):
            continue
        if kind == "function_call" or (kind == "message" and item.get("role") == "assistant"):
            said = _text(item.get("content")) if kind == "message" else None
            if turn is None or (said is not None and not _joins(turn, said)):
                if turn is not None:
                    yield turn
                turn = {"role": "assistant", "content": None}
            if said is not None:
                turn["content"] = said if turn["content"] is None else turn["content"] + said
            else:
                function = {"name": item.get("name"), "arguments": item.get("arguments")}
                call = {"id": item.get("call_id"), "type": "function", "function": function}
                turn.setdefault("tool_calls", []).append(call)
            continue
        if turn is not None:
            yield turn
            turn = None
        if kind == "function_call_output":
            yield {"role": "tool", "tool_call_id": item.get("call_id"), "content": _text(item.get("output"))}
        else:
            yield {"role": item.get("role") or "user", "content": _text(item.get("content"))}
    if turn is not None:
        yield turn


def _joins(turn: Mapping[str, Any], said: Any) -> bool:
    """Does this text belong to the assistant's turn, as its last word before any call?"""
    before = turn["content"]
    return "tool_calls" not in turn and (
        before is None or (isinstance(before, str) and isinstance(said, str))
    )


def _text(content: Any) -> Any:
    """The text of a content, of its parts when they are nothing but text; what is neither stays as it is."""
    if isinstance(content, list) and all(
        isinstance(part, Mapping) and isinstance(part.get("text"), str) for part in content
    ):
        return "".join(part["text"] for part in content)
    return content


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {key: tool[key] for key in ("name", "description", "parameters", "strict") if key in tool}
    return {"type": "function", "function": function}


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def ask(asked: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """`request` with the messages of a chat request in place of its own: whole, with nothing kept elsewhere."""
    messages = [dict(message) for message in asked["messages"]]
    made = {key: request[key] for key in request if key not in ("previous_response_id", "instructions")}
    if request.get("instructions") is not None and messages and messages[0].get("role") == "system":
        made["instructions"] = messages.pop(0)["content"]
    made["input"] = [item for message in messages for item in _items(message)]
    return made


def _items(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if message.get("role") == "tool":
        id = message.get("tool_call_id")
        yield {"type": "function_call_output", "call_id": id, "output": message.get("content")}
        return
    if message.get("content") is not None or not message.get("tool_calls"):
        yield {"type": "message", "role": message.get("role"), "content": message.get("content")}
    for call in message.get("tool_calls") or ():
        yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def reply(completion: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """The response that says the same as a completion."""
    choice = (completion.get("choices") or [{}])[0]
    message, finish = choice.get("message") or {}, choice.get("finish_reason")
    unique = str(completion.get("id") or "").removeprefix("chatcmpl-")
    output: list[dict[str, Any]] = []
    if message.get("content") is not None:
        part = {"type": "output_text", "text": message["content"], "annotations": [], "logprobs": []}
        head = {"type": "message", "id": f"msg_{unique}", "status": "completed", "role": "assistant"}
        output.append({**head, "content": [part]})
    for place, call in enumerate(message.get("tool_calls") or ()):
        head = {"type": "function_call", "id": f"fc_{unique}_{place}", "status": "completed"}
        output.append({**head, "call_id": call["id"], **call["function"]})
    why = {end: name for name, end in ENDS.items()}.get(str(finish))
    used: Mapping[str, Any] = completion.get("usage") or {}
    return {
        "id": f"resp_{unique}",
        "object": "response",
        "created_at": completion.get("created") or 0,
        "status": "incomplete" if why else "completed",
        "error": None,
        "incomplete_details": {"reason": why} if why else None,
        "instructions": request.get("instructions"),
        "max_output_tokens": request.get("max_output_tokens"),
        "model": completion.get("model"),
        "output": output,
        "parallel_tool_calls": request.get("parallel_tool_calls") is not False,
        "previous_response_id": request.get("previous_response_id"),
        "store": request.get("store") is not False,
        "temperature": request.get("temperature"),
        "text": request.get("text") or {"format": {"type": "text"}},
        "tool_choice": request.get("tool_choice") or "auto",
        "tools": request.get("tools") or [],
        "top_p": request.get("top_p"),
        "truncation": request.get("truncation") or "disabled",
        "metadata": request.get("metadata") or {},
        "usage": {
            "input_tokens": used.get("prompt_tokens") or 0,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": used.get("completion_tokens") or 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": used.get("total_tokens") or 0,
        },
    }


def completion(reply: Mapping[str, Any]) -> dict[str, Any] | None:
    """The completion that says the same as a response; None where it is no response."""
    output = reply.get("output")
    if not isinstance(output, list):
        return None
    made = list(_messages(item for item in output if isinstance(item, Mapping)))
    message: dict[str, Any] = {"role": "assistant", "content": None}
    for one in made:  # a response is one turn, in whatever order it was written
        if one.get("content") is not None:
            message["content"] = (message["content"] or "") + str(one["content"])
        if one.get("tool_calls"):
            message["tool_calls"] = [*message.get("tool_calls", ()), *one["tool_calls"]]
    details = reply.get("incomplete_details")
    why = ENDS.get(str(details.get("reason"))) if isinstance(details, Mapping) else None
    finish = why or ("tool_calls" if message.get("tool_calls") else "stop")
    used = reply.get("usage")
    usage: Mapping[str, Any] = used if isinstance(used, Mapping) else {}
    return {
        "id": reply.get("id") or "",
        "object": "chat.completion",
        "created": reply.get("created_at") or 0,
        "model": reply.get("model") or "",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": usage.get("input_tokens") or 0,
            "completion_tokens": usage.get("output_tokens") or 0,
            "total_tokens": usage.get("total_tokens") or 0,
        },
    }


def refusal(status: int, error: Mapping[str, Any]) -> Refusal:
    return {"error": dict(error)}


def over(window: int, tokens: int) -> Refusal:
    return invalid(
        f"The input is longer than the context window of this model: {tokens} tokens, {window} fit. Shorten it.",
        "input",
        "context_length_exceeded",
    )


def stream(reply: Mapping[str, Any], request: Mapping[str, Any]) -> bytes:
    """The response in events, each with its number."""
    events: list[bytes] = []

    def say(kind: str, **more: Any) -> None:
        events.append(sse.event({"type": kind, "sequence_number": len(events), **more}, kind))

    begun = {**reply, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    say("response.created", response=begun)
    say("response.in_progress", response=begun)
    for place, item in enumerate(reply["output"]):
        here: dict[str, Any] = {"item_id": item["id"], "output_index": place}
        empty: dict[str, Any] = {"arguments": ""} if item["type"] == "function_call" else {"content": []}
        opening = {**item, "status": "in_progress", **empty}
        say("response.output_item.added", output_index=place, item=opening)
        if item["type"] == "function_call":
            for piece in sse.pieces(item["arguments"]):
                say("response.function_call_arguments.delta", **here, delta=piece)
            whole = {"name": item["name"], "arguments": item["arguments"]}
            say("response.function_call_arguments.done", **here, **whole)
        for index, part in enumerate(item.get("content") or ()):
            here["content_index"] = index
            say("response.content_part.added", **here, part={**part, "text": ""})
            for piece in sse.pieces(part["text"]):
                say("response.output_text.delta", **here, delta=piece, logprobs=[])
            say("response.output_text.done", **here, text=part["text"], logprobs=[])
            say("response.content_part.done", **here, part=part)
        say("response.output_item.done", output_index=place, item=item)
    say(f"response.{reply['status']}", response=reply)
    return b"".join(events)


def gather(events: bytes) -> dict[str, Any] | None:
    """The response that was streamed; None when its end never came."""
    ends = ("response.completed", "response.incomplete", "response.failed")
    found = [event.get("response") for event in sse.read(events) if event.get("type") in ends]
    return found[-1] if found and isinstance(found[-1], dict) else None


__all__ = [
    "HISTORY",
    "PATH",
    "ask",
    "chat",
    "check",
    "completion",
    "gather",
    "items",
    "over",
    "refusal",
    "reply",
    "stream",
]
