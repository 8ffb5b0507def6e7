"""A conversation held in Python code, read into chat form and answered in code again.

smolagents' `CodeAgent` offers no tools on the wire: its model writes code that calls them and prints what it
wants to see. To a model that knows calls and results only, each piece of code is the one call in it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

PRINTED = re.compile(
    r"Observation:\nExecution logs:\n(?P<logs>.*?)\n?Last output from code snippet:\n.*", re.DOTALL
)
STEP = "stop"  # the requests for a step name what the code ends with; the last one, for an answer, does not


def chat(
    body: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], tags: tuple[str, str]
) -> dict[str, Any]:
    """The request with the calls that the code between the tags makes, and with what it printed as results."""
    messages: list[dict[str, Any]] = []
    open_id: str | None = None
    for number, message in enumerate(body["messages"]):
        text = _text(message.get("content"))
        found = call(_between(text, tags)) if message.get("role") == "assistant" else None
        if found is not None:
            open_id = f"code_{number}"
            function = {"name": found[0], "arguments": json.dumps(found[1])}
            asked = {"id": open_id, "type": "function", "function": function}
            messages.append({"role": "assistant", "content": None, "tool_calls": [asked]})
        elif message.get("role") == "user" and open_id is not None:
            messages.append({"role": "tool", "tool_call_id": open_id, "content": printed(text)})
            open_id = None
        else:
            messages.append({**message, "content": text})
    offered = {"tools": list(tools), "parallel_tool_calls": False} if STEP in body and tools else {}
    return {
        **{key: body[key] for key in ("model", "temperature") if key in body},
        "messages": messages,
        **offered,
    }


def call(code: str) -> tuple[str, dict[str, Any]] | None:
    """The first call in a piece of code whose arguments are all named and plain; None when there is none."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return None
    for statement in tree.body:
        made = getattr(statement, "value", None)
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and not made.args:
            try:
                return made.func.id, {str(k.arg): ast.literal_eval(k.value) for k in made.keywords}
            except (ValueError, TypeError):
                return None
    return None


def printed(text: str) -> str:
    """What code has printed, or the error that it ended with."""
    found = PRINTED.fullmatch(text)
    return text if found is None else found["logs"]


def code(body: Mapping[str, Any], completion: Mapping[str, Any], tags: tuple[str, str]) -> Mapping[str, Any]:
    """The completion with code for its call, or for its text as the final answer."""
    choices: Any = completion.get("choices")
    message = choices[0].get("message") if isinstance(choices, list) and choices else None
    if not isinstance(message, Mapping) or STEP not in body:
        return completion
    calls = message.get("tool_calls")
    written = _written(calls[0]["function"]) if calls else f"final_answer({message.get('content') or ''!r})"
    said = {"role": "assistant", "content": f"{tags[0]}\n{written}\n{tags[1]}"}
    return {**completion, "choices": [{**choices[0], "message": said, "finish_reason": "stop"}]}


def _written(function: Mapping[str, Any]) -> str:
    try:
        args = json.loads(function["arguments"])
    except ValueError:
        args = None
    told = (
        ", ".join(f"{k}={v!r}" for k, v in args.items()) if isinstance(args, dict) else function["arguments"]
    )
    return f"result = {function['name']}({told})\nprint(result)"


def _between(text: str, tags: tuple[str, str]) -> str:
    return text.partition(tags[0])[2].partition(tags[1])[0].strip()


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


__all__ = ["call", "chat", "code", "printed"]
