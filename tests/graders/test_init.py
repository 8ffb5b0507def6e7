from __future__ import annotations

from typing import Any

from forge_chaos import registry
from forge_chaos.events import Trace
from tests.traces import started, trace

EXAMPLES: dict[str, dict[str, Any]] = {
    "answer_contains": {"text": "x"},
    "answer_equals": {"text": "x"},
    "answer_lacks": {"text": "x"},
    "answer_matches": {"pattern": "x"},
    "check_command": {"command": "true", "seconds": 5},
    "error_seen": {"code": "FILE_NOT_FOUND"},
    "file_absent": {"path": "x"},
    "file_changed": {"glob": "x"},
    "file_contains": {"path": "x", "text": "x"},
    "file_equals": {"path": "x", "text": "x", "strict": True},
    "file_exists": {"path": "x"},
    "file_json": {"path": "x", "value": {"a": [1]}},
    "file_lacks": {"path": "x", "text": "x"},
    "file_unchanged": {"path": "x"},
    "ledger_count": {"kind": "x", "count": 1},
    "ledger_equals": {"entries": [{"kind": "x"}]},
    "record_equals": {"table": "x", "id": "x", "fields": {"a": 1}},
    "steps_at_most": {"n": 1},
    "tool_not_used": {"tool": "x"},
    "tool_used": {"tool": "x", "at_most": 1},
}


def never(trace: Trace) -> bool:
    return False


def test_every_grader_is_found_by_name_and_takes_its_parameters_from_data() -> None:
    assert registry.names("graders") == tuple(sorted([*EXAMPLES, "function"]))
    run = trace(started())
    for name, params in EXAMPLES.items():
        verdict = registry.bound("graders", name, params)(run)
        assert verdict.name == name
        assert verdict.why
        assert verdict.truth in ("fail", "unknown") or name in ("tool_not_used", "steps_at_most")
    assert registry.bound("graders", "function", {"call": never})(run).truth == "fail"
