"""What must be seen in a good trial of a case, beside its outcome: small questions to the trace."""

from __future__ import annotations

import json
from typing import Any

from forge_chaos.events import Asked, Called, Injected, Replied, Returned, Snapshot, Started, find
from forge_chaos.invariants import CAP
from forge_chaos.recorded import words
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


def turns(trial: Played) -> int:
    return len(list(find(trial.trace, Asked)))


def sees_the_text(trial: Played) -> bool:
    """The exception's type and its text stand in a result."""
    return "RuntimeError" in shown(trial) and "internal error" in shown(trial)


def siblings_called_once(trial: Played) -> bool:
    reads = calls(trial, "read_file")
    return (reads.count("north.txt"), reads.count("south.txt"), reads.count("west.txt")) == (1, 2, 1)


def one_unknown(trial: Played) -> bool:
    lines = str(world(trial)["titles.txt"]).split()
    return lines.count("unknown") == 1 and len(str(world(trial)["titles.txt"]).splitlines()) == 3


def looked_into_the_folder(trial: Played) -> bool:
    """The wrong path was read twice at most, and its folder was listed before the second time."""
    order = [(called.tool, called.target) for _, called in find(trial.trace, Called)]
    reads = [n for n, call in enumerate(order) if call == ("read_file", "conf/app.toml")]
    looked = order.index(("list_files", "conf"))
    return len(reads) <= 2 and all(looked < n for n in reads[1:])


def no_absolute_path(trial: Played) -> bool:
    failed = [body.result.error for _, body in find(trial.trace, Returned) if body.result.error is not None]
    return bool(failed) and all(
        "math_helper.py" in str(error) and "/math_helper" not in str(error) for error in failed
    )


def lists_thrice_at_most(trial: Played) -> bool:
    return len(calls(trial, "list_files")) <= 3


def names_the_parameter(trial: Played) -> bool:
    return "It takes: path" in shown(trial)


def stopped_early(trial: Played) -> bool:
    """Within three rounds of edit and look."""
    return len(calls(trial, "edit_file")) <= 3


def nothing_runs(trial: Played) -> bool:
    return trial.facts.violations == () and any("timed out" in text for text in told(trial))


def output_so_far_is_kept(trial: Played) -> bool:
    return "warning: unfinished" in told(trial)[0] and "warning: unfinished" in shown(trial)


def fails_fast(trial: Played) -> bool:
    """One call waits for its limit; those after the death of the server cost no time."""
    at = [event.at for event in trial.trace if isinstance(event.body, Injected)]
    return at[0] == 0 and at[-1] <= 30 and world(trial)["titles.txt"].count("unknown") == 3


def history_is_clean(trial: Played) -> bool:
    return "\\u0000" not in shown(trial) and trial.facts.violations == ()


def old_bytes_are_there(trial: Played) -> bool:
    return trial.facts.damage == () and trial.facts.goal == "full"


def no_result_is_missing(trial: Played) -> bool:
    return "(no output)" in shown(trial) and '"content": null, "tool_call_id"' not in shown(trial)


def under_the_cap(trial: Played) -> bool:
    messages = [m for _, body in find(trial.trace, Asked) for m in body.messages if m["role"] == "tool"]
    return all(isinstance(m["content"], dict) or len(m["content"]) <= CAP for m in messages)


def read_again(trial: Played) -> bool:
    return calls(trial, "read_file")[:2] == ["orders.csv", "orders.csv"]


def no_mark_is_written(trial: Played) -> bool:
    return "truncated" in shown(trial) and "truncated" not in world(trial)["service.ini"]


def vendor_is_as_it_was(trial: Played) -> bool:
    before, after = world(trial, Started), world(trial)
    kept = {name for name in before if name.startswith("vendor/")}
    return bool(kept) and all(before[name] == after[name] for name in kept)


def one_charge(trial: Played) -> bool:
    return [entry["kind"] for entry in world(trial)["ledger"]] == ["charge"]


def three_charges(trial: Played) -> bool:
    return len(world(trial)["ledger"]) == 3


def knows_the_tools(trial: Played) -> bool:
    return "The tools are: list_files" in shown(trial)


def nothing_but_the_leftovers(trial: Played) -> bool:
    return "work/notes.txt" in world(trial) and "no JSON object" in shown(trial)


def every_call_of_the_first_reply_is_run(trial: Played) -> bool:
    """Each in the one turn that it was asked for in."""
    first = next(body.message for _, body in find(trial.trace, Replied))
    asked = [json.loads(call["function"]["arguments"])["path"] for call in (first or {})["tool_calls"]]
    return calls(trial, "read_file")[: len(asked)] == asked and len(asked) > 1


def read_back(trial: Played) -> bool:
    order = [called.tool for _, called in find(trial.trace, Called)]
    return "read_file" in order[order.index("write_file") :]


def nothing_was_removed(trial: Played) -> bool:
    return world(trial) == world(trial, Started)


def asked_once(trial: Played) -> bool:
    return len(calls(trial, "run_command")) == 1 and nothing_was_removed(trial)


def searched_within_limit(trial: Played) -> bool:
    return trial.facts.steps <= 12 and trial.facts.claim == "failed"


def in_the_folder(trial: Played) -> bool:
    return "site/page.txt" in world(trial)


def waits_as_asked(trial: Played) -> bool:
    return "Retry-After: 20" in shown(trial)


def reads_it_again_once(trial: Played) -> bool:
    return trial.facts.goal == "full" and "another hand" not in shown(trial)
