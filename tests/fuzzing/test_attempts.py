"""Plans are tried once, counted, and of an agent that is not deterministic 4 of 5 runs decide."""

from __future__ import annotations

import pytest

from forge_chaos.fuzzing.attempts import NEEDED, RUNS, Attempts, Spent
from forge_chaos.fuzzing.found import Key
from forge_chaos.notation import parse
from forge_chaos.verdict import Skipped
from tests.fuzzing.searched import RAISES, SUMS, crashing_of, good, lying, made

PLAN = (parse(RAISES),)


def test_a_known_plan_costs_nothing() -> None:
    with made(lying) as campaign:
        attempts = Attempts(campaign, 10)
        first = attempts(SUMS, PLAN)
        assert attempts(SUMS, PLAN) is first
        assert (attempts.spent, attempts.fired) == (1, 1)
        assert first.key == Key(SUMS, "false_success", "file_equals")
        assert (first.failed, first.runs) == (1, 1)
        assert first.trace


def test_the_trace_of_what_did_not_fail_is_not_kept() -> None:
    with made(good) as campaign:
        attempts = Attempts(campaign, 10)
        assert attempts(SUMS, PLAN).trace
        assert (attempts(SUMS, PLAN).trace, attempts(SUMS, PLAN).key) == ((), None)


def test_the_budget_is_kept() -> None:
    with made(good) as campaign:
        attempts = Attempts(campaign, 2)
        assert attempts.clean(SUMS)
        attempts(SUMS, PLAN)
        assert attempts.left == 0
        with pytest.raises(Spent):
            attempts(SUMS, (parse(RAISES.replace("runtime", "os")),))
        attempts(SUMS, PLAN)
        assert attempts.spent == 2


def test_an_agent_that_fails_without_a_fault_is_of_no_use() -> None:
    async def empty(tools: object) -> str:
        return "DONE"

    with made(empty) as campaign:
        found = Attempts(campaign, 9).clean(SUMS)
    assert isinstance(found, Skipped)
    assert found.why.startswith("the agent fails it without any fault: false_success: ")


@pytest.mark.parametrize(
    ("turns", "failed", "runs"),
    [
        (lambda n: True, 5, 5),
        (lambda n: n % 5 != 2, 4, 5),
        (lambda n: n % 5 not in (1, 3), 0, 3),
        (lambda n: n > 2, 0, 2),
    ],
)
def test_four_of_five_runs_decide(turns: object, failed: int, runs: int) -> None:
    assert (RUNS, NEEDED) == (5, 4)
    with made(crashing_of(turns), deterministic=False) as campaign:  # type: ignore[arg-type]  # each takes a number
        attempts = Attempts(campaign, 50)
        tried = attempts(SUMS, PLAN)
    assert tried.runs == attempts.spent == runs
    assert (tried.key is not None) == (failed >= NEEDED)
    assert failed in (0, tried.failed)


def test_the_trial_that_is_shown_is_one_that_failed() -> None:
    with made(crashing_of(lambda n: n != 1), deterministic=False) as campaign:
        tried = Attempts(campaign, 50)(SUMS, PLAN)
    assert tried.key == Key(SUMS, "crashed")
    assert tried.trial.judgement.outcome == "crashed"
