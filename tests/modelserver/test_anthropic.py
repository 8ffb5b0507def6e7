"""The translation between the two wire forms, held against the official client's types where installed."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest
from pydantic import TypeAdapter

from forge_chaos.modelserver import _anthropic

READ = {"name": "read_file", "description": "Read.", "parameters": {"type": "object", "properties": {}}}
TOOLS = [{"type": "function", "function": READ}]
USER = {"role": "user", "content": "Sum it."}


def call(id: str, name: str = "read_file", arguments: str = '{"path": "a"}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "refusal": None, "tool_calls": list(calls)}


def told(id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def request(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    made = _anthropic.request({"model": "m", "messages": list(messages), **more})
    known = _official("anthropic.types.message_create_params", "MessageCreateParamsNonStreaming")
    if known is not None:
        TypeAdapter(known).validate_python(made)
    return made


def _official(where: str, name: str) -> Any:
    """A type of an official client; None where that is not installed."""
    try:
        return getattr(import_module(where), name)
    except ImportError:
        return None


def message(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A message as the provider sends it."""
    made: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 3},
        **more,
    }
    known = _official("anthropic.types", "Message")
    if known is not None:
        known.model_validate(made)
    return made


def reply(made: dict[str, Any]) -> dict[str, Any]:
    found = _anthropic.reply(made)
    assert found is not None
    known = _official("openai.types.chat", "ChatCompletion")
    if known is not None:
        known.model_validate(found)
    return found


def test_a_first_request() -> None:
    assert request(USER, tools=TOOLS) == {
        "model": "m",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Sum it."}]}],
        "tools": [
            {
                "name": "read_file",
                "description": "Read.",
                "input_schema": {"type": "object", "properties": {}},
            }
        ],
    }


def test_a_batch_of_calls_and_its_results() -> None:
    history = [
        USER,
        asks(call("a"), call("b", arguments=""), content="I look."),
        told("a", "1"),
        told("b", ""),
    ]
    turns = request(*history, tools=TOOLS)["messages"]
    assert turns[1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "a"}},
                {"type": "tool_use", "id": "b", "name": "read_file", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b"},
            ],
        },
    ]


def test_a_user_message_after_results_joins_them() -> None:
    turns = request(USER, asks(call("a")), told("a", "1"), USER, tools=TOOLS)["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert [block["type"] for block in turns[-1]["content"]] == ["tool_result", "text"]


def test_system_messages_become_the_prompt_wherever_they_stand() -> None:
    made = request(
        {"role": "system", "content": "Be brief."}, USER, {"role": "developer", "content": "Be good."}
    )
    assert made["system"] == "Be brief.\n\nBe good."
    assert len(made["messages"]) == 1
    empty = {"role": "system", "content": ""}
    assert request(empty, USER, {"role": "developer", "content": "Be good."})["system"] == "Be good."
    assert "system" not in request(empty, USER)


def test_an_empty_message_is_left_out() -> None:
    empty = {"role": "assistant", "content": ""}
    assert len(request(USER, empty, USER)["messages"]) == 1


@pytest.mark.parametrize("arguments", ["[1]", "{", '"x"', "null"])
def test_arguments_that_are_no_object_go_in_as_text(arguments: str) -> None:
    turns = request(USER, asks(call("a", arguments=arguments)), told("a", "no"), tools=TOOLS)["messages"]
    assert turns[1]["content"][0]["input"] == {"arguments": arguments}


def test_a_history_with_calls_names_their_tools_when_none_is_offered_any_more() -> None:
    made = request(USER, asks(call("a"), call("b")), told("a", "1"), told("b", "2"))
    assert [tool["name"] for tool in made["tools"]] == ["read_file"]
    assert made["tool_choice"] == {"type": "none"}
    assert "tools" not in request(USER)


@pytest.mark.parametrize(
    ("choice", "made"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"type": "function", "function": {"name": "read_file"}}, {"type": "tool", "name": "read_file"}),
    ],
)
def test_the_choice_of_a_tool(choice: Any, made: dict[str, Any]) -> None:
    assert request(USER, tools=TOOLS, tool_choice=choice)["tool_choice"] == made


def test_calls_one_at_a_time() -> None:
    made = request(USER, tools=TOOLS, parallel_tool_calls=False)
    assert made["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    made = request(USER, tools=TOOLS, tool_choice="none", parallel_tool_calls=False)
    assert made["tool_choice"] == {"type": "none"}
    assert "tool_choice" not in request(USER, tools=TOOLS, parallel_tool_calls=True)


def test_what_shapes_the_answer() -> None:
    made = request(USER, max_completion_tokens=7, temperature=0, stop="END", seed=1, n=1, top_p=None)
    assert {k: v for k, v in made.items() if k not in ("model", "messages")} == {
        "max_tokens": 7,
        "temperature": 0,
        "stop_sequences": ["END"],
    }
    assert request(USER, max_tokens=8, stop=["a", "b"])["stop_sequences"] == ["a", "b"]
    assert request(USER, max_tokens=8)["max_tokens"] == 8


def test_parts_of_text_are_joined_and_others_refused() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    turns = request({"role": "user", "content": parts})["messages"]
    assert turns[0]["content"] == [{"type": "text", "text": "ab"}]
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    with pytest.raises(ValueError, match="only text"):
        request({"role": "user", "content": [picture]})


def test_text_comes_back() -> None:
    found = reply(message({"type": "text", "text": "4"}, {"type": "text", "text": "2\nDONE"}))
    assert found["choices"][0]["message"] == {"role": "assistant", "content": "42\nDONE", "refusal": None}
    assert found["choices"][0]["finish_reason"] == "stop"
    assert (found["id"], found["model"]) == ("msg_1", "claude")


def test_calls_come_back_beside_text_and_thoughts() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    use = {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "é"}}
    found = reply(
        message(thought, {"type": "text", "text": "Look."}, use, {**use, "id": "b"}, stop_reason="tool_use")
    )
    said = found["choices"][0]["message"]
    assert said["content"] == "Look."
    assert [one["id"] for one in said["tool_calls"]] == ["a", "b"]
    assert json.loads(said["tool_calls"][0]["function"]["arguments"]) == {"path": "é"}
    assert found["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
    ],
)
def test_why_it_stopped(reason: str, finish: str) -> None:
    assert reply(message(stop_reason=reason))["choices"][0]["finish_reason"] == finish
    assert reply(message(stop_reason=reason))["choices"][0]["message"]["content"] is None


def test_tokens_from_the_cache_are_counted() -> None:
    usage = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": None,
    }
    found = reply(message(usage=usage))["usage"]
    assert found == {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


@pytest.mark.parametrize("body", [None, [], "text", {}, {"content": "text"}, {"content": ["x"]}])
def test_what_is_no_message(body: Any) -> None:
    assert _anthropic.reply(body) is None


def test_what_came_back_can_be_sent_again() -> None:
    given = {"path": "a", "n": [1, None]}
    use: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "read_file", "input": given}
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "Look."}, use]
    said = reply(message(*blocks))["choices"][0]["message"]
    assert request(USER, said, told("a", "1"), tools=TOOLS)["messages"][1]["content"] == blocks
