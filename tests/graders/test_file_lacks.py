from __future__ import annotations

from forge_chaos.graders.file_lacks import file_lacks
from forge_chaos.recorded import plain
from tests.traces import snapshot, started, trace


def truth(text: str, ignore_case: bool = False, resource: object = "one Two three") -> str:
    world = trace(started(), snapshot({"a": plain(resource)}))
    return file_lacks(world, path="a", text=text, ignore_case=ignore_case).truth


def test_text_that_is_there() -> None:
    assert truth("Two") == "fail"


def test_text_that_is_not_there() -> None:
    assert truth("four") == "pass"


def test_case_matters_unless_it_is_ignored() -> None:
    assert truth("two") == "pass"
    assert truth("two", ignore_case=True) == "fail"


def test_a_missing_file_fails_either_way() -> None:
    assert file_lacks(trace(started(), snapshot()), path="a", text="x").truth == "fail"


def test_unknown_where_the_text_is_not_known() -> None:
    assert truth("x", resource=b"\xff") == "unknown"
    assert truth("x", resource="y" * 100_000) == "unknown"
    assert file_lacks(trace(started(), snapshot(known=False)), path="a", text="x").truth == "unknown"
