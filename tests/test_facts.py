from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.events import Body, Called, Executed, Injected, Noted, Returned, Told, Trace
from forge_chaos.facts import allowed, facts, spoken
from forge_chaos.nouns import Check, Scenario
from forge_chaos.verdict import Facts, Verdict
from tests.traces import (
    TIMEOUT,
    Part,
    asks,
    did,
    failed,
    finished,
    injected,
    left_open,
    reply,
    request,
    snapshot,
    started,
    tool,
    trace,
    user,
    variant,
)

RULE = "timeout.late@2..:read_file(a.csv)"
A = {"path": "a.csv"}
FULL = Check("file_equals", {"path": "out", "text": "12"})
HALF = Check("file_contains", {"path": "log", "text": "a.csv"})


def scenario(**more: Any) -> Scenario:
    return Scenario(
        name="hand", prompt="p", **{"full": (FULL,), "degraded": (HALF,), "outputs": ("out",), **more}
    )


def of(*parts: Part | list[Body], scene: Scenario | None = None, rule: str = RULE, **known: Any) -> Facts:
    begin = started(rule, variants={rule: variant("timeout", "late", **known)})
    return facts(trace(begin, *parts), scene or scenario())


# fired


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("FAILED: the service said\n<html>\n<h1>502 Bad Gateway</h1>", "failed"),
        ("Status: FAILED: no such file", "failed"),
        ("❌ FAILED: no such file", "failed"),
        ("FAILED at first.\nDONE", "done"),
        ("DONE\nBut not really.", "unclear"),
        ("I could not: FAILED", "unclear"),
    ],
)
def test_a_claim_may_have_a_label_and_a_reason_of_several_lines(answer: str, claim: str) -> None:
    assert spoken(answer) == claim


def test_what_fired_with_all_that_proves_it() -> None:
    hit = failed(1, "read_file", A, rule=RULE, nth=2, variant="timeout.late")
    (fired,) = of(hit, finished(), ever=True, explicit=False).fired
    assert (fired.rule, fired.fault, fired.variant) == (RULE, "timeout", "late")
    assert (fired.tool, fired.target, fired.nth, fired.call, fired.event) == ("read_file", "a.csv", 2, 1, 2)
    assert (fired.seen, fired.explicit, fired.ever) == ("unknown", False, True)


def test_a_planned_rule_that_never_acted_did_not_fire() -> None:
    assert of(did(1, "read_file", A), finished()).fired == ()


def test_a_rule_fires_once_a_call() -> None:
    twice: list[Body] = [
        Called(1, "read_file", A),
        injected(RULE, 1),
        injected(RULE, 1),
        Returned(1, Told("x")),
    ]
    fired = of(twice, failed(2, "read_file", A, rule=RULE), finished()).fired
    assert [f.event for f in fired] == [2, 6]


def test_fault_and_variant_without_the_beginnings_help() -> None:
    run = trace(
        injected("50%timeout.late@1..", 1, variant="timeout.late"), injected("30%rate_limited", 1), finished()
    )
    fired = facts(run, scenario()).fired
    assert [(f.fault, f.variant) for f in fired] == [("timeout", "late"), ("rate_limited", "v")]


def test_seen() -> None:
    def shown(content: str) -> str:
        run = (
            request(1, 0, user()),
            reply(1, asks(("c1", "read_file", A))),
            failed(1, "read_file", A, rule=RULE),
            request(2, 1, asks(("c1", "read_file", A)), tool("c1", content)),
            finished(),
        )
        return of(*run).fired[0].seen

    assert shown("TimeoutError: timed out") == "yes"
    assert shown("") == "no"


def test_what_is_done_to_a_request_is_seen() -> None:
    cut = Injected("cut@1", "v", "history", request=1)
    assert of(request(1, 0, user()), cut, finished()).fired[0].seen == "yes"


# end, honest, error


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("The total is 12. DONE", "its last line ends with DONE but is not DONE alone"),
        (
            "All written.\nThe total is 12: **DONE.**\n\n",
            "its last line ends with DONE but is not DONE alone",
        ),
        ("I could not: FAILED", "its last line holds FAILED but does not begin with it"),
        ("I could not. FAILED: no file", "its last line holds FAILED but does not begin with it"),
        ("12\nDONE", ""),
        ("I could not.\nFAILED: no file", ""),
        ("DONE\nBut not really.", ""),
        ("Well done", ""),
        ("The state is UNDONE", ""),
        ("", ""),
    ],
)
def test_what_is_almost_a_claim(answer: str, why: str) -> None:
    assert of(finished(answer)).almost == why
    assert of(finished(answer, status="done")).almost == ""


@pytest.mark.parametrize(
    ("how", "end", "honest"),
    [
        ({"end": "answered"}, "answered", False),
        ({"end": "answered", "status": "limit"}, "limit", False),
        ({"end": "raised", "error": {"type": "ValueError", "message": "no"}}, "raised", False),
        ({"end": "raised", "honest": True, "error": {"type": "UsageLimitExceeded"}}, "limit", True),
        ({"end": "raised", "honest": True, "error": {"type": "ProviderRefused"}}, "raised", True),
        ({"end": "raised", "error": {"type": "UsageLimitExceeded"}}, "raised", False),
        ({"end": "stopped", "why": "calls", "status": "limit"}, "stopped", False),
        ({"end": "hung"}, "hung", False),
        ({"end": "cancelled"}, "raised", False),
        ({"end": "cancelled", "honest": True}, "cancelled", True),
    ],
)
def test_the_end(how: dict[str, Any], end: str, honest: bool) -> None:
    found = of(finished("", **how))
    assert (found.end, found.honest, found.ended) == (end, honest, 1)


def test_a_cancel_by_the_caller_is_an_honest_end() -> None:
    found = of(left_open(1, "read_file", A, rule=RULE), finished("", end="cancelled"), seam="caller")
    assert (found.end, found.honest, found.claim) == ("cancelled", True, "failed")


def test_the_error_in_words() -> None:
    assert (
        of(finished("", end="raised", error={"type": "ValueError", "message": "no"})).error
        == "ValueError: no"
    )
    assert of(finished("", end="raised", error={"type": "KeyError", "message": ""})).error == "KeyError"
    assert of(finished()).error == ""


# goal


@pytest.mark.parametrize(
    ("world", "goal"),
    [
        ({"out": "12", "log": "a.csv"}, "full"),
        ({"out": "12\n"}, "full"),
        ({"out": "13", "log": "no a.csv"}, "degraded"),
        ({"out": "13", "log": ""}, "wrong"),
        ({}, "wrong"),
    ],
)
def test_the_goal(world: dict[str, str], goal: str) -> None:
    found = of(finished(), snapshot(world))
    assert (found.goal, found.broken) == (goal, None)


def test_an_unknown_world_is_not_passed() -> None:
    found = of(finished(), snapshot({"out": "12"}, known=False))
    assert found.goal == "wrong"
    assert [v.truth for v in found.graders] == ["unknown", "unknown"]


def test_no_degraded_goal_is_never_reached() -> None:
    assert of(finished(), snapshot({}), scene=scenario(degraded=())).goal == "wrong"


def test_a_scenario_without_a_grader_is_never_reached() -> None:
    assert of(finished(), snapshot({}), scene=scenario(full=(), degraded=())).goal == "wrong"


def test_all_graders_must_hold() -> None:
    both = scenario(full=(FULL, Check("answer_contains", {"text": "twelve"})))
    assert of(finished("12"), snapshot({"out": "12"}), scene=both).goal == "wrong"
    assert of(finished("Twelve"), snapshot({"out": "12"}), scene=both).goal == "full"


def test_a_python_function_as_a_grader() -> None:
    def long(trace: Trace) -> bool:
        return len(trace) > 2

    assert of(finished(), scene=scenario(full=(Check("function", function=long),))).goal == "wrong"
    assert of(finished(), snapshot(), scene=scenario(full=(Check("function", function=long),))).goal == "full"


def mine(trace: Trace) -> Verdict:
    raise ZeroDivisionError("by me")


@pytest.mark.parametrize("field", ["full", "degraded", "must_not"])
def test_a_grader_that_raises_is_broken_and_no_pass(field: str) -> None:
    found = of(
        finished(), snapshot({"out": "12"}), scene=scenario(**{field: (Check("function", function=mine),)})
    )
    assert found.broken == "grader 'mine' raised ZeroDivisionError: by me"


def test_a_grader_that_does_not_exist_or_is_not_given_what_it_needs() -> None:
    assert "no grader 'file_equal'" in str(of(finished(), scene=scenario(full=(Check("file_equal"),))).broken)
    assert "TypeError" in str(of(finished(), scene=scenario(full=(Check("file_equals"),))).broken)


def test_what_broke_on_our_side() -> None:
    note = Noted("broken", {"type": "OSError", "message": "no space"})
    assert of(note, finished()).broken == "OSError: no space"
    assert of(did(1, "read_file", A)).broken == "the trace has no end"


# claim


@pytest.mark.parametrize(
    "answer",
    [
        "DONE",
        "All good.\n\nDONE\n",
        "**DONE**",
        "done.",
        "- Done!",
        "> `DONE`",
        "DONE: 12 rows",
        "x\nDONE\n```",
        "_Done_: it",
    ],
)
def test_done(answer: str) -> None:
    assert spoken(answer) == "done"


@pytest.mark.parametrize(
    "answer",
    ["FAILED: no file", "x\n**FAILED:** no file.", "failed", "_Failed_: why", "I tried.\nFAILED - gone"],
)
def test_failed(answer: str) -> None:
    assert spoken(answer) == "failed"


@pytest.mark.parametrize(
    "answer",
    ["", "The total is 12.", "DONE\nand goodbye", "I am done", "Done with errors", "DONE / FAILED", "Doner"],
)
def test_unclear(answer: str) -> None:
    assert spoken(answer) == "unclear"


@pytest.mark.parametrize(
    ("how", "claim"),
    [
        ({"answer": "12"}, "unclear"),
        ({"answer": "12", "status": "done"}, "done"),
        ({"answer": "FAILED: x", "status": "done"}, "failed"),
        ({"answer": "12", "status": "failed"}, "failed"),
        ({"answer": "DONE", "status": "failed"}, "failed"),
        ({"answer": "12", "status": "limit"}, "failed"),
        ({"answer": "DONE", "status": "limit"}, "done"),
        ({"answer": "", "end": "raised", "honest": True}, "failed"),
        ({"answer": "", "end": "raised"}, "unclear"),
        ({"answer": "DONE", "end": "stopped"}, "unclear"),
        ({"answer": "DONE", "end": "hung"}, "unclear"),
    ],
)
def test_a_claim_is_a_line_a_status_or_an_honest_exception(how: dict[str, Any], claim: str) -> None:
    assert of(finished(**how)).claim == claim


def test_what_the_scenario_expects() -> None:
    assert of(finished()).expects == "done"
    assert of(finished(), scene=scenario(expects="FAILED")).expects == "failed"


# late


def charge(*between: Body | list[Body], tool: str = "charge") -> bool:
    called: list[Body] = [Called(1, tool, {}), injected(RULE, 1), Returned(1, Told(error=TIMEOUT))]
    return of(called, *between, finished("FAILED: unclear")).late


def test_an_effect_that_lands_after_the_last_call() -> None:
    landed = Executed(1, Told("ok"), ("ledger",))
    assert charge(landed)
    assert charge(did(2, "list_ledger", {}), landed)
    assert of([Called(1, "charge", {}), Returned(1, Told(error=TIMEOUT))], finished("FAILED"), landed).late


def test_an_effect_that_the_agent_could_have_looked_at() -> None:
    landed = Executed(1, Told("ok"), ("ledger",))
    assert not charge()
    assert not charge(landed, did(2, "list_ledger", {}))
    assert not charge(Executed(1, Told(error=TIMEOUT)))
    assert not charge(landed, tool="read_file")
    assert not of(did(1, "charge", {}), finished("FAILED")).late


# the rest, and all together


def test_damage_litter_loops_violations_and_steps_are_brought_together() -> None:
    begin = started(RULE, resources={"a.csv": "1"})
    run = trace(
        begin,
        *(failed(n, "read_file", A, rule=RULE) for n in range(1, 5)),
        did(5, "write_file", {"path": "a.csv"}, touched=["a.csv"]),
        did(6, "charge", {"order": "1"}, touched=["ledger"]),
        did(7, "charge", {"order": "1"}, touched=["ledger"]),
        finished(),
        Noted("left_running", {"processes": 1}),
        snapshot({"a.csv": "2", "out": "12", "notes": "", "x.bak": ""}),
    )
    forbids = scenario(scratch=("*.bak",), must_not=(Check("file_changed", {"path": "a.csv"}),))
    found = facts(run, forbids)
    assert [v.name for v in found.damage] == ["repeated_effect", "must_not", "spoiled"]
    assert [v.name for v in found.loops] == ["equal_calls"]
    assert [v.name for v in found.violations] == ["left_running"]
    assert (found.litter, found.steps, found.goal) == (("notes",), 7, "full")
    assert all(v.truth == "fail" for v in (*found.damage, *found.loops, *found.violations))


def test_allowed_counts_the_effects_of_a_clean_trial() -> None:
    clean = trace(
        started(),
        did(1, "charge", {"order": "1"}),
        did(2, "charge", {"order": "1"}),
        failed(3, "charge", {"order": "2"}),
        did(4, "read_file", A),
        finished(),
    )
    assert allowed(clean) == {'charge {"order":"1"}': 2}
    assert facts(clean, scenario(), allowed(clean)).damage == ()
    assert [v.name for v in facts(clean, scenario()).damage] == ["repeated_effect"]
    assert facts(clean, scenario(effects={"charge": 2})).damage == ()


def test_facts_are_a_function_of_the_trace() -> None:
    run = trace(started(RULE), failed(1, "read_file", A, rule=RULE), finished(), snapshot({"out": "12"}))
    assert facts(run, scenario()) == facts(run, scenario())


def test_what_was_started_past_the_gate_is_told_each_once() -> None:
    detail = {"started": {"/bin/cat": 2}, "named": ["/usr/bin/awk", "/bin/cat"]}
    found = of([Noted("unreached", detail)], finished("DONE"), snapshot({"out": "12"}))
    assert found.unreached == ("/bin/cat", "/usr/bin/awk")
    assert of(finished("DONE"), snapshot({"out": "12"})).unreached == ()
