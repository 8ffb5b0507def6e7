"""A run from start to end: clean trials, the sweep over what they show, judging, storing, scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forge_chaos import agents, catalog, facts, judge, mapping, notation, score, sweep, trialfile
from forge_chaos.bench import SCRIPTED, Bench, Setup, specs_of
from forge_chaos.errors import Broken, Inconclusive, Misuse
from forge_chaos.events import Trace
from forge_chaos.nouns import Bar, Fault, Rule, Scenario, ToolSpec
from forge_chaos.order import Order, trial_id
from forge_chaos.ports import Executor
from forge_chaos.runs import next_directory
from forge_chaos.store import Store
from forge_chaos.verdict import Facts, Judgement, Scorecard, Skipped, Trial

NAMED = ("missing_file", "timeout", "malformed_output", "blocked_command", "truncated_context")
RANK: Mapping[str, int] = {"wrong": 0, "degraded": 1, "full": 2}
Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, what: str) -> None:
    """No progress shown."""


@dataclass(frozen=True, slots=True)
class Options:
    """What one run is asked for. `faults`: the list of `--faults` (None: the five named classes);
    `plan`: rules of one plan."""

    faults: str | None = None
    plan: str | None = None
    scenarios: str = "*"
    trials: int = 1
    seed: int = 1
    max_trials: int | None = None
    fail_under: float | None = None
    min_clean: float = 0.8
    keep_traces: str = "10000"

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Options:
        return cls(**{k: v for k, v in data.items() if k in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Wanted:
    """The faults of a run, read: `swept` classes with what narrows them, `plans` by hand."""

    swept: tuple[tuple[Fault, Rule], ...] = ()
    plans: tuple[tuple[Rule, ...], ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        named = [fault.id for fault, _ in self.swept] + [r.fault for plan in self.plans for r in plan]
        return tuple(dict.fromkeys(named))


def wanted(options: Options, faults: Mapping[str, Fault]) -> Wanted:
    """Read `--faults` and `--plan`. Raises Misuse for a fault, variant or rule that does not exist."""
    plans: list[tuple[Rule, ...]] = []
    if options.plan:
        plan = notation.parse_plan(options.plan, options.seed)
        for rule in plan.rules:
            catalog.resolve(rule, faults)
        plans.append(plan.rules)
    text = options.faults
    if text is None:
        text = "" if plans else ",".join(n for n in NAMED if n in faults)
    if text.strip() == "all":
        text = ",".join(faults)
    swept: list[tuple[Fault, Rule]] = []
    for item in notation.parse_list(text):
        catalog.resolve(item.rule, faults)
        if item.swept:
            swept.append((faults[item.rule.fault], item.rule))
        else:
            plans.append((item.rule,))
    if not swept and not plans:
        raise Misuse("no fault was asked for. Known: " + ", ".join(faults) + ". (forge-chaos list faults)")
    return Wanted(tuple(swept), tuple(plans))


@dataclass(slots=True)
class Judge:
    """Judges traces of one setup. `home` plays the expert; bars are kept by what the agent met."""

    home: Bench
    own_tools: bool = False
    agent: str = agents.REFERENCE
    _bars: dict[tuple[str, int, tuple[str, ...]], tuple[Bar | None, bool]] = field(default_factory=dict)
    _clean: dict[tuple[str, int], Trace | None] = field(default_factory=dict)
    _own_clean: dict[tuple[str, int], Trace] = field(default_factory=dict)

    def clean(self, scenario: Scenario) -> Trace | None:
        """The expert's clean trial; None where there is no solution. Raises Misuse when the solution
        fails its own graders: a bug of the scenario."""
        key = (scenario.name, scenario.seed)
        if key not in self._clean:
            if scenario.solve is None:
                self._clean[key] = None
                return None
            trace = self.home.expert(scenario, (), scenario.seed)
            found = facts.facts(trace, scenario)
            judged = judge.judge(found, None)
            _sound(scenario, found, judged, trace)
            self._clean[key] = trace
        return self._clean[key]

    def learn(self, scenario: Scenario, trace: Trace) -> None:
        """The agent's own clean trial, the measure of its effects where there is no solution."""
        self._own_clean.setdefault((scenario.name, scenario.seed), trace)

    def allowed(self, scenario: Scenario) -> Mapping[str, int] | None:
        trace = None if self.own_tools else self.clean(scenario)
        if trace is None:
            trace = self._own_clean.get((scenario.name, scenario.seed))
        return None if trace is None else facts.allowed(trace)

    def __call__(self, trace: Trace, order: Order, scenario: Scenario) -> tuple[Facts, Judgement]:
        """Facts and judgement of one trial."""
        found = facts.facts(trace, scenario, self.allowed(scenario))
        if not found.fired or found.broken:
            return found, judge.judge(found, None)
        bar, unfair = self._bar(trace, order, scenario, found)
        return found, judge.judge(found, bar, unfair=unfair)

    def _bar(self, trace: Trace, order: Order, scenario: Scenario, found: Facts) -> tuple[Bar | None, bool]:
        met = sweep.met(trace)
        texts = tuple(notation.write(rule) for rule in met)
        stated = self._stated(order, found)
        if not met or scenario.solve is None:
            return stated, False
        key = (scenario.name, order.seed, texts)
        if key not in self._bars:
            self._bars[key] = self._play(scenario, met, order.seed)
        played, unfair = self._bars[key]
        if self.own_tools and not unfair and played is None:
            return stated, False
        if any(f.call is None for f in found.fired):  # the model seam was hit as well: no expert plays there
            lowest = min((b for b in (played, stated) if b is not None), key=RANK.__getitem__, default=None)
            return lowest, unfair
        return played, unfair

    def _play(self, scenario: Scenario, met: Sequence[Rule], seed: int) -> tuple[Bar | None, bool]:
        trace = self.home.expert(scenario, met, seed)
        allowed = self.clean(scenario)
        found = facts.facts(trace, scenario, None if allowed is None else facts.allowed(allowed))
        if found.broken:
            raise Broken(f"scenario {scenario.name!r}: {found.broken}")
        if self.own_tools and not found.fired:
            return None, False  # the agent's tools have other names: the expert never met the fault
        bar = judge.bar_of(found)
        return bar, bar is None

    def _stated(self, order: Order, found: Facts) -> Bar | None:
        """The bar of the fault files, for what fired."""
        bars: list[Bar] = []
        for fired in found.fired:
            bar = self.home.resolve(fired.rule).bar
            if bar is not None:
                bars.append(bar)
        return min(bars, key=RANK.__getitem__, default=None)


def _sound(scenario: Scenario, found: Facts, judged: Judgement, trace: Trace) -> None:
    if found.broken:
        raise Broken(f"scenario {scenario.name!r}: {found.broken}")
    if judge.clean_pass(found):
        return
    failing = "; ".join(f"{v.name}: {v.why}" for v in (*found.graders, *found.damage) if v.truth != "pass")
    raise Misuse(
        f"scenario {scenario.name!r}: its own solution fails on a clean run ({judged.outcome}): "
        f"{failing or judged.why}. Repair solution.py or the graders of scenario.toml."
    )


@dataclass(slots=True)
class Run:
    """A finished run: where it lies, its scorecard and its trials in planned order."""

    directory: Path
    scorecard: Scorecard
    trials: tuple[Trial, ...]


class Campaign:
    """One run. `progress(done, total, what)` is told how far it is."""

    def __init__(
        self, setup: Setup, options: Options, executor: Executor, hello: Mapping[str, Any], home: Bench
    ) -> None:
        self.setup, self.options, self.executor, self.hello, self.home = setup, options, executor, hello, home
        self.agent: str = hello["agent"]
        self.own: Mapping[str, Any] | None = hello["own_tools"]
        self._own_model_deterministic: bool = hello["own_model_deterministic"]
        self.judge = Judge(home, self.own is not None, self.agent)
        self.wanted = wanted(options, home.faults)
        self.names = catalog.scenario_names(options.scenarios, [Path(d) for d in setup.scenarios_dirs])
        self.skipped: list[Skipped] = []
        self.deterministic = hello["deterministic"] and self._held_still()

    def _held_still(self) -> bool:
        """Is the model one that answers equal requests equally: scripted, or said to be so?"""
        if self.own is None or self._own_model_deterministic:
            return True
        solved = all(self.home.scenario(n, self.options.seed).solve is not None for n in self.names)
        return self.setup.model == SCRIPTED and solved

    def config(self) -> dict[str, Any]:
        """What identifies this run: `--resume` refuses when agent, versions or a scenario's hash differ."""
        return {
            "agent": self.agent,
            "versions": dict(self.hello["versions"]),
            "scenarios": {name: self.home.scenario(name, self.options.seed).hash for name in self.names},
            "setup": self.setup.to_json(),
            "options": self.options.to_json(),
            "keep_traces": _keep(self.options.keep_traces),
        }

    def run(self, store: Store, progress: Progress = silent) -> Run:
        """Run what is missing, judge, store and score. Raises Inconclusive when nothing is left to run."""
        scenarios = [s for name in self.names if (s := self._usable(name)) is not None]
        for scenario in scenarios:
            self.judge.clean(scenario)
        if not scenarios:
            raise Inconclusive(_nothing(self.skipped))
        clean = self._clean(store, scenarios, progress)
        orders = self._plan(clean)
        planned = {order.id: order for group in orders.values() for order in group}
        store.plan(planned)
        self._carry(store, list(planned.values()), progress, "faults")
        trials = tuple(store.trials())
        card = self._score(store, trials, clean, orders)
        store.finish(trialfile.to_json(card))
        return Run(store.directory, card, trials)

    def _usable(self, name: str) -> Scenario | None:
        scenario = self.home.scenario(name, self.options.seed)
        if scenario.solve is None and self.setup.model == SCRIPTED and self.own is None:
            self._skip(name, "it has no solution.py for the scripted model to play; name a --model")
            return None
        if self.own is not None:
            return self._fitting(scenario)
        return scenario

    def _fitting(self, scenario: Scenario) -> Scenario | None:
        """The scenario, when an agent that brings its own tools can work on it."""
        assert self.own is not None
        if scenario.world != "files":
            self._skip(
                scenario.name,
                f"its world {scenario.world!r} has no place in an agent that brings its own tools",
            )
            return None
        own = {name: own_spec(name, said) for name, said in self.own.items()}
        lacking: list[str] = [
            role for role in scenario.roles if not any(role in spec.roles for spec in own.values())
        ]
        if scenario.solve is not None and self.setup.model == SCRIPTED:
            lacking += mapping.missing(scenario, mapping.mapped(scenario, specs_of(scenario), own))
        if lacking:
            self._skip(scenario.name, f"the agent has no tool for {', '.join(lacking)}")
            return None
        return scenario

    def _skip(self, name: str, why: str) -> None:
        self.skipped.append(Skipped(name, why))

    def _clean(
        self, store: Store, scenarios: Sequence[Scenario], progress: Progress
    ) -> dict[str, tuple[Scenario, Trace]]:
        repetitions = 1 if self.deterministic else self.options.trials
        orders = [self._order(s.name, (), n, "clean") for s in scenarios for n in range(repetitions)]
        store.plan([o.id for o in orders])
        self._carry(store, orders, progress, "clean")
        found: dict[str, tuple[Scenario, Trace]] = {}
        for scenario in scenarios:
            mine = [store.trial(o.id) for o in orders if o.scenario == scenario.name]
            passed = [t for t in mine if judge.clean_pass(t.facts)]
            if not passed or (self.deterministic and len(passed) < len(mine)):
                bad = next(t for t in mine if t not in passed)
                why = bad.judgement.why.removeprefix("No rule fired; as a clean trial it is ")
                self._skip(scenario.name, f"the agent fails it without any fault: {why} See {bad.replay}")
                continue
            trace = store.trace(passed[0].id)
            self.judge.learn(scenario, trace)
            found[scenario.name] = (scenario, trace)
        if not found:
            store.finish({"exit": 2})
            raise Inconclusive(_nothing(self.skipped))
        return found

    def _plan(self, clean: Mapping[str, tuple[Scenario, Trace]]) -> dict[str, list[Order]]:
        """The orders of each class that was asked for; plans by hand stand under their classes joined."""
        repetitions = 1 if self.deterministic else self.options.trials
        cells: list[tuple[str, str, Rule]] = []
        for fault, narrow in self.wanted.swept:
            for name, (_, trace) in clean.items():
                cells += [(fault.id, name, rule) for rule in sweep.cells(trace, [fault], [narrow])]
        if self.options.max_trials is not None:
            cells = _sampled(cells, self.options.max_trials // repetitions, self.options.seed)
        orders: dict[str, list[Order]] = {name: [] for name in self.wanted.classes}
        for fault_id, name, rule in cells:
            text = notation.write(rule)
            orders[fault_id] += [self._order(name, (text,), n, "fault") for n in range(repetitions)]
        for plan in self.wanted.plans:
            texts = tuple(notation.write(rule) for rule in plan)
            key = "+".join(dict.fromkeys(rule.fault for rule in plan))
            orders.setdefault(key, [])
            for name in clean:
                orders[key] += [self._order(name, texts, n, "fault") for n in range(repetitions)]
        return orders

    def _order(self, scenario: str, rules: tuple[str, ...], repetition: int, kind: Any) -> Order:
        seed = self.options.seed
        id = trial_id(
            scenario, f"{self.agent}|{self.setup.persona}|{self.setup.model}", rules, seed, repetition
        )
        return Order(id, scenario, rules, seed, repetition, kind)

    def _carry(self, store: Store, orders: Sequence[Order], progress: Progress, what: str) -> None:
        """Run those of the orders that the store does not hold."""
        done = store.done()
        todo = [order for order in orders if order.id not in done]
        finished = len(orders) - len(todo)
        progress(finished, len(orders), what)
        for order, trace in self.executor.run(todo):
            store.add(self.judged(order, trace, store.directory), trace)
            finished += 1
            progress(finished, len(orders), what)
        store.commit()

    def judged(self, order: Order, trace: Trace, directory: Path) -> Trial:
        """The finished trial of one trace."""
        scenario = self.home.scenario(order.scenario, order.seed)
        if order.kind == "clean":
            self.judge.learn(scenario, trace)
        found, judgement = self.judge(trace, order, scenario)
        return Trial(
            order.id,
            order.scenario,
            order.kind,
            order.rules,
            order.seed,
            order.repetition,
            tuple(dict.fromkeys(notation.parse(text).fault for text in order.rules)),
            found,
            judgement,
            "unknown",
            f"forge-chaos replay {directory}:{order.id}",
            scenario.suite,
        )

    def _score(
        self,
        store: Store,
        trials: Sequence[Trial],
        clean: Mapping[str, tuple[Scenario, Trace]],
        orders: Mapping[str, Sequence[Order]],
    ) -> Scorecard:
        applicable = {name: {order.scenario for order in planned} for name, planned in orders.items()}
        if self.options.max_trials is None:
            for fault, narrow in self.wanted.swept:
                applicable[fault.id] |= {
                    n for n, (_, t) in clean.items() if sweep.applies(fault, t, [narrow])
                }
        return score.scorecard(
            trials,
            self.wanted.classes,
            run=str(store.directory),
            agent=self.agent,
            model=self.setup.model,
            persona=self.setup.persona if self.setup.model == SCRIPTED else None,
            seed=self.options.seed,
            deterministic=self.deterministic,
            applicable=applicable,
            skipped=tuple(self.skipped),
            fail_under=self.options.fail_under,
            min_clean=self.options.min_clean,
            demonstration=self.setup.agent is None,
        )


def _sampled(cells: list[tuple[str, str, Rule]], n: int, seed: int) -> list[tuple[str, str, Rule]]:
    chosen = sweep.sample([(name, rule) for _, name, rule in cells], n, seed)
    keep = set(chosen)
    return [cell for cell in cells if (cell[1], cell[2]) in keep]


def own_spec(name: str, said: Mapping[str, Any]) -> ToolSpec:
    """A tool of the agent's own, as its child process described it."""
    return ToolSpec(
        name,
        said["description"],
        said["parameters"],
        frozenset(said["roles"]),
        said["target"],
        said["limit"],
        said["poll"],
        settle=said["settle"],
    )


def _nothing(skipped: Sequence[Skipped]) -> str:
    reasons = "\n".join(f"  {s.scenario}: {s.why}" for s in skipped)
    return f"nothing is left to run: every scenario was skipped.\n{reasons}"


def _keep(text: str) -> Any:
    return int(text) if text.isdigit() else text


def directory(out: Path | None, base: Path, agent: str) -> Path:
    """Where a new run is to lie: `out`, or the next free number under `base`."""
    if out is not None:
        return out
    label = agents.REFERENCE if agent == agents.REFERENCE else agent.replace(":", "-").replace("/", "-")
    return next_directory(base, label)
