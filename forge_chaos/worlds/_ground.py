"""The ground truth behind a world's tools, fresh for each trial: files, and tables with a ledger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from forge_chaos.nouns import Scenario, Tool, ToolSpec
from forge_chaos.worlds._disk import DiskWorkspace
from forge_chaos.worlds._memory import MemoryWorkspace
from forge_chaos.worlds._tables import Tables
from forge_chaos.worlds._tools import Block, Toolset, choose

if TYPE_CHECKING:
    from forge_chaos.worlds._fake import FakeWorkspace

Sleep = Callable[[float], Awaitable[None]]
Workspace: TypeAlias = "MemoryWorkspace | DiskWorkspace | FakeWorkspace"
NONE = Toolset({}, ())


@dataclass(slots=True, repr=False)
class Ground:
    """A world: `ports.World`. Its tools act on it, and it says what is true."""

    scenario: Scenario
    sleep: Sleep
    workspace: Workspace
    tables: Tables | None = None
    specs: Mapping[str, ToolSpec] = field(default_factory=dict)
    tools: Mapping[str, Tool] = field(default_factory=dict)

    def resources(self) -> dict[str, Any]:
        found: dict[str, Any] = dict(self.workspace.texts())
        if self.tables is not None:
            found.update(self.tables.resources())
        return found

    def touched(self) -> tuple[str, ...]:
        touched = self.workspace.touched()
        if self.tables is None:
            return touched
        return tuple(sorted((*touched, *self.tables.touched())))

    def check_command(self, argv: Sequence[str] | str, seconds: float) -> Mapping[str, Any]:
        """Run a grader's command in the files as they are: `{"argv", "exit", "output"}`.

        A command that is not found has exit 127, one past its time 124. Files in memory, fake ones too, are
        written to a folder for it, so what the command changes there is not kept.
        """
        if isinstance(self.workspace, DiskWorkspace):
            return self.workspace.check(argv, seconds)
        files = self.workspace.snapshot()
        with nullcontext() if isinstance(self.workspace, MemoryWorkspace) else self.workspace.paused():
            copy = DiskWorkspace(files)
            try:
                return copy.check(argv, seconds)
            finally:
                copy.close()

    def processes(self) -> list[int]:
        """Pids of what the tools started and is still alive."""
        return self.workspace.processes() if isinstance(self.workspace, DiskWorkspace) else []

    def close(self) -> None:
        self.workspace.close()


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of world: `kind(scenario, sleep)` makes a fresh one. `specs` are all tools that it has.

    `root` is an existing folder to work in, on disk; without one a fresh folder is made and removed.
    Raises Misuse for a tool that it does not have.
    """

    name: str
    blocks: Mapping[str, Block]
    tables: bool = False

    @property
    def specs(self) -> Mapping[str, ToolSpec]:
        return {name: one.spec for name, one in self.blocks.items()}

    def __call__(self, scenario: Scenario, sleep: Sleep, root: Path | None = None) -> Ground:
        # With no tools of its own, what the scenario names is asked of the agent's.
        chosen = choose(self.blocks, scenario) if self.blocks else NONE
        tables = Tables(scenario.records, scenario.values) if self.tables else None
        ground = Ground(scenario, sleep, workspace_of(scenario, root), tables, chosen.specs)
        ground.tools = chosen.bind(ground)
        return ground


_set_up: dict[int, tuple[Scenario, Mapping[str, bytes]]] = {}


def workspace_of(scenario: Scenario, root: Path | None = None) -> Workspace:
    """A fresh workspace with the scenario's files and what its `setup(folder)` makes of them."""
    if scenario.workspace == "disk" or root is not None:
        return DiskWorkspace(scenario.files, root, scenario.setup)
    files = scenario.files if scenario.setup is None else _after_setup(scenario)
    if scenario.workspace == "memory":
        return MemoryWorkspace(files)
    from forge_chaos.worlds._fake import FakeWorkspace  # here: only who wants it pays for its import

    return FakeWorkspace(files)


def _after_setup(scenario: Scenario) -> Mapping[str, bytes]:
    """What the setup leaves, found out once per scenario: it works on a real folder."""
    found = _set_up.get(id(scenario))
    if found is None:
        made = DiskWorkspace(scenario.files, None, scenario.setup)
        try:
            found = (scenario, made.snapshot())
        finally:
            made.close()
        _set_up.clear()  # trials of one scenario follow each other; one is enough
        _set_up[id(scenario)] = found
    return found[1]
