"""What a model is shown in text fields, and what it says back in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos.adapters._fields import chat, fields, steps, wanted

TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]
NEXT = (
    "\n\nRespond with the corresponding output fields, starting with the field `[[ ## next_thought ## ]]`, then "
    "`[[ ## next_tool_name ## ]]`, then `[[ ## next_tool_args ## ]]`, and then ending with the marker for "
    "`[[ ## completed ## ]]`."
)
LAST = (
    "\n\nRespond with the corresponding output fields, starting with the field `[[ ## reasoning ## ]]`, then "
    "`[[ ## answer ## ]]`, and then ending with the marker for `[[ ## completed ## ]]`."
)
JSON = "\n\nRespond with a JSON object in the following order of fields: `next_thought`, then `next_tool_name`, then `next_tool_args`."
STEP = (
    "[[ ## thought_0 ## ]]\nI look.\n\n[[ ## tool_name_0 ## ]]\nread_file\n\n"
    '[[ ## tool_args_0 ## ]]\n{"path": "a.csv"}\n\n[[ ## observation_0 ## ]]\none\n\ntwo\n[[ ## not a field'
)


def request(trajectory: str = "", asks: str = NEXT) -> dict[str, Any]:
    user = f"[[ ## task ## ]]\nAdd it up.\n\n[[ ## trajectory ## ]]\n{trajectory}{asks}"
    return {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": user}],
    }


def completion(**message: Any) -> dict[str, Any]:
    return {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "x"}]}


def said(body: dict[str, Any], **message: Any) -> str:
    return str(fields(body, completion(**message))["choices"][0]["message"]["content"])


CALL = {"id": "1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "b"}'}}


def test_a_first_request_is_the_task_alone() -> None:
    asked = chat(request(), "task", TOOLS)
    assert [m["content"] for m in asked["messages"]] == ["Rules.", "Add it up."]
    assert (asked["tools"], asked["parallel_tool_calls"]) == (TOOLS, False)


def test_a_step_is_a_call_and_its_result() -> None:
    asked = chat(request(STEP), "task", TOOLS)
    call, result = asked["messages"][2:]
    assert call["tool_calls"][0]["function"] == {"name": "read_file", "arguments": '{"path": "a.csv"}'}
    assert (call["content"], result["content"]) == ("I look.", "one\n\ntwo\n[[ ## not a field")
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]


def test_the_last_request_offers_no_tools_and_leaves_the_finish_out() -> None:
    finish = STEP.replace("_0", "_1").replace("read_file", "finish")
    asked = chat(request(f"{STEP}\n\n{finish}", LAST), "task", TOOLS)
    assert "tools" not in asked
    assert len(asked["messages"]) == 4


def test_the_steps_are_told_apart_by_their_numbers() -> None:
    both = steps(f"{STEP}\n\n{STEP.replace('_0', '_1')}")
    assert both[0] == both[1]
    assert both[0]["tool_name"] == "read_file"


def test_a_call_is_told_in_the_fields_that_are_wanted() -> None:
    assert wanted(request()) == ["next_thought", "next_tool_name", "next_tool_args"]
    text = said(request(), role="assistant", content=None, tool_calls=[CALL])
    assert "[[ ## next_tool_name ## ]]\nread_file\n" in text
    assert '[[ ## next_tool_args ## ]]\n{"path": "b"}\n' in text
    assert text.endswith("[[ ## completed ## ]]")


def test_broken_arguments_stay_broken() -> None:
    broken = {**CALL, "function": {"name": "read_file", "arguments": '{"path'}}
    assert '{"path\n' in said(request(), role="assistant", tool_calls=[broken])


def test_a_text_ends_the_steps_and_is_the_answer_when_that_is_wanted() -> None:
    assert "[[ ## next_tool_name ## ]]\nfinish\n" in said(request(), role="assistant", content="DONE")
    assert "[[ ## answer ## ]]\nDONE\n" in said(request("", LAST), role="assistant", content="DONE")


def test_json_is_written_where_json_is_wanted() -> None:
    text = said(request("", JSON), role="assistant", tool_calls=[CALL])
    assert json.loads(text)["next_tool_args"] == {"path": "b"}


def test_a_reply_without_a_message_goes_on_as_it_is() -> None:
    assert fields(request(), {"choices": []}) == {"choices": []}


@pytest.mark.parametrize("content", [None, ""])
def test_a_reply_that_says_nothing_is_not_told_in_fields(content: str | None) -> None:
    empty = completion(role="assistant", content=content)
    assert fields(request(), empty) == empty
