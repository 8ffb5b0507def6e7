from __future__ import annotations

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.graders.error_seen import error_seen
from tests.traces import did, failed, left_open, started, trace


def truth(code: str, told: str) -> str:
    return error_seen(trace(started(), failed(1, "t", {}, {"code": told, "message": ""})), code=code).truth


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("FILE_NOT_FOUND", "not_found"),
        ("COMMAND_BLOCKED", "blocked"),
        ("COMMAND_BLOCKED", "permission"),
        ("INVALID_ARGUMENTS", "invalid_arguments"),
        ("COMMAND_TIMEOUT", "timeout"),
        ("reset", "reset"),
    ],
)
def test_told(code: str, told: str) -> None:
    assert truth(code, told) == "pass"


def test_another_error_or_none() -> None:
    assert truth("FILE_NOT_FOUND", "timeout") == "fail"
    assert error_seen(trace(started(), did(1, "t", {})), code="COMMAND_TIMEOUT").truth == "fail"
    assert error_seen(trace(started(), left_open(1, "t", {})), code="COMMAND_TIMEOUT").truth == "fail"


def test_an_error_that_does_not_exist() -> None:
    with pytest.raises(Misuse, match="Did you mean 'FILE_NOT_FOUND'"):
        truth("FILE_NOT_FOUNT", "not_found")
