"""Files of tasks, read unchanged: what they ask becomes graders of ours.

    [{"name", "input", "expected_tools", "rubric", "expected", "context", "files", "meta"}, ...]
    {"id", "prompt", "expected_error_types", "expected_contains", "max_steps"}          one a line

The keys tell the two apart. Both run on our world of files in memory, or with an agent's own tools on
disk. Neither says which files a task may change, so changing one is no damage. Neither has a solution:
they need an agent with a mind of its own, or a real model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from forge_chaos import natural, tomlfile
from forge_chaos.errors import Misuse, unknown
from forge_chaos.graders.error_seen import KINDS
from forge_chaos.nouns import Check, Limits, Scenario
from forge_chaos.seeds import checks
from forge_chaos.seeds.files import files
from forge_chaos.seeds.imported import Imported, hash
from forge_chaos.seeds.rows import rows
from forge_chaos.tomlfile import Document
from forge_chaos.verdict import Skipped

EVERYTHING = ("*",)
Filled = Annotated[str, Field(min_length=1)]


class NamedTask(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: Filled
    input: Filled
    expected_tools: list[Filled] | None = None
    rubric: str | None = None
    expected: str | None = None
    context: list[str] | None = None
    files: dict[Filled, str] | None = None
    meta: dict[str, Any] | None = None


class NumberedTask(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    id: Filled
    prompt: Filled
    expected_error_types: list[Filled] | None = None
    expected_contains: list[Filled] | None = None
    max_steps: PositiveInt | None = None


Made = tuple[Scenario, list[str]]


def scenarios(path: Path) -> Imported:
    """What the file holds. Raises Misuse, with file and line, for a file that is neither of the two."""
    documents = rows(path)
    made = _kind(documents[0])
    found: list[Scenario] = []
    skipped: list[Skipped] = []
    notes: list[str] = []
    lines: dict[str, int] = {}
    for document in documents:
        scenario, unchecked = made(document)
        name, line = scenario.name, document.lines[()]
        if name in lines:
            raise Misuse(f"{path}:{line}: a task {name!r} stands on line {lines[name]} already.")
        lines[name] = line
        scenario = replace(scenario, values={"task": document.data}, hash=hash(document.data))
        if scenario.full:
            found.append(scenario)
            notes += [f"{path}:{line}: {name}: {note}" for note in unchecked]
        else:
            why = "; ".join(unchecked) or "it says nothing of what is right"
            skipped.append(Skipped(name, f"{path}:{line}: it has no grader: {why}"))
    return Imported(tuple(found), tuple(skipped), tuple(notes))


def _kind(first: Document) -> Callable[[Document], Made]:
    keys = first.data.keys()
    named = len(keys & NamedTask.model_fields.keys())
    numbered = len(keys & NumberedTask.model_fields.keys())
    if not named and not numbered:
        raise Misuse(
            f"{first.where()}: no known task: its keys are {', '.join(keys) or 'none'}. Tasks have "
            f"{', '.join(NamedTask.model_fields)}; or {', '.join(NumberedTask.model_fields)}."
        )
    return _named if named >= numbered else _numbered


def _named(document: Document) -> Made:
    task = tomlfile.checked(document, NamedTask)
    prompt = task.input
    if task.context:
        prompt += "\n\nContext:\n" + "\n".join(f"- {part}" for part in task.context)
    tools = list(dict.fromkeys(task.expected_tools or ()))
    notes: list[str] = []
    if task.expected:
        full = [Check("answer_contains", {"text": task.expected})]
        full += [Check("function", function=checks.used(tool)) for tool in tools]
    else:
        full = [Check("function", function=checks.answered(tool)) for tool in tools]
        if tools:
            notes.append("only its tools are checked, not what came of them: add `expected`")
    if task.rubric:
        notes.append("its rubric needs a judge model and is not graded")
    return Scenario(
        name=task.name,
        prompt=prompt,
        outputs=EVERYTHING,
        full=tuple(full),
        files=files(document.where("files"), task.files or {}),
    ), notes


def _numbered(document: Document) -> Made:
    task = tomlfile.checked(document, NumberedTask)
    errors = list(dict.fromkeys(task.expected_error_types or ()))
    known = (*KINDS, *natural.CODES)
    for code in errors:
        if code not in known:
            raise unknown("error type", code, KINDS, document.where("expected_error_types"))
    contains = list(dict.fromkeys(task.expected_contains or ()))
    full = [Check("answer_contains", {"text": text}) for text in contains]
    full += [Check("function", function=checks.error_told(code)) for code in errors]
    notes = ["only the error is checked, not the answer: add `expected_contains`"] if not contains else []
    return Scenario(
        name=task.id,
        prompt=task.prompt,
        outputs=EVERYTHING,
        expects="FAILED" if errors else "DONE",  # a task about an error may be told as failed or as done
        limits=Limits(task.max_steps or Limits().steps),
        full=tuple(full),
    ), notes if full else []
