"""What the messages wire refuses, and what it takes."""

from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.modelserver.messages_rules import check

USER = {"role": "user", "content": "Do it."}
READ = {"name": "read_file", "input_schema": {"type": "object"}}


def use(id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "read_file", "input": {}, **more}


def result(id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "1", **more}


def text(said: Any = "x") -> dict[str, Any]:
    return {"type": "text", "text": said}


def says(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 10, "messages": list(messages), "tools": [READ], **more}


GOOD = [
    body(USER),
    body(USER, tools=[]),  # no tools is no mistake here
    body(USER, system="Be good."),
    body(USER, system=[text()]),
    body(USER, USER),  # one turn
    body(USER, says(text(), use("a"), use("b")), told(result("b"), result("a"), text())),
    body(USER, says(use("a"), use("b")), told(result("b")), told(result("a"))),  # one turn again
    body(USER, says(use()), says(text()), told(result())),  # and again
    body(USER, says(use()), told(result(content=[text()], is_error=True))),
    body(USER, says(use()), told({"type": "tool_result", "tool_use_id": "c1"})),
    body(USER, {"role": "assistant", "content": "so far"}),
    body(USER, says()),  # the last word may be empty
    body(USER, says({"type": "thinking", "thinking": "x", "signature": "y"}, text())),
    body(USER, tool_choice={"type": "any"}),
]
BAD: list[tuple[Any, str]] = [
    ([], "not valid JSON"),
    ({}, "model: Field required"),
    ({"model": "m"}, "messages: Field required"),
    ({"model": "m", "messages": [USER]}, "max_tokens: Field required"),
    (body(USER, max_tokens="9"), "max_tokens: Input"),
    (body(USER, max_tokens=True), "max_tokens: Input"),
    (body(USER, max_tokens=0), "max_tokens: must be"),
    (body(USER, messages={}), "messages: Input"),
    (body(), "at least one message"),
    (body("x"), "messages.0.role"),
    (body({"role": "system", "content": "x"}), "messages.0.role"),
    (body({"role": "tool", "content": "x"}), "messages.0.role"),
    (body(says(text())), "first message must use the user role"),
    (body({"role": "user"}), "messages.0.content"),
    (body({"role": "user", "content": None}), "messages.0.content"),
    (body({"role": "user", "content": ""}), "non-empty content"),
    (body(told()), "non-empty content"),
    (body(USER, says(), USER), "non-empty content"),
    (body(told(text(""))), "text content blocks must be non-empty"),
    (body(told(text(None))), "text: Field required"),
    (body(told({"type": "video"})), "content.0.type"),
    (body(told("x")), "content.0.type"),
    (body(USER, system=3), "system: Input"),
    (body(USER, system=[text("")]), "system: text"),
    (body(told(use())), "only be in assistant messages"),
    (body(USER, says(result())), "only be in user messages"),
    (body(USER, says(use(input="{}")), told(result())), "tool_use.input"),
    (body(USER, says(use(name=None)), told(result())), "tool_use.name"),
    (body(USER, says(use("a b")), told(result("a b"))), "tool_use.id"),
    (body(USER, says(use()), told(result(content=None))), "tool_result.content"),
    (body(USER, says(use()), told(result(content=[text(3)]))), "tool_result.content"),
    (body(USER, says(use()), told(result(is_error="yes"))), "is_error"),
    (body(USER, says(use())), "without tool_result blocks right after them: c1"),
    (body(USER, says(use()), USER), "without tool_result blocks right after them: c1"),
    (body(USER, says(use("a"), use("b")), told(result("a"))), "right after them: b"),
    (body(USER, says(use()), told(text(), result())), "right after them: c1"),
    (body(USER, says(use("a"), use("a")), told(result("a"))), "unique"),
    (body(USER, says(use()), told(result(), result())), "single result"),
    (body(told(result())), "unexpected tool_use_id"),
    (body(USER, says(use()), told(result("x"))), "unexpected tool_use_id"),
    (body(USER, says(use()), told(result()), says(text()), told(result())), "unexpected tool_use_id"),
    (body(USER, says(use()), told(result()), tools=[]), "tools must be defined"),
    (body(USER, tools={}), "tools: Input"),
    (body(USER, tools=[{"name": "x"}]), "input_schema"),
    (body(USER, tools=[{"type": "function", "function": {"name": "x"}}]), "tools.0.name"),  # the chat form
    (body(USER, tool_choice="any"), "tool_choice.type"),
    (body(USER, tool_choice={"type": "auto"}, tools=[]), "while providing tools"),
    (body(USER, tool_choice={"type": "tool", "name": "x"}), "'x'"),
]


@pytest.mark.parametrize("request_", GOOD)
def test_a_good_request_is_taken(request_: Any) -> None:
    assert check(request_) is None


@pytest.mark.parametrize(("request_", "message"), BAD)
def test_any_other_is_refused(request_: Any, message: str) -> None:
    refusal = check(request_)
    assert refusal is not None
    assert message in refusal["error"]["message"]


def test_a_count_needs_no_limit_for_an_answer() -> None:
    assert check({"model": "m", "messages": [USER]}, counting=True) is None
    assert check({"model": "m", "messages": []}, counting=True) is not None
