from __future__ import annotations

import pytest

from forge_chaos.graders.file_equals import file_equals
from forge_chaos.recorded import plain
from tests.traces import finished, snapshot, started, trace


def end(text: object) -> str:
    found = file_equals(
        trace(started(), finished(), snapshot({"a.txt": plain(text)})), path="./a.txt", text="1\n2"
    )
    return found.truth


@pytest.mark.parametrize("text", ["1\n2", "1\n2\n"])
def test_one_newline_at_the_end_does_not_matter(text: str) -> None:
    assert end(text) == "pass"


@pytest.mark.parametrize("text", ["1\n2\n\n", " 1\n2", "1\r\n2", "1 2", "", b"1\xff"])
def test_anything_else_does(text: object) -> None:
    assert end(text) == "fail"


def test_strict_wants_the_very_text() -> None:
    world = trace(started(), finished(), snapshot({"a.txt": "1\n"}))
    assert file_equals(world, path="a.txt", text="1", strict=True).truth == "fail"
    assert file_equals(world, path="a.txt", text="1\n", strict=True).truth == "pass"


def test_long_text_is_compared_by_its_hash() -> None:
    text = "x" * 100_000
    world = trace(started(), finished(), snapshot({"a.txt": plain(text)}))
    assert file_equals(world, path="a.txt", text=text).truth == "pass"
    assert file_equals(world, path="a.txt", text=text[:-1] + "y").truth == "fail"


def test_a_missing_file_fails_with_the_snapshot_as_evidence() -> None:
    found = file_equals(trace(started(), finished(), snapshot()), path="a.txt", text="1")
    assert (found.truth, found.evidence, found.why) == ("fail", (2,), "a.txt does not exist")


def test_unknown_world() -> None:
    assert file_equals(trace(started(), snapshot(known=False)), path="a", text="").truth == "unknown"
    assert file_equals(trace(started(), finished()), path="a", text="").truth == "unknown"
