"""A conversation held in shell commands, read into chat form and answered in commands again.

mini-swe-agent knows one tool, `bash`. A scenario's tools are commands there, `NAME 'JSON'`, and the answer is
what comes after the line that says that the task is complete. To a model that knows the tools, the same
conversation is calls and results.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

BASH = "bash"
MARK = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
OBSERVED = re.compile(
    r"(?:<exception>(?P<exception>.*?)</exception>\s*)?<returncode>(?P<code>[^<]*)</returncode>\s*"
    r"<output>\n?(?P<output>.*?)\n?</output>\s*",
    re.DOTALL,
)


def command(name: str, arguments: str) -> str:
    """A call of a tool as a command; `arguments` are JSON, broken or not."""
    return f"{name} {shlex.quote(arguments)}"


def submission(text: str) -> str:
    return f"echo {MARK} && echo {shlex.quote(text)}"


def read(line: str, names: Collection[str]) -> tuple[str, str] | None:
    """(tool, its arguments as JSON) that a command calls; (MARK, text) for a submission; None for any other."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if words[:3] == ["echo", MARK, "&&"]:
        return MARK, " ".join(words[4:])
    return (words[0], words[1]) if len(words) == 2 and words[0] in names else None


def observation(text: str, code: bool = False) -> str:
    """What a command printed, and what went wrong with it, without the form round it; `code`: with its exit code.
    What was cut by the framework stays in the form that says so."""
    shown = _shown(text)
    if shown is None:
        return text
    printed, ended, wrong = shown
    if wrong:
        return "\n".join(filter(None, (wrong, printed)))
    return (
        f"{printed}{'' if not printed or printed.endswith(chr(10)) else chr(10)}exit code: {ended}"
        if code
        else printed
    )


def _shown(text: str) -> tuple[str, Any, str] | None:
    """(output, exit code, exception) in either form that the framework has; None for anything else."""
    found = OBSERVED.fullmatch(text)
    if found is not None:
        return found["output"], found["code"], (found["exception"] or "").strip()
    try:
        form = json.loads(text)
    except ValueError:
        return None
    if not isinstance(form, dict) or not {"returncode", "output"} <= set(form):
        return None
    return str(form["output"]), form["returncode"], str(form.get("exception_info") or "")


def chat(body: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The request with the tools' own calls; without `tools`, with those of `bash` as they are."""
    names = [tool["function"]["name"] for tool in tools]
    messages = []
    for message in body["messages"]:
        if message.get("tool_calls"):
            message = {**message, "tool_calls": [_called(call, names) for call in message["tool_calls"]]}
        elif message.get("role") == "tool":
            message = {**message, "content": observation(str(message.get("content") or ""), code=not tools)}
        messages.append(message)
    return {**body, "messages": messages, "tools": list(tools) or body.get("tools")}


def told(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    """The completion with commands for its calls, or with the one that hands in its text. One that holds neither is
    left as it is."""
    choices: Any = completion.get("choices")
    message = choices[0].get("message") if isinstance(choices, list) and choices else None
    if not isinstance(message, Mapping):
        return completion
    calls = message.get("tool_calls") or ()
    if not calls and not message.get("content"):
        return completion
    lines = [
        (call["id"], call["function"]["arguments"])
        if call["function"]["name"] == BASH
        else (call["id"], _line(command(call["function"]["name"], call["function"]["arguments"])))
        for call in calls
    ] or [("call_submission", _line(submission(message.get("content") or "")))]
    made = [_call(id, BASH, arguments) for id, arguments in lines]
    said = {**message, "content": None, "tool_calls": made}
    return {**completion, "choices": [{**choices[0], "message": said, "finish_reason": "tool_calls"}]}


def _called(call: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any]:
    try:
        line = json.loads(call["function"]["arguments"])["command"]
    except (ValueError, TypeError, KeyError):
        return call
    found = read(str(line), names)
    return call if found is None or found[0] == MARK else _call(call["id"], *found)


def _call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _line(text: str) -> str:
    return json.dumps({"command": text}, ensure_ascii=False)


__all__ = ["BASH", "MARK", "chat", "command", "observation", "read", "submission", "told"]
