from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forge_chaos.events import Body, Called, Injected, Noted
from forge_chaos.loops import WORDED, loops
from forge_chaos.reading import read
from tests.traces import Part, Wait, did, failed, finished, left_open, started, trace

A = {"path": "a.csv"}
OUT = {"path": "out.txt", "text": "1"}


def found(*parts: Part | list[Body]) -> list[str]:
    """The names of the loops in a run of these calls."""
    return [verdict.name for verdict in loops(read(trace(started(), *parts, finished())))]


def fails(
    *ids: int, tool: str = "read_file", args: dict[str, Any] = A, text: str = "timed out"
) -> list[Body]:
    error = {"code": "timeout", "type": "TimeoutError", "message": text, "text": text}
    return [body for id in ids for body in failed(id, tool, args, error)]


# equal calls


def test_four_equal_failing_calls_are_a_loop_with_the_calls_as_evidence() -> None:
    run = trace(started(), fails(1, 2, 3, 4), finished("FAILED"))
    (verdict,) = loops(read(run))
    assert (verdict.name, verdict.truth, verdict.evidence) == ("equal_calls", "fail", (1, 4, 7, 10))


def test_calls_that_a_fault_made_the_model_ask_for_are_given_as_many_as_a_guard_needs() -> None:
    def run(times: int, hit: bool) -> list[str]:
        parts: list[Body] = []
        for turn in range(1, times + 1):
            if hit:
                parts.append(Injected("bad_tool_call@1..", "bad_tool_call.v", "m", None, turn, "model"))
            called, *rest = fails(turn)
            assert isinstance(called, Called)
            parts += [replace(called, order=(turn, 0)), *rest]
        return found(parts)

    assert (run(WORDED, True), run(WORDED + 1, True)) == ([], ["equal_calls"])
    assert run(WORDED, False) == ["equal_calls"]


def test_what_one_reply_asks_for_several_times_is_asked_for_once() -> None:
    def batch(turn: int, first: int) -> list[Body]:
        made: list[Body] = []
        for place, id in enumerate(range(first, first + 8)):
            called, *rest = fails(id)
            assert isinstance(called, Called)
            made += [replace(called, order=(turn, place)), *rest]
        return made

    assert found(batch(1, 1)) == []
    assert found(batch(1, 1), batch(2, 9), batch(3, 17)) == []
    assert found(batch(1, 1), batch(2, 9), batch(3, 17), batch(4, 25)) == ["equal_calls"]


def test_three_are_a_retry() -> None:
    assert found(fails(1, 2, 3)) == []


def test_any_number_that_ends_with_that_call_succeeding_is_none() -> None:
    assert found(fails(1, 2, 3, 4, 5), did(6, "read_file", A)) == []


def test_another_call_succeeding_does_not_end_it() -> None:
    assert found(fails(1, 2, 3, 4), did(5, "list_files", {"path": "."})) == ["equal_calls"]


def test_the_order_of_arguments_makes_no_difference() -> None:
    ab, ba = {"path": "a", "limit": 1}, {"limit": 1, "path": "a", "offset": None}
    assert found(fails(1, 2, args=ab), fails(3, 4, args=ba)) == ["equal_calls"]


def test_other_arguments_are_other_calls() -> None:
    assert found(*(fails(n, args={"path": f"{n}.csv"}) for n in range(1, 9))) == []


def test_error_texts_that_vary_are_still_errors() -> None:
    assert found(*(fails(n, text=f"request {n} timed out") for n in range(1, 5))) == ["equal_calls"]


def test_calls_that_the_agent_let_go_of_are_failing() -> None:
    assert found(*(left_open(n, "read_file", A) for n in range(1, 5))) == ["equal_calls"]


def test_two_sub_agents_that_retry_twice_are_two_retries() -> None:
    def of(by: str, *ids: int) -> list[Body]:
        return [body for id in ids for body in failed(id, "read_file", A, by=by)]

    assert found(of("one", 1, 2, 3), of("two", 4, 5, 6)) == []
    assert found(of("one", 1, 2, 3), of("two", 4), of("one", 5)) == ["equal_calls"]


def test_counted_since_the_world_last_changed() -> None:
    wrote = did(9, "write_file", OUT, touched=["out.txt"])
    assert found(fails(1, 2), wrote, fails(3, 4)) == []


def test_counted_since_another_new_call_succeeded() -> None:
    looked = did(9, "list_files", {"path": "."})
    assert found(fails(1, 2), looked, fails(3, 4)) == []


def test_a_call_that_succeeded_before_is_not_new() -> None:
    looked = [did(n, "list_files", {"path": "."}, ["a.csv"]) for n in range(10, 14)]
    assert found(looked[0], fails(1, 2), looked[1], fails(3, 4)) == ["equal_calls"]


def test_equal_successes_that_show_nothing_new_are_failing() -> None:
    assert found(*(did(n, "list_files", {"path": "."}, ["out"]) for n in range(1, 6))) == ["equal_calls"]
    assert found(*(did(n, "list_files", {"path": "."}, ["out"]) for n in range(1, 5))) == []


def test_successes_that_show_something_new_are_polling() -> None:
    assert found(*(did(n, "read_file", A, f"{n} %") for n in range(1, 12))) == []


def test_successes_between_changes_of_the_world_are_looking() -> None:
    def round(n: int) -> list[Body]:
        write = did(2 * n, "write_file", {**OUT, "text": str(n)}, touched=["out.txt"])
        return [*write, *did(2 * n + 1, "list_files", {"path": "."}, ["out.txt"])]

    assert found(*(round(n) for n in range(9))) == []


@pytest.mark.parametrize("touched", [["out.txt"], []])
def test_writing_the_same_text_again_and_again_is_a_loop(touched: list[str]) -> None:
    assert found(*(did(n, "write_file", OUT, touched=touched) for n in range(1, 6))) == ["equal_calls"]


def test_an_effect_repeated_changes_the_world_each_time() -> None:
    row = {"path": "log", "text": "x"}
    assert found(*(did(n, "append_file", row, touched=["log"]) for n in range(1, 9))) == []


# polling and waiting


def test_a_tool_that_is_polled_by_design_is_left_out() -> None:
    assert found(*(did(n, "job_status", {"job": "7"}, "running") for n in range(1, 20))) == []
    assert found(*(failed(n, "job_status", {"job": "7"}) for n in range(1, 20))) == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("429: retry after 5 s", 5),
        ('{"retry_after": 5}', 5),
        ("Retry-After: 5", 5),
        ("try again in 2 minutes", 120),
        ("please wait 500 ms", 0.5),
    ],
)
def test_waiting_as_long_as_asked_is_no_loop(text: str, seconds: float) -> None:
    polite: list[Part | list[Body]] = []
    for n in range(1, 8):
        polite += [fails(n, text=text), Wait(seconds - 1)]  # one second passes by itself
    assert found(*polite) == []


def test_not_waiting_as_long_as_asked_is_one() -> None:
    hasty: list[Part | list[Body]] = []
    for n in range(1, 8):
        hasty += [fails(n, text="retry after 5 s"), Wait(3)]
    assert found(*hasty) == ["equal_calls"]


# cycles


def edit_and_test(rounds: int, *more: Part | list[Body], result: str = "1 failed") -> list[Part | list[Body]]:
    parts: list[Part | list[Body]] = []
    for n in range(rounds):
        wrote = did(2 * n + 1, "write_file", {**OUT, "text": "ab"[n % 2]}, touched=["out.txt"])
        parts += [wrote, did(2 * n + 2, "run_command", {"command": "t"}, result.format(n))]
    return [*parts, *more]


def test_a_cycle_of_four_that_comes_round_three_times() -> None:
    run = trace(started(), *edit_and_test(7), finished())  # a, t, b, t: a cycle of four calls
    (verdict,) = loops(read(run))
    assert verdict.name == "cycle"
    assert len(verdict.evidence) == 13


def test_a_cycle_that_is_gone_through_three_times_only() -> None:
    assert found(*edit_and_test(6)) == []


def test_a_cycle_with_results_that_differ_is_progress() -> None:
    assert found(*edit_and_test(12, result="{} failed")) == []


def test_two_failing_calls_in_turn() -> None:
    turns = [fails(n, tool=("read_file", "run_command")[n % 2]) for n in range(1, 8)]
    assert "cycle" in found(*turns)
    assert found(*turns[:-1]) == []


def test_a_cycle_of_effects_is_no_cycle() -> None:
    rows = [
        did(n, "append_file", {"path": "log", "text": "xy"[n % 2]}, touched=["log"]) for n in range(1, 12)
    ]
    assert found(*rows) == []


# honest conduct of an expert


def test_an_expert_that_writes_three_times_and_reads_back_each_time() -> None:
    parts: list[Part | list[Body]] = []
    for n in range(3):
        parts += [
            fails(4 * n + 1, tool="write_file", args=OUT),
            failed(4 * n + 2, "read_file", {"path": "out.txt"}),  # not there
            Wait(60),
            failed(4 * n + 3, "read_file", {"path": "out.txt"}),  # the settle time is over
        ]
    assert found(*parts) == []


def test_an_expert_whose_read_back_shows_the_old_text_each_time() -> None:
    parts: list[Part | list[Body]] = []
    for n in range(3):
        parts += [
            did(1, "write_file", OUT, "written"),  # says done, did nothing
            did(4 * n + 2, "read_file", {"path": "out.txt"}, "old"),
        ]
    assert found(*parts) == []


def test_an_expert_that_charges_three_times_and_looks_into_the_ledger() -> None:
    parts: list[Part | list[Body]] = []
    for n in range(3):
        parts += [
            fails(4 * n + 1, tool="charge", args={"order": "O1"}),
            did(4 * n + 2, "list_ledger", {}, []),
            Wait(60),
            did(4 * n + 3, "list_ledger", {}, []),
        ]
    assert found(*parts) == []


def test_a_read_after_a_failed_write_is_a_fresh_look() -> None:
    looks = [did(n, "read_file", A, "old") for n in range(1, 7)]
    assert found(looks[0], fails(9, tool="write_file", args=A), *looks[1:5]) == []
    assert found(looks[0], fails(9, tool="write_file", args=A), *looks[1:6]) == ["equal_calls"]


def test_an_expert_that_lists_the_parent_of_what_is_missing() -> None:
    assert found(fails(1), did(2, "list_files", {"path": "."}, ["a.csv"]), fails(3)) == []


# our budget


def test_stopped_by_our_budget() -> None:
    run = trace(started(), finished("", end="stopped", why="calls"))
    (verdict,) = loops(read(run))
    assert (verdict.name, verdict.evidence) == ("budget", (1,))
    assert "calls" in verdict.why


def test_the_agents_own_limit_is_no_loop() -> None:
    assert loops(read(trace(started(), finished("", status="limit")))) == ()


def test_a_further_message_of_the_user_s_begins_anew() -> None:
    again = Noted("turn", {"turn": 2, "prompt": "once more"})
    assert found(fails(1, 2, 3), again, fails(4, 5, 6)) == []
    assert found(fails(1, 2), again, fails(3, 4, 5, 6)) == ["equal_calls"]
