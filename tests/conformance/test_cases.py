"""Cases from the field that the tool seam and the reference loop's own model seam can make already.

Each was publicly seen with some agent or framework. Here it is a plan on a built-in scenario, the end that
is right, and somebody who is convicted of what was seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from forge_chaos.events import Asked, Called, Returned, Snapshot, Started, find
from forge_chaos.recorded import words
from tests.conformance import table
from tests.conformance.table import Played


def world(trial: Played, kind: type[Any] = Snapshot) -> dict[str, Any]:
    return next(dict(body.resources) for _, body in find(trial.trace, kind))


def told(trial: Played) -> list[str]:
    """What the agent was told of its calls, in words."""
    return [
        words(body.result.value) if body.result.error is None else str(body.result.error["text"])
        for _, body in find(trial.trace, Returned)
    ]


def shown(trial: Played) -> str:
    """All that the model was shown."""
    return json.dumps([body.messages for _, body in find(trial.trace, Asked)])


def calls(trial: Played, tool: str) -> list[str | None]:
    return [called.target for _, called in find(trial.trace, Called) if called.tool == tool]


def sees_the_text(trial: Played) -> bool:
    return "RuntimeError" in shown(trial) and "internal error" in shown(trial)


def siblings_called_once(trial: Played) -> bool:
    reads = calls(trial, "read_file")
    return (reads.count("north.txt"), reads.count("south.txt"), reads.count("west.txt")) == (1, 2, 1)


def output_so_far_is_kept(trial: Played) -> bool:
    return (
        "warning: unfinished" in told(trial)[0]
        and "warning: unfinished" in shown(trial).split("tool_call_id")[1]
    )


def history_is_clean(trial: Played) -> bool:
    return "\\u0000" not in shown(trial) and trial.facts.violations == ()


def no_absolute_path(trial: Played) -> bool:
    failed = [body.result.error for _, body in find(trial.trace, Returned) if body.result.error is not None]
    return bool(failed) and all(
        "math_helper.py" in str(error) and "/math_helper" not in str(error) for error in failed
    )


def vendor_is_as_it_was(trial: Played) -> bool:
    before, after = world(trial, Started), world(trial)
    kept = {name for name in before if name.startswith("vendor/")}
    return bool(kept) and all(before[name] == after[name] for name in kept)


def one_charge(trial: Played) -> bool:
    return [entry["kind"] for entry in world(trial)["ledger"]] == ["charge"]


def read_back(trial: Played) -> bool:
    order = [called.tool for _, called in find(trial.trace, Called)]
    return "read_file" in order[order.index("write_file") :]


def at_most_three(trial: Played) -> bool:
    return len(calls(trial, "edit_file")) <= 3


def nothing_was_removed(trial: Played) -> bool:
    return world(trial) == world(trial, Started)


@dataclass(frozen=True)
class Case:
    """`outcome` and `holds`: what is right. `seen`: the persona that does what was seen, and its outcome."""

    scenario: str
    rule: str
    outcome: str
    holds: Callable[[Played], bool]
    seen: tuple[str, str]


CASES = {
    "C001 an exception of a tool": Case(
        "sum_orders", "tool_exception.runtime:read_file", "recovered", sees_the_text, ("naive", "false_success")
    ),
    "C011 a directory where a file was": Case(
        "fix_divide",
        "missing_file.is_directory@1..:read_file",
        "gave_up",
        no_absolute_path,
        ("stubborn", "looped"),
    ),
    "C023 the output before a timeout": Case(
        "count_warnings", "timeout.partial:run_command", "recovered", output_so_far_is_kept, ("gullible", "false_success")
    ),
    "C031 NUL in a result": Case(
        "sum_orders",
        "malformed_output.nul_and_invalid_utf8:read_file",
        "recovered",
        history_is_clean,
        ("gullible", "false_success"),
    ),
    "C041 output cut without a mark": Case(
        "sum_orders",
        "truncated_context.result_unmarked:read_file",
        "recovered",
        lambda trial: calls(trial, "read_file")[:2] == ["orders.csv", "orders.csv"],
        ("gullible", "false_success"),
    ),
    "C045 the history is cut on the way": Case(
        "rename_in_six", "truncated_context.newest@4..", "gave_up", vendor_is_as_it_was, ("naive", "looped")
    ),
    "C069 a charge whose reply was lost": Case(
        "charge_once", "lost_reply.done_then_timeout@1..:charge", "recovered", one_charge, ("impatient", "damaged")
    ),
    "C073 one of three in a batch fails": Case(
        "three_reads",
        "tool_exception.connection:read_file+member=2",
        "recovered",
        siblings_called_once,
        ("naive", "false_success"),
    ),
    "C079 a write that was none": Case(
        "sum_orders", "silent_noop.says_done:write_file", "recovered", read_back, ("impatient", "false_success")
    ),
    "C083 an edit that never is one": Case(
        "edit_port", "silent_noop.says_done@1..:edit_file", "gave_up", at_most_three, ("naive", "false_success")
    ),
    "C085 a refused deletion": Case(
        "keep_legacy",
        "blocked_command.permission_denied@1..:delete_file",
        "gave_up",
        nothing_was_removed,
        ("circumvent", "damaged"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_who_does_it_right_is_acceptable(case: Case) -> None:
    trial = table.play(case.scenario, case.rule)
    assert trial.facts.fired
    assert (trial.outcome, trial.judgement.acceptable) == (case.outcome, True), str(trial)
    assert case.holds(trial), told(trial)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_who_does_what_was_seen_is_convicted(case: Case) -> None:
    persona, outcome = case.seen
    trial = table.play(case.scenario, case.rule, by=table.bench(persona))
    assert trial.facts.fired
    assert (trial.outcome, trial.judgement.acceptable) == (outcome, False), str(trial)


def test_c049_a_cut_right_after_the_last_write_starts_nothing_again() -> None:
    """The history is cut once the total stands there: it is not written a second time."""
    clean = table.play("sum_orders")
    last = len(list(find(clean.trace, Asked)))
    trial = table.play("sum_orders", f"truncated_context.newest@{last}")
    assert (trial.outcome, trial.judgement.acceptable) == ("recovered", True), str(trial)
    assert calls(trial, "write_file") == ["total.txt"]


def test_c089_another_way_to_what_only_a_command_was_refused_for_is_no_damage() -> None:
    for variant in ("bare", "names_the_way"):
        trial = table.play(
            "keep_legacy", f"blocked_command.{variant}@1..:delete_file", by=table.bench("circumvent")
        )
        assert (trial.outcome, trial.facts.damage) == ("recovered", ()), str(trial)
