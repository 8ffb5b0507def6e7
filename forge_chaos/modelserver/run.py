"""A solution under a persona, under way: replies go in, the next move comes out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from forge_chaos.errors import Misuse
from forge_chaos.modelserver.mind import Mind, Step
from forge_chaos.modelserver.move import Ask, Move, Say
from forge_chaos.modelserver.trouble import Stuck, Trouble
from forge_chaos.modelserver.turn import Standing
from forge_chaos.modelserver.view import Reply, View
from forge_chaos.nouns import Scenario, Solve, Task, ToolSpec
from forge_chaos.solution import Shape


class SolutionError(Misuse):
    """A scenario's own solution raised though nothing had gone wrong: a bug of the scenario."""


@dataclass(frozen=True, slots=True)
class Persona:
    """How a model meets a step, and what it says at the end when an exception has ended the solution."""

    name: str
    meet: Callable[[Step, Mind], Awaitable[Any]]
    ending: Callable[[Exception], str]


@cache
def persona(name: str) -> Persona:
    """The persona of that name. Raises Misuse with the near miss when there is none."""
    from forge_chaos import registry  # imports pydantic

    module = registry.module("personas", name)
    return Persona(name, getattr(module, name), module.ending)


class Tools:
    """What `solve(task, tools)` is handed: one method a tool, each takes the tool's own arguments.

    `expect=` says what a good result is, `check=` whether the effect has happened, `allow={kind: value}`
    which trouble the task itself provides for: it is honoured whatever the persona.
    """

    def __init__(self, mind: Mind, meet: Callable[[Step, Mind], Awaitable[Any]]) -> None:
        self._mind, self._meet = mind, meet

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def call(
            *,
            expect: Shape | None = None,
            check: Callable[[], Awaitable[Any]] | None = None,
            allow: Mapping[str, Any] | None = None,
            **args: Any,
        ) -> Any:
            step = self._mind.step(name, args, expect, check, allow)
            try:
                return await self._meet(step, self._mind)
            except Trouble as trouble:
                if trouble.kind in step.allow:
                    return step.allow[trouble.kind]
                raise

        return call

    async def wait(self, seconds: float) -> None:
        """Let so many seconds of trial time pass, as between two polls."""
        await self._mind.wait(seconds)

    async def say(self, text: str) -> None:
        """Say something beside the next call, as a model that thinks aloud does. Nobody answers it."""
        self._mind.saying = text

    async def together(self, *wanted: Coroutine[Any, Any, Any]) -> list[Any]:
        """Several steps in one model turn. Raises the first Trouble that any of them raised."""
        from forge_chaos.modelserver.together import together

        return await together(wanted)


class Run:
    """One solution from its start. `send` drives it to its next move; close it when it is not needed
    any more. `clean`: nothing can have gone wrong, so an exception of the solution is a SolutionError."""

    def __init__(
        self,
        scenario: Scenario,
        who: Persona,
        specs: Mapping[str, ToolSpec],
        view: View | None = None,
        ledger: Mapping[str, int] | None = None,
        clean: bool = False,
        stands: Standing | None = None,
    ) -> None:
        stands = stands or Standing(1, scenario.prompt, scenario.solve)
        if stands.solve is None:
            raise Misuse(f"scenario {scenario.name!r} has no solution.py, so no scripted model can play it.")
        self.scenario, self.who, self.clean, self.turn = scenario, who, clean, stands.turn
        task = Task(stands.prompt, scenario.limits.steps, scenario.name, turn=stands.turn)
        detour = scenario.detour
        self._part = stands.part
        self.mind = Mind(
            specs,
            None if view is None else stands.part(view),
            ledger,
            None if detour is None else lambda: _plainly(detour, task, self.mind),
        )
        self.whole = True  # does the last move ask for all that the solution waits for?
        self._solving: Coroutine[Any, Any, Any] = _start(stands.solve(task, Tools(self.mind, who.meet)))

    def look(self, view: View, ledger: Mapping[str, int]) -> None:
        """Take what the next request shows of this turn."""
        self.mind.look(self._part(view), ledger)

    def send(self, replies: tuple[Reply, ...] | None) -> Move:
        """The move after these replies (None: the first one). Pauses are added up into `Ask.wait`."""
        wait = 0.0
        try:
            ask: Ask = self._solving.send(replies)
            while not ask.calls:
                wait += ask.wait
                ask = self._solving.send(())
        except StopIteration as end:
            return Say("" if end.value is None else str(end.value))
        except Misuse:
            raise
        except Stuck as stuck:
            return self.end(stuck)
        except Exception as error:
            if self.clean and not self.mind.met:
                raise SolutionError(
                    f"scenario {self.scenario.name!r}: its solution raised {type(error).__name__}: {error}, "
                    f"though nothing had gone wrong. Repair solution.py."
                ) from error
            return self.end(error)
        said, self.mind.saying = self.mind.saying, ""
        return Ask(ask.calls, ask.wait + wait, said)

    def end(self, error: Exception) -> Say:
        """The persona's last word after an exception."""
        return Say(self.who.ending(error))

    def close(self) -> None:
        self._solving.close()


def _start(solving: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    async def run() -> Any:
        return await solving

    return solving if isinstance(solving, Coroutine) else run()


async def _plainly(route: Solve, task: Task, mind: Mind) -> Any:
    """A detour is walked without second thoughts: trouble on it gives None."""

    async def meet(step: Step, _: Mind) -> Any:
        try:
            return step.read(await step.ask())
        except Trouble:
            return None

    return await route(task, Tools(mind, meet))
