"""Why a trial failed, in one word of nine, and in which of four layers it went wrong: for readers.

An outcome says how a trial ended and is what counts. A reason guesses what made it end so, from the
last thing in the trace that explains it; it changes no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from forge_chaos.events import Trace
from forge_chaos.graders.error_seen import KINDS
from forge_chaos.reading import Reading, read
from forge_chaos.seeds import checks
from forge_chaos.verdict import Trial

Reason = Literal[
    "MODEL_UNDERSTANDING_ERROR",
    "TOOL_SELECTION_ERROR",
    "INVALID_ARGUMENTS",
    "FILE_NOT_FOUND_UNRECOVERED",
    "COMMAND_TIMEOUT",
    "CONTEXT_LOSS",
    "MAX_STEPS_EXCEEDED",
    "FINAL_ANSWER_INCOMPLETE",
    "UNKNOWN",
]
Layer = Literal["model", "tool", "environment", "harness", "unknown"]
LAYERS: Mapping[Reason, Layer] = {
    "MODEL_UNDERSTANDING_ERROR": "model",
    "TOOL_SELECTION_ERROR": "model",
    "INVALID_ARGUMENTS": "tool",
    "FILE_NOT_FOUND_UNRECOVERED": "environment",
    "COMMAND_TIMEOUT": "environment",
    "CONTEXT_LOSS": "harness",
    "MAX_STEPS_EXCEEDED": "harness",
    "FINAL_ANSWER_INCOMPLETE": "model",
    "UNKNOWN": "unknown",
}
UNRECOVERED: Mapping[str, Reason] = {
    "FILE_NOT_FOUND": "FILE_NOT_FOUND_UNRECOVERED",
    "COMMAND_TIMEOUT": "COMMAND_TIMEOUT",
    "INVALID_ARGUMENTS": "INVALID_ARGUMENTS",
}
FORGOT = "no longer know the task"


def reason(trial: Trial, trace: Trace) -> tuple[Reason, Layer] | None:
    """The reason and its layer; None for a trial that did not fail.

    The first that fits: a lost context, a spent budget, an error that stayed, a wrong choice of tools,
    no use of them at all, an answer that says too little. What the agent's own code raised, and what
    never ended, is UNKNOWN in the layer harness.
    """
    if trial.judgement.acceptable:
        return None
    found = _reason(trial, read(trace))
    broke = trial.judgement.outcome in ("invalid", "hung", "crashed", "violated")
    return found, "harness" if found == "UNKNOWN" and broke else LAYERS[found]


def _reason(trial: Trial, reading: Reading) -> Reason:
    facts = trial.facts
    if _lost_context(trial, reading):
        return "CONTEXT_LOSS"
    if facts.end in ("stopped", "limit"):
        return "MAX_STEPS_EXCEEDED"
    if trial.judgement.outcome == "invalid":
        return "UNKNOWN"
    stayed = _stayed(trial, reading)
    if stayed is not None:
        return stayed
    failed = {verdict.name for verdict in facts.graders if verdict.truth == "fail"}
    if failed & {"tool_used", "tool_not_used", "tool_answered"} or _no_such_tool(reading):
        return "TOOL_SELECTION_ERROR"
    if facts.end != "answered" or facts.violations:
        return "UNKNOWN"
    if facts.goal != "full" and not reading.steps and _tools(reading):
        return "MODEL_UNDERSTANDING_ERROR"
    if failed and all(name.startswith("answer") for name in failed):
        return "FINAL_ANSWER_INCOMPLETE"
    if facts.damage or facts.goal != "full":
        return "MODEL_UNDERSTANDING_ERROR"
    return "UNKNOWN"


def _lost_context(trial: Trial, reading: Reading) -> bool:
    """Did the model lose sight of what it knew: by a cut that fired, by its own word, by a compaction?"""
    known = reading.started.variants if reading.started else {}
    cut = any(known.get(injected.rule, {}).get("family") == "context" for _, injected in reading.injected)
    said = str(reading.finished.answer) if reading.finished else ""
    grew = any("compact" in verdict.name for verdict in trial.facts.violations)
    return cut or grew or FORGOT in said


def _stayed(trial: Trial, reading: Reading) -> Reason | None:
    """The last error type that was told and after which no equal tool and target was answered well.

    An error that the task asks for is none.
    """
    asked = {seq for v in trial.facts.graders if v.name == "error_seen" for seq in v.evidence}
    open_: dict[tuple[str, str | None], Reason] = {}
    for step in reading.steps:
        if step.told is None or step.closed in asked:
            continue
        place = (step.call.tool, step.call.target)
        open_.pop(place, None)
        code = (step.told.error or {}).get("code")
        kinds = [kind for kind in UNRECOVERED if code in KINDS[kind] or checks.names(step.told, kind)]
        if kinds and code != "unknown_tool":
            open_[place] = UNRECOVERED[kinds[0]]
    return list(open_.values())[-1] if open_ else None


def _no_such_tool(reading: Reading) -> bool:
    return any(
        step.told is not None and (step.told.error or {}).get("code") == "unknown_tool"
        for step in reading.steps
    )


def _tools(reading: Reading) -> bool:
    return bool(reading.started and reading.started.tools)
