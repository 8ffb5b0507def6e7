from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos.modelserver.chat import check, render, view
from forge_chaos.modelserver.move import Ask, Say
from forge_chaos.modelserver.view import Reply, ToolCall

SYSTEM = {"role": "system", "content": "Be good."}
USER = {"role": "user", "content": "Do it."}
FINAL = {
    "type": "function",
    "function": {
        "name": "final_answer",
        "parameters": {"type": "object", "properties": {"value": {}}, "required": ["value"]},
    },
}
READ = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}


def call(id: str = "c1", arguments: str = '{"path": "a"}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments}}


def assistant(*calls: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {})}


def tool(id: str = "c1", content: Any = "1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), "tools": [READ], **more}


def test_a_view_holds_task_pairs_and_tools() -> None:
    shown = view(
        body(SYSTEM, USER, assistant(call("c1"), call("c2", "{")), tool("c2", "2"), tool("c1"), USER)
    )
    assert shown.task == "Do it."
    assert shown.pairs == (
        (ToolCall("read_file", {"path": "a"}, "c1"), Reply("1")),
        (ToolCall("read_file", {"": "{"}, "c2"), Reply("2")),
    )
    assert (shown.tools, shown.final_only, shown.answer_tool) == (frozenset({"read_file"}), False, None)


def test_parts_of_a_content_are_one_text() -> None:
    parts = [{"type": "text", "text": "Do "}, {"type": "text", "text": "it."}]
    assert view(body({"role": "user", "content": parts})).task == "Do it."


@pytest.mark.parametrize("request_", [{"messages": [USER]}, body(USER, tool_choice="none")])
def test_without_tools_only_an_answer_is_asked_for(request_: Any) -> None:
    assert view(request_).final_only


def test_a_response_has_the_form_of_the_wire() -> None:
    request = body(USER)
    asked = render(request, view(request), Ask((ToolCall("read_file", {"path": "ä"}, "call_1"),)))
    choice = asked["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert choice["message"]["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "ä"}'}}
    ]
    said = render(request, view(request), Say("DONE"))
    assert said["choices"][0]["message"]["content"] == "DONE"
    assert said["choices"][0]["finish_reason"] == "stop"
    usage = said["usage"]
    assert usage["prompt_tokens"] == len(json.dumps([USER])) // 4
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert said["id"] != asked["id"]
    assert check(body(USER, choice["message"], tool("call_1"))) is None


def test_where_an_answer_tool_is_forced_the_answer_goes_through_it() -> None:
    request = body(USER, tools=[READ, FINAL], tool_choice="required")
    shown = view(request)
    assert shown.answer_tool == "final_answer"
    message = render(request, shown, Say("DONE"))["choices"][0]["message"]
    assert message["tool_calls"][0]["function"] == {"name": "final_answer", "arguments": '{"value": "DONE"}'}
    assert view(body(USER, tools=[READ, FINAL])).answer_tool is None
