"""Agents in their seats, kept over the tests of a session.

A SPEC is imported in a child process that can be killed, as `forge-chaos run` does, and its child serves
the next tests too. An object - a function of the test, an agent made by a fixture - stays in this process.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from forge_chaos import agents
from forge_chaos.bench import Bench, Setup
from forge_chaos.executors.child import child
from forge_chaos.plugin.watched import watched

if TYPE_CHECKING:
    from forge_chaos.nouns import Scenario
    from forge_chaos.ports import Executor

T = TypeVar("T")
MOST = 4  # children at a time
PASSING = frozenset({"PYTEST_CURRENT_TEST"})  # variables that change from test to test and mean nothing


@dataclass(frozen=True, slots=True)
class Seated:
    """An agent, ready: `executor` runs its trials, `hello` describes it, `home` plays the expert; `stopped`
    is set by Ctrl-C."""

    setup: Setup
    executor: Executor
    hello: Mapping[str, Any]
    home: Bench
    stopped: Event

    def close(self) -> None:
        self.executor.close()
        self.home.close()


class Seats:
    """The seats of a session, and the thread in which trials are run and judged.

    One thread for all: a child dies with the thread that started it, and a test may have an event loop
    running in its own.
    """

    def __init__(self) -> None:
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="forge-chaos")
        self._children: OrderedDict[tuple[object, ...], Seated] = OrderedDict()
        self._stopped = Event()

    def aside(self, work: Callable[[], T]) -> T:
        """What `work` gives back or raises, done in the other thread with the context of this one."""
        doing = self._aside.submit(copy_context().run, work)
        try:
            return doing.result()
        except KeyboardInterrupt:
            self._stopped.set()
            raise

    def close(self) -> None:
        """End every child."""
        try:
            self.aside(self._clear)
        finally:
            self._aside.shutdown()

    @contextmanager
    def seat(self, setup: Setup, thing: Any = None, scenarios: tuple[Scenario, ...] = ()) -> Iterator[Seated]:
        """The agent that `setup` names in a child; `thing`, or any agent on scenarios that are objects, in
        this process. Raises Misuse for what does not exist."""
        if thing is None and not scenarios and setup.agent != agents.REFERENCE:
            yield self._child(setup)
            return
        with _here(setup, thing, scenarios, self._stopped) as seated:
            yield seated

    def _child(self, setup: Setup) -> Seated:
        environment = frozenset((k, v) for k, v in os.environ.items() if k not in PASSING)
        key = (setup, os.getcwd(), tuple(sys.path), environment)
        if key not in self._children:
            while len(self._children) >= MOST:
                self._children.popitem(last=False)[1].close()
            home = Bench(replace(setup, agent=None, adapter=None))
            executor = child(setup.to_json(), watchdog=setup.watchdog)
            try:
                self._children[key] = Seated(setup, executor, executor.hello(), home, self._stopped)
            except BaseException:
                executor.close()
                home.close()
                raise
        self._children.move_to_end(key)
        return self._children[key]

    def _clear(self) -> None:
        while self._children:
            self._children.popitem()[1].close()


@contextmanager
def _here(setup: Setup, thing: Any, scenarios: tuple[Scenario, ...], stopped: Event) -> Iterator[Seated]:
    with chdir(setup.home or "."):  # where a SPEC is looked for
        seat = (
            agents.seat_of(thing, setup.adapter)
            if thing is not None
            else agents.seat(setup.agent, setup.adapter)
        )
    setup = replace(setup, home=None)
    home = Bench(replace(setup, agent=None, adapter=None), scenarios)
    try:
        executor = watched(lambda: Bench(setup, scenarios, seat), setup.watchdog)
        try:
            yield Seated(setup, executor, executor.hello(), home, stopped)
        finally:
            executor.close()
    finally:
        home.close()
