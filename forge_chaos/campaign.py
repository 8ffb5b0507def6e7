"""A run from start to end: clean trials, the sweep over what they show, judging, storing, scoring."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from forge_chaos import fitting, judge, notation, score, sweep, trialfile
from forge_chaos.bench import OWN, SCRIPTED, Bench, Setup
from forge_chaos.errors import Misuse
from forge_chaos.events import Called, Replied, Trace, find
from forge_chaos.judging import Judge
from forge_chaos.nouns import Fault, Rule, Scenario
from forge_chaos.order import Order, trial_id
from forge_chaos.ports import Executor
from forge_chaos.recorded import nothing_secret
from forge_chaos.schedule import matches
from forge_chaos.seeds import reasons
from forge_chaos.store import Store
from forge_chaos.verdict import Scorecard, Skipped, Trial
from forge_chaos.wanted import wanted

MIN_CLEAN = 0.8  # of an agent's clean trials, below which a scenario is shown and not scored
SHELL_TOOL = "run_command"  # what a program is that passes the gate by a shim
Progress = Callable[[int, int, str], None]
Consent = Callable[[int], None]
Clean = Mapping[str, Trace]
Orders = Mapping[str, Sequence[Order]]


def silent(done: int, total: int, what: str) -> None:
    """No progress shown."""


def free(trials: int) -> None:
    """Nobody has to agree to that many trials."""


@dataclass(frozen=True, slots=True)
class Options:
    """What one run is asked for. `faults`: the list of `--faults` (None: the five named classes);
    `plan`: rules of one plan; `trials`: repetitions of a cell, where the agent is not deterministic."""

    faults: str | None = None
    plan: str | None = None
    scenarios: str = "*"
    trials: int = 1
    seed: int = 1
    max_trials: int | None = None
    fail_under: float | None = None
    min_clean: float = MIN_CLEAN
    keep_traces: str = "10000"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Options:
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: where it lies, its scorecard and its trials in planned order."""

    directory: Path
    scorecard: Scorecard
    trials: tuple[Trial, ...]


class Campaign:
    """One run of an agent, which `hello` describes, in `executor`; `home` plays the expert.

    Raises Misuse when the options name what does not exist.
    """

    def __init__(
        self, setup: Setup, options: Options, executor: Executor, hello: Mapping[str, Any], home: Bench
    ) -> None:
        self.setup, self.options, self.executor, self.hello, self.home = setup, options, executor, hello, home
        self.agent: str = hello["agent"]
        self.own = fitting.own_tools(hello)
        self.judge = Judge(home, self.own)
        self.wanted = wanted(options.faults, options.plan, options.seed, home.faults)
        self.names = home.names(options.scenarios)
        self.skipped: list[Skipped] = list(home.imported.skipped)

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """Those that this agent can be tried on; the others are `skipped`.

        Raises Misuse when the solution of one fails its own graders, so that a run may ask for this
        before it makes anything.
        """
        usable: list[Scenario] = []
        for name in self.names:
            scenario = self.home.scenario(name, self.options.seed)
            why = fitting.unfit(scenario, self.setup, self.own, bool(self.hello.get("turns")))
            if why is None:
                self.judge.clean(scenario)
                usable.append(scenario)
            else:
                self.skipped.append(Skipped(name, why))
        return tuple(usable)

    def check(self) -> None:
        """What can be refused before anything is made. Raises Misuse as `scenarios`, and for a rule that names a
        tool which nobody has, or a window that no request is measured by."""
        rules = [rule for _, rule in self.wanted.swept] + [
            rule for plan in self.wanted.plans for rule in plan
        ]
        if self.setup.shims:
            rules = [rule for rule in rules if not matches(Rule("", tool=rule.tool), SHELL_TOOL, None)]
        fitting.tools_exist(rules, self.scenarios, self.own)
        if self.setup.window is not None and self.scenarios and self.model != SCRIPTED:
            raise Misuse(
                f"--window is the context window of the scripted model, and {self.agent} is asked with its own. Leave "
                "--window out."
            )

    @cached_property
    def model(self) -> str:
        """Who plays the model. An agent with tools of its own keeps its own model where no solution can
        be played."""
        brings_its_own = self._may_bring_its_own and not all(s.solve is not None for s in self.scenarios)
        return OWN if self.setup.model == SCRIPTED and brings_its_own else self.setup.model

    @property
    def _may_bring_its_own(self) -> bool:
        """Does the agent have a model where none of ours is? One with tools of its own does, and a command."""
        return self.own is not None or bool(self.hello.get("folder"))

    @cached_property
    def repetitions(self) -> int:
        """Trials of a cell: one where equal plans give equal traces."""
        return 1 if self.deterministic else self.options.trials

    @cached_property
    def deterministic(self) -> bool:
        """The adapter says so, and the model answers equal requests equally: it is scripted, or said to."""
        if not self._may_bring_its_own or self.model == SCRIPTED:
            return bool(self.hello["deterministic"])
        return bool(self.hello["deterministic"] and self.hello["own_model_deterministic"])

    @property
    def timed(self) -> bool:
        """Do the times of a trace come again? Real ones never do."""
        return bool(self.hello["time"] == "virtual")

    def config(self) -> dict[str, Any]:
        """What identifies this run: `--resume` refuses when agent, versions, a scenario or a fault differ."""
        seed = self.options.seed
        return {
            "agent": self.agent,
            "versions": dict(self.hello["versions"]),
            "scenarios": {name: self.home.scenario(name, seed).hash for name in self.names},
            "faults": {name: _digest(self.home.faults[name]) for name in self.wanted.classes},
            "setup": self.setup.to_json(),
            "options": self.options.to_json(),
            "keep_traces": self.options.keep_traces,
        }

    def expected(self) -> int:
        """About how many trials there will be: the expert's clean traces stand for those of the agent."""
        traces = {s.name: trace for s in self.scenarios if (trace := self.judge.clean(s)) is not None}
        planned = sum(len(group) for group in self._plan(traces).values())
        return len(self.scenarios) * self.repetitions + planned

    def run(self, store: Store, progress: Progress = silent, consent: Consent = free) -> Run:
        """Run what is missing, judge, store and score. `consent` is told how many trials are missing
        once the plan is known, and may raise."""
        clean = self._clean(store, progress)
        orders = self._plan(clean)
        planned = {order.id: order for group in orders.values() for order in group}
        store.plan(planned)
        consent(len(planned.keys() - store.done()))
        self._carry(store, list(planned.values()), progress, "faults")
        trials = tuple(store.trials())
        card = self._score(store.directory, trials, clean, orders)
        store.finish(trialfile.to_json(card))
        return Run(store.directory, card, trials)

    def so_far(self, directory: Path, trials: Sequence[Trial]) -> Scorecard:
        """What a run that was stopped has found: shown, and decided by nobody."""
        card = self._score(directory, trials, {}, dict.fromkeys(self.wanted.classes, ()))
        why = "The run was stopped; these are the trials that it had finished."
        return replace(card, exit=2, overall=None, reasons=(why,))

    def _clean(self, store: Store, progress: Progress) -> Clean:
        """A passed clean trace of each scenario; one that the agent fails is skipped."""
        orders = [
            self._order(scenario.name, (), n, "clean")
            for scenario in self.scenarios
            for n in range(self.repetitions)
        ]
        store.plan(order.id for order in orders)
        self._carry(store, orders, progress, "clean")
        found: dict[str, Trace] = {}
        for scenario in self.scenarios:
            mine = [store.trial(order.id) for order in orders if order.scenario == scenario.name]
            passed = [trial for trial in mine if judge.clean_pass(trial.facts)]
            failed = [trial for trial in mine if not judge.clean_pass(trial.facts)]
            if passed and not (self.deterministic and failed):
                found[scenario.name] = store.trace(passed[0].id)
                self.judge.learn(scenario, found[scenario.name])
            elif failed[0].judgement.outcome != "invalid":
                why = self._does_not_fit(store, failed[0])
                if why is None:
                    why = failed[0].judgement.why.removeprefix("No rule fired; as a clean trial it is ")
                    why = f"the agent fails it without any fault: {why}"
                self.skipped.append(Skipped(scenario.name, f"{why} See {failed[0].replay}"))
        return found

    def _does_not_fit(self, store: Store, failed: Trial) -> str | None:
        """That a clean trial fails by the context window, where it does."""
        if self.setup.window is None:
            return None
        largest = outgrown(store.trace(failed.id), self.setup.window)
        if largest is None:
            return None
        return (
            f"without any fault it does not fit into --window {self.setup.window}: the agent sent a request of "
            f"{largest} tokens, and did not get over the refusal. Name a larger window, or let it shorten its history."
        )

    def _plan(self, clean: Clean) -> dict[str, list[Order]]:
        """The orders of each class that was asked for; plans by hand stand under their classes joined."""
        cells: list[tuple[str, str, Rule]] = []
        for fault, narrow in self.wanted.swept:
            for name, trace in clean.items():
                cells += [(fault.id, name, rule) for rule in sweep.cells(trace, [fault], [narrow])]
        if self.options.max_trials is not None:
            cells = _sampled(cells, max(1, self.options.max_trials // self.repetitions), self.options.seed)
        orders: dict[str, list[Order]] = {name: [] for name in self.wanted.classes}
        for fault_id, name, rule in cells:
            orders[fault_id] += self._repeated(name, (rule,))
        for plan in self.wanted.plans:
            group = orders.setdefault("+".join(dict.fromkeys(rule.fault for rule in plan)), [])
            for name in self._places(plan, clean):
                group += self._repeated(name, plan)
        return orders

    def _places(self, plan: Sequence[Rule], clean: Clean) -> tuple[str, ...]:
        """The scenarios in which a call of the clean trial is one that the plan speaks of; all of them
        when there is none, so that the plan is seen not to be reached."""
        met = [name for name, trace in clean.items() if any(self._speaks_of(rule, trace) for rule in plan)]
        return tuple(met or clean)

    def _speaks_of(self, rule: Rule, trace: Trace) -> bool:
        if self.home.resolve(notation.write(rule)).seam in ("model", "turn"):
            return True
        open_to_all = replace(rule, member=None)  # the place in a batch is not known of every agent
        return any(matches(open_to_all, called.tool, called.target) for _, called in find(trace, Called))

    def _repeated(self, scenario: str, plan: Sequence[Rule]) -> list[Order]:
        texts = tuple(notation.write(rule) for rule in plan)
        return [self._order(scenario, texts, n, "fault") for n in range(self.repetitions)]

    def _order(
        self, scenario: str, rules: tuple[str, ...], repetition: int, kind: Literal["clean", "fault"]
    ) -> Order:
        seed = self.options.seed
        window = f"|{self.setup.window}" if self.setup.window is not None else ""
        who = f"{self.agent}|{self.setup.persona}|{self.setup.model}{window}"
        return Order(
            trial_id(scenario, who, rules, seed, repetition), scenario, rules, seed, repetition, kind
        )

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
        """The finished trial of one trace; `directory` is the run that its replay command names."""
        scenario = self.home.scenario(order.scenario, order.seed)
        if order.kind == "clean":
            self.judge.learn(scenario, trace)
        found, judgement = self.judge(trace, scenario)
        trial = Trial(
            id=order.id,
            scenario=order.scenario,
            kind=order.kind,
            rules=order.rules,
            seed=order.seed,
            repetition=order.repetition,
            faults=tuple(dict.fromkeys(notation.parse(text).fault for text in order.rules)),
            facts=found,
            judgement=judgement,
            replay=replay_command(directory, order.id),
            suite=scenario.suite,
        )
        if score.bad(trial):
            trial = replace(trial, reason=(reasons.reason(trial, trace) or ("",))[0])
        if self.home.redact is nothing_secret:
            return trial
        # A grader of the user's may have put a secret into its verdict.
        return trialfile.from_json(Trial, json.loads(self.home.redact(json.dumps(trialfile.to_json(trial)))))

    def _score(self, directory: Path, trials: Sequence[Trial], clean: Clean, orders: Orders) -> Scorecard:
        applicable = {name: {order.scenario for order in planned} for name, planned in orders.items()}
        for fault, narrow in self.wanted.swept:  # also where a sample of the cells left a scenario out
            applicable[fault.id] |= {
                name for name, trace in clean.items() if sweep.applies(fault, trace, [narrow])
            }
        classes = self.wanted.classes
        if self.wanted.every:
            classes = tuple(name for name in classes if applicable[name]) or classes
        card = score.scorecard(
            trials,
            classes,
            run=str(directory),
            agent=self.agent,
            model=self.model,
            persona=self.setup.persona if self.model == SCRIPTED else None,
            seed=self.options.seed,
            deterministic=self.deterministic,
            applicable=applicable,
            skipped=tuple(self.skipped),
            fail_under=self.options.fail_under,
            min_clean=self.options.min_clean,
            demonstration=self.setup.agent is None,
        )
        if clean or card.exit != 2:
            return card
        return replace(card, reasons=("Nothing is left to test: every scenario was skipped.",))


def outgrown(trace: Trace, window: int) -> int | None:
    """The tokens of the largest request that was refused because it did not fit; None where none was."""
    from forge_chaos.modelserver.wires import outgrown_by

    told = (outgrown_by(replied.error or "", window) for _, replied in find(trace, Replied))
    return max((tokens for tokens in told if tokens is not None), default=None)


def replay_command(directory: Path, id: str) -> str:
    """The command that runs a stored trial again, ready for a shell."""
    return shlex.join(["forge-chaos", "replay", f"{directory}:{id}"])


def _sampled(cells: list[tuple[str, str, Rule]], n: int, seed: int) -> list[tuple[str, str, Rule]]:
    chosen = set(sweep.sample([(name, rule) for _, name, rule in cells], n, seed))
    return [cell for cell in cells if (cell[1], cell[2]) in chosen]


def _digest(fault: Fault) -> str:
    return "b2:" + blake2b(repr(fault).encode(), digest_size=8).hexdigest()
