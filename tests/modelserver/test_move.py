from __future__ import annotations

from forge_chaos.modelserver.move import Ask, Say
from forge_chaos.modelserver.view import ToolCall


def test_moves_are_compared_by_what_they_do() -> None:
    call = ToolCall("read", {"path": "a"})
    assert Ask((call,)) == Ask((ToolCall("read", {"path": "a"}),), 0.0)
    assert Ask((call,), 5.0) != Ask((call,))
    assert Say("DONE") != Say("FAILED: no")
