"""The responses wire read into chat form and written from it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from forge_chaos.modelserver import sse
from forge_chaos.modelserver.responses import (
    ask,
    chat,
    check,
    completion,
    gather,
    items,
    over,
    refusal,
    reply,
    stream,
)
from tests.modelserver.bodies import requests
from tests.modelserver.completions import call, completions, same
from tests.modelserver.completions import completion as made
from tests.modelserver.test_responses_rules import READ, output
from tests.modelserver.test_responses_rules import call as item

TEXT = {"type": "output_text", "text": "Wait.", "annotations": []}


def test_items_become_messages_a_turn_each() -> None:
    found = chat(
        {
            "model": "m",
            "instructions": "Be good.",
            "input": [
                {
                    "role": "user",
                    "content": [{"type": "input_text", "text": "Do "}, {"type": "input_text", "text": "it."}],
                },
                {"type": "reasoning", "id": "rs", "summary": []},
                {"type": "message", "role": "assistant", "content": [TEXT]},
                item("a"),
                item("b"),
                output("b", "2"),
                output("a", "1"),
                item("c"),
                output("c", "3"),
                {"role": "assistant", "content": "So."},
                {"role": "assistant", "content": "Done."},
            ],
        }
    )

    def asked(id: str) -> dict[str, Any]:
        return {"id": id, "type": "function", "function": {"name": "read_file", "arguments": "{}"}}

    assert found["messages"] == [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "Do it."},
        {"role": "assistant", "content": "Wait.", "tool_calls": [asked("a"), asked("b")]},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": None, "tool_calls": [asked("c")]},
        {"role": "tool", "tool_call_id": "c", "content": "3"},
        {"role": "assistant", "content": "So.Done."},
    ]


def test_tools_and_options_have_their_chat_names() -> None:
    form = {"type": "json_schema", "name": "x", "schema": {}}
    found = chat(
        {
            "input": "Do it.",
            "tools": [READ, {"type": "web_search"}],
            "tool_choice": {"type": "function", "name": "read_file"},
            "text": {"format": form},
            "max_output_tokens": 9,
            "parallel_tool_calls": False,
        }
    )
    named = {"name": "read_file", "parameters": {"type": "object"}}
    assert found == {
        "messages": [{"role": "user", "content": "Do it."}],
        "tools": [{"type": "function", "function": named}],
        "tool_choice": {"type": "function", "function": {"name": "read_file"}},
        "response_format": {"type": "json_schema", "json_schema": form},
        "max_completion_tokens": 9,
        "parallel_tool_calls": False,
    }
    assert chat({"input": "x", "tool_choice": "required"})["tool_choice"] == "required"
    assert items(None) == []


@given(requests)
def test_whatever_comes_has_a_chat_form(request: dict[str, Any]) -> None:
    found = chat(request)
    json.dumps(found)
    assert all(isinstance(message, dict) for message in found["messages"])
    check(request)


def test_a_chat_history_is_written_whole() -> None:
    request = {"model": "m", "instructions": "Be good.", "input": "Do it.", "stream": True, "tools": [READ]}
    history = [*chat(request)["messages"], made("Wait.", [call("a", {"path": "x"})])["choices"][0]["message"]]
    history.append({"role": "tool", "tool_call_id": "a", "content": "1"})
    written = ask({"messages": history}, {**request, "previous_response_id": "resp_1"})
    assert check(written) is None
    assert {key: written[key] for key in ("model", "instructions", "stream", "tools")} == {
        key: request[key] for key in ("model", "instructions", "stream", "tools")
    }
    assert "previous_response_id" not in written
    again = chat(written)["messages"]
    assert [{k: v for k, v in m.items() if v is not None} for m in again] == [
        {k: v for k, v in m.items() if v is not None} for m in history
    ]
    assert "instructions" not in ask({"messages": history[1:]}, request)


@given(completions())
def test_a_completion_survives_the_wire_and_its_stream(said: dict[str, Any]) -> None:
    found = reply(said, {})
    assert same(said, completion(found))
    assert gather(stream(found, {})) == found
    events = sse.read(stream(found, {}))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert (events[0]["type"], events[-1]["type"]) == ("response.created", f"response.{found['status']}")
    written: dict[str, str] = {}
    for event in events:
        if event["type"].endswith(".delta"):
            written[event["item_id"]] = written.get(event["item_id"], "") + event["delta"]
    whole = {
        i["id"]: i["arguments"] if "arguments" in i else i["content"][0]["text"] for i in found["output"]
    }
    assert written == {id: text for id, text in whole.items() if text}
    assert len({i["id"] for i in found["output"]}) == len(found["output"])


def test_a_stream_without_its_end_is_no_response() -> None:
    events = stream(reply(made("x", []), {}), {})
    assert gather(events[: events.rindex(b"event:")]) is None
    assert completion({}) is None


def test_a_refusal_has_the_form_of_the_provider() -> None:
    told = over(10, 12)["error"]
    assert refusal(400, told) == {"error": told}
    assert told["code"] == "context_length_exceeded"
