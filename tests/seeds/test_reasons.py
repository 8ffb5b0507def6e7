"""The reason is what explains the end of a failed trial, the first that fits."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from forge_chaos.events import Trace
from forge_chaos.seeds.reasons import LAYERS, Reason, reason
from forge_chaos.verdict import Facts, Judgement, Outcome, Trial, Verdict
from tests.traces import did, failed, finished, injected, started, trace, variant

GONE = {"code": "not_found", "type": "FileNotFoundError", "message": "gone"}
WRONG = {"code": "invalid_arguments", "type": "TypeError", "message": "unexpected argument 'file'"}
NO_TOOL = {"code": "unknown_tool", "type": "LookupError", "message": "no tool 'reed'"}
A = {"path": "a"}


def trial(outcome: Outcome = "false_success", acceptable: bool = False, **facts: Any) -> Trial:
    judgement = Judgement(outcome, acceptable, True, "why")
    return Trial("t1", "s", "fault", (), 1, 0, (), Facts(**facts), judgement)


def verdict(name: str, truth: Any = "fail", *evidence: int) -> Verdict:
    return Verdict(name, truth, "", evidence)


def say(*parts: Any) -> Trace:
    return trace(started(), *parts, finished())


READ = did(1, "read_file", A)
CASES: list[tuple[Reason, str, Trial, Trace]] = [
    ("MAX_STEPS_EXCEEDED", "harness", trial("looped", end="stopped"), say(failed(1, "read_file", A, GONE))),
    ("MAX_STEPS_EXCEEDED", "harness", trial(end="limit"), say(READ)),
    ("FILE_NOT_FOUND_UNRECOVERED", "environment", trial(), say(failed(1, "read_file", A, GONE))),
    (
        "FILE_NOT_FOUND_UNRECOVERED",
        "environment",
        trial(),
        say(did(1, "read_file", A, "FILE_NOT_FOUND: a")),
    ),
    ("COMMAND_TIMEOUT", "environment", trial(), say(failed(1, "run_command", {"command": "make"}))),
    ("INVALID_ARGUMENTS", "tool", trial(), say(failed(1, "read_file", {"file": "a"}, WRONG))),
    (
        "COMMAND_TIMEOUT",
        "environment",
        trial(),
        say(failed(1, "read_file", A, GONE), failed(2, "read_file", {"path": "b"})),
    ),
    ("TOOL_SELECTION_ERROR", "model", trial(graders=(verdict("tool_used"),)), say(READ)),
    ("TOOL_SELECTION_ERROR", "model", trial(), say(READ, failed(2, "reed", {}, NO_TOOL))),
    ("FINAL_ANSWER_INCOMPLETE", "model", trial(graders=(verdict("answer_contains"),)), say(READ)),
    (
        "MODEL_UNDERSTANDING_ERROR",
        "model",
        trial(graders=(verdict("answer_contains"), verdict("file_equals"))),
        say(READ),
    ),
    ("MODEL_UNDERSTANDING_ERROR", "model", trial(graders=(verdict("answer_contains"),)), say()),
    ("MODEL_UNDERSTANDING_ERROR", "model", trial("damaged", goal="full", damage=(verdict("x"),)), say(READ)),
    ("UNKNOWN", "harness", trial("crashed", end="raised"), say(READ)),
    ("UNKNOWN", "harness", trial("invalid", broken="grader"), say(failed(1, "read_file", A, GONE))),
    ("UNKNOWN", "harness", trial("hung", end="hung"), say(READ)),
    ("UNKNOWN", "unknown", trial("undersold", goal="full", claim="failed"), say(READ)),
    ("CONTEXT_LOSS", "harness", trial("violated", violations=(verdict("compaction_grew"),)), say(READ)),
    (
        "CONTEXT_LOSS",
        "harness",
        trial("gave_up"),
        trace(started(), READ, finished("FAILED: I no longer know the task")),
    ),
]


@pytest.mark.parametrize(
    ("wanted", "layer", "of", "seen"), CASES, ids=[f"{c[0]}-{n}" for n, c in enumerate(CASES)]
)
def test_the_first_reason_that_fits(wanted: str, layer: str, of: Trial, seen: Trace) -> None:
    assert reason(of, seen) == (wanted, layer)


def test_a_cut_of_the_history_is_a_lost_context_whatever_came_of_it() -> None:
    rule = "truncated_context.newest@2"
    known = {rule: variant("truncated_context", "newest", family="context")}
    seen = trace(started(rule, variants=known), injected(rule, request=2), finished())
    assert reason(trial("looped", end="stopped"), seen) == ("CONTEXT_LOSS", "harness")


def test_a_trial_that_did_not_fail_has_none() -> None:
    assert reason(trial("gave_up", acceptable=True), say(failed(1, "read_file", A, GONE))) is None


def test_an_error_that_was_got_over_or_asked_for_explains_nothing() -> None:
    over = say(failed(1, "read_file", A, GONE), did(2, "read_file", A))
    assert reason(trial(graders=(verdict("answer_contains"),)), over) == ("FINAL_ANSWER_INCOMPLETE", "model")
    asked = trial(graders=(verdict("error_seen", "pass", 3), verdict("answer_contains")))
    assert reason(asked, say(failed(1, "read_file", A, GONE))) == ("FINAL_ANSWER_INCOMPLETE", "model")


def test_every_reason_has_its_layer_and_a_case() -> None:
    assert set(LAYERS) == set(get_args(Reason))
    assert {case[0] for case in CASES} == set(get_args(Reason))
