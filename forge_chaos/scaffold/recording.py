"""A scenario from what an agent did on a clean run: its goal is what the run changed and answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from forge_chaos import facts, recorded
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.graders import _read
from forge_chaos.reading import Reading, own_changes, read
from forge_chaos.scaffold import place, written
from forge_chaos.scaffold.text import array, toml, untemplated
from forge_chaos.trial import CONTRACT
from forge_chaos.worlds.files import files as files_world

WHOLE = 4_000  # characters of a file that are asked for word by word
SHORT = 200  # characters of an answer
LEAST_STEPS = 12
SCRATCH = "__pycache__"
PLAIN = 'grader = "answer_matches"\npattern = ""\n'
Grader = Mapping[str, str]


def draft(name: str, folder: Path, prompt: str, files: Mapping[str, bytes]) -> Path:
    """Write a scenario that any end fulfils, for the run that is to be recorded."""
    toml_text = f"prompt = {toml(untemplated(prompt))}\n[[full]]\n{PLAIN}"
    return written(place(name, folder), {"scenario.toml": toml_text.encode(), **_stored(files)})


def from_recording(trace: Trace, scenario_name: str, folder: Path, files_before: Mapping[str, bytes]) -> Path:
    """Write `folder/scenario_name/`: the recorded prompt, the files as they were, and graders that hold
    for what the run changed and, when it is short, answered. Gives the folder.

    There is no solution: it runs with an agent of your own or a real model. Raises Misuse for a run that
    did not go well, and for one of which nothing is left to be checked.
    """
    reading = read(trace)
    _went_well(reading)
    changes = {name: kind for name, (kind, _) in own_changes(reading).items() if SCRATCH not in name}
    graders = [*_graders(reading, changes), *_answer(reading)]
    if not graders:
        raise Misuse(
            "the run changed no file and its answer is empty or long, so nothing tells a good run from a bad "
            "one. Start with: forge-chaos new scenario NAME, and write a [[full]] grader by hand."
        )
    text = _toml(reading, sorted(changes), graders)
    return written(place(scenario_name, folder), {"scenario.toml": text.encode(), **_stored(files_before)})


def _went_well(reading: Reading) -> None:
    finished = reading.finished
    ended = finished.end if finished is not None else "open"
    said = facts.claim(reading)
    if finished is None or ended != "answered" or said == "failed" or reading.snapshot is None:
        why = facts.error(reading) or recorded.words(finished.answer if finished else "") or ended
        raise Misuse(f"the run to be recorded did not go well ({ended}): {why}. Nothing was written.")


def _graders(reading: Reading, changes: Mapping[str, str]) -> Iterator[Grader]:
    assert reading.started is not None
    assert reading.snapshot is not None
    for name, kind in sorted(changes.items()):
        before, after = reading.started.resources.get(name), reading.snapshot.resources.get(name)
        if kind == "deleted":
            yield {"grader": "file_absent", "path": name}
        elif not isinstance(after, str):
            yield {"grader": "file_exists", "path": name}
        elif len(after) <= WHOLE:
            yield {"grader": "file_equals", "path": name, "text": after}
        else:
            yield _part(name, before if isinstance(before, str) else "", after)


def _part(name: str, before: str, after: str) -> Grader:
    """What a long file says last that it did not say before; else what it says no more."""
    old, new = ([line for line in text.split("\n") if line.strip()] for text in (before, after))
    added = [line for line in new if line not in old and len(line) <= WHOLE]
    if added:
        return {"grader": "file_contains", "path": name, "text": added[-1]}
    gone = [line for line in old if line not in new and len(line) <= WHOLE]
    if gone:
        return {"grader": "file_lacks", "path": name, "text": gone[-1]}
    return {"grader": "file_exists", "path": name}


def _answer(reading: Reading) -> Iterator[Grader]:
    assert reading.finished is not None
    text = _read.body(recorded.words(reading.finished.answer))
    if text and "\n" not in text and len(text) <= SHORT:
        yield {"grader": "answer_contains", "text": text}


def _toml(reading: Reading, outputs: list[str], graders: list[Grader]) -> str:
    assert reading.started is not None
    prompt = reading.started.prompt.removesuffix(CONTRACT)
    lines = [
        "# Recorded from a clean run. Shorten the texts below to what must be there in every good run.",
        f"prompt  = {toml(untemplated(prompt))}",
        *_needs(reading),
        f"outputs = {array(map(untemplated, outputs))}",
        f'scratch = ["{SCRATCH}/*", "*/{SCRATCH}/*"]',
        "[limits]",
        f"steps = {max(LEAST_STEPS, 3 * len(reading.steps))}",
    ]
    for grader in graders:
        lines.append("[[full]]")
        lines += [f"{key:6} = {toml(untemplated(value))}" for key, value in grader.items()]
    return "\n".join(lines) + "\n"


def _needs(reading: Reading) -> list[str]:
    """The tools that it was given, where they are ours; else the roles of those that it used."""
    assert reading.started is not None
    given: Mapping[str, Mapping[str, Any]] = reading.started.tools
    if given and given.keys() <= files_world.specs.keys():
        return [f"tools   = {array(given)}"]
    used = {step.call.tool for step in reading.steps}
    roles = sorted({str(role) for tool in used for role in given.get(tool, {}).get("roles", ())})
    return [f"roles   = {array(roles)}"] if roles else []


def _stored(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files by where they lie in a scenario's folder. One whose name ends like a template's is made
    a template that gives it back."""
    found: dict[str, bytes] = {}
    for name, data in sorted(files.items()):
        if SCRATCH in name.split("/"):
            continue
        if not name.endswith(".j2"):
            found[f"files/{name}"] = data
            continue
        try:
            found[f"files/{untemplated(name)}.j2"] = untemplated(data.decode()).encode()
        except UnicodeDecodeError:
            raise Misuse(f"{name} is named like a template and is no UTF-8 text. Rename it.") from None
    return found
