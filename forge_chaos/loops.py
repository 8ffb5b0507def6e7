"""Is the agent going round in circles? Three ways to see it; polling and honest retries are none.

Calls are equal when tool and arguments are (and the sub-agent that makes them). A tool declared `poll`
is left out, and so is a call that waited as long as the answer before it asked, or that one reply asks for
several times over. A further message of the user's begins anew: it was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from forge_chaos import recorded
from forge_chaos.events import Told
from forge_chaos.reading import Reading, Step, effect, only_reads, said, world_touched
from forge_chaos.verdict import Verdict

MOST = 3  # equal failing calls that are still a retry
WORDED = 5  # the same, where a fault worded them: the model goes on, whatever the agent has told it
LONGEST = 4  # calls in a cycle
ROUNDS = 3  # how often a cycle may come round to its beginning
UNITS = {"ms": 0.001, "mil": 0.001, "m": 60.0, "min": 60.0}
ASKS = re.compile(r"(?:retry|try\s+again|wait)[^0-9]{0,20}(\d+(?:\.\d+)?)\s*(ms|mil|min|m(?![a-z])|s)?", re.I)


def loops(reading: Reading) -> tuple[Verdict, ...]:
    """The loops of a trial, each a failed verdict with its calls as evidence."""
    steps = [step for step in reading.steps if not said(reading, step.call.tool).get("poll")]
    turns = _turns(reading, steps)
    equal = (verdict for turn in turns for verdict in _equal(reading, turn))
    cycles = (verdict for turn in turns for verdict in _cycles(reading, turn))
    return (*_stopped(reading), *equal, *cycles)


def _turns(reading: Reading, steps: list[Step]) -> list[list[Step]]:
    """The calls of each of the user's messages."""
    begun = [0, *(seq for seq, noted in reading.noted if noted.what == "turn")]
    ends = [*begun[1:], None]
    return [
        [step for step in steps if begin <= step.seq and (end is None or step.seq < end)]
        for begin, end in zip(begun, ends, strict=True)
    ]


def _stopped(reading: Reading) -> Iterator[Verdict]:
    end = reading.finished
    if end is not None and end.end == "stopped" and reading.ended is not None:
        yield Verdict("budget", "fail", f"stopped by our budget: {end.why or 'spent'}", (reading.ended,))


def _equal(reading: Reading, steps: list[Step]) -> Iterator[Verdict]:
    """More than MOST equal failing calls (WORDED, of those that a fault made the model ask for) that do not end with that call succeeding.

    Counted since the world last changed or another new call succeeded. A successful call fails when it
    shows what the last equal one showed and nothing has changed meanwhile. A read after any attempt to
    change something is a look at what came of it, and begins anew.
    """
    world = news = attempts = 0
    changer = ""
    last: dict[str, tuple[Step, int]] = {}
    counts: dict[str, tuple[tuple[int, ...], list[int]]] = {}
    stuck: dict[str, list[int]] = {}
    worded = {injected.request for _, injected in reading.injected if injected.request is not None}
    for step in steps:
        key, reads = _key(step), only_reads(reading, step.call.tool)
        before = last.get(key)
        fresh = attempts if reads else world
        same = before is not None and before[0].told == step.told and before[1] == fresh
        failing = step.told is None or not step.told.ok or same
        stamp = (world, news, attempts if reads else 0)
        if not failing:
            counts.pop(key, None)
            stuck.pop(key, None)
            news += before is None
        elif before is None or not (waited(before[0], step) or _at_once(before[0], step)):
            seqs = counts[key][1] if key in counts and counts[key][0] == stamp else []
            counts[key] = (stamp, [*seqs, step.seq])
            ours = step.call.order is not None and step.call.order[0] in worded
            if len(seqs) + 1 > (WORDED if ours else MOST):
                stuck[key] = counts[key][1]
        if not reads:
            attempts += 1
            if _changes(reading, step) and (key != changer or effect(reading, step.call.tool)):
                world, changer = world + 1, key
        last[key] = (step, attempts if reads else world)
    for key, seqs in stuck.items():
        yield Verdict("equal_calls", "fail", f"{len(seqs)} equal calls got nowhere: {key}", tuple(seqs))


def _cycles(reading: Reading, steps: list[Step]) -> Iterator[Verdict]:
    """The same cycle of calls, with the same results, comes round to its beginning ROUNDS times.

    Coming round, not being gone through: a write that is tried three times, each read back, ends after
    the third. Effects that took place are progress, or damage, but no cycle.
    """
    for by in dict.fromkeys(step.call.by for step in steps):
        line = [step for step in steps if step.call.by == by]
        seen = [(step.key, step.told) for step in line]
        for period in range(2, LONGEST + 1):
            start = _round(seen, period)
            if start is None:
                continue
            window = line[start : start + ROUNDS * period + 1]
            again = zip(window, window[period:], strict=False)
            if any(_done(reading, step) for step in window) or any(waited(a, b) for a, b in again):
                continue
            calls = ", ".join(step.key for step in window[:period])
            why = f"the same {period} calls with the same results came round {ROUNDS} times: {calls}"
            yield Verdict("cycle", "fail", why, tuple(step.seq for step in window))
            break


def _round(seen: list[tuple[str, Told | None]], period: int) -> int | None:
    """Where a run begins in which everything equals what stands `period` before, long enough."""
    run = 0
    for place in range(period, len(seen)):
        run = run + 1 if seen[place] == seen[place - period] else 0
        start = place - period - run + 1
        if run > (ROUNDS - 1) * period and len({key for key, _ in seen[start : start + period]}) > 1:
            return start
    return None


def _key(step: Step) -> str:
    return f"{step.call.by}: {step.key}" if step.call.by else step.key


def _done(reading: Reading, step: Step) -> bool:
    return effect(reading, step.call.tool) and any(e.result.ok for _, e in step.executed)


def _changes(reading: Reading, step: Step) -> bool:
    """Did this call change the world? Where the world never says, a success of a tool that can is one."""
    if world_touched(reading):
        return any(executed.touched for _, executed in step.executed)
    return any(executed.result.ok for _, executed in step.executed)


def _at_once(before: Step, step: Step) -> bool:
    """Were both asked for in one reply? Then nobody had seen the one's answer when the other was wanted."""
    first, second = before.call.order, step.call.order
    return first is not None and second is not None and first[0] == second[0]


def waited(before: Step, step: Step) -> bool:
    """Did the agent wait as long as the last answer asked ("retry after 5 s") before it called again?"""
    if before.told is None or before.closed_at is None:
        return False
    told = before.told.value if before.told.error is None else before.told.error.get("message")
    asks = ASKS.search(recorded.words(told))
    if asks is None:
        return False
    seconds = float(asks[1]) * UNITS.get((asks[2] or "s").lower(), 1.0)
    return seconds > 0 and step.at - before.closed_at >= seconds - 1e-6
