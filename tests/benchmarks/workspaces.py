"""A fresh workspace with ten files and twenty operations on it: in memory, on a fake disk, on a RAM disk."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from forge_chaos.nouns import Scenario
from forge_chaos.worlds.files import files
from tests.benchmarks.best import best

FILES = {f"data/file{n}.txt": f"line {n}\n".encode() * 20 for n in range(10)}
TIMES = 30


def work(workspace: Any) -> None:
    """Twenty operations: what an agent with file tools does."""
    for n in range(5):
        workspace.read(f"data/file{n}.txt")
    for n in range(4):
        workspace.write(f"out/new{n}.txt", b"text")
        workspace.append(f"data/file{n}.txt", b"more\n")
    workspace.entries("data")
    workspace.entries("out")
    workspace.move("data/file9.txt", "data/last.txt")
    workspace.delete("data/file8.txt")
    workspace.stat("data/last.txt")
    workspace.read("out/new0.txt")
    workspace.snapshot()


def ratios(rounds: int = 15) -> dict[str, float]:
    """The cost in memory and on a fake disk, relative to that on disk (on /dev/shm where there is one)."""

    def fresh(kind: Any) -> None:
        scenario = Scenario("workspace", "", workspace=kind, files=FILES)
        for _ in range(TIMES):
            world = files(scenario, asyncio.sleep)
            work(world.workspace)
            world.close()

    found = best(rounds, {kind: partial(fresh, kind) for kind in ("memory", "fake", "disk")})
    return {kind: seconds / found["disk"] for kind, seconds in found.items()}
