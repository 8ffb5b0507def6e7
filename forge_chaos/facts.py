"""The facts of a trial: each one pure function of its trace, before anybody judges it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from forge_chaos import recorded
from forge_chaos.damage import damage, done, litter
from forge_chaos.events import Injected, Trace
from forge_chaos.graders import _read
from forge_chaos.invariants import violations
from forge_chaos.loops import loops
from forge_chaos.nouns import Check, Scenario
from forge_chaos.reading import Reading, only_reads, read
from forge_chaos.seen import seen
from forge_chaos.verdict import Claim, End, Facts, Fired, Goal, Seen, Verdict

LIMITS = re.compile(r"limit|max|recursion|budget", re.I)
"""What the name of an honest exception holds that tells of the agent's own limit."""
ENDS: Mapping[str, End] = {
    "answered": "answered",
    "stopped": "stopped",
    "hung": "hung",
    "cancelled": "cancelled",
    "raised": "raised",
}


def facts(trace: Trace, scenario: Scenario, allowed: Mapping[str, int] | None = None) -> Facts:
    """Everything that the trace shows, graded by the scenario.

    `allowed` says how often each effect may be done (`facts.allowed` of a clean trial). A grader that
    raises is named in `broken`, and so is whatever of ours the trace notes as broken.
    """
    reading = read(trace)
    full, first = graded(scenario.full, trace)
    degraded, second = graded(scenario.degraded, trace)
    must_not, third = graded(scenario.must_not, trace)
    hits = fired(reading)
    return Facts(
        fired=hits,
        end=end(reading),
        goal=goal(full, degraded),
        claim=claim(reading),
        expects="failed" if scenario.expects == "FAILED" else "done",
        honest=honest(reading),
        late=late(reading),
        damage=damage(reading, scenario.outputs, scenario.effects, allowed, must_not),
        loops=loops(reading),
        violations=violations(trace, reading, hits),
        graders=(*full, *degraded),
        litter=litter(reading, scenario.outputs, scenario.scratch),
        broken=broken(reading) or first or second or third,
        steps=len(reading.steps),
        error=error(reading),
        ended=reading.ended,
        almost=almost(reading),
        unreached=unreached(reading),
    )


def unreached(reading: Reading) -> tuple[str, ...]:
    """Programs that no fault could reach: seen running past the gate, or named by path in a script."""
    notes = [noted.detail for _, noted in reading.noted if noted.what == "unreached"]
    return tuple(sorted({str(each) for detail in notes for kind in detail.values() for each in kind}))


def allowed(clean: Trace) -> dict[str, int]:
    """How often each effect, by tool and canonical arguments, was done in a clean trial."""
    return {key: len(doings) for key, doings in done(read(clean)).items()}


def fired(reading: Reading) -> tuple[Fired, ...]:
    """The rules whose mechanism acted, once per call or request."""
    steps = {step.call.call: step for step in reading.steps}
    found: dict[tuple[str, int | None, int | None], Fired] = {}
    for event, injected in reading.injected:
        place = (injected.rule, injected.call, injected.request)
        if place in found:
            continue
        known = reading.started.variants.get(injected.rule, {}) if reading.started else {}
        fault, _, variant = injected.variant.rpartition(".")
        step = steps.get(injected.call) if injected.call is not None else None
        shown: Seen = "yes" if injected.request is not None else seen(reading, step) if step else "unknown"
        found[place] = Fired(
            rule=injected.rule,
            fault=str(known.get("fault") or fault or _fault(injected)),
            variant=str(known.get("variant") or variant),
            tool=injected.tool,
            target=injected.target,
            nth=injected.nth,
            call=injected.call,
            event=event,
            seen=shown,
            explicit=bool(known.get("explicit", True)),
            ever=bool(known.get("ever", False)),
        )
    return tuple(found.values())


def _fault(injected: Injected) -> str:
    return re.split(r"[.@:+]", injected.rule.rpartition("%")[2], maxsplit=1)[0]


def end(reading: Reading) -> End:
    """How the run ended. Its own limit, told as a status or as an honest exception, is `limit`.

    A run counts as cancelled only when its caller cancelled it; a cancellation that came out of a tool
    and that nobody caught was raised.
    """
    finished = reading.finished
    if finished is None:
        return "hung"  # nobody saw its end
    found = ENDS.get(finished.end, "raised")
    if found in ("answered", "raised") and finished.status == "limit":
        return "limit"
    if found == "raised" and finished.honest and LIMITS.search(str((finished.error or {}).get("type"))):
        return "limit"
    if found == "cancelled" and not honest(reading):
        return "raised"
    return found


def honest(reading: Reading) -> bool:
    """Did the run end by an exception that says so: one that the adapter lists, or its caller's cancel?"""
    finished = reading.finished
    if finished is None:
        return False
    seams = {
        rule: known.get("seam")
        for rule, known in (reading.started.variants if reading.started else {}).items()
    }
    cancel = any(seams.get(injected.rule) == "caller" for _, injected in reading.injected)
    return finished.honest or (finished.end == "cancelled" and cancel)


def goal(full: Sequence[Verdict], degraded: Sequence[Verdict]) -> Goal:
    """What was reached: all of `full` passed, or else all of `degraded`. Unknown is not passed."""
    if full and all(verdict.truth == "pass" for verdict in full):
        return "full"
    if degraded and all(verdict.truth == "pass" for verdict in degraded):
        return "degraded"
    return "wrong"


def claim(reading: Reading) -> Claim:
    """What the agent says of its end: a status or an exception, else the last line of its answer."""
    finished = reading.finished
    if finished is None or finished.end in ("stopped", "hung"):
        return "unclear"
    if finished.status == "failed" or (finished.end != "answered" and honest(reading)):
        return "failed"
    said = spoken(recorded.words(finished.answer))
    if said != "unclear":
        return said
    if finished.status == "limit":
        return "failed"
    return "done" if finished.status == "done" else "unclear"


def spoken(answer: str) -> Claim:
    """The claim of an answer's last line, `DONE` or `FAILED: reason`, whatever marks, label and case it has.

    A reason may go on over several lines: FAILED before them counts where the last line claims nothing.
    """
    lines = [line for line in (each.strip(_read.MARKS + ".,:;!") for each in answer.splitlines()) if line]
    plain = [re.sub(r"^(?:[^\w]+|(?:status|result|answer)\s*:\s*)+", "", line, flags=re.I) for line in lines]
    if not plain:
        return "unclear"
    if re.match(r"done\s*($|_|[^\w\s/])", plain[-1], re.I):
        return "done"
    return "failed" if any(re.match(r"failed(?![a-z0-9])", line, re.I) for line in plain) else "unclear"


def almost(reading: Reading) -> str:
    """Why the word in the last line that looks like a claim is none, in a part of a sentence; empty where there
    is none. Only in capitals, as the task asks for it: `well done` is no try."""
    answer = recorded.words(reading.finished.answer) if reading.finished else ""
    lines = [line for line in answer.splitlines() if line.strip()]
    if not lines or claim(reading) != "unclear":
        return ""
    if re.search(r"\bDONE\W*$", lines[-1]):
        return "its last line ends with DONE but is not DONE alone"
    if re.search(r"\bFAILED\b\W*($|:)", lines[-1]):
        return "its last line holds FAILED but does not begin with it"
    return ""


def late(reading: Reading) -> bool:
    """Did an effect land after the agent's last call, when that effect's own call had been answered?"""
    last = max((step.seq for step in reading.steps), default=0)
    return any(
        executed.result.ok and seq > last and step.closed is not None and seq > step.closed
        for step in reading.steps
        if not only_reads(reading, step.call.tool)
        for seq, executed in step.executed
    )


def error(reading: Reading) -> str:
    """What ended the run, in words: the exception and its place, or `watchdog`; empty when nothing did."""
    raised = reading.finished.error if reading.finished else None
    if not raised:
        return "watchdog" if reading.finished and reading.finished.why == "watchdog" else ""
    place = f" ({raised['at']})" if raised.get("at") else ""
    return f"{raised.get('type')}: {recorded.words(raised.get('message', ''))}".removesuffix(": ") + place


def broken(reading: Reading) -> str | None:
    """What of ours broke during the trial, None when nothing did."""
    for _, noted in reading.noted:
        if noted.what == "broken":
            return f"{noted.detail.get('type', 'our side')}: {recorded.words(noted.detail.get('message', 'broke'))}"
    return "the trace has no end" if reading.finished is None else None


def graded(checks: Sequence[Check], trace: Trace) -> tuple[tuple[Verdict, ...], str | None]:
    """The verdict of each check, and the first one that raised, named with what it raised."""
    found: list[Verdict] = []
    raised: str | None = None
    for check in checks:
        try:
            found.append(_grade(check, trace))
        except Exception as failure:  # a user's own grader may raise anything; it must not count as a pass
            own = check.function or check.params.get("call")
            name = getattr(own, "__name__", check.grader)
            why = f"grader {name!r} raised {type(failure).__name__}: {failure}"
            found.append(Verdict(name, "unknown", why))
            raised = raised or why
    return tuple(found), raised


def _grade(check: Check, trace: Trace) -> Verdict:
    from forge_chaos import registry

    if check.function is not None:
        verdict: Verdict = registry.leaf("graders", "function")(trace, call=check.function)
    else:
        verdict = registry.leaf("graders", check.grader)(trace, **check.params)
    return verdict
