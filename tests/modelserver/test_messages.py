"""The messages wire read into chat form and written from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from forge_chaos.modelserver import sse
from forge_chaos.modelserver.messages import (
    ask,
    chat,
    check,
    completion,
    gather,
    over,
    refusal,
    reply,
    stream,
)
from tests.modelserver.bodies import requests
from tests.modelserver.completions import call, completions, same
from tests.modelserver.completions import completion as made
from tests.modelserver.test_messages_rules import READ, USER, body, result, says, text, told, use

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}


def test_blocks_become_messages() -> None:
    found = chat(
        body(
            USER,
            says(
                {"type": "thinking", "thinking": "?"}, text("Wait."), use("a", input={"path": "ä"}), use("b")
            ),
            told(
                result("b", is_error=True),
                result("a", content=[text("1"), text("2")]),
                text("Go "),
                text("on."),
            ),
            says(use("c")),
            told({"type": "tool_result", "tool_use_id": "c"}),
            system=[text("Be "), text("good.")],
        )
    )

    def asked(id: str, arguments: str) -> dict[str, Any]:
        return {"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments}}

    assert found["messages"] == [
        {"role": "system", "content": "Be good."},
        USER,
        {
            "role": "assistant",
            "content": "Wait.",
            "tool_calls": [asked("a", '{"path": "ä"}'), asked("b", "{}")],
        },
        {"role": "tool", "tool_call_id": "b", "content": "1", "is_error": True},
        {"role": "tool", "tool_call_id": "a", "content": "12"},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": None, "tool_calls": [asked("c", "{}")]},
        {"role": "tool", "tool_call_id": "c", "content": ""},
    ]
    assert found["tools"] == [
        {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}
    ]


@pytest.mark.parametrize(
    ("choice", "means"),
    [
        ({"type": "any"}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "auto"}, "auto"),
        ({"type": "tool", "name": "read_file"}, {"type": "function", "function": {"name": "read_file"}}),
    ],
)
def test_a_choice_has_its_chat_name(choice: dict[str, Any], means: Any) -> None:
    assert chat(body(USER, tool_choice=choice))["tool_choice"] == means
    alone = chat(body(USER, tool_choice={**choice, "disable_parallel_tool_use": True}))
    assert alone["parallel_tool_calls"] is False


def test_a_form_that_is_asked_for_has_its_chat_name() -> None:
    form = {"type": "json_schema", "schema": {"type": "object"}}
    wanted = {"type": "json_schema", "json_schema": form}
    assert chat(body(USER, output_config={"format": form}))["response_format"] == wanted
    assert chat(body(USER, output_format=form))["response_format"] == wanted


@given(requests)
def test_whatever_comes_has_a_chat_form(request: dict[str, Any]) -> None:
    found = chat(request)
    json.dumps(found)
    assert all(isinstance(message, dict) for message in found["messages"])
    check(request)


def test_a_chat_history_is_written_in_turns() -> None:
    request = body(
        USER, says(text("Wait."), use("a")), told(result("a", is_error=True), text("Go on.")), system="Be."
    )
    written = ask(chat(request), request)
    assert check(written) is None
    assert chat(written) == chat(request)
    assert {key: written[key] for key in ("model", "max_tokens", "tools", "system")} == {
        "model": "m",
        "max_tokens": 10,
        "tools": [READ],
        "system": "Be.",
    }


def test_a_history_without_its_beginning_still_begins_with_the_user() -> None:
    request = body(USER, says(use("a")), told(result("a")))
    written = ask({"messages": chat(request)["messages"][1:]}, request)
    assert check(written) is None
    assert "Do it." not in json.dumps(written)


def test_what_is_no_text_goes_back_as_it_was() -> None:
    request = body(told(text("Look:"), IMAGE))
    assert chat(request)["messages"][0]["content"] == [text("Look:"), IMAGE]
    assert ask(chat(request), request)["messages"] == request["messages"]


@given(completions())
def test_a_completion_survives_the_wire_and_its_stream(said: dict[str, Any]) -> None:
    found = reply(said, {})
    assert same(said, completion(found))
    assert gather(stream(found, {})) == found
    events = sse.read(stream(found, {}))
    assert (events[0]["type"], events[-1]["type"]) == ("message_start", "message_stop")
    begun = [event["index"] for event in events if event["type"] == "content_block_start"]
    ended = [event["index"] for event in events if event["type"] == "content_block_stop"]
    assert begun == ended == list(range(len(found["content"])))


def test_arguments_that_are_broken_stay_as_broken_in_a_stream() -> None:
    said = made(None, [call("a", {})])
    said["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = '{"path": '
    streamed = stream(reply(said, {}), {})
    written = [e["delta"]["partial_json"] for e in sse.read(streamed) if e["type"] == "content_block_delta"]
    assert "".join(written) == '{"path": '
    found = gather(streamed)
    assert found is not None
    assert found["content"][0]["input"] == '{"path": '
    assert gather(b"") is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (404, "not_found_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_a_refusal_has_the_form_of_the_provider(status: int, kind: str) -> None:
    found = refusal(status, over(10, 12)["error"])
    assert found["type"] == "error"
    assert found["error"] == {"type": kind, "message": "prompt is too long: 12 tokens > 10 maximum"}
    assert found["request_id"].startswith("req_")
