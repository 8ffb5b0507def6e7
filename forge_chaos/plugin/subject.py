"""Who is tried, and on what, and the command that does it again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from forge_chaos.bench import SCRIPTED, Setup
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Scenario
from forge_chaos.plugin import saying
from forge_chaos.plugin.stated import Stated

Scenarios: TypeAlias = str | Scenario | Iterable[str | Scenario]


@dataclass(frozen=True, slots=True)
class Subject:
    """`thing` is the agent where it is an object, `objects` the scenarios where those are; `globs` names
    scenarios otherwise (None: not said)."""

    setup: Setup
    thing: Any
    objects: tuple[Scenario, ...]
    globs: str | None

    def again(self, stated: Stated, test: str, **options: object) -> str:
        """The command that tries it again: without pytest where the agent and its scenarios have names."""
        if self.thing is None and not self.objects:
            elsewhere = self.setup.home if self.setup.home not in (None, str(stated.start)) else None
            model = self.setup.model if self.setup.model != SCRIPTED else None
            known = {"agent": self.setup.agent, "adapter": self.setup.adapter, "model": model}
            return saying.command(
                "forge-chaos", "run", place=elsewhere, **known, **options, extra=stated.dirs
            )
        return saying.command("pytest", test, extra=stated.options)


def subject(
    stated: Stated,
    agent: Any,
    scenarios: Scenarios | None,
    *,
    adapter: str | None = None,
    model: str | None = None,
) -> Subject:
    """The agent of the test, else the one that is stated. Raises Misuse where there is none, and for a
    mixture of scenarios with names and scenarios that are objects."""
    objects, globs = _split(scenarios)
    spec, home, thing = agent, stated.base, None
    if agent is None:
        spec, home, adapter = stated.agent, stated.home, adapter or stated.adapter
    elif not isinstance(agent, str):
        spec, thing = f"{agent.__module__}:{getattr(agent, '__qualname__', type(agent).__qualname__)}", agent
    if spec is None:
        raise Misuse(
            "no agent is named, and a test of the built-in one would test nothing of yours. Name one in the call, "
            "in the marker, by --chaos-agent, or as agent in [tool.forge-chaos]: module:attribute or path.py:attribute."
        )
    setup = Setup(
        agent=spec,
        home=None if thing is not None else str(home),
        adapter=adapter,
        model=model or SCRIPTED,
        scenarios_dirs=stated.scenarios_dirs,
        faults_dirs=stated.faults_dirs,
        claim=stated.claim,
    )
    return Subject(setup, thing, objects, globs)


def _split(scenarios: Scenarios | None) -> tuple[tuple[Scenario, ...], str | None]:
    if scenarios is None:
        return (), None
    several = (scenarios,) if isinstance(scenarios, str | Scenario) else tuple(scenarios)
    objects = tuple(each for each in several if isinstance(each, Scenario))
    names = [each for each in several if isinstance(each, str)]
    if len(objects) + len(names) != len(several) or (objects and names) or not several:
        raise Misuse(
            f"scenarios are names (or globs) or forge_chaos.Scenario objects, not a mixture and not nothing: {several!r}."
        )
    return objects, ",".join(names) or None
