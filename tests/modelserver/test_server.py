from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos.modelserver.run import SolutionError
from forge_chaos.modelserver.server import ScriptedModel
from tests.modelserver import small

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
