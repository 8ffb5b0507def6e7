"""The bench: from a setup and an order to a trace. Both sides of a process boundary use it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from forge_chaos import agents, catalog, extras, mapping, notation, registry, seeds, trial
from forge_chaos.clock import VirtualLoop
from forge_chaos.errors import Misuse
from forge_chaos.events import Trace
from forge_chaos.nouns import Fault, Rule, Scenario, ToolSpec
from forge_chaos.order import Order
from forge_chaos.ports import Seat, World
from forge_chaos.recorded import redactor
from forge_chaos.recorder import Sink

SCRIPTED = "scripted"
OWN = "own"
WATCHDOG = 10.0


@dataclass(frozen=True, slots=True)
class Setup:
    """What stays the same for all trials of a run; plain data that crosses processes.

    `agent` is a SPEC or None for the reference agent, `home` the directory in which it was named: its
    process works there, so that a replay finds it from anywhere. `model`: `scripted`, `own` (the agent
    brings its own), or a real endpoint. `watchdog`: real seconds without an event until a trial in a
    child counts as hung. `tasks` are sources of scenarios (`seeds`), which then stand for all folders. `window`:
    tokens that the scripted model takes in one request; None: any number.
    """

    agent: str | None = None
    home: str | None = None
    adapter: str | None = None
    persona: str = "expert"
    model: str = SCRIPTED
    workspace: str | None = None
    scenarios_dirs: tuple[str, ...] = ()
    faults_dirs: tuple[str, ...] = ()
    watchdog: float = WATCHDOG
    tasks: tuple[str, ...] = ()
    claim: str | None = None
    shims: bool = False
    window: int | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Setup:
        known = {field.name for field in fields(cls)}
        given: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k in known
        }
        return cls(**given)


class Bench:
    """Runs trials one after the other on one event loop for each kind of time. Raises Misuse when the
    setup names what does not exist.

    `extra` are scenarios beside those of the setup's tasks, `seat` an agent that sits already: both are
    for a bench of this process, since they cross to no other.
    """

    def __init__(
        self, setup: Setup | Mapping[str, Any], extra: Iterable[Scenario] = (), seat: Seat | None = None
    ) -> None:
        self.setup = setup if isinstance(setup, Setup) else Setup.from_json(setup)
        self._scenario_dirs = [Path(d) for d in self.setup.scenarios_dirs]
        self.faults: dict[str, Fault] = catalog.faults([Path(d) for d in self.setup.faults_dirs])
        if self.setup.agent is not None and self.setup.home is not None and Path(self.setup.home).is_dir():
            os.chdir(self.setup.home)
        self.imported = seeds.gather(self.setup.tasks)
        self.extra = seeds.by_name((*self.imported.scenarios, *extra))
        self.seat: Seat = seat or agents.seat(self.setup.agent, self.setup.adapter)
        registry.module("personas", self.setup.persona)
        self._endpoint = _endpoint(self.setup.model)
        self._loops: dict[bool, asyncio.AbstractEventLoop] = {}  # by: is its time real
        self.redact = redactor(words=_words(self.faults, self._scenario_dirs))
        self._source = agents.source(self.setup.agent)
        self._checked: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.scenario = lru_cache(maxsize=512)(self._scenario)
        self.resolve = lru_cache(maxsize=100_000)(self._resolve)

    def names(self, globs: str) -> tuple[str, ...]:
        """The scenarios that a comma list of globs names: of the tasks where there are any, else of the
        folders. Raises Misuse when one of the globs matches nothing."""
        if self.extra:
            return seeds.choose(globs, self.extra)
        return catalog.scenario_names(globs, self._scenario_dirs)

    def _scenario(self, name: str, seed: int) -> Scenario:
        if name in self.extra:
            scenario = replace(self.extra[name], seed=seed)
        else:
            scenario = catalog.load(name, seed, self._scenario_dirs)
        if self.own_tools:
            fake = (self.setup.workspace or scenario.workspace) == "fake"
            return replace(scenario, workspace="fake" if fake else "disk")
        if self.seat.folder:
            return replace(scenario, workspace="disk")
        if self.setup.workspace is not None:
            return replace(scenario, workspace=self.setup.workspace)  # type: ignore[arg-type]  # checked by the door
        return scenario

    def _resolve(self, text: str) -> catalog.Resolved:
        return catalog.resolve(notation.parse(text), self.faults)

    @property
    def own_tools(self) -> bool:
        return self.seat.specs is not None

    @property
    def agent(self) -> str:
        return self.setup.agent or agents.REFERENCE

    @property
    def versions(self) -> dict[str, str]:
        """The versions that a trace depends on, those of the agent's framework among them."""
        source = {"agent source": self._source} if self._source else {}
        return versions() | source | dict(extras.installed(self.seat.adapter))

    @property
    def deterministic(self) -> bool:
        """Equal plans give equal traces: the adapter says so, and the model is held still."""
        return self.seat.deterministic and self._endpoint is None

    def hello(self) -> dict[str, Any]:
        """What the other side of a process boundary must know of the agent."""
        specs = self.seat.specs
        return {
            "agent": self.agent,
            "adapter": self.seat.adapter,
            "deterministic": self.deterministic,
            "time": "real" if self._endpoint is not None else self.seat.time,
            "own_tools": None
            if specs is None
            else {
                s.name: trial.described(s) | {"parameters": s.parameters, "description": s.description}
                for s in specs.values()
            },
            "own_model_deterministic": self.seat.own_model_deterministic,
            "folder": self.seat.folder,
            "turns": self.seat.turns,
            "versions": self.versions,
        }

    def trace(self, order: Order, sink: Sink | None = None) -> Trace:
        """Run one trial."""
        scenario = self.scenario(order.scenario, order.seed)
        rules = [self.resolve(text) for text in order.rules]
        setting = trial.Setting(
            scenario=scenario,
            seat=self.seat,
            world=_world_of(scenario, self.own_tools),
            rules=rules,
            seed=order.seed,
            repetition=order.repetition,
            agent=self.agent,
            model=self.setup.model,
            server=self._server(scenario, clean=not rules),
            endpoint=self._endpoint,
            redact=self.redact,
            sink=sink,
            versions=self.versions,
            contract=not self.own_tools,
            claim=self.setup.claim if self.own_tools else None,
            checked=None if self.own_tools else self._checked,
            shims=self.setup.shims,
        )
        return self._run(setting)

    def expert(self, scenario: Scenario, rules: Sequence[Rule], seed: int) -> Trace:
        """The bar's trial: the solution played live as the expert, against the faults that the agent met."""
        from forge_chaos.modelserver import live

        if any(resolved.seam in ("caller", "turn") for resolved in self._of(rules)):
            return self._conversing(scenario, rules, seed)
        if scenario.workspace == "fake":  # its own process is not to be patched for tools that need no patch
            scenario = replace(scenario, workspace="memory")
        resolved = list(self._of(rules))
        setting = trial.Setting(
            scenario=scenario,
            seat=live.seat(scenario, "expert", clean=not rules),
            world=_world_of(scenario, False),
            rules=resolved,
            seed=seed,
            agent="expert",
            model="live",
            redact=self.redact,
            checked=self._checked,
        )
        return self._run(setting)

    def _of(self, rules: Sequence[Rule]) -> Iterator[catalog.Resolved]:
        return (catalog.resolve(rule, self.faults) for rule in rules)

    def _conversing(self, scenario: Scenario, rules: Sequence[Rule], seed: int) -> Trace:
        """The expert in a conversation of several turns: the model of the reference agent, which keeps it."""
        from forge_chaos.modelserver.server import ScriptedModel

        scenario = replace(scenario, workspace="memory") if scenario.workspace == "fake" else scenario
        budget = 20 + trial.REQUESTS * max(1, scenario.limits.steps) * (2 + len(scenario.turns))
        setting = trial.Setting(
            scenario=scenario,
            seat=agents.seat(None),
            world=_world_of(scenario, False),
            rules=list(self._of(rules)),
            seed=seed,
            agent="expert",
            model=SCRIPTED,
            server=lambda world: ScriptedModel(scenario, "expert", world.specs, budget, clean=not rules),
            redact=self.redact,
            checked=self._checked,
        )
        return self._run(setting)

    def _server(self, scenario: Scenario, clean: bool) -> Callable[[World], Any] | None:
        if self._endpoint is not None or scenario.solve is None or self.setup.model != SCRIPTED:
            return None
        from forge_chaos.modelserver.server import ScriptedModel

        persona, window = self.setup.persona, self.setup.window
        budget = 20 + trial.REQUESTS * max(1, scenario.limits.steps) * (2 + len(scenario.turns))
        own = self.seat.specs

        def make(world: World) -> Any:
            specs = world.specs if own is None else mapping.mapped(scenario, specs_of(scenario), own)
            # In a window an agent may lose what the solution needs: then its trouble is no bug of the scenario.
            return ScriptedModel(scenario, persona, specs, budget, window, clean and window is None)

        return make

    def _run(self, setting: trial.Setting) -> Trace:
        # Asked of the trial, not of the bench: the expert needs no real time beside a real model.
        real = setting.endpoint is not None or setting.seat.time == "real"
        loop = self._loops.get(real)
        if loop is None or loop.is_closed():
            loop = asyncio.new_event_loop() if real else VirtualLoop(patience=self.setup.watchdog / 2)
            self._loops[real] = loop
        try:
            return trial.play(loop, setting)
        except BaseException:
            loop.close()  # its tasks are in no known state: the next trial gets a new one
            raise

    def close(self) -> None:
        for real, loop in self._loops.items():
            if loop.is_closed():
                continue
            if real and self._endpoint is not None:
                loop.run_until_complete(self._endpoint.close())
            loop.close()


def specs_of(scenario: Scenario) -> Mapping[str, ToolSpec]:
    """The tools of a scenario's world, as its solution knows them."""
    world = _world_of(scenario, False)(replace(scenario, workspace="memory"), asyncio.sleep)
    try:
        return world.specs
    finally:
        world.close()


def _world_of(scenario: Scenario, own_tools: bool) -> Callable[[Scenario, Any], World]:
    if own_tools:
        from forge_chaos.worlds import _bare

        make: Callable[[Scenario, Any], World] = _bare.bare
        return make
    if "." in scenario.world or ":" in scenario.world:
        where, _, attribute = scenario.world.replace(":", ".").rpartition(".")
        try:
            found: Callable[[Scenario, Any], World] = getattr(import_module(where), attribute)
        except (ImportError, AttributeError) as error:
            raise Misuse(
                f"scenario {scenario.name!r}: no world {scenario.world!r}: {error}. "
                f"Write files, records or the dotted path of a function (scenario, sleep) -> World."
            ) from None
        return found
    chosen: Callable[[Scenario, Any], World] = registry.leaf("worlds", scenario.world)
    return chosen


def _endpoint(model: str) -> Any:
    if model in (SCRIPTED, OWN):
        return None
    from forge_chaos.modelserver.endpoint import endpoint

    return endpoint(model, os.environ)


def _words(faults: Mapping[str, Fault], dirs: Sequence[Path]) -> frozenset[str]:
    """Words that verdicts hang on: they are never taken for secrets."""
    tools = {name for world in ("files", "records") for name in registry.leaf("worlds", world).specs}
    return frozenset({*faults, *catalog.folders(dirs), *tools, "FAILED"})


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Those that every trace depends on."""
    import platform

    from forge_chaos import __version__

    return {"forge-chaos": __version__, "python": platform.python_version()}
