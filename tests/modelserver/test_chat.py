from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.modelserver import sse
from forge_chaos.modelserver.chat import check, gather, over, render, stream, view
from forge_chaos.modelserver.move import Ask, Say
from forge_chaos.modelserver.view import Reply, ToolCall
from tests.modelserver.bodies import requests
from tests.modelserver.completions import call as made_call
from tests.modelserver.completions import completion, completions, same

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
    aloud = render(request, view(request), Ask((ToolCall("read_file", {}, "call_1"),), text="Let me look."))
    assert aloud["choices"][0]["message"]["content"] == "Let me look."
    assert len(aloud["choices"][0]["message"]["tool_calls"]) == 1
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


def test_where_the_instructions_say_so_the_answer_goes_through_the_answer_tool() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    submit = {"type": "function", "function": {"name": "submit", "parameters": schema}}
    asked = {"role": "system", "content": "When you have an answer, call the submit() tool to report it."}
    shown = view(body(asked, USER, tools=[READ, submit]))
    assert shown.answer_tool == "submit"
    [made] = render(body(asked, USER, tools=[READ, submit]), shown, Say("DONE"))["choices"][0]["message"][
        "tool_calls"
    ]
    assert made["function"] == {"name": "submit", "arguments": '{"answer": "DONE"}'}
    assert view(body(asked, USER, tools=[READ])).answer_tool is None
    assert view(body(SYSTEM, USER, tools=[READ, submit])).answer_tool is None


def test_a_request_over_the_window_is_told_so() -> None:
    told = over(900, 1000)["error"]
    assert told["code"] == "context_length_exceeded"
    assert "900 tokens" in told["message"]


def test_an_answer_tool_takes_the_answer_where_it_can() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "answer": {}},
        "required": ["answer"],
    }
    submit = {"type": "function", "function": {"name": "submit", "parameters": schema}}
    request = body(USER, tools=[submit], tool_choice={"type": "function", "function": {"name": "submit"}})
    [made] = render(request, view(request), Say("DONE"))["choices"][0]["message"]["tool_calls"]
    assert json.loads(made["function"]["arguments"]) == {"answer": "DONE"}


def test_an_answer_has_the_form_that_is_asked_for() -> None:
    request = body(USER, response_format={"type": "json_object"})
    message = render(request, view(request), Say("DONE"))["choices"][0]["message"]
    assert json.loads(message["content"]) == {"answer": "DONE"}


def test_equal_requests_have_ids_of_their_own() -> None:
    request = body(USER)
    made = [render(request, view(request), Say("DONE"), number) for number in "12"]
    assert made[0]["id"] != made[1]["id"]
    assert {**made[0], "id": ""} == {**made[1], "id": ""}


def test_a_result_that_says_it_failed_is_shown_so() -> None:
    shown = view(body(USER, assistant(call()), {**tool(), "is_error": True}))
    assert shown.pairs[0][1] == Reply("1", True)


def test_calls_and_results_in_the_text_are_shown_too() -> None:
    listed = [{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": {"path": "a"}}}]
    told = {"role": "assistant", "content": [{"type": "text", "text": f"Calling tools:\n{listed}"}]}
    first = "Do it.\nError:\nError executing tool 'read_file' with arguments {'path': 'b'}: OSError: x\nNow let's retry: y"
    shown = view(
        body(
            {"role": "user", "content": first},
            told,
            {"role": "user", "content": "Observation:\nid,amount\nA,1"},
        )
    )
    assert shown.task == "Do it."
    assert shown.pairs == (
        (ToolCall("read_file", {"path": "b"}), Reply("OSError: x", True)),
        (ToolCall("read_file", {"path": "a"}, "c1"), Reply("id,amount\nA,1")),
    )
    assert shown.alone


@pytest.mark.parametrize(
    ("more", "alone"),
    [
        ({}, False),
        ({"tools": [READ, FINAL]}, False),
        ({"tools": [READ, FINAL], "tool_choice": "required"}, True),
        ({"parallel_tool_calls": False}, True),
        ({"parallel_tool_calls": True}, False),
    ],
)
def test_one_call_a_turn_where_the_caller_wants_no_more(more: dict[str, Any], alone: bool) -> None:
    assert view(body(USER, **more)).alone is alone


@given(completions(), st.booleans())
def test_a_completion_survives_its_stream(said: dict[str, Any], usage: bool) -> None:
    request = {"stream": True, "stream_options": {"include_usage": usage}}
    streamed = stream(said, request)
    assert streamed.endswith(sse.DONE)
    found = gather(streamed)
    assert found is not None
    assert same(said, {"usage": said["usage"], **found})
    chunks = sse.read(streamed)
    assert [("usage" in chunk, bool(chunk["choices"])) for chunk in chunks[:-1]] == [(usage, True)] * (
        len(chunks) - 1
    )
    assert chunks[-1].get("usage") == (said["usage"] if usage else None)
    assert {(c["id"], c["object"]) for c in chunks} == {("chatcmpl-7", "chat.completion.chunk")}


def test_calls_side_by_side_are_told_apart_by_their_index() -> None:
    said = completion(None, [made_call("a", {"path": "x" * 50}), made_call("b", {})])
    deltas = [
        c["choices"][0]["delta"]
        for c in sse.read(stream(said, {}))
        if c["choices"][0]["delta"].get("tool_calls")
    ]
    opening = [d["tool_calls"][0] for d in deltas if "id" in d["tool_calls"][0]]
    assert [(o["index"], o["id"], o["function"]["arguments"]) for o in opening] == [
        (0, "a", ""),
        (1, "b", ""),
    ]
    assert all(
        set(d["tool_calls"][0]) == {"index", "function"} for d in deltas if "id" not in d["tool_calls"][0]
    )


@given(requests)
def test_what_is_no_stream_of_chunks_is_none(request_: dict[str, Any]) -> None:
    assert gather(b"") is None
    assert gather(sse.event({"error": {"message": "x"}}) + sse.DONE) is None
    check(request_)


def test_calls_of_one_id_take_their_results_in_order() -> None:
    calls = [
        {
            "id": "x",
            "type": "function",
            "function": {"name": "read_file", "arguments": f'{{"path": "{name}"}}'},
        }
        for name in "ab"
    ]
    results = [{"role": "tool", "tool_call_id": "x", "content": text} for text in ("of a", "of b")]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    shown = view({"messages": [{"role": "user", "content": "task"}, asked, *results]})
    told = [(call and dict(call.args), reply and reply.text) for call, reply in shown.pairs]
    assert told == [({"path": "a"}, "of a"), ({"path": "b"}, "of b")]
