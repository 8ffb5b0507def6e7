"""An agent in its seat in this process, for tests that hold it as an object."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from forge_chaos import agents, fitting, judge, notation, settings
from forge_chaos.bench import Bench, Setup
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.judging import Judge
from forge_chaos.nouns import Plan, Scenario
from forge_chaos.order import Order, trial_id
from forge_chaos.verdict import Trial

T = TypeVar("T")
MOST = 16  # agents that keep their seat


@dataclass
class Seated:
    """`agent` is an object, a SPEC, or None for ours; it plays in scenarios of ours, of the settings that
    hold here, and in `scenario` when that is one made in Python."""

    scenario: str | Scenario
    agent: Any
    adapter: str | None = None
    _clean: dict[int, Trace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stated = settings.read(Path.cwd())
        named = self.agent is None or isinstance(self.agent, str)
        setup = Setup(
            agent=self.agent if named else getattr(self.agent, "__qualname__", type(self.agent).__name__),
            adapter=self.adapter,
            scenarios_dirs=tuple(map(str, stated.scenarios_dir)),
            faults_dirs=tuple(map(str, stated.faults_dir)),
            claim=stated.claim,
        )
        extra = (self.scenario,) if isinstance(self.scenario, Scenario) else ()
        self.name = self.scenario.name if isinstance(self.scenario, Scenario) else self.scenario
        self.home = _home(replace(setup, agent=None, adapter=None), extra)
        self.bench = Bench(setup, extra, None if named else agents.seat_of(self.agent, self.adapter))
        hello = self.bench.hello()
        own = fitting.own_tools(hello)
        self.judge = Judge(self.home, own)
        why = fitting.unfit(self.home.scenario(self.name, 1), setup, own, hello["turns"])
        if why is not None:
            raise Misuse(f"scenario {self.name!r} cannot be played by this agent: {why}.")

    def clean(self, seed: int) -> Trace:
        """The trace of the trial without a fault. Raises Misuse when the agent fails that already."""
        if seed not in self._clean:
            trial, trace = self._run(Plan((), seed))
            if not judge.clean_pass(trial.facts):
                raise Misuse(
                    f"scenario {self.name!r}: the agent fails it without any fault. {trial.judgement.why}"
                )
            self._clean[seed] = trace
        return self._clean[seed]

    def play(self, plan: Plan) -> Trial:
        """The judged trial under a plan."""
        self.clean(plan.seed)  # it says which effects are allowed where no expert can
        return self._run(plan)[0]

    def _run(self, plan: Plan) -> tuple[Trial, Trace]:
        texts = tuple(map(notation.write, plan.rules))
        scenario = self.home.scenario(self.name, plan.seed)
        order = Order(
            trial_id(self.name, self.bench.agent, texts, plan.seed, 0),
            self.name,
            texts,
            plan.seed,
            kind="fault" if texts else "clean",
        )
        trace = self.bench.trace(order)
        if not texts:
            self.judge.learn(scenario, trace)
        found, judgement = self.judge(trace, scenario)
        trial = Trial(
            id=order.id,
            scenario=order.scenario,
            kind=order.kind,
            rules=texts,
            seed=plan.seed,
            repetition=0,
            faults=tuple(dict.fromkeys(rule.fault for rule in plan.rules)),
            facts=found,
            judgement=judgement,
            suite=scenario.suite,
        )
        return trial, trace

    def close(self) -> None:
        self.bench.close()


_homes: dict[tuple[Setup, tuple[int, ...]], tuple[Bench, tuple[Scenario, ...]]] = {}


def _home(setup: Setup, extra: tuple[Scenario, ...]) -> Bench:
    """The bench on which the expert plays: one for all agents."""
    key = (setup, tuple(map(id, extra)))
    if key not in _homes:
        while len(_homes) >= MOST:
            _homes.pop(next(iter(_homes)))[0].close()
        _homes[key] = (Bench(setup, extra), extra)
    return _homes[key][0]


_seats: dict[tuple[int | str, int, str | None], Seated] = {}


def seated(scenario: str | Scenario, agent: Any, adapter: str | None = None) -> Seated:
    """The agent in its seat, which it keeps: one bench for all examples of a test."""
    key = (scenario if isinstance(scenario, str) else id(scenario), id(agent), adapter)
    if key not in _seats:
        while len(_seats) >= MOST:
            _seats.pop(next(iter(_seats))).close()
        _seats[key] = Seated(scenario, agent, adapter)
    return _seats[key]


def play(scenario: str | Scenario, agent: Any, plan: Plan, adapter: str | None = None) -> Trial:
    """The judged trial of an agent under a plan."""
    return _apart(lambda: seated(scenario, agent, adapter).play(plan))


def clean(scenario: str | Scenario, agent: Any, seed: int) -> Trace:
    """The trace of the agent's clean trial."""
    return _apart(lambda: seated(scenario, agent).clean(seed))


def _apart(work: Callable[[], T]) -> T:
    """`work` where no event loop runs: in a thread of its own when the caller is a coroutine."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(work).result()
