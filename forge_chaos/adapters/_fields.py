"""A conversation told in text fields, `[[ ## name ## ]]`, read into chat form and answered in fields again.

This is how dspy's `ReAct` speaks to its model: one user message holds the task and the trajectory, numbered
thoughts, tool names, arguments and observations; a reply is the next of them, and the last request wants the
answer alone. To a model that knows chat form only, the same conversation is calls and results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

TRAJECTORY = "trajectory"
FINISH = "finish"
STEP = re.compile(
    r"\[\[ ## (thought|tool_name|tool_args|observation)_(\d+) ## \]\]\n"
    r"(.*?)(?=\n\n\[\[ ## (?:thought|tool_name|tool_args|observation)_\d+ ## \]\]\n|\Z)",
    re.DOTALL,
)
ASKS = "\n\nRespond with "  # before the names of the fields that are wanted
AS_JSON = "a JSON object"  # what the framework falls back to after a reply that it could not read


def chat(body: Mapping[str, Any], field: str, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The request in chat form: `field` is the one with the task. `tools` are offered while one may be called."""
    system, user = _texts(body, "system"), _texts(body, "user")
    shown = user.rpartition(ASKS)[0] or user
    task, _, trajectory = shown.partition(f"[[ ## {TRAJECTORY} ## ]]\n")
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": task.removeprefix(f"[[ ## {field} ## ]]\n").rstrip("\n")})
    for number, step in steps(trajectory).items():
        if step.get("tool_name") not in (None, FINISH):
            function = {"name": step["tool_name"], "arguments": step.get("tool_args", "{}")}
            call = {"id": f"step_{number}", "type": "function", "function": function}
            messages.append({"role": "assistant", "content": step.get("thought"), "tool_calls": [call]})
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": step.get("observation", "")}
            )
    offered = {"tools": list(tools), "parallel_tool_calls": False} if "next_tool_name" in wanted(body) else {}
    return {
        **{key: body[key] for key in ("model", "temperature") if key in body},
        "messages": messages,
        **offered,
    }


def steps(trajectory: str) -> dict[int, dict[str, str]]:
    """The steps by their number: thought, tool_name, tool_args, observation, as far as they are there."""
    found: dict[int, dict[str, str]] = {}
    for kind, number, text in STEP.findall(trajectory):
        found.setdefault(int(number), {})[kind] = text
    return found


def wanted(body: Mapping[str, Any]) -> list[str]:
    """The names of the fields that a reply has to hold."""
    asked = _texts(body, "user").rpartition(ASKS)[2]
    return [name for name in re.findall(r"`(?:\[\[ ## )?(\w+)(?: ## \]\])?`", asked) if name != "completed"]


def fields(body: Mapping[str, Any], completion: Mapping[str, Any]) -> Mapping[str, Any]:
    """The completion with its call, or its text, told in the fields that the request wants. One without either
    has no fields to tell."""
    choices: Any = completion.get("choices")
    message = choices[0].get("message") if isinstance(choices, list) and choices else None
    if not isinstance(message, Mapping):
        return completion
    names, text, calls = wanted(body), message.get("content") or "", message.get("tool_calls")
    if not text and not calls:
        return completion
    if "next_tool_name" not in names:
        told = dict.fromkeys(names, text)
    elif calls:
        function = calls[0]["function"]
        told = dict(zip(names, ("I call it.", function["name"], function["arguments"]), strict=False))
    else:
        told = dict(zip(names, (text, FINISH, "{}"), strict=False))
    said = {
        "role": "assistant",
        "content": _written(told, AS_JSON in _texts(body, "user").rpartition(ASKS)[2]),
    }
    return {**completion, "choices": [{**choices[0], "message": said, "finish_reason": "stop"}]}


def _written(told: Mapping[str, str], as_json: bool) -> str:
    if as_json:
        return json.dumps(
            {name: _value(text) if name == "next_tool_args" else text for name, text in told.items()}
        )
    parts = [f"[[ ## {name} ## ]]\n{text}" for name, text in told.items()]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _texts(body: Mapping[str, Any], role: str) -> str:
    """What the messages of that role say, one after the other."""
    said = []
    for message in body.get("messages") or ():
        content = message.get("content")
        if message.get("role") == role or (role == "system" and message.get("role") == "developer"):
            parts = content if isinstance(content, list) else [{"text": content}]
            said.append("".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping)))
    return "\n\n".join(said)


__all__ = ["chat", "fields", "steps", "wanted"]
