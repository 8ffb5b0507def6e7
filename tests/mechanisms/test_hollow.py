from __future__ import annotations

from copy import deepcopy

import pytest

from forge_chaos.mechanisms.hollow import hollow
from forge_chaos.nouns import Err, Ok

from .replies import asks, finish, met, says

CALL = asks(("read_file", {"path": "a"}), content="Let me look.")


def test_a_reply_without_a_message() -> None:
    result, trial, _ = met(hollow, CALL, of="choices")
    assert isinstance(result, Ok)
    assert result.value == {"id": "r", "choices": []}
    assert trial.fired == [{"changed": [], "of": "choices"}]


@pytest.mark.parametrize(("of", "content"), [("text", ""), ("content", None)])
def test_a_message_with_nothing_in_it(of: str, content: str | None) -> None:
    for message in (CALL, says("DONE")):
        before = deepcopy(message)
        result, trial, ran = met(hollow, message, of=of)
        assert isinstance(result, Ok)
        assert result.value["choices"][0]["message"] == {"role": "assistant", "content": content}
        assert finish(result) == "stop"
        assert (len(trial.fired), ran) == (1, 1)
        assert message == before


def test_what_is_refused_is_refused() -> None:
    refused = Err("runtime", "overloaded")
    result, trial, _ = met(hollow, refused, of="text")
    assert (result, trial.fired) == (refused, [])
