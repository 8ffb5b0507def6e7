"""`forge-chaos new`: a scenario or a fault to start from."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from forge_chaos import scaffold, settings
from forge_chaos.cli import running
from forge_chaos.errors import Misuse, unknown
from forge_chaos.order import Order

KINDS = ("fault", "scenario")


def new(
    kind: str,
    name: str,
    folder: Path | None,
    record: str | None,
    adapter: str | None,
    prompt: str | None,
    files: Path | None,
) -> int:
    """Write it and say how to try it. With `record`, an agent, from what its clean run changes."""
    if kind not in KINDS:
        raise unknown("kind of thing", kind, KINDS, way="forge-chaos new scenario NAME")
    place = folder or Path(f"{kind}s")
    if record is None:
        if adapter is not None or prompt is not None or files is not None:
            raise Misuse("--prompt, --files and --adapter belong to --from AGENT.")
        path = (scaffold.new_scenario if kind == "scenario" else scaffold.new_fault)(name, place)
        tries = f"--{kind}s-dir {shlex.quote(str(place))} --{kind}s {name}"
    else:
        if kind != "scenario" or prompt is None:
            raise Misuse(
                '--from records a scenario: forge-chaos new scenario NAME --from AGENT --prompt "..."'
            )
        path = _recorded(name, place, record, adapter, prompt, files)
        tries = f"--scenarios-dir {shlex.quote(str(place))} --scenarios {name} --agent {shlex.quote(record)}"
    sys.stdout.write(f"{path}\nTry it: forge-chaos run {tries}\n")
    return 0


def _recorded(
    name: str, place: Path, agent: str, adapter: str | None, prompt: str, files: Path | None
) -> Path:
    from forge_chaos.scaffold.recording import draft, from_recording

    scaffold.place(name, place)
    before = _read(files)
    with TemporaryDirectory() as drafts:
        draft(name, Path(drafts), prompt, before)
        request = running.Request(agent=agent, adapter=adapter, scenarios_dir=(Path(drafts),))
        setup = replace(running.setup_of(request, settings.read(Path.cwd())), workspace="disk")
        with running.seated(setup) as (executor, _, _home):
            [(_, trace)] = executor.run([Order(f"{name}-recorded", name, (), 1, 0, "clean")])
    return from_recording(trace, name, place, before)


def _read(folder: Path | None) -> dict[str, bytes]:
    if folder is None:
        return {}
    if not folder.is_dir():
        raise Misuse(f"--files {folder}: there is no such folder.")
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }
