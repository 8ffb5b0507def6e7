"""The agents of targets.json on the tasks of tasks.json, as another system has them, in one table.

python -m tests.languages.grid      print the table of task and target

The tasks are scenarios of ours in that system's words, so that a scripted model can play each: behind a port of
its own, whose address an agent finds in `MODEL_<task>` (`model.sh`). Each task is done without a fault, and again
with a file gone at the first reading.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from forge_chaos import catalog
from forge_chaos.bench import specs_of
from forge_chaos.cli.targeting import table
from forge_chaos.modelserver import loopback
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.modelserver.trials import Trials
from tests.languages import there

HERE = Path(__file__).parent
TASKS, TARGETS = HERE / "tasks.json", HERE / "targets.json"
SCENARIOS = {
    "refunds": "refund_batch",
    "payments": "dedupe_payments",
    "stock": "shared_stock",
    "discounts": "discount_exception",
}
MISSING = "invoices/O1002.json"
FAULT = "missing_file.never@1:read_file(*.json)"
SEED = 1
LIMIT = 600


def task(name: str) -> dict[str, Any]:
    """A scenario of ours as the file of another system has it: there, one invoice is missing from the start."""
    scenario = catalog.load(SCENARIOS[name], SEED)
    tools = ["read_file", *(["append_file"] if name == "refunds" else []), "write_file"]
    return {
        "name": name,
        "input": scenario.prompt,
        "expected_tools": tools,
        "rubric": "",
        "expected": "DONE",
        "context": [],
        "files": {path: data.decode() for path, data in scenario.files.items() if path != MISSING},
        "meta": {"from": scenario.name},
    }


@contextmanager
def models(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """A scripted model behind a port for each task, and the variables that say where."""
    with ExitStack() as open:
        yield {f"MODEL_{name}": f"{open.enter_context(_model(name))}/v1" for name in names}


@contextmanager
def _model(name: str) -> Iterator[str]:
    scenario = catalog.load(SCENARIOS[name], SEED)
    specs = specs_of(scenario)
    trials = Trials(lambda trial: ScriptedModel(scenario, "expert", specs, name=trial))

    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        response = trials(path, body)
        await asyncio.sleep(response.wait)
        return response.status, response.body

    with loopback.port(answer) as number:
        yield f"http://127.0.0.1:{number}"


def played(
    folder: Path, *words: str, tasks: Path = TASKS, targets: Path = TARGETS, fault: str = FAULT
) -> subprocess.CompletedProcess[str]:
    """`forge-chaos run` over these files, as a program of its own in `folder`; its runs are written there."""
    command = [sys.executable, "-m", "forge_chaos", "run", "--tasks", str(tasks), "--targets", str(targets)]
    names = [row["name"] for row in json.loads(tasks.read_text())]
    with models(names) as addresses:
        return subprocess.run(
            [*command, "--faults", fault, "--out", str(folder / "runs"), *words],
            cwd=folder,
            env={**os.environ, **addresses, "OPENAI_API_KEY": "any"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )


def lacking() -> list[str]:
    """What the agents of targets.json need and this machine has not."""
    tools = [name for name in ("curl", "jq", "node", "python3") if shutil.which(name) is None]
    return tools or ([] if there() else ["the packages of the Node.js agent: python -m tests.languages"])


def main() -> int:
    """Print the table. 0 when every cell says PASS."""
    if lack := lacking():
        sys.stderr.write(f"grid: SKIPPED: not there: {', '.join(lack)}\n")
        return 0
    with TemporaryDirectory() as folder:
        done = played(Path(folder), "--json")
    sys.stderr.write(done.stderr)
    if done.returncode not in (0, 1):
        return done.returncode
    cells = json.loads(done.stdout)["grid"]
    sys.stdout.write("\n".join(table(cells)) + "\n")
    return int(not all(text.startswith("PASS") for row in cells.values() for text in row.values()))


if __name__ == "__main__":
    sys.exit(main())
