"""What the responses wire refuses, and what it takes."""

from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.modelserver.responses_rules import check

USER = {"role": "user", "content": "Do it."}
READ = {"type": "function", "name": "read_file", "parameters": {"type": "object"}}


def call(id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "read_file", "arguments": "{}", **more}


def output(id: str = "c1", text: Any = "1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": text}


def body(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(items), "tools": [READ], **more}


TEXT = {"type": "output_text", "text": "x", "annotations": []}
GOOD = [
    {"input": "Do it."},
    body(USER, tools=[]),  # no tools is no mistake here
    body(USER, instructions="Be good."),
    body(USER, call("a"), call("b"), output("b"), output("a")),
    body(USER, call(), USER, output()),  # they find each other by their id
    body(USER, {"type": "message", "role": "assistant", "content": [TEXT], "id": "msg_1"}, USER),
    body(USER, {"type": "reasoning", "id": "rs_1", "summary": []}, call(arguments="{broken"), output()),
    body(USER, call(), output(text=[{"type": "input_text", "text": "1"}])),
    body(USER, tool_choice={"type": "function", "name": "read_file"}),
]
BAD: list[tuple[Any, str]] = [
    ([], "not valid JSON"),
    ({}, "'input'"),
    ({"input": None}, "'input'"),
    ({"input": 3}, "'input'"),
    ({"input": ""}, "'input'"),
    (body(), "at least one item"),
    (body(USER, instructions=["x"]), "'instructions'"),
    (body(USER, conversation="c"), "'conversation'"),
    (body("hello"), "'input[0]'"),
    (body({"role": "robot", "content": "x"}), "role"),
    (body({"role": "tool", "content": "x"}), "role"),
    (body({"role": "user"}), "got null"),
    (body({"role": "user", "content": [{"type": "video"}]}), "got list"),
    (body({"type": "web_search_call"}), "'web_search_call'"),
    (body(USER, call(call_id=None), output()), "call_id"),
    (body(USER, call(arguments={}), output()), "arguments"),
    (body(USER, call()), "No tool output found for function call c1"),
    (body(USER, call("a"), call("b"), output("b")), "No tool output found for function call a"),
    (body(USER, call("a"), call("a"), output("a")), "Duplicate"),
    (body(USER, output()), "No tool call found for function call output with call_id c1"),
    (body(USER, call(), output(), output()), "No tool call found"),
    (body(USER, output(), call()), "No tool call found"),
    (body(USER, call(), output(text=None)), "got null"),
    (body(USER, call(), {**output(), "call_id": 3}), "call_id"),
    (body(USER, tools="x"), "'tools'"),
    (body(USER, tools=[3]), "tools[0]"),
    (body(USER, tools=[{"type": "function"}]), "tools[0].name"),
    (body(USER, tools=[{"type": "function", "function": {"name": "x"}}]), "tools[0].name"),  # the chat form
    (body(USER, tool_choice={"type": "function", "name": "x"}), "'x'"),
    (body(USER, tool_choice="always"), "'tool_choice'"),
    ({"input": "x", "tool_choice": "required"}, "'required'"),
]


@pytest.mark.parametrize("request_", GOOD)
def test_a_good_request_is_taken(request_: Any) -> None:
    assert check(request_) is None


@pytest.mark.parametrize(("request_", "message"), BAD)
def test_any_other_is_refused(request_: Any, message: str) -> None:
    refusal = check(request_)
    assert refusal is not None
    assert refusal["error"]["type"] == "invalid_request_error"
    assert message in refusal["error"]["message"]
