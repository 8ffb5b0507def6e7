"""The model is shown less, or other, than the agent sent: what compaction of a history does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.ports import Env, Message


async def history(
    call: Call,
    tool: Tool,
    env: Env,
    *,
    keep: Literal["newest", "no_task", "unpaired", "summary"] = "newest",
    newest: int = 4,
) -> Ok | Err:
    """The request goes on with changed messages; the agent's own list stays as it was.

    System messages stay in each. `newest`: also the first and the last user message and the newest
    `newest` messages, calls and results kept together. `no_task`: the same without that user message.
    `unpaired`: the cut falls between the newest calls and their results. `summary`: what `newest`
    would drop is told again in one message that is longer than it was. A history that this would not
    change is passed on as it is.
    """
    given = call.args.get("messages")
    if not isinstance(given, list) or not all(isinstance(message, dict) for message in given):
        return await tool(call)  # a broken request is the agent's own, and the provider's to refuse
    messages: list[Message] = list(given)
    changed = _changed(messages, keep, newest)
    if changed == messages:
        return await tool(call)
    env.fire(before=len(messages), after=len(changed))
    return await tool(replace(call, args={**call.args, "messages": changed}))


def _changed(messages: list[Message], keep: str, newest: int) -> list[Message]:
    head = [m for m in messages if m.get("role") in ("system", "developer")]
    rest = [m for m in messages if m.get("role") not in ("system", "developer")]
    task = next((m for m in rest if m.get("role") == "user"), None)
    body = [m for m in rest if m is not task]
    if task is None or not body:
        return messages
    if keep == "unpaired":
        calls = max((n for n, m in enumerate(body) if m.get("tool_calls")), default=None)
        return messages if calls is None else [*head, task, *body[calls + 1 :]]
    start = _start(body, newest)
    if keep == "no_task":
        return [*head, *body[start:]]
    said = max((n for n, m in enumerate(body) if m.get("role") == "user"), default=start)
    older = [m for n, m in enumerate(body[:start]) if n != said]
    if not older:
        return messages
    stays = body[said:start][:1]
    if keep == "summary":
        return [*head, task, {"role": "user", "content": _summary(older)}, *stays, *body[start:]]
    return [*head, task, *stays, *body[start:]]


def _start(body: Sequence[Message], newest: int) -> int:
    """Where the newest part begins: on no result whose call would be cut off, and before the end."""
    start = max(0, len(body) - newest)
    first = start
    while first < len(body) and body[first].get("role") == "tool":
        first += 1
    if first < len(body):
        return first
    while start > 0 and body[start].get("role") == "tool":
        start -= 1
    return start


def _summary(older: Sequence[Message]) -> str:
    """A retelling longer than what it retells: every message quoted whole, with a sentence about it."""
    told = ["The conversation so far has been summarised to save space. In detail, this is what happened."]
    for n, message in enumerate(older, 1):
        who = {"assistant": "the assistant said or did", "tool": "a tool answered"}.get(
            str(message.get("role")), "the user said"
        )
        told.append(f"Step {n} of {len(older)}. In this step {who} the following: {_quoted(message)}")
    return "\n".join(told)


def _quoted(message: Message) -> str:
    content: Any = {key: value for key, value in message.items() if key != "role"}
    return json.dumps(content, ensure_ascii=False, default=repr)
