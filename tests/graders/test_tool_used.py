from __future__ import annotations

from typing import Any

from forge_chaos.graders.tool_used import tool_used
from forge_chaos.verdict import Verdict
from tests.traces import did, failed, started, trace

RUN = trace(
    started(),
    did(1, "read_file", {"path": "README.md"}),
    failed(2, "read_file", {"path": "src/a.py"}),
    did(3, "list_files", {"path": "."}),
)


def used(tool: str, **params: Any) -> Verdict:
    return tool_used(RUN, tool=tool, **params)


def test_used_on_any_or_on_one_target() -> None:
    assert used("read_file").truth == "pass"
    assert used("read_file", target="README.md").evidence == (1,)
    assert used("read_file", target="src/*").truth == "pass"
    assert used("*_file*", at_least=3).truth == "pass"


def test_not_used_or_not_often_enough() -> None:
    assert used("write_file").truth == "fail"
    assert used("read_file", target="LICENSE").truth == "fail"
    assert used("read_file", at_least=3).truth == "fail"


def test_used_too_often() -> None:
    assert used("read_file", at_most=2).truth == "pass"
    assert used("read_file", at_most=1).truth == "fail"
