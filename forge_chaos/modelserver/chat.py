"""The chat-completions wire: requests read into a View, moves written as responses, plain or as events.

The form is that of the OpenAI API, `POST /v1/chat/completions`. It is also the form in which a trace holds
every request and reply: the other wires are read into it and written from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from forge_chaos.modelserver import flattened, shaping, sse
from forge_chaos.modelserver.chat_rules import check
from forge_chaos.modelserver.move import Move, Say
from forge_chaos.modelserver.refusals import Refusal, too_long
from forge_chaos.modelserver.view import UNREAD, Pair, Reply, ToolCall, View

HISTORY = "messages"  # where a request holds it
PATH = "/v1/chat/completions"
ANSWERS = ("final_answer", "final_result", "submit")
INSTRUCTED = re.compile(r"call the (\w+)\(\)\s(?:tool|function) to report")  # how inspect-ai's agents put it
CREATED = 1_700_000_000


def view(body: Mapping[str, Any]) -> View:
    """What a checked request shows."""
    task: str | None = None
    pairs: list[Pair] = []
    open_calls: dict[str, list[int]] = {}
    told: tuple[ToolCall, ...] = ()
    flat = False
    instructions = ""
    said: list[tuple[str, int]] = []
    for message in body["messages"]:
        text = _text(message.get("content"))
        role, calls = message["role"], message.get("tool_calls") or ()
        if role in ("system", "developer"):
            instructions += text
        elif role == "user":
            found = list(flattened.replies(told, text))
            pairs += found
            flat = flat or bool(found)
            if task is None:
                task = flattened.said(text)
            else:
                said.append((text, len(pairs)))
        elif role == "assistant":
            for call in calls:
                open_calls.setdefault(call["id"], []).append(len(pairs))
                function = call["function"]
                pairs.append(
                    (ToolCall(function["name"], _arguments(function["arguments"]), call["id"]), None)
                )
            told = () if calls else flattened.calls(text)
        elif role == "tool":
            waiting = open_calls.get(message["tool_call_id"])
            reply = Reply(text, message.get("is_error"))
            if not waiting:
                pairs.append((None, reply))
            else:
                at = waiting.pop(0)
                pairs[at] = (pairs[at][0], reply)
    tools = frozenset(tool["function"]["name"] for tool in body.get("tools") or ())
    choice = body.get("tool_choice")
    forced = choice == "required" or isinstance(choice, dict)
    told_to = INSTRUCTED.search(instructions)
    names = ANSWERS if forced else told_to.groups() if told_to else ()
    answer = next((name for name in names if name in tools), None)
    alone = flat or answer == flattened.ANSWER or body.get("parallel_tool_calls") is False
    return View(task, tuple(pairs), tools, not tools or choice == "none", answer, alone, tuple(said))


def render(body: Mapping[str, Any], view: View, move: Move, number: str = "") -> dict[str, Any]:
    """The completion that makes the move. `number` tells equal requests apart: each has an id of its own."""
    if isinstance(move, Say) and view.answer_tool is None:
        text = shaping.shaped(body.get("response_format"), move.text)
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        finish = "stop"
    else:
        calls = (_answer(body, view, move),) if isinstance(move, Say) else move.calls
        message = {
            "role": "assistant",
            "content": None if isinstance(move, Say) else move.text or None,
            "refusal": None,
            "tool_calls": [_call(c) for c in calls],
        }
        finish = "tool_calls"
    asked_text, said_text = json.dumps(body["messages"]), json.dumps(message)
    asked, said = len(asked_text) // 4, max(1, len(said_text) // 4)
    unique = blake2b(f"{number}\n{asked_text}\n{said_text}".encode(), digest_size=12).hexdigest()
    return {
        "id": f"chatcmpl-{unique}",
        "object": "chat.completion",
        "created": CREATED,
        "model": body.get("model") or "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }


# --- the wire, as `wires.Wire` wants it: for this one, chat form is the form itself -------------------------


def chat(request: Mapping[str, Any]) -> dict[str, Any]:
    return dict(request)


def ask(asked: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    return dict(asked)


def reply(completion: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    return dict(completion)


def completion(reply: Mapping[str, Any]) -> dict[str, Any]:
    return dict(reply)


def refusal(status: int, error: Mapping[str, Any]) -> Refusal:
    return {"error": dict(error)}


def over(window: int, tokens: int) -> Refusal:
    return too_long(window, tokens)


def stream(reply: Mapping[str, Any], request: Mapping[str, Any]) -> bytes:
    """The completion in chunks: role, text or calls by their index, the reason of the end, usage where it was
    asked for."""
    options = request.get("stream_options")
    usage = isinstance(options, Mapping) and bool(options.get("include_usage"))
    head = {key: reply.get(key) for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    more = {"usage": None} if usage else {}

    def chunk(index: int, delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": index, "delta": delta, "finish_reason": finish, "logprobs": None}
        return sse.event({**head, "choices": [choice], **more})

    events = []
    for choice in reply.get("choices") or ():
        index, message = choice.get("index", 0), choice.get("message") or {}
        text = message.get("content")
        events.append(chunk(index, {"role": "assistant", "content": text and "", "refusal": None}))
        if isinstance(text, str):
            events += [chunk(index, {"content": piece}) for piece in sse.pieces(text)]
        for place, call in enumerate(message.get("tool_calls") or ()):
            function = call["function"]
            opening = {**call, "index": place, "function": {**function, "arguments": ""}}
            events.append(chunk(index, {"tool_calls": [opening]}))
            events += [
                chunk(index, {"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
                for piece in sse.pieces(str(function.get("arguments") or ""))
            ]
        events.append(chunk(index, {}, choice.get("finish_reason")))
    if usage:
        events.append(sse.event({**head, "choices": [], "usage": reply.get("usage")}))
    return b"".join(events) + sse.DONE


def gather(events: bytes) -> dict[str, Any] | None:
    """The completion that was streamed; None when these are no chunks of one."""
    whole: dict[str, Any] | None = None
    choices: dict[int, dict[str, Any]] = {}
    for chunk in sse.read(events):
        if not isinstance(chunk.get("choices"), list):
            continue
        if whole is None:
            whole = {**chunk, "object": "chat.completion"}
        if chunk.get("usage"):
            whole["usage"] = chunk["usage"]
        for part in chunk["choices"]:
            _join(choices.setdefault(part.get("index", 0), {"message": {}, "finish_reason": None}), part)
    if whole is None:
        return None
    whole["choices"] = [
        {"index": index, **choice, "logprobs": None} for index, choice in sorted(choices.items())
    ]
    return whole


def _join(choice: dict[str, Any], part: Mapping[str, Any]) -> None:
    delta, message = part.get("delta") or {}, choice["message"]
    message.setdefault("role", "assistant")
    message.setdefault("content", None)
    message.setdefault("refusal", None)
    for key in ("content", "refusal"):
        if isinstance(delta.get(key), str):
            message[key] = (message[key] or "") + delta[key]
    for call in delta.get("tool_calls") or ():
        calls: list[dict[str, Any]] = message.setdefault("tool_calls", [])
        while len(calls) <= call.get("index", 0):
            calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        known, function = calls[call.get("index", 0)], call.get("function") or {}
        known["id"] = call.get("id") or known["id"]
        for key in ("name", "arguments"):
            known["function"][key] += function.get(key) or ""
    choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return ""


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {UNREAD: text}
    return found if isinstance(found, dict) else {UNREAD: found}


def _call(call: ToolCall) -> dict[str, Any]:
    unread = call.args.get(UNREAD) if len(call.args) == 1 else None
    text = unread if isinstance(unread, str) else json.dumps(dict(call.args), ensure_ascii=False)
    function = {"name": call.name, "arguments": text}
    return {"id": call.id, "type": "function", "function": function}


def _answer(body: Mapping[str, Any], view: View, move: Say) -> ToolCall:
    """The last word as a call of the answer tool: in the argument that takes it, else in its first."""
    schema: Any = next(
        tool["function"].get("parameters") or {}
        for tool in body["tools"]
        if tool["function"]["name"] == view.answer_tool
    )
    args = shaping.filled(schema, move.text)
    if args is None:
        needed: Sequence[Any] = schema.get("required") or ("answer",)
        args = {str(needed[0]): move.text}
    call = ToolCall(str(view.answer_tool), args)
    return ToolCall(call.name, call.args, f"call_{call.key}_{len(view.pairs)}")


__all__ = [
    "ANSWERS",
    "CREATED",
    "HISTORY",
    "PATH",
    "ask",
    "chat",
    "check",
    "completion",
    "gather",
    "over",
    "refusal",
    "render",
    "reply",
    "stream",
    "view",
]
