from __future__ import annotations

from forge_chaos.modelserver.view import ToolCall, View


def test_calls_are_equal_by_what_was_asked_and_have_equal_keys_by_content() -> None:
    one, other = ToolCall("read", {"path": "a"}, "x"), ToolCall("read", {"path": " a"}, "y")
    assert one.key == other.key
    assert one != other
    assert one == ToolCall("read", {"path": "a"}, "x")


def test_an_empty_view_knows_no_task() -> None:
    assert View(None).pairs == ()
    assert View(None).task is None
