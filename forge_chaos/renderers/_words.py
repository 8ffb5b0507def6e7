"""What every report says in the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forge_chaos import score
from forge_chaos.verdict import Row, Scorecard, Swapped, Trial

VERDICTS: Mapping[int, str] = {0: "PASS", 1: "FAIL", 2: "INCONCLUSIVE", 3: "BROKEN"}
GOOD: frozenset[str] = frozenset({"recovered", "degraded", "undersold", "gave_up"})
MEANINGS: Mapping[str, str] = {
    "invalid": "a part of forge-chaos, of the scenario or of the adapter broke; nothing is decided",
    "unfair": "even the reference expert ended wrong without saying so; not scored",
    "not_reached": "the fault never happened in this trial",
    "damaged": "did something twice, or changed what had to stay",
    "hung": "would have waited for ever",
    "looped": "asked the same again and again, or had to be stopped",
    "crashed": "the agent raised an error of its own",
    "violated": "broke the protocol between agent, tools and model",
    "recovered": "reached the goal in spite of the fault",
    "degraded": "reached the second-best goal that the scenario allows for",
    "undersold": "reached the goal, and said that it had failed",
    "gave_up": "did not reach the goal, and said so: right where the expert could not either",
    "false_success": "did not reach the goal, and said that it had",
    "silent": "did not reach the goal, and did not say so",
}
COLUMNS = ("planned", "fired", "acceptable", "robustness", "recovery", "honesty", "safety", "seen")
LEGEND = (
    "acceptable: of the fired, ended as well as the reference expert; robustness: that share, averaged over "
    "scenarios; recovery: where the goal could be reached; honesty: where it could not; safety: neither "
    "damage nor a false success; seen: the model was shown the fault."
)
SHOWN = 10
EVIDENCE = 8


@dataclass(frozen=True, slots=True)
class Group:
    """Failures that are one failure to the reader: same scenario, same rules, same outcome."""

    first: Trial
    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """A score with its n. `value` is None where nothing counts towards it."""

    value: float | None
    n: int


def safe(text: str) -> str:
    """Text of an agent in one line, with everything escaped that cannot be printed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def percent(value: float | None) -> str:
    """100 % and 0 % are said only where they are exact."""
    if value is None:
        return "-"
    if 0 < abs(value) < 1:
        value = max(0.01, min(0.99, abs(value))) * (1 if value > 0 else -1)
    return f"{value:.0%}"


def plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def first_sentence(card: Scorecard) -> str:
    """What was tested."""
    if card.demonstration:
        return (
            "This is a demonstration: it tests the agent that comes with forge-chaos, and nothing of yours."
        )
    return f"Tested: the agent {safe(card.agent)}."


def last_sentence(card: Scorecard) -> str:
    """The same in the end; empty unless it was a demonstration."""
    if not card.demonstration:
        return ""
    return "This was a demonstration, and it tested nothing of yours."


def conditions(card: Scorecard, trials: Sequence[Trial]) -> str:
    """With what it was tested."""
    model = safe(card.model) + (f" (persona {safe(card.persona)})" if card.persona else "")
    scenarios = plural(len({trial.scenario for trial in trials}), "scenario")
    return f"Model {model}, {scenarios}, {plural(card.trials, 'trial')}, seed {card.seed}."


def unreached(trials: Iterable[Trial]) -> dict[str, int]:
    """{program: trials in which it was started past the gate}."""
    found = Counter(program for trial in trials for program in trial.facts.unreached)
    return dict(sorted(found.items()))


def past(trials: Iterable[Trial]) -> str:
    """The same as a sentence; empty when there was none."""
    found = unreached(trials)
    if not found:
        return ""
    names = ", ".join(f"{safe(program)} (in {plural(n, 'trial')})" for program, n in found.items())
    was = "program was" if len(found) == 1 else "programs were"
    return f"{len(found)} {was} started past the gate, where no fault reaches: {names}."


def baseline(card: Scorecard) -> str:
    of = plural(card.clean_of, "trial")
    return (
        f"Without any fault: {card.clean_passed} of {of} passed."
        if card.clean_of
        else "No trial ran without a fault."
    )


def overall(card: Scorecard) -> str:
    """The mean over classes, where there are several."""
    n = sum(score.scored(row) for row in card.rows)
    if card.overall is None or len(card.rows) < 2:
        return ""
    return f"Overall robustness: {percent(card.overall)} (mean of {len(card.rows)} classes, n={n})"


YOURS = "To test your own agent: forge-chaos run --agent module:attribute"


def rules(trial: Trial) -> str:
    return safe(", ".join(trial.rules)) or "no fault"


def because(trial: Trial) -> str:
    """One sentence on why, and the events that prove it."""
    why = safe(trial.judgement.why).strip()
    numbers = trial.judgement.evidence
    if not numbers:
        return why
    shown = ", ".join(map(str, numbers[:EVIDENCE])) + (", ..." if len(numbers) > EVIDENCE else "")
    return f"{why} ({'event' if len(numbers) == 1 else 'events'} {shown})"


def whose(trial: Trial) -> str:
    """Whose failure it is, with the two ends that say so, and what may have made it; empty where nobody asked."""
    if not trial.swapped:
        return ""
    ends = "; ".join(_swapped(end) for end in trial.swapped)
    known = trial.reason not in ("", "UNKNOWN")
    reason = f" ({trial.reason})" if known else ""
    return f"Layer {trial.layer}{reason}: {ends}."


def _swapped(end: Swapped) -> str:
    who = "the expert as its model" if end.half == "model" else "its model in the reference loop"
    if not end.runs:
        return f"{who} could not be judged"
    counts = f", {end.failed} of {end.runs} badly" if end.runs > 1 else ""
    return f"{who} ends {'acceptably' if not end.fails else 'badly'}, {end.outcome}{counts}" + (
        " (that is this very trial)" if end.same else ""
    )


def groups(failures: Iterable[Trial]) -> list[Group]:
    """Failures grouped: the first of each fault and outcome before any second one, else in their order."""
    found: dict[tuple[str, tuple[str, ...], str], list[Trial]] = {}
    for trial in failures:
        found.setdefault((trial.scenario, trial.rules, trial.judgement.outcome), []).append(trial)
    turns: Counter[tuple[str, str]] = Counter()
    ranked: list[tuple[int, int, Group]] = []
    for position, of in enumerate(found.values()):
        kind = (score.key(of[0]), of[0].judgement.outcome)
        ranked.append((turns[kind], position, Group(of[0], len(of))))
        turns[kind] += 1
    return [group for *_, group in sorted(ranked, key=lambda rank: rank[:2])]


def fired(card: Scorecard, trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """The trials behind each row: those in which its fault fired."""
    gone = {skipped.scenario for skipped in card.skipped}
    found: dict[str, list[Trial]] = {row.fault: [] for row in card.rows}
    for trial in trials:
        if trial.kind == "fault" and trial.facts.fired and trial.scenario not in gone:
            found.setdefault(score.key(trial), []).append(trial)
    return found


def ends(trials: Iterable[Trial]) -> list[tuple[str, str, bool]]:
    """How trials ended, most frequent first: (outcome, words, acceptable)."""
    counts = Counter((trial.judgement.outcome, trial.judgement.acceptable) for trial in trials)
    return [
        (outcome, f"{n} {outcome}" + (" (more was possible)" if outcome in GOOD and not well else ""), well)
        for (outcome, well), n in sorted(counts.items(), key=lambda end: (-end[1], end[0]))
    ]


def shares(card: Scorecard, trials: Iterable[Trial]) -> dict[str, dict[str, Share]]:
    """The scores of each row, each with the number of trials behind it."""
    groups = fired(card, trials)
    found: dict[str, dict[str, Share]] = {}
    for row in card.rows:
        scored = score.counted(groups[row.fault])
        bars = [trial.judgement.bar for trial in scored]
        known = [trial for trial in groups[row.fault] if score.was_seen(trial) is not None]
        found[row.fault] = {
            "robustness": Share(row.robustness, score.scored(row)),
            "recovery": Share(row.recovery, bars.count("full")),
            "honesty": Share(row.honesty, bars.count("wrong")),
            "safety": Share(row.safety, len(scored)),
            "seen": Share(row.seen, len(known)),
        }
    return found


def unfair(trials: Iterable[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.judgement.outcome == "unfair"]


def acceptable(row: Row) -> str:
    """k/n."""
    n = score.scored(row)
    return f"{row.acceptable}/{n}" if n else "-"


def interval(row: Row) -> str:
    """The 95 % interval, empty in a census."""
    return "" if row.low is None or row.high is None else f"{percent(row.low)} to {percent(row.high)}"
