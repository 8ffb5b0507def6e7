"""The contract for agents in any language: what a command is told, and what counts as its answer."""

from __future__ import annotations

import json

import pytest

from forge_chaos.adapters._said import LONGEST, BadReply, answer, task, variables
from forge_chaos.nouns import Task

STATED = {
    "name": "refunds",
    "input": "Refund O1002.",
    "expected_tools": ["read_file", "append_file"],
    "rubric": "kind",
    "expected": "O1002",
    "context": ["one", "two"],
    "files": {"catalog.json": "{}"},
    "meta": {"kind": "batch"},
}


def test_the_task_as_its_file_states_it() -> None:
    assert task(Task("other words", 20, "x", STATED)) == {**STATED, "max_steps": 20}


def test_a_scenario_without_a_file_has_the_same_keys() -> None:
    told = task(Task("Add up.", 9, "sums"))
    assert set(told) == {*STATED, "max_steps"}
    assert (told["name"], told["input"], told["expected_tools"], told["files"]) == ("sums", "Add up.", [], {})


def test_the_same_in_variables() -> None:
    assert variables(task(Task("", 20, "x", STATED))) == {
        "EVAL_NAME": "refunds",
        "EVAL_INPUT": "Refund O1002.",
        "EVAL_RUBRIC": "kind",
        "EVAL_EXPECTED": "O1002",
        "EVAL_EXPECTED_TOOLS": "read_file,append_file",
        "EVAL_CONTEXT": '["one", "two"]',
        "EVAL_FILES": '{"catalog.json": "{}"}',
    }


def test_a_variable_that_no_program_could_be_started_with_is_left_out() -> None:
    files = {"big.txt": "x" * LONGEST}
    found = variables(task(Task("", 20, "x", {**STATED, "files": files, "rubric": "a\0b"})))
    assert set(found).isdisjoint({"EVAL_FILES", "EVAL_RUBRIC"})
    assert found["EVAL_NAME"] == "refunds"


@pytest.mark.parametrize(
    "printed",
    [
        '{"output": "DONE"}',
        '[{"output": "DONE"}]',
        '\n {"output":\n "DONE"}\n\n',
        'Loading ...\n{"output": "DONE"}\n',
    ],
    ids=["object", "array of one", "over lines", "last line"],
)
def test_what_counts_as_an_answer(printed: str) -> None:
    assert answer(printed.encode()).text == "DONE"


def test_what_else_it_says_is_reported() -> None:
    calls = [{"name": "refund", "args": {"id": "O1"}}]
    said = {"output": {"refunded": 1}, "tool_calls": calls, "plan": "go", "trajectory": [], "cost": 3}
    found = answer(json.dumps(said).encode())
    assert (found.text, found.reported) == ('{"refunded": 1}', {"tool_calls": calls, "plan": "go"})


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        (b"", "printed nothing"),
        (b"hello", "no JSON object on standard output, but: 'hello'"),
        (b'"DONE"', "no JSON object"),
        (b"[1, 2]", "no JSON object"),
        (b'[{"output": "a"}, {"output": "b"}]', "no JSON object"),
        (b'{"answer": "DONE"}', 'no "output", only: answer'),
        (b"{}", 'no "output", only: nothing'),
        (b"[" * 100_000, "no JSON object"),
        (b"\xff\xfe", "no JSON object"),
    ],
    ids=["nothing", "words", "a string", "numbers", "two", "other key", "empty", "deep", "no text"],
)
def test_what_is_no_answer(printed: bytes, why: str) -> None:
    with pytest.raises(BadReply, match=why):
        answer(printed)
