from __future__ import annotations

import pytest

from forge_chaos.graders.file_json import file_json
from tests.traces import snapshot, started, trace


def truth(text: object, value: object) -> str:
    return file_json(trace(started(), snapshot({"a.json": text})), path="a.json", value=value).truth


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"b": 1,\n "a": [1, 2]}', {"a": [1, 2], "b": 1}),
        ("1.0", 1),
        ("null", None),
        ('[{"x": true}]', [{"x": True}]),
    ],
)
def test_the_same_value(text: str, value: object) -> None:
    assert truth(text, value) == "pass"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2]", [2, 1]),
        ("1", True),
        ("true", 1),
        ("[1]", [1, 1]),
        ('{"a": 1}', {}),
        ("{a: 1}", {"a": 1}),
        ("", None),
    ],
)
def test_another_value_or_no_json(text: str, value: object) -> None:
    assert truth(text, value) == "fail"


def test_missing_and_unknown() -> None:
    assert file_json(trace(started(), snapshot()), path="a.json", value=1).truth == "fail"
    assert truth({"$type": "bytes", "$b64": "/w=="}, 1) == "unknown"
    assert file_json(trace(started()), path="a.json", value=1).truth == "unknown"
