"""What was found out about a trial: frozen data, from one grader's verdict to the scorecard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from forge_chaos.nouns import Bar

Truth = Literal["pass", "fail", "unknown"]
Goal = Literal["full", "degraded", "wrong"]
Claim = Literal["done", "failed", "unclear"]
End = Literal["answered", "limit", "stopped", "hung", "cancelled", "raised"]
Seen = Literal["yes", "no", "unknown"]
Outcome = Literal[
    "invalid",
    "unfair",
    "not_reached",
    "damaged",
    "hung",
    "looped",
    "crashed",
    "violated",
    "recovered",
    "degraded",
    "undersold",
    "gave_up",
    "false_success",
    "silent",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One grader's or invariant's word on one trial. `evidence` are event numbers."""

    name: str
    truth: Truth
    why: str
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule's mechanism acted on a call: proven by event `event`."""

    rule: str
    fault: str
    variant: str
    tool: str
    target: str | None
    nth: int
    call: int | None
    event: int
    seen: Seen = "unknown"
    explicit: bool = True
    ever: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What the trace shows, each field one pure function of it.

    `damage`, `loops` and `violations` are failed verdicts with evidence; `litter` are new resources
    that nobody declared. `almost` says why a DONE or FAILED in the last line is no claim. `late` means the effect landed after the agent's last call.
    `broken` names a grader that could not be run: such a trial is `invalid`. `ended` is the number of
    the event that ended the run. `unreached` are programs that were started past the gate.
    """

    fired: tuple[Fired, ...] = ()
    end: End = "answered"
    goal: Goal = "wrong"
    claim: Claim = "unclear"
    expects: Literal["done", "failed"] = "done"
    honest: bool = False
    late: bool = False
    damage: tuple[Verdict, ...] = ()
    loops: tuple[Verdict, ...] = ()
    violations: tuple[Verdict, ...] = ()
    graders: tuple[Verdict, ...] = ()
    litter: tuple[str, ...] = ()
    broken: str | None = None
    steps: int = 0
    error: str = ""
    ended: int | None = None
    almost: str = ""
    unreached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome of a trial, whether it is acceptable against `bar`, and why, with event numbers.
    `scored` is False for outcomes that enter no fault's robustness."""

    outcome: Outcome
    acceptable: bool
    scored: bool
    why: str
    evidence: tuple[int, ...] = ()
    bar: Bar | None = None


Half = Literal["model", "harness"]
Layer = Literal["harness", "model", "both", "interaction", "unknown"]


@dataclass(frozen=True, slots=True)
class Swapped:
    """How a failing trial's plan ends when one half of the agent is another's: `half` "model" says that the
    expert stood in for its model, "harness" that the reference loop stood in for its loop.

    `failed` of `runs` trials ended badly; `runs` is 0 where that could not be played, or the fault was not
    met. `same`: that half is so already, and the end is the trial's own. `outcome` and `why` are of the first.
    """

    half: Half
    failed: int
    runs: int
    outcome: str = ""
    why: str = ""
    same: bool = False

    @property
    def fails(self) -> bool | None:
        """None where that is not known."""
        return None if not self.runs else 2 * self.failed > self.runs


@dataclass(frozen=True, slots=True)
class Trial:
    """A finished trial, as the store keeps it and renderers read it.

    `id` is a hash of (scenario, agent, plan, seed, repetition). `kind` is `clean` or `fault`.
    `rules` is the plan in notation, `swept` the fault class that a sweep planned it for (None for a
    plan by hand). `replay` is the command that runs it again. `layer` says whose the failure is, where that
    was asked, and `swapped` are the two ends that it follows from; `reason` is a guess at what made it fail
    (`seeds.reasons`), for readers.
    """

    id: str
    scenario: str
    kind: Literal["clean", "fault"]
    rules: tuple[str, ...]
    seed: int
    repetition: int
    faults: tuple[str, ...]
    facts: Facts
    judgement: Judgement
    layer: str = "unknown"
    replay: str = ""
    suite: str = "capability"
    reason: str = ""
    swapped: tuple[Swapped, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One fault class in numbers. Shares are None where nothing counts towards them; `low` and `high`
    are the 95 % interval, None in a census. `planned` and `fired` count trials."""

    fault: str
    planned: int
    fired: int
    acceptable: int
    robustness: float | None
    recovery: float | None = None
    honesty: float | None = None
    safety: float | None = None
    seen: float | None = None
    retained: float | None = None
    low: float | None = None
    high: float | None = None
    census: bool = True
    outcomes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    scenario: str
    why: str


@dataclass(frozen=True, slots=True)
class Scorecard:
    """A run in numbers. `exit` is the exit code and `reasons` the sentences that explain it."""

    run: str
    agent: str
    model: str
    persona: str | None
    seed: int
    clean_passed: int
    clean_of: int
    rows: tuple[Row, ...]
    overall: float | None
    trials: int
    not_reached: int
    skipped: tuple[Skipped, ...] = ()
    exit: int = 0
    reasons: tuple[str, ...] = ()
    demonstration: bool = False
    passk: Mapping[str, Any] = field(default_factory=dict)
