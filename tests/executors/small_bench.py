"""A bench of one page whose agents do to their process what real agents do. The scenario names the agent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from forge_chaos.errors import Misuse
from forge_chaos.events import (
    Body,
    Called,
    Event,
    Executed,
    Finished,
    Returned,
    Snapshot,
    Started,
    Told,
    Trace,
)
from forge_chaos.order import Order


class Bench:
    """`setup`: {"place": directory for what agents leave, "start": what happens when it is built}."""

    def __init__(self, setup: Mapping[str, Any]) -> None:
        self.place = Path(setup["place"])
        {"well": _nothing, "misuse": _refuse, "crash": _crash, "exit": _exit, "hang": _hang}[
            setup.get("start", "well")
        ]()

    def hello(self) -> dict[str, Any]:
        return {"agent": "small", "cwd": os.getcwd(), "pid": os.getpid(), "path": sys.path}

    def trace(self, order: Order, sink: Callable[[Event], None] | None = None) -> Trace:
        events: list[Event] = []

        def record(body: Body) -> None:
            event = Event(len(events), float(len(events)), body)
            events.append(event)
            if sink is not None:
                sink(event)

        if order.scenario == "dies_before":
            os._exit(4)
        record(Started(order.scenario, "b2:0", "small", "none", order.rules, order.seed, order.repetition))
        record(Called(1, "look", {"path": "a"}))
        record(Executed(1, Told("seen")))
        record(Returned(1, Told("seen")))
        if order.scenario == "normal":
            record(Finished("answered", "DONE"))
            record(Snapshot({"a": "seen"}))
            return tuple(events)
        if order.scenario == "hangs_after":
            record(Finished("answered", "DONE"))
            time.sleep(3600)
        if order.scenario == "forgets":
            events.append(Event(4, 4.0, Finished("answered", "DONE")))
            return tuple(events)
        record(Called(2, "look", {"path": "b"}))
        AGENTS[order.scenario](self.place, record)
        raise AssertionError("no agent here comes back")

    def close(self) -> None:
        (self.place / "closed").write_text("yes")


def _nothing() -> None:
    pass


def _refuse() -> None:
    raise Misuse("no agent 'smal'. Did you mean 'small'?")


def _crash() -> None:
    raise ImportError("cannot import name 'agent'")


def _exit() -> None:
    sys.stderr.write("Fatal: cannot open display\n")
    os._exit(7)


def _hang() -> None:
    time.sleep(3600)


Record = Callable[[Body], None]


def sleeps(place: Path, record: Record) -> None:
    time.sleep(3600)


def has_a_workspace(place: Path, record: Record) -> None:
    (place / "workspace").write_text(mkdtemp(prefix=f"forge-chaos-{os.getpid()}-"))
    time.sleep(3600)


def spins(place: Path, record: Record) -> None:
    (place / "spinning").touch()
    while True:
        pass


def exits(place: Path, record: Record) -> None:
    sys.stdout.write("about to leave\n")
    os._exit(3)


def leaves(place: Path, record: Record) -> None:
    raise SystemExit("enough")


def interrupts(place: Path, record: Record) -> None:
    raise KeyboardInterrupt


def kills_itself(place: Path, record: Record) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def prints(place: Path, record: Record) -> None:
    for _ in range(2_000):
        sys.stdout.write("x" * 1_000 + "\n")
    sys.stdout.write("the last words\n")
    os._exit(5)


def chats_and_hangs(place: Path, record: Record) -> None:
    while True:
        sys.stdout.write("still thinking\n")
        time.sleep(0.01)


def eats(place: Path, record: Record) -> None:
    held = []
    while True:
        held.append(bytearray(16_000_000))


def raises_value(place: Path, record: Record) -> None:
    raise ValueError("ours")


def refuses(place: Path, record: Record) -> None:
    raise Misuse("no scenario 'refuses'.")


def floods(place: Path, record: Record) -> None:
    while True:
        record(Returned(2, Told("more")))


def reads_stdin(place: Path, record: Record) -> None:
    raise SystemExit(f"read {sys.stdin.read()!r}")


def closes_everything(place: Path, record: Record) -> None:
    os.closerange(3, 256)
    time.sleep(3600)


GRANDCHILD = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(3600)"


def _grandchild(place: Path, **options: Any) -> None:
    subprocess.Popen([sys.executable, "-c", GRANDCHILD, str(place / "grandchild")], **options)
    while not (place / "grandchild").exists() or not (place / "grandchild").read_text():
        time.sleep(0.01)


def has_a_child(place: Path, record: Record) -> None:
    _grandchild(place)
    os._exit(0)


def has_a_child_in_a_group(place: Path, record: Record) -> None:
    _grandchild(place, process_group=0)
    os._exit(0)


def has_a_child_in_a_session(place: Path, record: Record) -> None:
    _grandchild(place, start_new_session=True)
    time.sleep(3600)


def forks_and_dies(place: Path, record: Record) -> None:
    if os.fork() == 0:
        (place / "grandchild").write_text(str(os.getpid()))
        time.sleep(3600)
    while not (place / "grandchild").exists() or not (place / "grandchild").read_text():
        time.sleep(0.01)
    os._exit(6)


def leaves_a_bomb(place: Path, record: Record) -> None:
    threading.Timer(0.2, os._exit, (9,)).start()
    raise SystemExit("with a thread behind")


AGENTS: Mapping[str, Callable[[Path, Record], None]] = {
    agent.__name__: agent
    for agent in (
        sleeps,
        has_a_workspace,
        spins,
        exits,
        leaves,
        interrupts,
        kills_itself,
        prints,
        chats_and_hangs,
        eats,
        raises_value,
        refuses,
        floods,
        reads_stdin,
        closes_everything,
        has_a_child,
        has_a_child_in_a_group,
        has_a_child_in_a_session,
        forks_and_dies,
        leaves_a_bomb,
    )
}
