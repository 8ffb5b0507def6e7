from __future__ import annotations

from forge_chaos.modelserver.refusals import invalid, too_long, unanswered, unasked


def test_a_refusal_names_what_is_wrong_and_where() -> None:
    assert invalid("no", "messages") == {
        "error": {"message": "no", "type": "invalid_request_error", "param": "messages", "code": None}
    }
    assert "c1, c2" in unanswered(["c1", "c2"], 3)["error"]["message"]
    assert unasked(3)["error"]["param"] == "messages.[3].role"
    assert too_long(100, 120)["error"]["code"] == "context_length_exceeded"
