"""A transcript holds what the agent was told and how it was graded, and nothing that it never learnt."""

from __future__ import annotations

import json

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.renderers.transcript import case, transcript
from tests.test_score import card, clean, trial
from tests.traces import did, failed, finished, left_open, snapshot, started, trace

TRACE = trace(
    started("timeout@1"),
    failed(1, "read_file", {"path": "a"}, rule="timeout@1"),
    did(2, "read_file", {"path": "a"}, {"n": [1]}),
    left_open(3, "run_command", {"command": "sleep 9"}),
    finished("It is 1.\nDONE"),
    snapshot(),
)


def test_a_case_is_exactly_the_object_of_the_format() -> None:
    done = trial("recovered", "timeout@1", why="The goal is reached.")
    assert case(done, TRACE) == {
        "case_id": f"{done.scenario} [timeout@1]",
        "trace": [
            {"tool": "read_file", "arguments": {"path": "a"}, "result": "TimeoutError: timed out"},
            {"tool": "read_file", "arguments": {"path": "a"}, "result": {"n": [1]}},
            {"tool": "run_command", "arguments": {"command": "sleep 9"}, "result": None},
        ],
        "answer": "It is 1.\nDONE",
        "grade": {"success": True, "reason": "The goal is reached."},
    }


def test_a_run_is_an_array_and_a_trace_that_was_not_kept_is_null() -> None:
    trials = [clean(), trial("false_success", "timeout@1")]

    def traces(id: str) -> Trace:
        if id != trials[1].id:
            raise Misuse("not kept")
        return TRACE

    one, two = json.loads(transcript(card(trials), trials, traces=traces))
    assert (one["case_id"], one["trace"], one["answer"]) == (trials[0].scenario, None, None)
    assert one["grade"]["success"] is True
    assert two["grade"]["success"] is False
    assert len(two["trace"]) == 3


def test_without_traces_there_is_none() -> None:
    with pytest.raises(Misuse, match="needs the traces"):
        transcript(card([]), [])
