"""What foreign tasks ask of a trial and no grader of ours says in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache

from forge_chaos.events import Noted, Told, Trace, find
from forge_chaos.graders.error_seen import error_seen
from forge_chaos.graders.tool_used import tool_used
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


@cache
def used(tool: str) -> Check:
    """The tool was called. The agent's own report counts for a tool that no gate has seen it call."""

    def check(trace: Trace) -> Verdict:
        seen = tool_used(trace, tool=tool)
        return seen if seen.truth == "pass" else _reported(trace, tool, "tool_used") or seen

    return check


def _reported(trace: Trace, tool: str, name: str) -> Verdict | None:
    """What an agent that is a command says of tools of its own; None when it says nothing of this one."""
    for seq, noted in find(trace, Noted):
        calls = noted.detail.get("tool_calls") if noted.what == "reported" else None
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and call.get("name") == tool:
                return Verdict(
                    name, "pass", f"no gate saw a call of {tool}, but the agent reports one", (seq,)
                )
    return None


def answered(tool: str) -> Check:
    """The tool was called, and at least one of its calls was answered without an error. The agent's own report
    counts for a tool that no gate has seen it call."""

    def check(trace: Trace) -> Verdict:
        steps = [step for step in read(trace).steps if step.call.tool == tool]
        good = [step.closed for step in steps if step.told is not None and step.told.ok and step.closed]
        if good:
            return Verdict("tool_answered", "pass", f"{tool} was called and answered", tuple(good))
        reported = None if steps else _reported(trace, tool, "tool_answered")
        if reported is not None:
            return reported
        how = f"was called {len(steps)} times and never answered" if steps else "was not called"
        return Verdict("tool_answered", "fail", f"{tool} {how}", tuple(step.seq for step in steps))

    return check
