"""What a strict provider of the messages wire refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forge_chaos.modelserver.refusals import NO_JSON, Refusal, invalid

BLOCKS = ("text", "tool_use", "tool_result", "image", "document", "thinking", "redacted_thinking")
CHOICES = ("auto", "any", "tool", "none")
ID = re.compile(r"[a-zA-Z0-9_-]+")


def check(body: Any, counting: bool = False) -> Refusal | None:
    """The error with which the provider refuses the request, None for a good one. `counting`: its tokens are to
    be counted, so it needs no limit for an answer."""
    if not isinstance(body, Mapping):
        return invalid(NO_JSON)
    for name, kind in (("model", str), ("messages", list), ("max_tokens", int)):
        if name == "max_tokens" and counting:
            continue
        if name not in body:
            return invalid(f"{name}: Field required")
        if not isinstance(body[name], kind) or isinstance(body[name], bool):
            return invalid(f"{name}: Input should be a valid {kind.__name__}")
    if not counting and body["max_tokens"] < 1:
        return invalid("max_tokens: must be greater than or equal to 1")
    return _system(body.get("system")) or _tools(body) or _pairs(body["messages"], bool(body.get("tools")))


def _system(system: Any) -> Refusal | None:
    if system is None or isinstance(system, str):
        return None
    if isinstance(system, list) and all(
        isinstance(block, Mapping) and isinstance(block.get("text"), str) for block in system
    ):
        empty = any(not block["text"] for block in system)
        return invalid("system: text content blocks must be non-empty") if empty else None
    return invalid("system: Input should be a valid string or array of text blocks")


def _tools(body: Mapping[str, Any]) -> Refusal | None:
    tools = body.get("tools")
    if not isinstance(tools, list | None):
        return invalid("tools: Input should be a valid array")
    for index, tool in enumerate(tools or ()):
        if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
            return invalid(f"tools.{index}.name: Field required")
        schema = tool.get("input_schema")
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            return invalid(f"tools.{index}.input_schema: an object schema is required")
    choice = body.get("tool_choice")
    if choice is None:
        return None
    if not isinstance(choice, Mapping) or choice.get("type") not in CHOICES:
        return invalid(f"tool_choice.type: one of {', '.join(CHOICES)} is expected")
    if not tools:
        return invalid("tool_choice may only be specified while providing tools")
    if choice["type"] == "tool" and choice.get("name") not in [tool["name"] for tool in tools]:
        return invalid(f"tool_choice.name: there is no tool {choice.get('name')!r} in tools")
    return None


def _pairs(messages: Sequence[Any], tools: bool) -> Refusal | None:
    """Each tool_use has its one tool_result in the user's turn after it, before any other block there."""
    if not messages:
        return invalid("messages: at least one message is required")
    for index, message in enumerate(messages):
        wrong = _message(message, f"messages.{index}", index == len(messages) - 1)
        if wrong is not None:
            return wrong
    if messages[0]["role"] != "user":
        return invalid("messages: first message must use the user role")
    owed: list[str] = []
    for index, role, blocks in _turns(messages):
        if any(block["type"] in ("tool_use", "tool_result") for block in blocks) and not tools:
            return invalid("tools must be defined in a request with tool_use or tool_result blocks")
        if role == "user":
            wrong = _results(blocks, owed, index)
            if wrong is not None:
                return wrong
        owed = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(owed)) < len(owed):
            return invalid(f"messages.{index}: tool_use ids must be unique")
    return _unanswered(owed, len(messages) - 1) if owed else None


def _turns(messages: Sequence[Any]) -> list[tuple[int, str, list[Any]]]:
    """(index of its first message, role, blocks): messages of one role in a row are one turn."""
    turns: list[tuple[int, str, list[Any]]] = []
    for index, message in enumerate(messages):
        content = message["content"]
        blocks = list(content) if isinstance(content, list) else [{"type": "text", "text": content}]
        if turns and turns[-1][1] == message["role"]:
            turns[-1][2].extend(blocks)
        else:
            turns.append((index, message["role"], blocks))
    return turns


def _results(blocks: Sequence[Any], owed: Sequence[str], index: int) -> Refusal | None:
    given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    for number, id in enumerate(given):
        if id not in owed:
            return invalid(
                f"messages.{index}.content.{number}: unexpected tool_use_id found in tool_result blocks: {id}. Each "
                "tool_result needs the tool_use block that it answers in the message before it."
            )
        if given.count(id) > 1:
            return invalid(f"messages.{index}: each tool_use has a single result, found more for {id}")
    missing = [id for id in owed if id not in given]
    first = [block["type"] for block in blocks[: len(owed)]]
    if missing or first != ["tool_result"] * len(owed):
        return _unanswered(missing or owed, index - 1)
    return None


def _unanswered(ids: Sequence[str], index: int) -> Refusal:
    return invalid(
        f"messages.{index}: tool_use ids were found without tool_result blocks right after them: {', '.join(ids)}. "
        "Each tool_use needs its tool_result block at the beginning of the next message."
    )


def _message(message: Any, where: str, last: bool) -> Refusal | None:
    if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant"):
        return invalid(f"{where}.role: Input should be 'user' or 'assistant'")
    content = message.get("content")
    if not isinstance(content, str | list):
        return invalid(f"{where}.content: Input should be a valid string or array of blocks")
    if not content and not (last and message["role"] == "assistant"):
        return invalid(
            f"{where}: all messages must have non-empty content except for a last assistant message"
        )
    if isinstance(content, list):
        for number, block in enumerate(content):
            wrong = _block(block, message["role"], f"{where}.content.{number}")
            if wrong is not None:
                return wrong
    return None


def _block(block: Any, role: str, where: str) -> Refusal | None:
    kind = block.get("type") if isinstance(block, Mapping) else None
    if kind not in BLOCKS:
        return invalid(f"{where}.type: one of {', '.join(BLOCKS)} is expected")
    if kind == "text":
        if not isinstance(block.get("text"), str):
            return invalid(f"{where}.text: Field required")
        return None if block["text"] else invalid("messages: text content blocks must be non-empty")
    if kind == "tool_use":
        if role != "assistant":
            return invalid(f"{where}: tool_use blocks can only be in assistant messages")
        if not isinstance(block.get("input"), Mapping):
            return invalid(f"{where}.tool_use.input: Input should be a valid dictionary")
        if not isinstance(block.get("name"), str):
            return invalid(f"{where}.tool_use.name: Field required")
        return _id(block.get("id"), f"{where}.tool_use.id")
    if kind == "tool_result":
        if role != "user":
            return invalid(f"{where}: tool_result blocks can only be in user messages")
        return _id(block.get("tool_use_id"), f"{where}.tool_result.tool_use_id") or _result(block, where)
    return None


def _id(id: Any, where: str) -> Refusal | None:
    if isinstance(id, str) and ID.fullmatch(id):
        return None
    return invalid(f"{where}: a string of letters, digits, _ and - is expected")


def _result(block: Mapping[str, Any], where: str) -> Refusal | None:
    content = block.get("content", "")
    texts = isinstance(content, list) and all(
        isinstance(part, Mapping) and part.get("type") in ("text", "image", "document") for part in content
    )
    if texts and any(part["type"] == "text" and not isinstance(part.get("text"), str) for part in content):
        texts = False
    if isinstance(content, str) or texts:
        if not isinstance(block.get("is_error"), bool | None):
            return invalid(f"{where}.tool_result.is_error: Input should be a valid boolean")
        return None
    return invalid(f"{where}.tool_result.content: Input should be a valid string or array of blocks")
