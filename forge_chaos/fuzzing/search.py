"""The search on one scenario: every rule alone, as far as the budget goes, then whole plans.

Rules that fail alone are taken out before plans are drawn: they would hide what needs two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, Verbosity, find, settings
from hypothesis.errors import NoSuchExample

from forge_chaos import sweep
from forge_chaos.events import Called, Trace
from forge_chaos.events import find as events
from forge_chaos.fuzzing.attempts import Attempts, Spent, Tried
from forge_chaos.fuzzing.found import Key
from forge_chaos.fuzzing.minimal import Rules, minimal, ordered, smaller
from forge_chaos.nouns import Fault, Plan, Rule, dice
from forge_chaos.space import Place, Space, calls_of, order_of, place_of, space
from forge_chaos.strategies import observe, plans_in
from forge_chaos.verdict import Outcome

ALONE = 0.3  # of a scenario's share of the budget, at most, for rules alone
EXAMPLES = 4  # drawn for each trial that is left: many are plans that are known already


class Over(BaseException):
    """Hypothesis is to stop at once: an Exception would be a failing example to it."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A failure with its plan made small. `minimal`: verified, against the `simpler` plans that are one step
    from it; False where the budget ended before."""

    key: Key
    plan: Rules
    tried: Tried
    at: int
    trials: int
    minimal: bool
    simpler: int


@dataclass
class Search:
    """`swept` are the classes with what narrows each, `fixed` rules beside their cells. `outcome`: the only one
    that is looked for. `until`: what may be spent before the search stops; shrinking may go on to the end of
    the budget."""

    attempts: Attempts
    scenario: str
    clean: Trace
    swept: Sequence[tuple[Fault, Rule]]
    fixed: Sequence[Rule]
    seed: int
    max_rules: int
    until: int
    outcome: Outcome | None = None
    found: dict[Key, Shrunk] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cells = (*self._cells(self.clean), *self.fixed)
        order = order_of(fault for fault, _ in self.swept)
        self.space = space(self.cells, order)
        self.learnt: dict[Rule, None] = {}
        self.openers: dict[Place, Rule] = {}
        self.bad: set[Rule] = set()
        self._at = 0
        self._whole = (0, self.space)

    def run(self) -> Iterator[Shrunk]:
        """Each distinct failure, with the smallest plan that the budget allows."""
        try:
            yield from self._alone()
            if self.max_rules > 1:
                yield from self._together()
        except Spent:
            return

    def _alone(self) -> Iterator[Shrunk]:
        """Rules one by one, in the order of a draw. Calls that are made only under one of them are learnt."""
        share = int((self.until - self.attempts.spent) * (ALONE if self.max_rules > 1 else 1))
        chosen = sweep.sample(self.cells, share, self.seed)
        for rule in sorted(chosen, key=lambda rule: dice(self.seed, "alone", rule).random()):
            if self.attempts.spent >= self.until:
                return
            tried = self.attempts(self.scenario, (rule,))
            if not tried.trial.judgement.acceptable:
                self.bad.add(rule)
            else:
                self._learn(rule, tried.trace)
            if self._new(tried.key):
                self._at = self.attempts.spent
                yield self._shrink((rule,), tried)

    def _learn(self, rule: Rule, trace: Trace) -> None:
        """Learn the calls that are made only under this rule; they are opened by the shortest rule of all."""
        if sum(1 for _ in events(trace, Called)) <= sum(1 for _ in events(self.clean, Called)):
            return
        known = set(self.space.places)
        for cell in self._cells(trace):
            place = place_of(cell)
            if place not in known:
                self.learnt[cell] = None
                if place not in self.openers or calls_of(rule) < calls_of(self.openers[place]):
                    self.openers[place] = rule

    def _together(self) -> Iterator[Shrunk]:
        """Whole plans, drawn and first made smaller by Hypothesis."""
        turn = 0
        while self.attempts.spent < self.until:
            plan = self._drawn(turn)
            if plan is None:
                return
            turn += 1
            yield self._shrink(plan, self.attempts(self.scenario, plan))

    def _drawn(self, turn: int) -> Rules | None:
        """A plan with a failure that is not known yet, shrunk by Hypothesis; None when none was found."""
        good = self.space.without(self.bad)
        failing: list[tuple[Key, Rules]] = []  # of one failure, the last and smallest at the end

        def fails(plan: Plan) -> bool:
            rules = ordered(plan.rules, self.whole)
            if any(set(known.plan) <= set(rules) for known in self.found.values()):
                return False
            if not failing and self.attempts.spent >= self.until:
                raise Over
            try:
                tried = self.attempts(self.scenario, rules)
            except Spent:
                raise Over from None
            observe(tried.trial)
            if tried.key is None or not (tried.key == failing[0][0] if failing else self._new(tried.key)):
                return False
            if not failing:
                self._at = self.attempts.spent
            failing.append((tried.key, rules))
            return True

        if good.rules:
            with suppress(NoSuchExample, Over):
                learnt = space(self.learnt, self.space.order)
                find(
                    plans_in(good, self.max_rules, learnt, self.openers, min_rules=2),
                    fails,
                    settings=settings(
                        max_examples=EXAMPLES * max(1, self.until - self.attempts.spent),
                        database=None,  # with a fixed seed there is nothing to keep in one
                        phases=(Phase.generate, Phase.target, Phase.shrink),
                        deadline=None,
                        verbosity=Verbosity.quiet,
                        suppress_health_check=list(HealthCheck),
                    ),
                    random=dice(self.seed, "plans", self.scenario, turn),
                )
        return failing[-1][1] if failing else None

    @property
    def whole(self) -> Space:
        """Rules on the calls of the clean trial, then those on calls that were learnt."""
        if self._whole[0] != len(self.learnt):
            made = space((*self.space.rules, *self.learnt), self.space.order)
            self._whole = (len(self.learnt), made)
        return self._whole[1]

    def _shrink(self, plan: Rules, tried: Tried) -> Shrunk:
        assert tried.key is not None
        at, key = self._at, tried.key
        best = [plan]

        def fails(candidate: Rules) -> bool:
            return self.attempts(self.scenario, ordered(candidate, self.whole)).key == key

        try:
            minimal(plan, self.whole, fails, lambda found: best.__setitem__(0, ordered(found, self.whole)))
            whole = True
        except Spent:
            whole = False
        shown = self.attempts(self.scenario, best[0])  # known, so that it costs nothing
        simpler = sum(1 for _ in smaller(best[0], self.whole))
        self.found[key] = Shrunk(key, best[0], shown, at, self.attempts.spent - at, whole, simpler)
        return self.found[key]

    def _new(self, key: Key | None) -> bool:
        return key is not None and key not in self.found and self.outcome in (None, key.outcome)

    def _cells(self, trace: Trace) -> tuple[Rule, ...]:
        found = [rule for fault, narrow in self.swept for rule in sweep.cells(trace, [fault], [narrow])]
        return tuple(dict.fromkeys(found))
