"""What a model is shown in code, and what it writes in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos.adapters._code import call, chat, code, printed

TAGS = ("<code>", "</code>")
TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]
READ = {
    "id": "1",
    "type": "function",
    "function": {"name": "read_file", "arguments": '{"path": "it\'s.csv"}'},
}
SHOWN = "Observation:\nExecution logs:\none\ntwo\nLast output from code snippet:\nNone"


def request(*more: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "stop": ["</code>"],
        "messages": [{"role": "user", "content": "Add up."}, *more],
        **options,
    }


def completion(**message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "x"}]}


def said(body: dict[str, Any], **message: Any) -> str:
    return str(code(body, completion(**message), TAGS)["choices"][0]["message"]["content"])


def test_what_is_written_for_a_call_is_read_as_that_call() -> None:
    text = said(request(), content=None, tool_calls=[READ])
    asked = chat(
        request({"role": "assistant", "content": text}, {"role": "user", "content": SHOWN}), TOOLS, TAGS
    )
    made, result = asked["messages"][1:]
    assert made["tool_calls"][0]["function"]["name"] == "read_file"
    assert json.loads(made["tool_calls"][0]["function"]["arguments"]) == {"path": "it's.csv"}
    assert (result["role"], result["content"]) == ("tool", "one\ntwo")
    assert (asked["tools"], asked["parallel_tool_calls"]) == (TOOLS, False)


def test_an_error_is_the_result_of_the_call() -> None:
    error = "Call id: call_1\nError:\nCode execution failed at line 'x' due to: OSError: gone"
    assert printed(error) == error


def test_a_text_is_the_final_answer() -> None:
    assert said(request(), content="DONE") == "<code>\nfinal_answer('DONE')\n</code>"


def test_a_request_that_wants_no_step_is_answered_in_words() -> None:
    body = request()
    del body["stop"]
    assert said(body, content="DONE") == "DONE"
    assert "tools" not in chat(body, TOOLS, TAGS)


def test_broken_arguments_are_written_as_they_are() -> None:
    broken = {**READ, "function": {"name": "read_file", "arguments": '{"path'}}
    assert 'read_file({"path)' in said(request(), tool_calls=[broken])


@pytest.mark.parametrize("text", ["x = 1", "f(1)", "x = f(y=z)", "f(", "\0"])
def test_code_without_a_plain_call_is_none(text: str) -> None:
    assert call(text) is None


def test_a_reply_without_a_message_goes_on_as_it_is() -> None:
    assert code(request(), {"choices": []}, TAGS) == {"choices": []}
