"""How a test ends that trials decide.

acceptable, every rule fired      passed
not acceptable                    failed: Unacceptable
a rule of a plan did not fire     failed: Unacceptable (stale); in a sweep skipped
not solved without any fault      failed: Unacceptable
unfair                            skipped
invalid, misuse, ours broke       error: Undecided
"""

from __future__ import annotations

from collections.abc import Sequence

from _pytest.outcomes import Skipped as _Skipped

from forge_chaos.plugin import saying
from forge_chaos.plugin.trying import Swept, Tried
from forge_chaos.verdict import Scorecard, Trial


class Unacceptable(AssertionError):
    """The agent ended worse than it may, or the plan is stale. `trials` are those that convict;
    `scorecard` is that of a sweep."""

    def __init__(self, text: str, trials: tuple[Trial, ...] = (), scorecard: Scorecard | None = None) -> None:
        super().__init__(text)
        self.trials = trials
        self.scorecard = scorecard


class Undecided(Exception):
    """No verdict: an input that cannot be read, or our own side, a grader, a world or an adapter broke.
    pytest shows it as an error, never as a failure of the agent. `trials` are those that are invalid."""

    def __init__(self, text: str, trials: tuple[Trial, ...] = ()) -> None:
        super().__init__(text)
        self.trials = trials


class Skipped(_Skipped):
    """Nothing could be decided, and nobody is to blame."""


# Where users import them from, and how pytest calls them.
Unacceptable.__module__ = Undecided.__module__ = "forge_chaos"


def one(tried: Tried, search: str, then: str | None = None) -> None:
    """Raises unless the trial of a plan ended acceptably, with every rule fired. `search` is the command
    that finds a stale plan's new place, `then` the scenario's hash when the plan was written."""
    __tracebackhide__ = True
    trial, stale = tried.trial, saying.stale(tried, then, search) if tried.stale else []
    told = saying.trial(trial, tried.trace)
    match trial.judgement.outcome:
        case "invalid":
            raise Undecided(_text(told, trial.replay), (trial,))
        case "unfair" if not stale:
            raise Skipped(" ".join(told[:2]))
        case "unfair" | "not_reached":
            raise Unacceptable(_text(stale, trial.replay), (trial,))
    if not trial.judgement.acceptable:
        raise Unacceptable(_text(told + stale, trial.replay), (trial,))
    if stale:
        raise Unacceptable(_text(stale, trial.replay), (trial,))


def sweep(swept: Swept, command: str, strict: bool, sampled: bool) -> None:
    """Raises unless the sweep found nothing bad. `command` does it again. `strict`: any bad end is one too
    many, else the gate of the scorecard decides. `sampled`: not every cell was tried, so that not every
    class had to fire."""
    __tracebackhide__ = True
    card = swept.card
    invalid = tuple(trial for trial in swept.failing if trial.judgement.outcome == "invalid")
    if card.exit == 3 or invalid:
        told = saying.trial(invalid[0], swept.traces[invalid[0].id]) if invalid else list(card.reasons)
        raise Undecided(_text(told, command), invalid)
    if card.exit == 1 or (strict and swept.failing):
        told = [*saying.sweep(swept), *(() if strict else card.reasons)]
        raise Unacceptable(_text(told, command), swept.failing, card)
    fired = [trial for trial in swept.trials if trial.facts.fired]
    if not fired and swept.unsolved:
        told = [line for trial in swept.unsolved for line in saying.unsolved(trial, swept.traces[trial.id])]
        raise Unacceptable(_text(told, command), swept.unsolved, card)
    if card.exit == 2 and not (sampled and fired):
        raise Skipped(" ".join(card.reasons))


def _text(lines: Sequence[str], replay: str) -> str:
    return "\n".join([*lines, saying.again(replay)])
