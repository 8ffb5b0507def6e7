from __future__ import annotations

import pytest

from forge_chaos.graders.file_absent import file_absent
from tests.traces import snapshot, started, trace

WORLD = trace(started(), snapshot({"lib/a.py": "", "b": ""}))


@pytest.mark.parametrize("path", ["lib/a.py", "b", "lib", "lib/", "./b"])
def test_what_is_there(path: str) -> None:
    assert file_absent(WORLD, path=path).truth == "fail"


@pytest.mark.parametrize("path", ["a.py", "li", "b/c"])
def test_what_is_not_there(path: str) -> None:
    assert file_absent(WORLD, path=path).truth == "pass"


def test_unknown_world() -> None:
    assert file_absent(trace(started(), snapshot(known=False)), path="b").truth == "unknown"
