"""The published comparison of frameworks: measured in their environments, written to reports/frameworks/.

One JSON file a framework holds what was measured, README.md is made from those files alone.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.frameworks.environments import LIMIT, ROOT, python

HOME = ROOT / "reports" / "frameworks"
COMMAND = "python -m tests.frameworks --all --report"
SCENARIOS = ("remove_cache", "sum_orders")  # tried on every call, under every class
SAMPLE = 500  # cells of the whole suite under the named classes, drawn from the seed
SEED = 1
PLACE = re.compile(r"/[^\"\s\\]*/site-packages/")  # where this machine keeps its packages is nobody's matter
QUIET = {
    "OPENAI_API_KEY": "none",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "OTEL_SDK_DISABLED": "true",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}


def measured(name: str) -> bool:
    """Run the suite and the survey of one framework, and keep what came out. False, and nothing is kept, when a
    trial was invalid or a class never fired."""
    run = _run(name, "--faults", "all", "--scenarios", ",".join(SCENARIOS))
    suite = _run(name, "--max-trials", str(SAMPLE))
    found = json.loads(_output(name, "tests.frameworks.survey", name))
    classes = _classes(run)
    bad = {f"{each['scenario']} {each['plan']}": each["outcome"] for each in run["failures"]}
    result = {
        "name": name,
        "packages": found["packages"],
        "python": platform.python_version(),
        "seed": SEED,
        "scenarios": list(SCENARIOS),
        "clean": run["clean"],
        "trials": run["trials"],
        "skipped": run["skipped"],
        "classes": classes,
        "texts": found["texts"],
        "limit": found["limit"],
        "suite": {
            "clean": suite["clean"],
            "trials": suite["trials"],
            "skipped": suite["skipped"],
            "classes": _classes(suite),
        },
        "failures": dict(sorted(bad.items())),
    }
    rows = [*classes.values(), *result["suite"]["classes"].values()]
    if not all(row["fired"] > 0 and "invalid" not in row["outcomes"] for row in rows):
        return False
    HOME.mkdir(parents=True, exist_ok=True)
    text = PLACE.sub("", json.dumps(result, indent=1, ensure_ascii=True)).replace(f"{ROOT}/", "")
    (HOME / f"{name}.json").write_text(text + "\n")
    return True


def _run(name: str, *words: str) -> dict[str, Any]:
    """One command of a user's, in the framework's environment."""
    with TemporaryDirectory() as away:
        asked = ("run", "--agent", f"framework:{name}", "--seed", str(SEED), *words)
        done = _output(
            name, "forge_chaos", *asked, "--out", str(Path(away) / "run"), "--json", allowed=(0, 1, 2)
        )
    found: dict[str, Any] = json.loads(done)
    return found


def _classes(run: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        each["fault"]: {k: each[k] for k in ("planned", "fired", "acceptable", "outcomes")}
        for each in sorted(run["classes"], key=lambda each: str(each["fault"]))
    }


def _output(name: str, module: str, *words: str, allowed: Sequence[int] = (0,)) -> str:
    done = subprocess.run(
        [str(python(name)), "-m", module, *words],
        cwd=ROOT,
        env={**os.environ, **QUIET},
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    if done.returncode not in allowed:
        raise SystemExit(f"{name}: {module} {' '.join(words)} ended with {done.returncode}")
    return done.stdout


def results() -> list[Mapping[str, Any]]:
    """What was measured of each framework, by name."""
    return [json.loads(path.read_text()) for path in sorted(HOME.glob("*.json"))]


def published() -> Path:
    """Write the page from the results that are there."""
    page = HOME / "README.md"
    page.write_text(rendered(results()))
    return page.relative_to(ROOT)


def differing(found: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The cells in which frameworks end differently: cell -> framework -> outcome, acceptable ones left out."""
    cells = sorted({cell for each in found for cell in each["failures"]})
    table = {cell: {each["name"]: each["failures"].get(cell, "") for each in found} for cell in cells}
    return {cell: ends for cell, ends in table.items() if len(set(ends.values())) > 1}


def rendered(found: Sequence[Mapping[str, Any]]) -> str:
    """The page, in Markdown."""
    names = [each["name"] for each in found]
    faults = sorted({fault for each in found for fault in each["classes"]})
    lines = [
        "# Agent frameworks under the same faults, with the model held still",
        "",
        "Each framework's stock loop, as its documentation builds it, plays the same scenarios under the same "
        "faults. The model is the scripted expert over the framework's own client, so a difference between two "
        "rows is the frameworks'. A framework that ends a run at a tool's exception is doing what it was made "
        "to do; the table says what an agent built on its defaults then is worth.",
        "",
        "The client library below the framework retries as it does by default; its waits pass in the time of the "
        "trial.",
        "",
        f"Made by `{COMMAND}`: no network, no key, seed {SEED}. Two commands a framework: `forge-chaos run --agent "
        f"framework:NAME --faults all --scenarios {','.join(SCENARIOS)}` tries every class on every call of two "
        f"scenarios, and `forge-chaos run --agent framework:NAME --max-trials {SAMPLE}` plays the whole built-in suite "
        "under the five named classes, a sample of its cells.",
        "",
        "## Versions",
        "",
        *_table(
            ("framework", "packages", "Python", "trials", "clean"),
            [
                (
                    each["name"],
                    ", ".join(f"{k} {v}" for k, v in each["packages"].items()),
                    each["python"],
                    each["trials"],
                    f"{each['clean']['passed']}/{each['clean']['of']}",
                )
                for each in found
            ],
        ),
        "",
        "## The built-in suite: acceptable of fired",
        "",
        *_table(
            ("framework", "scenarios passed without a fault", "trials", *sorted(_suites(found))),
            [
                (
                    each["name"],
                    f"{each['suite']['clean']['passed']}/{each['suite']['clean']['of']}",
                    each["suite"]["trials"],
                    *(_share(each["suite"]["classes"].get(fault)) for fault in sorted(_suites(found))),
                )
                for each in found
            ],
        ),
        "",
        "## Two scenarios under every class: acceptable of fired",
        "",
        *_table(
            ("fault", *names),
            [(fault, *(_share(each["classes"].get(fault)) for each in found)) for fault in faults],
        ),
        "",
        "## How the trials ended",
        "",
        *_table(
            ("framework", "outcomes over all classes"),
            [(each["name"], _outcomes(each["classes"])) for each in found],
        ),
        "",
        f"In {len(differing(found))} cells (scenario, call, variant, once or ever) the frameworks do not all end "
        "the same way.",
        "",
        "## At the step limit",
        "",
        "A model that asks for ever. Where the framework takes a limit it was given 10; we stop a run after 20 "
        "calls.",
        "",
        *_table(
            ("framework", "calls made", "end", "answer"),
            [
                (each["name"], each["limit"]["calls"], each["limit"]["end"], _code(each["limit"]["answer"]))
                for each in found
            ],
        ),
        "",
        "## What the model was shown",
        "",
        "The text that stood in the next request for a call whose tool raised, or gave back, that. A dash: the "
        "model was not asked again, and the run ended as said.",
    ]
    for kind in found[0]["texts"] if found else ():
        rows = [(each["name"], *_text(each["texts"].get(kind))) for each in found]
        lines += ["", f"### The tool {kind}", "", *_table(("framework", "shown", "end"), rows)]
    return "\n".join(lines) + "\n"


def _suites(found: Sequence[Mapping[str, Any]]) -> set[str]:
    return {fault for each in found for fault in each["suite"]["classes"]}


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows),
    ]


def _share(row: Mapping[str, Any] | None) -> str:
    return "-" if row is None else f"{row['acceptable']}/{row['fired']}"


def _outcomes(classes: Mapping[str, Any]) -> str:
    total: dict[str, int] = {}
    for row in classes.values():
        for outcome, n in row["outcomes"].items():
            total[outcome] = total.get(outcome, 0) + n
    return ", ".join(f"{n} {outcome}" for outcome, n in sorted(total.items(), key=lambda item: -item[1]))


def _text(told: Mapping[str, Any] | None) -> tuple[str, str]:
    if told is None:
        return "", ""
    return ("-" if told["shown"] is None else _code(told["shown"])), told["end"]


def _code(text: str) -> str:
    """Text in one cell of a table, as it is."""
    if not text:
        return "(nothing)"
    line = text.encode("ascii", "backslashreplace").decode().replace("\r", "\\r").replace("\n", "\\n")
    return f"`` {line.replace('|', chr(92) + '|')} ``"


if __name__ == "__main__":
    sys.stdout.write(rendered(results()))
