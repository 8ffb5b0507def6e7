"""What is kept behind a response, for a client that sends what is new alone."""

from __future__ import annotations

from forge_chaos.modelserver.memory import Memory
from forge_chaos.modelserver.responses import reply
from tests.modelserver.completions import call, completion
from tests.modelserver.test_responses_rules import USER, output

ANSWER = reply(completion(None, [call("a", {})]), {})


def test_a_request_is_made_whole() -> None:
    memory = Memory()
    memory.keep({"input": "Do it."}, ANSWER)
    goes_on = {"input": [output("a")], "previous_response_id": ANSWER["id"], "instructions": "Be good."}
    assert memory.missing(goes_on) is None
    whole = memory.whole(goes_on)
    begun = {"type": "message", "role": "user", "content": "Do it."}
    assert whole["input"] == [begun, ANSWER["output"][0], output("a")]
    assert whole["instructions"] == "Be good."
    memory.keep(whole, {**ANSWER, "id": "resp_2", "output": []})
    assert memory.whole({"input": "x", "previous_response_id": "resp_2"})["input"][:3] == whole["input"]


def test_an_item_is_found_by_its_id() -> None:
    memory = Memory()
    memory.keep({"input": "Do it."}, ANSWER)
    [item] = ANSWER["output"]
    for reference in ({"type": "item_reference", "id": item["id"]}, {"id": item["id"]}):
        assert memory.whole({"input": [USER, reference]})["input"] == [USER, item]
    unknown = {"type": "item_reference", "id": "nobody"}
    assert memory.whole({"input": [unknown]})["input"] == [unknown]


def test_what_is_not_kept_is_refused() -> None:
    memory = Memory()
    memory.keep({"input": "Do it.", "store": False}, ANSWER)
    memory.keep({"input": "Do it."}, {"object": "chat.completion", "id": "chatcmpl-1"})
    for id in (ANSWER["id"], "chatcmpl-1", 3, ["x"]):
        refusal = memory.missing({"input": "x", "previous_response_id": id})
        assert refusal is not None
        assert refusal["error"]["code"] == "previous_response_not_found"
        request = {"input": "x", "previous_response_id": id}
        assert memory.whole(request) == request


def test_other_requests_are_left_alone() -> None:
    request = {"messages": [USER], "previous_response_id": None}
    assert Memory().whole(request) is request
    assert Memory().missing(request) is None
