"""`forge-chaos serve`: the scripted model behind a port, for a client in any language."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from forge_chaos import catalog, registry, settings
from forge_chaos.bench import specs_of
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Scenario
from forge_chaos.trial import CONTRACT, REQUESTS


def serve(
    name: str,
    persona: str,
    port: int,
    seed: int | None,
    window: int | None,
    files: Path | None,
    scenarios_dir: Sequence[Path],
) -> int:
    """Serve until Ctrl-C. The first line says how a client reaches it, the rest what its agent is to be told."""
    from forge_chaos.modelserver import loopback
    from forge_chaos.modelserver.server import ScriptedModel
    from forge_chaos.modelserver.trials import Trials

    stated = settings.read(Path.cwd())
    drawn = seed if seed is not None else stated.seed if stated.seed is not None else 1
    scenario = catalog.load(name, drawn, [*stated.scenarios_dir, *scenarios_dir])
    registry.module("personas", persona)
    if scenario.solve is None:
        raise Misuse(f"scenario {name!r} has no solution.py, so there is nothing that a model could play.")
    specs = specs_of(scenario)
    budget = 20 + REQUESTS * max(1, scenario.limits.steps)
    trials = Trials(lambda trial: ScriptedModel(scenario, persona, specs, budget, window, name=trial))

    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        response = trials(path, body)
        await asyncio.sleep(response.wait)
        return response.status, response.body

    with loopback.port(answer, port) as number:
        if files is not None:
            _write(scenario, files)
        url = f"http://127.0.0.1:{number}"
        sys.stdout.write(f"OPENAI_BASE_URL={url}/v1 ANTHROPIC_BASE_URL={url}\n")
        sys.stdout.write(f"Tools: {', '.join(scenario.tools or sorted(specs))}\n\n")
        sys.stdout.write(f"{scenario.prompt.strip()}{CONTRACT}\n")
        sys.stdout.flush()
        try:
            Event().wait()
        except KeyboardInterrupt:
            sys.stderr.write("forge-chaos: stopped.\n")
    return 0


def _write(scenario: Scenario, folder: Path) -> None:
    """The files that the scenario starts with, for a client's own tools."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Misuse(f"--files {folder} is there and not empty. Name a new folder.")
    for path, data in scenario.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
