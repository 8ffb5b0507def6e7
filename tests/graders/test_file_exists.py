from __future__ import annotations

import pytest

from forge_chaos.graders.file_exists import file_exists
from tests.traces import snapshot, started, trace

WORLD = trace(started(), snapshot({"lib/a.py": "", "b": ""}))


@pytest.mark.parametrize("path", ["lib/a.py", "b", "lib", "lib/", "./b"])
def test_what_is_there(path: str) -> None:
    assert file_exists(WORLD, path=path).truth == "pass"


@pytest.mark.parametrize("path", ["a.py", "li", "b/c"])
def test_what_is_not_there(path: str) -> None:
    assert file_exists(WORLD, path=path).truth == "fail"


def test_unknown_world() -> None:
    assert file_exists(trace(started(), snapshot(known=False)), path="b").truth == "unknown"
