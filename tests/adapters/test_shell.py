"""What a model is shown in commands, and what it says in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos.adapters._shell import BASH, MARK, chat, command, observation, read, submission, told

TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]
SHELL = [{"type": "function", "function": {"name": BASH, "parameters": {"type": "object"}}}]
ARGS = '{"path": "it\'s here.csv"}'
TAGS = "<returncode>0</returncode>\n<output>\none\n</output>"
FORM = json.dumps({"returncode": 2, "output": "one\n"})
WRONG = json.dumps({"returncode": -1, "output": "", "exception_info": "gone"})
CUT = json.dumps({"returncode": 0, "output_head": "a", "output_tail": "b", "elided_chars": 9})


def called(line: str) -> dict[str, Any]:
    function = {"name": BASH, "arguments": json.dumps({"command": line})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


def result(text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "c1", "content": text}


def said(**message: Any) -> list[tuple[str, str]]:
    """(tool, command) of each call that the completion makes."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    calls = told({"choices": [choice]})["choices"][0]["message"]["tool_calls"]
    return [(c["function"]["name"], json.loads(c["function"]["arguments"])["command"]) for c in calls]


def test_a_call_comes_back_from_its_command() -> None:
    assert read(command("read_file", ARGS), ["read_file"]) == ("read_file", ARGS)


def test_a_submission_comes_back_from_its_command() -> None:
    assert read(submission("It's\nDONE"), []) == (MARK, "It's\nDONE")


@pytest.mark.parametrize("line", ["ls", "rm {}", "read_file", "read_file a b", "read_file 'a"])
def test_any_other_command_is_none_of_ours(line: str) -> None:
    assert read(line, ["read_file"]) is None


@pytest.mark.parametrize(
    ("text", "shown", "with_code"),
    [
        (TAGS, "one", "one\nexit code: 0"),
        (FORM, "one\n", "one\nexit code: 2"),
        (WRONG, "gone", "gone"),
        (CUT, CUT, CUT),
        ("[1]", "[1]", "[1]"),
    ],
)
def test_an_observation_is_shown_without_its_form(text: str, shown: str, with_code: str) -> None:
    assert observation(text) == shown
    assert observation(text, code=True) == with_code


def test_the_request_has_the_tools_and_their_calls() -> None:
    body = {"messages": [called(command("read_file", ARGS)), result(FORM)], "tools": SHELL}
    asked = chat(body, TOOLS)
    assert asked["tools"] == TOOLS
    assert asked["messages"][0]["tool_calls"][0]["function"] == {"name": "read_file", "arguments": ARGS}
    assert asked["messages"][1]["content"] == "one\n"


def test_without_tools_the_shell_is_the_tool() -> None:
    body = {"messages": [called("ls"), result(FORM)], "tools": SHELL}
    asked = chat(body, [])
    assert asked["tools"] == SHELL
    assert asked["messages"][0] == called("ls")
    assert asked["messages"][1]["content"] == "one\nexit code: 2"


def test_calls_and_texts_are_said_in_commands() -> None:
    call = {"id": "c2", "type": "function", "function": {"name": "read_file", "arguments": ARGS}}
    assert said(content=None, tool_calls=[call]) == [(BASH, command("read_file", ARGS))]
    assert said(content="DONE") == [(BASH, submission("DONE"))]


def test_a_reply_without_a_message_goes_on_as_it_is() -> None:
    assert told({"choices": []}) == {"choices": []}


@pytest.mark.parametrize("content", ["", None])
def test_a_reply_that_says_nothing_hands_in_nothing(content: str | None) -> None:
    empty = {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
    assert told(empty) == empty
