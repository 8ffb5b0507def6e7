"""A model proxy in front of an address, served on a port of its own, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from time import monotonic

from forge_chaos import catalog, notation
from forge_chaos.events import Trace
from forge_chaos.modelgate import ModelGate
from forge_chaos.modelproxy import ModelProxy
from forge_chaos.modelserver.loopback import served
from forge_chaos.modelserver.relay import application
from forge_chaos.modelserver.upstream import Upstream
from forge_chaos.recorder import Recorder

FAULTS = catalog.faults()


@dataclass
class Proxied:
    """`heard`: what it said goes wrong. `over` counts requests; `stopped`: why its gate wanted to stop."""

    url: str
    record: Recorder
    heard: list[str] = field(default_factory=list)
    over: int = 0
    once: Event = field(default_factory=Event)
    stopped: list[str] = field(default_factory=list)

    @property
    def trace(self) -> Trace:
        return self.record.trace

    def counted(self) -> None:
        self.over += 1
        self.once.set()


@contextmanager
def proxied(url: str, plan: str = "") -> Iterator[Proxied]:
    record = Recorder(monotonic)
    found = Proxied("", record)
    rules = [catalog.resolve(rule, FAULTS) for rule in notation.parse_plan(plan).rules] if plan else []
    gate = ModelGate(rules, record, monotonic, seed=1, stop=lambda end, why: found.stopped.append(why))
    proxy = ModelProxy(Upstream(url), gate, found.heard.append, found.counted)
    with served(application(proxy), 0, proxy.close) as number:
        found.url = f"http://127.0.0.1:{number}"
        yield found
