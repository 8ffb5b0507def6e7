"""Calls and results that stand as text, as smolagents hands them back."""

from __future__ import annotations

import pytest

from forge_chaos.modelserver.flattened import calls, replies, said
from forge_chaos.modelserver.view import Reply, ToolCall

ONE = "[{'id': 'c1', 'type': 'function', 'function': {'name': 'read_file', 'arguments': {'path': 'a'}}}]"
READ = ToolCall("read_file", {"path": "a"}, "c1")
AGAIN = "\nNow let's retry: take care not to repeat previous errors!\n"


def failure(arguments: str, text: str) -> str:
    told = f"Error executing tool 'read_file' with arguments {arguments}: {text}"
    return f"Error:\n{told}\nPlease try again or use another tool{AGAIN}"


def test_calls_are_read_from_the_list() -> None:
    assert calls(f"I look.\nCalling tools:\n{ONE}") == (READ,)
    plain = "Calling tools:\n[{'id': 'c', 'function': {'name': 'x', 'arguments': 'text'}}]"
    assert calls(plain) == (ToolCall("x", {"": "text"}, "c"),)


@pytest.mark.parametrize(
    "text",
    ["", "DONE", "Calling tools:\n[", "Calling tools:\n[1]", "Calling tools:\n[{}]", "Calling tools:\n3"],
)
def test_what_is_no_list_of_calls_has_none(text: str) -> None:
    assert calls(text) == ()


def test_a_result_belongs_to_the_call_before_it() -> None:
    assert list(replies((READ,), "Observation:\nid,amount\nA,1")) == [(READ, Reply("id,amount\nA,1"))]
    assert list(replies((), "Observation:\n1")) == []
    assert list(replies((READ,), "Go on.")) == []


def test_results_of_a_batch_are_told_apart_where_that_can_be() -> None:
    other = ToolCall("read_file", {"path": "b"}, "c2")
    assert list(replies((READ, other), "Observation:\n1\n2")) == [(READ, Reply("1")), (other, Reply("2"))]
    assert list(replies((READ, other), "Observation:\n1\n2\n3")) == []


def test_a_step_that_failed_is_found_in_the_text() -> None:
    text = f"New task:\nDo it.\n{failure(repr({'path': 'a'}), 'FileNotFoundError: no such file: a')}"
    assert said(text) == "New task:\nDo it."
    assert list(replies((), text)) == [
        (ToolCall("read_file", {"path": "a"}), Reply("FileNotFoundError: no such file: a", True))
    ]


def test_steps_that_failed_follow_a_result() -> None:
    odd = {"path": "a", "text": "it's {}: fine"}
    text = "Observation:\n1\n" + failure(repr(odd), "TimeoutError: a\nb") + "\n" + failure("{'p': ", "x")
    found = list(replies((READ,), text))
    assert found[0] == (READ, Reply("1"))
    assert found[1] == (ToolCall("read_file", odd), Reply("TimeoutError: a\nb", True))
    assert found[2][0] is None
