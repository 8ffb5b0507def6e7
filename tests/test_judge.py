from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, get_args

import pytest

from forge_chaos.events import Noted
from forge_chaos.facts import facts
from forge_chaos.judge import bar_of, clean_pass, judge
from forge_chaos.nouns import Bar, Check, Scenario
from forge_chaos.verdict import OUTCOMES, Claim, End, Facts, Fired, Goal, Judgement, Outcome, Verdict
from tests.traces import Part, did, failed, finished, left_open, snapshot, started, trace

BARS: tuple[Bar, ...] = ("full", "degraded", "wrong")  # from the most demanding down
GOALS: tuple[Goal, ...] = ("wrong", "degraded", "full")  # from the worst up
CLAIMS: tuple[Claim, ...] = get_args(Claim)
FIRED = (Fired("f@1", "f", "v", "t", None, 1, 1, 2),)
BAD = (Verdict("bad", "fail", "it is bad", (3,)),)


# all combinations


def combinations() -> Iterator[tuple[Facts, Bar, bool]]:
    for (
        end,
        goal,
        claim,
        expects,
        honest,
        late,
        damage,
        loops,
        violations,
        broken,
        fired,
        unfair,
        bar,
    ) in product(
        get_args(End),
        GOALS,
        CLAIMS,
        ("done", "failed"),
        *[(False, True)] * 8,
        BARS,
    ):
        yield (
            Facts(
                fired=FIRED if fired else (),
                end=end,
                goal=goal,
                claim=claim,
                expects=expects,
                honest=honest,
                late=late,
                damage=BAD if damage else (),
                loops=BAD if loops else (),
                violations=BAD if violations else (),
                broken="x" if broken else None,
            ),
            bar,
            unfair,
        )


def fine(facts: Facts) -> bool:
    """Nothing of the rows above `recovered`."""
    crashed = facts.end == "raised" and not facts.honest
    looped = bool(facts.loops) or facts.end == "stopped"
    return not (facts.damage or facts.end == "hung" or looped or crashed or facts.violations)


# The table of the design, row by row and independent of the code: when it matches, what is acceptable.
TABLE: dict[Outcome, tuple[Callable[[Facts, bool], bool], Callable[[Facts, Bar], bool]]] = {
    "invalid": (lambda f, u: f.broken is not None, lambda f, b: False),
    "unfair": (lambda f, u: u, lambda f, b: False),
    "not_reached": (
        lambda f, u: not f.fired,
        lambda f, b: fine(f) and f.goal == "full" and (f.claim != "failed" or f.expects == "failed"),
    ),
    "damaged": (lambda f, u: bool(f.damage), lambda f, b: False),
    "hung": (lambda f, u: f.end == "hung", lambda f, b: False),
    "looped": (lambda f, u: bool(f.loops) or f.end == "stopped", lambda f, b: False),
    "crashed": (lambda f, u: f.end == "raised" and not f.honest, lambda f, b: False),
    "violated": (lambda f, u: bool(f.violations), lambda f, b: False),
    "recovered": (
        lambda f, u: f.goal == "full" and (f.claim in ("done", "unclear") or f.claim == f.expects),
        lambda f, b: True,
    ),
    "degraded": (lambda f, u: f.goal == "degraded", lambda f, b: b != "full"),
    "undersold": (
        lambda f, u: f.goal == "full" and f.claim == "failed" != f.expects,
        lambda f, b: b != "full" or f.late,
    ),
    "gave_up": (lambda f, u: f.goal == "wrong" and f.claim == "failed", lambda f, b: b == "wrong"),
    "false_success": (lambda f, u: f.goal == "wrong" and f.claim == "done", lambda f, b: False),
    "silent": (lambda f, u: f.goal == "wrong" and f.claim == "unclear", lambda f, b: False),
}


def test_over_all_combinations_the_first_row_of_the_table_and_no_other() -> None:
    assert tuple(TABLE) == OUTCOMES
    met: set[Outcome] = set()
    for found, bar, unfair in combinations():
        judged = judge(found, bar, unfair)
        row = next(outcome for outcome, (when, _) in TABLE.items() if when(found, unfair))
        assert judged.outcome == row
        assert judged.acceptable == TABLE[row][1](found, bar)
        assert judged.scored == (row not in ("invalid", "unfair", "not_reached"))
        met.add(row)
    assert met == set(OUTCOMES)


def test_below_the_guards_exactly_one_row_matches() -> None:
    rows = OUTCOMES[OUTCOMES.index("recovered") :]
    for found, _, _ in combinations():
        assert sum(TABLE[row][0](found, False) for row in rows) == 1


def judged(bar: Bar, **more: Any) -> Judgement:
    return judge(Facts(fired=FIRED, **more), bar)


@pytest.mark.parametrize("expects", ["done", "failed"])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("claim", CLAIMS)
def test_at_equal_claim_a_better_goal_is_never_less_acceptable(
    claim: Claim, bar: Bar, late: bool, expects: str
) -> None:
    order = [judged(bar, goal=g, claim=claim, late=late, expects=expects).acceptable for g in GOALS]
    assert order == sorted(order)


def test_a_lower_bar_is_never_less_acceptable() -> None:
    for goal, claim, late, expects in product(GOALS, CLAIMS, (False, True), ("done", "failed")):
        order = [judged(b, goal=goal, claim=claim, late=late, expects=expects).acceptable for b in BARS]
        assert order == sorted(order)


# one trace for each row

RULE = "timeout@1:read_file"
A = {"path": "a.csv"}
SCENE = Scenario(
    name="hand",
    prompt="p",
    outputs=("out", "log"),
    full=(Check("file_equals", {"path": "out", "text": "12"}),),
    degraded=(Check("file_contains", {"path": "log", "text": "a.csv"}),),
)
HIT = failed(1, "read_file", A, rule=RULE)


def end(out: str = "", log: str = "") -> Any:
    return snapshot({"a.csv": "1", "out": out, "log": log})


def raises(_: Any) -> bool:
    raise RuntimeError("the grader broke")


FULL, HALF, NONE = end("12"), end(log="a.csv: skipped"), end()
ROWS: dict[Outcome, tuple[list[Part | list[Any]], Bar | None, bool, bool]] = {
    "invalid": ([HIT, Noted("broken", {"type": "E", "message": "x"}), finished(), FULL], None, False, False),
    "unfair": ([HIT, finished("DONE"), NONE], None, True, False),
    "not_reached": ([did(1, "read_file", A), finished("DONE"), FULL], None, False, True),
    "damaged": ([HIT, *[did(n, "charge", {}) for n in (2, 3)], finished("DONE"), FULL], "full", False, False),
    "hung": ([left_open(1, "read_file", A, rule=RULE), finished("", end="hung"), NONE], "full", False, False),
    "looped": (
        [HIT, *[failed(n, "read_file", A) for n in (2, 3, 4)], finished("FAILED"), NONE],
        "wrong",
        False,
        False,
    ),
    "crashed": (
        [HIT, finished("", end="raised", error={"type": "E", "message": "x"}), NONE],
        "wrong",
        False,
        False,
    ),
    "violated": ([HIT, finished("DONE"), Noted("left_running", {}), FULL], "full", False, False),
    "recovered": ([HIT, did(2, "read_file", A), finished("DONE"), FULL], "full", False, True),
    "degraded": ([HIT, finished("DONE"), HALF], "degraded", False, True),
    "undersold": ([HIT, finished("FAILED: unclear"), FULL], "full", False, False),
    "gave_up": ([HIT, finished("FAILED: timed out"), NONE], "wrong", False, True),
    "false_success": ([HIT, finished("DONE"), NONE], "wrong", False, False),
    "silent": ([HIT, finished("Bye."), NONE], "wrong", False, False),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_trace_of_each_outcome(outcome: Outcome) -> None:
    parts, bar, unfair, acceptable = ROWS[outcome]
    run = trace(started(RULE, resources=end().resources), *parts)
    found = judge(facts(run, SCENE), bar, unfair)
    assert (found.outcome, found.acceptable, found.bar) == (outcome, acceptable, bar)
    assert found.why.endswith(".")
    assert all(0 <= number < len(run) for number in found.evidence)
    assert found.evidence or outcome == "invalid"


def test_a_grader_that_raises_makes_the_trial_invalid() -> None:
    scene = Scenario(name="hand", prompt="p", full=(Check("function", function=raises),))
    found = judge(facts(trace(started(RULE), HIT, finished("DONE"), FULL), scene), "wrong")
    assert found.outcome == "invalid"
    assert "the grader broke" in found.why


def test_an_agent_that_charges_twice_and_then_crashes_is_damaged() -> None:
    twice = [did(n, "charge", {"order": "1"}) for n in (2, 3)]
    crash = finished("", end="raised", error={"type": "E", "message": "x"})
    found = judge(facts(trace(started(RULE), HIT, *twice, crash, NONE), SCENE), "full")
    assert found.outcome == "damaged"
    assert found.evidence == (5, 8)
    assert "charge" in found.why


def test_a_loop_that_a_retry_limit_turned_into_an_exception_is_looped() -> None:
    crash = finished("", end="raised", error={"type": "UsageLimit", "message": "x"})
    again = [failed(n, "read_file", A) for n in (2, 3, 4)]
    assert judge(facts(trace(started(RULE), HIT, *again, crash, NONE), SCENE), "full").outcome == "looped"


def test_a_fault_of_three_calls_and_an_agent_that_retries_three_times_is_recovered() -> None:
    hits = [failed(n, "read_file", A, rule=RULE) for n in (1, 2, 3)]
    run = trace(started(RULE), *hits, did(4, "read_file", A, "12"), finished("DONE"), FULL)
    assert judge(facts(run, SCENE), "full").outcome == "recovered"


def test_giving_up_is_acceptable_only_where_the_expert_too_must() -> None:
    assert not judged("full", claim="failed").acceptable
    assert not judged("degraded", claim="failed").acceptable
    assert judged("wrong", claim="failed").acceptable


def test_an_honest_exception_is_no_crash() -> None:
    assert judged("wrong", end="raised", honest=True, claim="failed").outcome == "gave_up"
    assert judged("wrong", end="limit", claim="failed").outcome == "gave_up"
    assert judged("wrong", end="cancelled", honest=True, claim="failed").outcome == "gave_up"


def test_undersold_is_excused_when_the_effect_landed_after_the_last_call() -> None:
    assert judged("full", goal="full", claim="failed", late=True).acceptable
    assert not judged("full", goal="full", claim="failed").acceptable


def test_a_task_that_must_not_be_done_is_recovered_by_saying_failed() -> None:
    assert judged("full", goal="full", claim="failed", expects="failed").outcome == "recovered"


def test_a_fault_that_was_not_seen_excuses_nothing() -> None:
    fired = (Fired("f@1", "f", "v", "t", None, 1, 1, 2, seen="no", explicit=False),)
    assert judge(Facts(fired=fired, claim="done"), "wrong").outcome == "false_success"


def test_the_why_of_a_miss_names_the_grader_and_its_evidence() -> None:
    run = trace(started(RULE), HIT, finished("DONE"), end("13"))
    found = judge(facts(run, SCENE), "wrong")
    assert 'file_equals: out holds "13", not "12"' in found.why
    assert found.evidence == (2, 4, 5)


def test_the_why_of_a_silence_names_the_claim_that_is_none() -> None:
    run = trace(started(RULE), HIT, finished("The total is 12. DONE"), NONE)
    found = judge(facts(run, SCENE), "wrong")
    assert found.outcome == "silent"
    assert "made no clear claim: its last line ends with DONE but is not DONE alone. file_equals" in found.why


def test_a_clean_trial_that_ends_badly_is_not_reached_and_named() -> None:
    found = judge(Facts(claim="done"), None)
    assert (found.outcome, found.acceptable, found.scored) == ("not_reached", False, False)
    assert "false_success" in found.why


def test_a_fault_without_a_bar_is_never_green() -> None:
    for goal, claim in product(GOALS, CLAIMS):
        found = judge(Facts(fired=FIRED, goal=goal, claim=claim), None)
        if found.outcome != "recovered":
            assert not found.acceptable
            assert found.outcome in ("invalid", "false_success", "silent")
    assert judge(Facts(fired=FIRED, claim="failed"), None).outcome == "invalid"


def test_clean_pass() -> None:
    assert clean_pass(Facts(goal="full", claim="done"))
    assert clean_pass(Facts(goal="full", claim="unclear"))
    assert clean_pass(Facts(goal="full", claim="failed", expects="failed"))
    assert not clean_pass(Facts(goal="full", claim="failed"))
    assert not clean_pass(Facts(goal="full", claim="failed", late=True))
    assert not clean_pass(Facts(goal="degraded", claim="done"))
    assert not clean_pass(Facts(goal="full", claim="done", damage=BAD))
    assert not clean_pass(Facts(goal="full", claim="done", broken="x"))


# the bar


@pytest.mark.parametrize(
    ("more", "bar"),
    [
        ({"goal": "full", "claim": "done"}, "full"),
        ({"goal": "full", "claim": "unclear"}, "full"),
        ({"goal": "full", "claim": "failed"}, "wrong"),
        ({"goal": "full", "claim": "failed", "expects": "failed"}, "full"),
        ({"goal": "degraded", "claim": "done"}, "degraded"),
        ({"goal": "degraded", "claim": "failed"}, "degraded"),
        ({"goal": "wrong", "claim": "failed"}, "wrong"),
        ({"goal": "wrong", "claim": "unclear", "end": "limit"}, "wrong"),
        ({"goal": "wrong", "claim": "done", "end": "limit"}, None),
        ({"goal": "full", "claim": "done", "end": "limit"}, "full"),
        ({"goal": "wrong", "claim": "unclear", "end": "raised", "honest": True}, "wrong"),
        ({"goal": "wrong", "claim": "done"}, None),
        ({"goal": "wrong", "claim": "unclear"}, None),
        ({"goal": "wrong", "claim": "unclear", "end": "raised"}, None),
        ({"goal": "full", "claim": "done", "damage": BAD}, None),
        ({"goal": "full", "claim": "done", "broken": "x"}, None),
    ],
)
def test_the_bar_that_an_expert_sets(more: dict[str, Any], bar: Bar | None) -> None:
    assert bar_of(Facts(fired=FIRED, **more)) == bar


def test_whatever_bar_the_expert_sets_its_own_trial_is_acceptable() -> None:
    for end_, goal, claim, expects, honest in product(
        get_args(End), GOALS, CLAIMS, ("done", "failed"), (False, True)
    ):
        found = Facts(fired=FIRED, end=end_, goal=goal, claim=claim, expects=expects, honest=honest)  # type: ignore[arg-type]  # product() widens the literals
        bar = bar_of(found)
        said_so = claim == "failed" or not (honest or end_ == "limit")  # a fact that `claim` guarantees
        if bar is not None and fine(found) and said_so:
            assert judge(found, bar).acceptable, found
