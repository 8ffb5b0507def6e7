"""What the chat-completions wire refuses, and what it takes."""

from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.modelserver.chat_rules import check
from tests.modelserver.test_chat import SYSTEM, USER, assistant, body, call, tool

GOOD = [
    body(USER),
    body(SYSTEM, USER, assistant(call()), tool(), assistant(content="DONE"), USER),
    body(USER, assistant(call("c1"), call("c2")), tool("c2"), tool("c1")),
    body(USER, assistant(call(arguments="{broken")), tool()),  # arguments are not the provider's to check
    body({"role": "user", "content": [{"type": "text", "text": "Do it."}]}),
    body(USER, assistant(call(), content=""), tool(content="")),
    {"messages": [USER]},
    body(USER, stream=True, stream_options={"include_usage": True}),
    body(USER, tool_choice={"type": "function", "function": {"name": "read_file"}}),
]
BAD: list[tuple[Any, str]] = [
    ([], "'messages'"),
    ({}, "'messages'"),
    (body(), "at least 1 item"),
    (body(USER, stream_options={"include_usage": True}), "'stream_options'"),
    (body(USER, n=2), "'n'"),
    (body(USER, tool_choice="always"), "'tool_choice'"),
    (body(USER, tool_choice={"type": "function", "function": {"name": "x"}}), "no tool 'x'"),
    ({"messages": [USER], "tool_choice": "required"}, "'tools'"),
    (body("hello"), "role"),
    (body({"role": "robot", "content": "x"}), "role"),
    (body({"role": "user", "content": None}), "got null"),
    (body({"role": "user", "content": 3}), "got int"),
    (body({"role": "user", "content": []}), "got list"),
    (body({"role": "user", "content": ["x"]}), "got list"),
    (body(USER, assistant()), "got null"),
    (body(USER, {**assistant(content="x"), "tool_calls": []}), "tool_calls"),
    (body(USER, assistant({"id": "c1", "type": "function"})), "tool_calls[0]"),
    (body(USER, assistant({**call(), "id": 3}), tool()), "tool_calls[0]"),
    (body(USER, assistant(call(arguments={})), tool()), "tool_calls[0]"),  # type: ignore[arg-type]  # wrong on purpose
    (body(USER, assistant(call())), "no response: c1"),
    (body(USER, assistant(call()), USER), "no response: c1"),
    (body(USER, assistant(call("c1"), call("c2")), tool("c1"), USER), "no response: c2"),
    (body(USER, tool()), "must respond"),
    (body(USER, assistant(call()), tool(), tool()), "must respond"),
    (body(USER, assistant(call()), tool("other")), "must respond"),
    (body(USER, assistant(call()), {"role": "tool", "content": "1"}), "tool_call_id"),
    (body({"role": "user", "content": "\ud800"}), "not valid JSON"),
    ({"messages": [USER], "tools": []}, "'tools'"),
    ({"messages": [USER], "tools": [{}]}, "tools[0]"),
]


@pytest.mark.parametrize("request_", GOOD)
def test_a_good_request_is_taken(request_: Any) -> None:
    assert check(request_) is None


@pytest.mark.parametrize(("request_", "message"), BAD)
def test_any_other_is_refused_in_the_provider_s_form(request_: Any, message: str) -> None:
    refusal = check(request_)
    assert refusal is not None
    assert set(refusal["error"]) == {"message", "type", "param", "code"}
    assert refusal["error"]["type"] == "invalid_request_error"
    assert message in refusal["error"]["message"]
