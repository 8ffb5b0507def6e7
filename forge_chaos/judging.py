"""Judging a trial: its facts, the bar that the expert sets against the same faults, the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from forge_chaos import facts, judge, mapping, notation, sweep
from forge_chaos.bench import Bench, specs_of
from forge_chaos.bounded import bounded
from forge_chaos.errors import Broken, Misuse
from forge_chaos.events import Called, Started, Trace, find
from forge_chaos.nouns import Bar, Rule, Scenario, ToolSpec
from forge_chaos.reading import read
from forge_chaos.schedule import matches
from forge_chaos.verdict import Facts, Judgement

RANK: Mapping[str, int] = {"wrong": 0, "degraded": 1, "full": 2}
Key = tuple[str, int]  # scenario and seed


@dataclass(frozen=True, slots=True)
class Reached:
    """What the expert's trial came to. `bar` is None when it met no fault, was unfair or broke; `partly`:
    some faults are on tools that it does not use."""

    bar: Bar | None = None
    unfair: bool = False
    broken: str | None = None
    partly: bool = False


@dataclass(slots=True)
class Judge:
    """Judges traces. `home` plays the expert, once for each set of faults that an agent met.

    `own` are the tools of an agent that brings its own: what it met is played over the scenario's tools
    that they stand for.
    """

    home: Bench
    own: Mapping[str, ToolSpec] | None = None
    _reached: dict[tuple[Key, tuple[str, ...], frozenset[str]], Reached] = field(default_factory=dict)
    _clean: dict[Key, Trace] = field(default_factory=dict)
    _own_clean: dict[Key, Trace] = field(default_factory=dict)

    def clean(self, scenario: Scenario) -> Trace | None:
        """The expert's clean trial; None where there is no solution. Raises Misuse when the solution
        fails the graders of its own scenario, Broken when one of them raises."""
        key = (scenario.name, scenario.seed)
        if key not in self._clean and scenario.solve is not None:
            with bounded(f"the solution of scenario {scenario.name!r}"):
                trace = self.home.expert(scenario, (), scenario.seed)
                _sound(scenario, facts.facts(trace, scenario))
            self._clean[key] = trace
        return self._clean.get(key)

    def learn(self, scenario: Scenario, trace: Trace) -> None:
        """A clean trial of the agent's own: it says which effects are allowed where no expert can."""
        self._own_clean.setdefault((scenario.name, scenario.seed), trace)

    def allowed(self, scenario: Scenario) -> Mapping[str, int] | None:
        """How often each effect may be done; None when no clean trial is known."""
        trace = self.clean(scenario) if self.own is None else None
        if trace is None:
            trace = self._own_clean.get((scenario.name, scenario.seed))
        return None if trace is None else facts.allowed(trace)

    def __call__(self, trace: Trace, scenario: Scenario) -> tuple[Facts, Judgement]:
        """Facts and judgement of one trial."""
        with bounded(f"the judging of scenario {scenario.name!r}"):
            return self._judged(trace, scenario)

    def _judged(self, trace: Trace, scenario: Scenario) -> tuple[Facts, Judgement]:
        found = facts.facts(trace, scenario, self.allowed(scenario))
        if not found.fired or found.broken:
            return found, judge.judge(found, None)
        reached = self._bar(trace, scenario, found)
        if reached.broken is not None:
            found = replace(found, broken=f"in the expert's trial, {reached.broken}")
        return found, judge.judge(found, reached.bar, unfair=reached.unfair)

    def _bar(self, trace: Trace, scenario: Scenario, found: Facts) -> Reached:
        stated = self._stated(found)
        met = sweep.met(trace)
        playable = met if self.own is None else translated(met, scenario, self.own)
        if not playable or scenario.solve is None:
            return Reached(stated)
        hit = frozenset(_hit(trace).values())
        key = ((scenario.name, scenario.seed), tuple(notation.write(rule) for rule in playable), hit)
        if key not in self._reached:
            self._reached[key] = self._play(scenario, playable, hit)
        reached = self._under_plan(self._reached[key], trace, scenario, playable)
        if reached == Reached():
            return Reached(stated)
        whole = (
            not reached.partly
            and len(playable) == len(met)
            and all(fired.call is not None for fired in found.fired)
        )
        # Where an expert met only a part of it, less may be demanded than of who met that part alone.
        return reached if whole else replace(reached, bar=_lowest(reached.bar, stated))

    def _play(self, scenario: Scenario, met: Sequence[Rule], hit: frozenset[str]) -> Reached:
        """The bar is the end of the expert under the faults that the agent met. Where its n-th call is
        not the one that was hit (an agent that reads in pages makes more of them), the bar is the lower
        one of that trial and of one in which its first call there is hit."""
        found, keys = self._ended(scenario, met)
        other = [rule for rule in met if _elsewhere(rule, keys, hit)]
        bar = judge.bar_of(found)
        reached = Reached(bar, bar is None, found.broken)
        if found.broken or not other:
            return reached
        again, keys = self._ended(scenario, [_first(rule) if rule in other else rule for rule in met])
        if again.broken:
            return Reached(broken=again.broken)
        if not again.fired:
            return Reached()  # the solution takes another way than the agent, and never comes by
        lower = _lowest(reached.bar, judge.bar_of(again))
        if scenario.turns:  # what heals between two turns at its first call does not do so at its last
            at_last, _ = self._ended(
                scenario, [self._at_last(rule, scenario) if rule in other else rule for rule in met]
            )
            lower = _lowest(lower, judge.bar_of(at_last)) if at_last.fired else lower
        return replace(reached, bar=lower, partly=len(keys) < len(met))

    def _at_last(self, rule: Rule, scenario: Scenario) -> Rule:
        """The same rule, from the expert's last call there on."""
        clean = self.clean(scenario)
        calls = [c for _, c in find(clean or (), Called) if matches(rule, c.tool, c.target)]
        return _from(rule, max(1, len(calls)))

    def _under_plan(self, reached: Reached, trace: Trace, scenario: Scenario, met: Sequence[Rule]) -> Reached:
        """What an agent met can be less than its plan held. Where the expert ends lower under the plan
        itself, no more is demanded than that."""
        started = next(body for _, body in find(trace, Started))
        plan = tuple(notation.parse(text) for text in started.rules)
        planned = tuple(notation.write(rule) for rule in plan)
        seams = {said.get("seam") for said in started.variants.values()}
        same = planned == tuple(notation.write(rule) for rule in met)
        if same or self.own is not None or seams != {"tool"} or reached.bar in (None, "wrong"):
            return reached
        key = ((scenario.name, scenario.seed), planned, frozenset(("plan",)))
        if key not in self._reached:
            found, _ = self._ended(scenario, plan)
            bar = judge.bar_of(found)
            self._reached[key] = Reached(bar, bar is None, found.broken)
        under = self._reached[key]
        return reached if under.bar is None else replace(reached, bar=_lowest(reached.bar, under.bar))

    def _ended(self, scenario: Scenario, met: Sequence[Rule]) -> tuple[Facts, Mapping[str, str]]:
        """The facts of the expert's trial, and the first call that each rule hit: {rule: tool and arguments}."""
        clean = self.clean(scenario)
        trace = self.home.expert(scenario, met, scenario.seed)
        found = facts.facts(trace, scenario, None if clean is None else facts.allowed(clean))
        return found, _hit(trace)

    def _stated(self, found: Facts) -> Bar | None:
        """The bar of the fault files, for what fired."""
        return _lowest(*(self.home.resolve(fired.rule).bar for fired in found.fired))


def _hit(trace: Trace) -> dict[str, str]:
    """{rule: the first call that it hit, as tool and arguments}."""
    found: dict[str, str] = {}
    for step in read(trace).steps:
        for _, injected in step.injected:
            found.setdefault(injected.rule, step.key)
    return found


def _elsewhere(rule: Rule, keys: Mapping[str, str], hit: frozenset[str]) -> bool:
    """Did the rule hit no call of the expert's, or a later one that is not the agent's?"""
    key = keys.get(notation.write(rule))
    return key is None or (rule.first > 1 and key not in hit)


def _first(rule: Rule) -> Rule:
    """The same rule, from the first call on."""
    return _from(rule, 1)


def _from(rule: Rule, first: int) -> Rule:
    return replace(rule, first=first, last=None if rule.last is None else first + rule.last - rule.first)


def _lowest(*bars: Bar | None) -> Bar | None:
    return min((bar for bar in bars if bar is not None), key=RANK.__getitem__, default=None)


def translated(met: Sequence[Rule], scenario: Scenario, own: Mapping[str, ToolSpec]) -> tuple[Rule, ...]:
    """The rules in the words of the scenario's tools; one on a tool that stands for none is left out."""
    pairs = mapping.mapped(scenario, specs_of(scenario), own)
    names = {notation.literal(spec.name): notation.literal(name) for name, spec in pairs.items()}
    return tuple(replace(rule, tool=names[rule.tool]) for rule in met if rule.tool in names)


def _sound(scenario: Scenario, found: Facts) -> None:
    if found.broken:
        raise Broken(f"scenario {scenario.name!r}: {found.broken}.")
    if judge.clean_pass(found):
        return
    failing = [f"{v.name}: {v.why}" for v in (*found.graders, *found.damage) if v.truth != "pass"]
    raised = [f"it raised {found.error}"] if found.end == "raised" else []
    why = "; ".join([*raised, *failing]) or judge.judge(found, None).why
    raise Misuse(
        f"scenario {scenario.name!r}: its own solution fails without any fault: {why.removesuffix('.')}. "
        f"Repair solution.py or the graders of scenario.toml."
    )
