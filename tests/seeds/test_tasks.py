"""Task files of other systems load unchanged, and what they ask is what their scenarios are graded by."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import seeds
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Check, Limits
from tests.seeds.played import judged
from tests.traces import finished, started, trace

NAMED = """\
[
  {
    "name": "refunds",
    "input": "Refund O1002, then O1001, and name what could not be refunded.",
    "expected_tools": ["read_file", "append_file", "read_file"],
    "rubric": "It goes on after the missing invoice.",
    "expected": "O1002",
    "context": ["Invoices lie in invoices/.", "A missing one is logged."],
    "files": {"catalog.json": "{}", "./invoices/O1001.json": "{\\"id\\": \\"O1001\\"}"},
    "meta": {"kind": "batch", "name": {"input": 1}}
  },
  {"name": "tone", "input": "Be kind.", "rubric": "It is kind.", "files": null},
  {"name": "look up", "input": "Look it up.",
   "expected_tools": ["read_file"]}
]
"""
NUMBERED = """\
{"id": "t1", "prompt": "Read missing.txt.", "expected_error_types": ["FILE_NOT_FOUND"], "expected_contains": ["missing.txt", "not"], "max_steps": 4}

{"id": "t2", "prompt": "Run sudo ls /root.", "expected_error_types": ["COMMAND_BLOCKED"], "expected_contains": [], "max_steps": 3}
{"id": "t3", "prompt": "Say hello.", "expected_error_types": [], "expected_contains": ["hello"], "max_steps": 1}
{"id": "t4", "prompt": "Do something.", "expected_error_types": [], "expected_contains": []}
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str | bytes, name: str = "tasks") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


Write = Callable[..., Path]


def test_an_array_of_named_tasks(written: Write) -> None:
    path = written(NAMED, "tasks.json")
    found = seeds.read(path)
    refunds, look_up = found.scenarios
    assert (refunds.name, look_up.name) == ("refunds", "look up")
    assert refunds.prompt == (
        "Refund O1002, then O1001, and name what could not be refunded.\n\n"
        "Context:\n- Invoices lie in invoices/.\n- A missing one is logged."
    )
    assert refunds.files == {"catalog.json": b"{}", "invoices/O1001.json": b'{"id": "O1001"}'}
    assert refunds.full[0] == Check("answer_contains", {"text": "O1002"})
    said = [check.function(trace(started(), finished())).why for check in refunds.full[1:] if check.function]
    assert said == [f"{tool} was called 0 times, not at least 1" for tool in ("read_file", "append_file")]
    assert (refunds.solve, refunds.outputs, refunds.limits) == (None, ("*",), Limits())
    assert refunds.values["task"] == json.loads(NAMED)[0]
    assert [(each.scenario, each.why) for each in found.skipped] == [
        ("tone", f"{path}:12: it has no grader: its rubric needs a judge model and is not graded")
    ]
    assert found.notes == (
        f"{path}:2: refunds: its rubric needs a judge model and is not graded",
        f"{path}:13: look up: only its tools are checked, not what came of them: add `expected`",
    )


def test_numbered_tasks_one_a_line(written: Write) -> None:
    found = seeds.read(written(NUMBERED, "tasks.jsonl"))
    one, two, three = found.scenarios
    assert [s.limits.steps for s in found.scenarios] == [4, 3, 1]
    assert [s.expects for s in found.scenarios] == ["FAILED", "FAILED", "DONE"]
    assert one.full[:2] == tuple(Check("answer_contains", {"text": t}) for t in ("missing.txt", "not"))
    assert len(one.full) == 3
    assert len(two.full) == 1
    assert three.full == (Check("answer_contains", {"text": "hello"}),)
    assert [(each.scenario, each.why.partition(": ")[2]) for each in found.skipped] == [
        ("t4", "it has no grader: it says nothing of what is right")
    ]
    assert len({s.hash for s in found.scenarios}) == 3


def test_the_keys_tell_them_apart_and_not_the_name_or_the_brackets(written: Write) -> None:
    swapped = json.dumps([json.loads(line) for line in NUMBERED.splitlines() if line])
    assert [s.name for s in seeds.load(written(swapped, "x.json"))] == ["t1", "t2", "t3"]
    lines = "\n".join(json.dumps(task) for task in json.loads(NAMED))
    assert [s.name for s in seeds.load(written(lines, "y.jsonl"))] == ["refunds", "look up"]
    alone = json.dumps(json.loads(NAMED)[0], indent=2)
    assert seeds.load(written(b"\xef\xbb\xbf" + alone.encode(), "z.json")) == seeds.load(
        written(f"[{alone}]", "z.json")
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"rubric": "It goes', '"rubrik": "It goes', ":6: no key 'rubrik'. Did you mean 'rubric'? Known: "),
        ('"O1002",', "1002,", ":7: key 'expected': Input should be a valid string (it is 1002)."),
        ('"input": "Be kind.", ', "", ":12: key 'input' is missing."),
        ('"name": "tone"', '"name": "refunds"', ":12: a task 'refunds' stands on line 2 already."),
        ('"catalog.json"', '"../catalog.json"', ":9: '../catalog.json' is no path of a text file inside"),
        (
            '"catalog.json"',
            '"invoices"',
            ":9: 'invoices' is a file, and 'invoices/O1001.json' needs it to be",
        ),
        ('["read_file"]}', '["read_file"]', ":15: bad JSON: "),
        ('"meta": {', '"name": "again", "meta": {', ":10: key 'name' stands there twice."),
        ('"O1002",', '"\\ud800",', ":2: holds half of a surrogate pair"),
        ('"O1002",', "NaN,", ":1: bad JSON: NaN is no JSON."),
    ],
)
def test_what_is_wrong_is_told_with_its_line(written: Write, old: str, new: str, said: str) -> None:
    assert old in NAMED
    path = written(NAMED.replace(old, new, 1), "tasks.json")
    with pytest.raises(Misuse) as caught:
        seeds.load(path)
    assert str(caught.value).startswith(f"{path}{said}")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("COMMAND_BLOCKED", "COMAND_BLOCKED", ":3: no error type 'COMAND_BLOCKED'. Did you mean 'COMMAND_BL"),
        ('"max_steps": 1}', '"max_steps": 0}', ":4: key 'max_steps': Input should be greater than 0"),
        ('"max_steps": 1}', '"max_steps": 1', ":4: bad JSON: "),
        ('{"id": "t3", ', '["t3"]', ":4: bad JSON: "),
        ('"expected_contains": ["hello"]', '"expected_contain": ["hello"]', ":4: no key 'expected_contain'."),
    ],
)
def test_a_bad_line_is_told(written: Write, old: str, new: str, said: str) -> None:
    assert old in NUMBERED
    path = written(NUMBERED.replace(old, new, 1), "tasks.jsonl")
    with pytest.raises(Misuse) as caught:
        seeds.load(path)
    assert str(caught.value).startswith(f"{path}{said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no task"),
        ("[]", "the array is empty"),
        ("[1]", r":1: a task must be a JSON object, not '1'"),
        ('{"a": 1}', r":1: no known task: its keys are a\. Tasks have name, input, "),
        (b"\xff", r":1: is no UTF-8 text"),
        ('{"name": "x", "input": "y", "rubric": "z"}', "no task of it can be graded. x: .*rubric"),
    ],
)
def test_what_is_no_task_file_is_told(written: Write, text: str | bytes, said: str) -> None:
    with pytest.raises(Misuse, match=said):
        seeds.load(written(text))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="cannot be read: No such file"):
        seeds.load(tmp_path / "gone.json")


async def logs_what_is_missing(task: Any, tools: Any) -> str:
    lost = []
    for order in ("O1002", "O1001"):
        try:
            await tools.call("read_file", {"path": f"invoices/{order}.json"})
        except FileNotFoundError:
            lost.append(order)
            await tools.call(
                "append_file", {"path": "refund_errors.log", "text": f"{order}: invoice not found\n"}
            )
    await tools.call("write_file", {"path": "catalog.json", "text": "{}\n"})
    return f"Not refunded: {', '.join(lost)}\nDONE"


async def claims(task: Any) -> str:
    return "All refunded.\nDONE"


def test_a_failing_call_in_the_clean_world_is_no_failure_of_the_task(written: Write) -> None:
    refunds = seeds.load(written(NAMED))[0]
    found, end = judged(refunds, logs_what_is_missing)
    assert (found.goal, end.acceptable, found.damage) == ("full", True, ())
    found, end = judged(refunds, claims)
    assert (found.goal, end.acceptable) == ("wrong", False)


def test_tools_alone_must_be_answered(written: Write) -> None:
    look_up = seeds.load(written(NAMED))[1]

    async def guesses(task: Any, tools: Any) -> str:
        with suppress(FileNotFoundError):
            await tools.call("read_file", {"path": "gone.txt"})
        return "DONE"

    found, end = judged(look_up, guesses)
    assert (found.goal, end.acceptable) == ("wrong", False)
    assert "read_file was called 1 times and never answered" in end.why
