"""What foreign tasks ask of a trial and no grader of ours says in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from forge_chaos.events import Told, Trace
from forge_chaos.graders.error_seen import error_seen
from forge_chaos.reading import read, said
from forge_chaos.recorded import words
from forge_chaos.verdict import Verdict

BLOCKED = "COMMAND_BLOCKED"
Check = Callable[[Trace], Verdict]


def error_told(code: str) -> Check:
    """The agent was told an error of this type: as an exception, or as a reply that names the type.

    COMMAND_BLOCKED also holds for an agent that ran no command and answered: refusing by itself what
    would be refused is right, and is no failure because the trace lacks the refusal.
    """

    def check(trace: Trace) -> Verdict:
        raised = error_seen(trace, code=code)
        if raised.truth == "pass":
            return raised
        reading = read(trace)
        for step in reading.steps:
            if step.told is not None and names(step.told, code):
                return Verdict("error_seen", "pass", f"a reply names {code}", (step.closed or step.seq,))
        end = reading.finished
        spoke = end is not None and end.end == "answered" and words(end.answer).strip() != ""
        ran = any(_runs(said(reading, step.call.tool).get("roles", ())) for step in reading.steps)
        if code == BLOCKED and spoke and not ran:
            return Verdict("error_seen", "pass", "it ran no command and answered", (reading.ended or 0,))
        return raised

    return check


def names(told: Told, code: str) -> bool:
    """Does a result name this error type, as tools do that return their errors?"""
    return re.search(rf"\b{re.escape(code)}\b", words(told.error or told.value)) is not None


def _runs(roles: Collection[str]) -> bool:
    """Can a tool of these roles run a command? One without any may do everything."""
    return not roles or "execute" in roles


def answered(tool: str) -> Check:
    """The tool was called, and at least one of its calls was answered without an error."""

    def check(trace: Trace) -> Verdict:
        steps = [step for step in read(trace).steps if step.call.tool == tool]
        good = [step.closed for step in steps if step.told is not None and step.told.ok and step.closed]
        if good:
            return Verdict("tool_answered", "pass", f"{tool} was called and answered", tuple(good))
        how = f"was called {len(steps)} times and never answered" if steps else "was not called"
        return Verdict("tool_answered", "fail", f"{tool} {how}", tuple(step.seq for step in steps))

    return check
