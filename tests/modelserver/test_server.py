from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_chaos.modelserver import wires
from forge_chaos.modelserver.run import SolutionError
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.reference import perform
from tests.modelserver import small
from tests.modelserver.bodies import requests

CHAT = "/v1/chat/completions"
TOOLS = [one.openai() for one in small.SPECS.values()]


def request(*messages: Any) -> bytes:
    first = {"role": "user", "content": small.SUM.prompt}
    return json.dumps({"model": "m", "messages": [first, *messages], "tools": TOOLS}).encode()


def model(**more: Any) -> ScriptedModel:
    return ScriptedModel(small.SUM, "expert", small.SPECS, **more)


def first_id(body: bytes) -> str:
    return str(json.loads(body)["choices"][0]["message"]["tool_calls"][0]["id"])


def error(body: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body)["error"]
    return found


def test_a_request_is_answered_with_the_next_move() -> None:
    response = model()(CHAT, request())
    assert (response.status, response.wait) == (200, 0.0)
    assert (
        json.loads(response.body)["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "read_file"
    )


def test_a_wait_is_told_beside_the_response() -> None:
    scripted = model()
    reply = json.loads(scripted(CHAT, request()).body)["choices"][0]["message"]
    busy = {"role": "tool", "tool_call_id": reply["tool_calls"][0]["id"], "content": "503, retry after 7 s"}
    assert scripted(CHAT, request(reply, busy)).wait == 7.0


@pytest.mark.parametrize("path", ["/v1/completions", "/", "/v2/chat/completions"])
def test_other_paths_are_not_there(path: str) -> None:
    response = model()(path, request())
    assert response.status == 404
    assert error(response.body)["type"] == "invalid_request_error"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff{}", b'{"messages": [NaN]}', b"[" * 100_000])
def test_what_is_no_json_is_refused(body: bytes) -> None:
    response = model()(CHAT, body)
    assert response.status == 400
    assert "not valid JSON" in error(response.body)["message"]


def test_a_request_that_breaks_the_rules_is_refused() -> None:
    assert model()(CHAT, b'{"messages": []}').status == 400
    too_long = model(window=10)(CHAT, request())
    assert (too_long.status, error(too_long.body)["code"]) == (400, "context_length_exceeded")


def test_the_budget_is_kept() -> None:
    scripted = model(budget=2)
    assert [scripted(CHAT, request()).status for _ in range(3)] == [200, 200, 400]
    assert error(scripted(CHAT, request()).body)["type"] == "budget"


def test_a_retry_by_the_client_is_no_new_question() -> None:
    scripted = model()
    first = first_id(scripted(CHAT, request()).body)
    assert first_id(scripted(CHAT + "?retry=1", request()).body) == first
    assert first_id(scripted(CHAT, request()).body) != first


def test_a_response_that_never_arrived_is_taken_back() -> None:
    scripted = model()
    first = first_id(scripted(CHAT, request()).body)
    scripted.withdraw()
    assert first_id(scripted(CHAT, request()).body) == first


def test_each_model_has_a_ledger_of_its_own() -> None:
    assert first_id(model()(CHAT, request()).body) == first_id(model()(CHAT, request()).body)


def test_a_solution_that_raises_on_a_clean_run_is_told() -> None:
    async def solve(task: Any, tools: Any) -> str:
        raise KeyError("bug")

    scenario = small.scenario("sum", solve)
    with pytest.raises(SolutionError):
        ScriptedModel(scenario, "expert", small.SPECS, clean=True)(CHAT, request())


# --- every wire ---------------------------------------------------------------------------------------------

RESPONSES, MESSAGES, COUNT = "/v1/responses", "/v1/messages", "/v1/messages/count_tokens"
PATHS = (CHAT, RESPONSES, MESSAGES)
FLAT = [{"type": "function", **tool["function"]} for tool in TOOLS]
BLOCK = [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]} for t in FLAT]
ASKING: Mapping[str, dict[str, Any]] = {
    CHAT: {"model": "m", "tools": TOOLS, "messages": []},
    RESPONSES: {"model": "m", "tools": FLAT, "input": []},
    MESSAGES: {"model": "m", "tools": BLOCK, "messages": [], "max_tokens": 100},
}


def asking(path: str, history: list[dict[str, Any]], **more: Any) -> bytes:
    """A request with this chat history, on the wire of that path."""
    wire = wires.at(path)
    assert wire is not None
    return json.dumps({**wire.ask({**ASKING[path], "messages": history}, ASKING[path]), **more}).encode()


def said(path: str, body: bytes) -> dict[str, Any]:
    """The assistant message in an answer, plain or streamed."""
    wire = wires.at(path)
    assert wire is not None
    found: dict[str, Any] | None = json.loads(body) if body.startswith(b"{") else wire.gather(body)
    assert found is not None
    completion = wire.completion(found)
    assert completion is not None
    message: dict[str, Any] = completion["choices"][0]["message"]
    return message


FIRST = [{"role": "user", "content": small.SUM.prompt}]


def error_of(path: str, body: bytes) -> dict[str, Any]:
    """The error in the form of the wire's provider."""
    found = json.loads(body)
    if path == MESSAGES:
        assert set(found) == {"type", "error", "request_id"}
        assert found["type"] == "error"
        assert set(found["error"]) == {"type", "message"}
    else:
        assert set(found) == {"error"}
        assert set(found["error"]) == {"message", "type", "param", "code"}
    told: dict[str, Any] = found["error"]
    return told


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", [b"", b"{", b"\xff{}", b'{"n": NaN}', b"[" * 100_000, b"[]", b"3", b"null"])
def test_what_is_no_request_is_refused_on_every_wire(path: str, body: bytes) -> None:
    response = model()(path, body)
    assert response.status == 400
    assert error_of(path, response.body)["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", PATHS)
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(path: str) -> None:
    whole = asking(path, FIRST)
    for place in (b'"model": "m', b'"description": "', b'"type": "', b"Task sum"):
        assert place in whole
        response = model()(path, whole.replace(place, place + b"\\uD83d", 1))
        assert response.status == 400
        assert "not valid JSON" in error_of(path, response.body)["message"]
    assert model()(path, whole.replace(b"Task sum", b"\\ud83d\\ude00 Task sum", 1)).status == 200


@pytest.mark.parametrize("path", PATHS)
def test_a_request_over_the_window_is_refused_on_every_wire(path: str) -> None:
    response = model(window=10)(path, asking(path, FIRST))
    assert response.status == 400
    assert any(word in error_of(path, response.body)["message"] for word in ("context", "too long"))


@pytest.mark.parametrize("path", PATHS)
def test_the_budget_is_refused_in_the_form_of_the_wire(path: str) -> None:
    response = model(budget=0)(path, asking(path, FIRST))
    assert response.status == 400
    assert "budget" in error_of(path, response.body)["message"]


@pytest.mark.parametrize("path", PATHS)
def test_a_form_that_no_text_has_is_refused_and_one_that_it_has_is_given(path: str) -> None:
    def wanted(kind: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"x": {"type": kind}}, "required": ["x"]}
        form = {"type": "json_schema", "name": "n", "schema": schema}
        if path == CHAT:
            return {"response_format": {"type": "json_schema", "json_schema": form}}
        return {"text": {"format": form}} if path == RESPONSES else {"output_config": {"format": form}}

    forgotten = [{"role": "user", "content": "Hello"}]
    response = model()(path, asking(path, forgotten, **wanted("number")))
    assert response.status == 400
    assert "string" in error_of(path, response.body)["message"]
    told = said(path, model()(path, asking(path, forgotten, **wanted("string"))).body)
    assert json.loads(told["content"]) == {"x": "FAILED: I no longer know the task"}


@pytest.mark.parametrize("path", PATHS)
def test_where_an_answer_tool_is_forced_the_answer_goes_through_it_on_every_wire(path: str) -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    function = {"name": "final_answer", "description": "", "parameters": schema}
    forced: Mapping[str, dict[str, Any]] = {
        CHAT: {"tools": [{"type": "function", "function": function}], "tool_choice": "required"},
        RESPONSES: {"tools": [{"type": "function", **function}], "tool_choice": "required"},
        MESSAGES: {
            "tools": [{"name": "final_answer", "input_schema": schema}],
            "tool_choice": {"type": "any"},
        },
    }
    told = said(path, model()(path, asking(path, FIRST, **forced[path])).body)
    [call] = told["tool_calls"]
    assert call["function"]["name"] == "final_answer"
    assert json.loads(call["function"]["arguments"])["answer"].startswith("FAILED: there is no tool")


@pytest.mark.parametrize("path", PATHS)
def test_without_tools_a_last_answer_is_given(path: str) -> None:
    request = {k: v for k, v in json.loads(asking(path, FIRST)).items() if k != "tools"}
    told = said(path, model()(path, json.dumps(request).encode()).body)
    assert "tool_calls" not in told
    assert "no more calls" in told["content"]


def test_a_response_goes_on_from_what_is_kept() -> None:
    scripted = model()
    begun = json.loads(scripted(RESPONSES, asking(RESPONSES, FIRST)).body)
    [item] = begun["output"]
    answer = {"type": "function_call_output", "call_id": item["call_id"], "output": "id,amount\nA,1\n"}
    new = {**ASKING[RESPONSES], "input": [answer], "previous_response_id": begun["id"]}
    assert said(RESPONSES, scripted(RESPONSES, json.dumps(new).encode()).body)["tool_calls"][0][
        "function"
    ] == {
        "name": "write_file",
        "arguments": '{"path": "out/total.txt", "text": "1"}',
    }
    lost = scripted(RESPONSES, json.dumps({**new, "previous_response_id": "resp_x"}).encode())
    assert lost.status == 400
    assert error_of(RESPONSES, lost.body)["code"] == "previous_response_not_found"
    alone = scripted(RESPONSES, json.dumps({**new, "previous_response_id": None}).encode())
    assert alone.status == 400
    assert "No tool call found" in error_of(RESPONSES, alone.body)["message"]


def test_tokens_are_counted_without_an_answer() -> None:
    asked = {k: v for k, v in json.loads(asking(MESSAGES, FIRST)).items() if k != "max_tokens"}
    scripted = model()
    response = scripted(COUNT, json.dumps(asked).encode())
    assert response.status == 200
    assert json.loads(response.body)["input_tokens"] > 100
    assert scripted(COUNT, b'{"model": "m"}').status == 400
    assert first_id(scripted(CHAT, request()).body).endswith("_0")


def test_a_client_may_ask_what_models_there_are() -> None:
    scripted = model(budget=0)
    listed = json.loads(scripted("/t/1/v1/models", b"").body)
    assert [one["id"] for one in listed["data"]] == ["scripted"]
    assert (listed["object"], listed["has_more"]) == ("list", False)
    assert json.loads(scripted("/v1/models/gpt-9", b"").body)["id"] == "gpt-9"


@given(st.sampled_from([*PATHS, COUNT]), requests)
@settings(max_examples=150, deadline=None)
def test_whatever_comes_is_answered_or_refused(path: str, body: dict[str, Any]) -> None:
    response = model()(path, json.dumps(body).encode())
    assert response.status in (200, 400)
    if response.status == 400:
        error_of(MESSAGES if path == COUNT else path, response.body)


kinds = st.dictionaries(
    st.tuples(
        st.sampled_from(("read_file", "write_file", "charge", "list_charges", "job")), st.integers(1, 3)
    ),
    st.sampled_from(small.KINDS),
    max_size=3,
)


@given(st.sampled_from(small.SCENARIOS), st.sampled_from(small.PERSONAS), kinds, st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_same_trial_makes_the_same_moves_on_every_wire(
    scenario: Any, persona: str, troubles: Mapping[tuple[str, int], str], streamed: bool
) -> None:
    def moves(path: str) -> Any:
        world = small.World(lambda name, args, nth: troubles.get((name, nth)))
        scripted = ScriptedModel(scenario, persona, small.SPECS, budget=40)
        history: list[dict[str, Any]] = [{"role": "user", "content": scenario.prompt}]
        waits: list[float] = []
        while True:
            response = scripted(path, asking(path, history, stream=streamed))
            if response.status != 200:
                return (
                    world.calls,
                    world.files,
                    world.charges,
                    waits,
                    error_of(path, response.body)["message"],
                )
            world.pass_time(response.wait)
            waits.append(response.wait)
            history.append(said(path, response.body))
            if not history[-1].get("tool_calls"):
                return world.calls, world.files, world.charges, waits, history[-1]["content"]
            for call in history[-1]["tool_calls"]:
                text, _ = asyncio.run(perform(world, call))
                history.append({"role": "tool", "tool_call_id": call["id"], "content": text})

    assert moves(RESPONSES) == moves(CHAT)
    assert moves(MESSAGES) == moves(CHAT)
