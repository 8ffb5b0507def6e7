"""What a command is told of its task, and what it says at its end: the contract for agents in any language.

On standard input one JSON object, and the same in variables: `EVAL_NAME`, `EVAL_INPUT`, `EVAL_RUBRIC`,
`EVAL_EXPECTED`, `EVAL_EXPECTED_TOOLS` (comma-separated), `EVAL_CONTEXT` (a JSON array), `EVAL_FILES` (a JSON object
of path and content). On standard output one JSON object, or an array that holds one: `output`, and what else it
says of its run: `tool_calls` [{name, args}], `trajectory`, `plan`, `context`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forge_chaos.nouns import Answer, Task

LONGEST = 100_000  # bytes of one variable; Linux starts no program with one of over 128 kB
REPORTED = ("tool_calls", "trajectory", "plan", "context")
SHOWN = 200  # characters of what is no answer


class BadReply(Exception):
    """What the command printed is no answer: a failure of the agent, as an exception of its own would be."""


def task(given: Task) -> dict[str, Any]:
    """The object on standard input. `meta` is the task's own; `max_steps` is how many tool calls it may take."""
    stated = given.stated
    return {
        "name": stated.get("name") or given.scenario,
        "input": stated.get("input") or given.prompt,
        "expected_tools": list(stated.get("expected_tools") or ()),
        "rubric": stated.get("rubric") or "",
        "expected": stated.get("expected") or "",
        "context": list(stated.get("context") or ()),
        "files": dict(stated.get("files") or {}),
        "meta": dict(stated.get("meta") or {}),
        "max_steps": given.max_steps,
    }


def variables(told: Mapping[str, Any]) -> dict[str, str]:
    """The same in variables. One that is too long for the system, or holds a NUL, is left out."""
    found = {
        "EVAL_NAME": told["name"],
        "EVAL_INPUT": told["input"],
        "EVAL_RUBRIC": told["rubric"],
        "EVAL_EXPECTED": told["expected"],
        "EVAL_EXPECTED_TOOLS": ",".join(told["expected_tools"]),
        "EVAL_CONTEXT": json.dumps(told["context"], ensure_ascii=False),
        "EVAL_FILES": json.dumps(told["files"], ensure_ascii=False),
    }
    return {name: text for name, text in found.items() if "\0" not in text and len(text.encode()) <= LONGEST}


def answer(printed: bytes) -> Answer:
    """What a command that ended well has printed. A last line that is JSON counts too: tools like to greet.

    Raises BadReply.
    """
    text = printed.decode("utf-8", errors="replace").strip()
    if not text:
        raise BadReply('it printed nothing on standard output; one JSON object with "output" is its answer')
    found = _object(text)
    if found is None:
        found = _object(text.splitlines()[-1])
    if found is None:
        raise BadReply(f"it printed no JSON object on standard output, but: {text[-SHOWN:]!r}")
    if "output" not in found:
        raise BadReply(f'its JSON has no "output", only: {", ".join(map(str, found)) or "nothing"}')
    output = found["output"]
    said = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return Answer(said, reported={key: found[key] for key in REPORTED if found.get(key)})


def _object(text: str) -> dict[str, Any] | None:
    """The object, or the only one of an array."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    return found if isinstance(found, dict) else None


__all__ = ["BadReply", "answer", "task", "variables"]
