"""Trials as plain transcripts: what was called, what the agent was told, what it answered, how that was
graded. A JSON array of {"case_id", "trace": [{"tool", "arguments", "result"}], "answer", "grade":
{"success", "reason"}}."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from json import dumps
from typing import Any

from forge_chaos import recorded
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.reading import Step, read
from forge_chaos.verdict import Scorecard, Trial


def transcript(
    card: Scorecard, trials: Sequence[Trial], *, traces: Callable[[str], Trace] | None = None
) -> str:
    """`traces` gives a trial's trace by its id, and raises Misuse for one that was not kept: its `trace`
    and `answer` are null. Raises Misuse without `traces`."""
    if traces is None:
        raise Misuse("a transcript needs the traces of the run: forge-chaos report RUN --as transcript.")
    cases = [case(trial, _kept(traces, trial.id)) for trial in trials]
    return dumps(cases, indent=2, allow_nan=False) + "\n"


def case(trial: Trial, trace: Trace | None) -> dict[str, Any]:
    """One trial. `case_id` is the scenario, with its faults in brackets, and the repetition from 2.

    `arguments` and `result` are in recorded form; the result of a call that failed is the text of its
    error, of one that was never answered null.
    """
    faults = f" [{', '.join(trial.rules)}]" if trial.rules else ""
    again = f" #{trial.repetition + 1}" if trial.repetition else ""
    reading = read(trace) if trace is not None else None
    answer = reading.finished.answer if reading is not None and reading.finished is not None else None
    return {
        "case_id": f"{trial.scenario}{faults}{again}",
        "trace": None if reading is None else [_row(step) for step in reading.steps],
        "answer": None if answer is None else recorded.words(answer),
        "grade": {"success": trial.judgement.acceptable, "reason": trial.judgement.why},
    }


def _row(step: Step) -> dict[str, Any]:
    told = step.told
    error = told.error if told is not None else None
    result = told.value if told is not None else None
    if error is not None:
        result = error.get("text") or error.get("message")
    return {"tool": step.call.tool, "arguments": dict(step.call.args), "result": result}


def _kept(traces: Callable[[str], Trace], id: str) -> Trace | None:
    try:
        return traces(id)
    except Misuse:
        return None
