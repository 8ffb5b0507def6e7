"""What the command line does with mistakes: one clear message, exit 4, and nothing left behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cli.door import ROOT, door, program, started, write

SCENARIO = """
prompt = "Write 1 to one.txt."
tools = ["read_file", "write_file"]
outputs = ["one.txt"]
[[full]]
grader = "file_equals"
path = "one.txt"
text = "1"
"""
SOLUTION = """
async def solve(task, tools):
    await tools.write_file(path="one.txt", text="1")
    return "DONE"
"""
FAULT = (ROOT / "faults" / "missing_file.toml").read_text()
AGENTS = """
async def fine(task, tools, model):
    return "DONE"

async def asks(prompt, tools):
    return "DONE"

async def nothing():
    return "DONE"

def factory():
    return 3

number = 7
"""
REGRESSION = """
version = 1
scenario = "sum_orders"
rules = ["missing_file.never@1:read_file(orders.csv)"]
"""
MINE = ("--scenarios-dir", "scenarios", "--scenarios", "one")


def scenario(**files: str) -> dict[str, str]:
    """A scenario folder `scenarios/one`, some of its files replaced."""
    made = {"scenario.toml": SCENARIO, "solution.py": SOLUTION} | {
        name.replace("_", "."): text for name, text in files.items()
    }
    return {f"scenarios/one/{name}": text for name, text in made.items()}


@dataclass(frozen=True)
class Mistake:
    """Words on the command line, the files of the folder, and all that the message has to say."""

    words: tuple[str, ...]
    says: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)


def run(*words: str, says: tuple[str, ...], files: dict[str, str] | None = None) -> Mistake:
    return Mistake(("run", *words), says, files or {})


MISTAKES: dict[str, Mistake] = {
    "unknown fault": run(
        "--faults", "mising_file", says=("no fault 'mising_file'. Did you mean 'missing_file'?",)
    ),
    "no fault": run("--faults", "", says=("no fault was asked for", "forge-chaos list faults")),
    "bad rule": run("--faults", "timeout@0", says=("rule 'timeout@0', at '0' (character 9)", "from 1")),
    "empty item": run("--faults", "timeout,,missing_file", says=("empty item",)),
    "unknown fault in a plan": run("--plan", "timeot", says=("no fault 'timeot'. Did you mean 'timeout'?",)),
    "unknown variant": run(
        "--faults", "timeout.hang", says=("no variant of timeout 'hang'. Did you mean 'hangs'?",)
    ),
    "unknown wording": run(
        "--faults", "timeout.raises+text=barre", says=("no text 'barre'", "Did you mean 'bare'?")
    ),
    "unknown tool in a rule": run(
        "--scenarios",
        "sum_orders",
        "--faults",
        "missing_file@1:raed_file",
        says=("missing_file:raed_file: no tool 'raed_file'. Did you mean 'read_file'? Known: list_files, ",),
    ),
    "unknown tool in a sweep": run(
        "--scenarios", "sum_*", "--faults", "timeout:send_*", says=("timeout:send_*: no tool 'send_*'.",)
    ),
    "unknown tool in a search": Mistake(
        ("fuzz", "--scenarios", "sum_orders", "--faults", "timeout:raed_file"), ("Did you mean 'read_file'?",)
    ),
    "no scenario matching": run(
        "--scenarios", "sum_ordrs", says=("no scenario 'sum_ordrs'. Did you mean 'sum_orders'?",)
    ),
    "unknown persona": run("--persona", "nave", says=("no persona 'nave'. Did you mean 'naive'?",)),
    "unknown model": run("--model", "opnai:x", says=("no model 'opnai:x'. Did you mean 'openai:x'?",)),
    "own model of none": run("--model", "own", says=("--model own", "--agent")),
    "unknown workspace": run(
        "--workspace", "dsk", says=("no workspace 'dsk'. Did you mean 'disk'? Known: disk, fake, memory",)
    ),
    "unknown option": run("--fautls", "timeout", says=("--fautls", "--faults", "Usage:")),
    "not a number": run("--trials", "many", says=("--trials", "Usage:")),
    "out of range": run("--fail-under", "2", says=("--fail-under", "Usage:")),
    "unknown command": Mistake(("rnu",), ("No such command 'rnu'",)),
    "keep traces of nothing": run("--keep-traces", "some", says=("--keep-traces 'some'",)),
    "no scenarios directory": run(
        "--scenarios-dir", "none", says=("none' does not exist", "--scenarios-dir")
    ),
    "no faults directory": run("--faults-dir", "none", says=("none' does not exist", "--faults-dir")),
    "agent of no form": run("--agent", "agent", says=("cannot read agent 'agent'", "module:attribute")),
    "agent of no module": run(
        "--agent", "nowhere:agent", says=("'nowhere:agent'", "No module named 'nowhere'")
    ),
    "agent of no file": run("--agent", "no.py:agent", says=("there is no file 'no.py'",)),
    "agent that does not import": run(
        "--agent",
        "bad.py:agent",
        says=("does not import: ZeroDivisionError", "bad.py:2"),
        files={"bad.py": "x = 1\nx / 0\n"},
    ),
    "agent that is no Python": run(
        "--agent",
        "bad.py:agent",
        says=("does not import: SyntaxError", "bad.py"),
        files={"bad.py": "def (:\n"},
    ),
    "agent that leaves": run(
        "--agent",
        "bad.py:agent",
        says=("does not import: SystemExit", "bad.py:1"),
        files={"bad.py": "raise SystemExit(5)"},
    ),
    "agent that dies": run(
        "--agent",
        "bad.py:agent",
        says=("process did not start", "exit code 5"),
        files={"bad.py": "import os\nos._exit(5)"},
    ),
    "agent attribute missing": run(
        "--agent",
        "agents.py:fin",
        says=("has no attribute 'fin'. Did you mean 'fine'?",),
        files={"agents.py": AGENTS},
    ),
    "agent of no known type": run(
        "--agent",
        "agents.py:number",
        says=("no adapter knows what 'agents.py:number' is", "builtins.int", "native"),
        files={"agents.py": AGENTS},
    ),
    "agent of other parameters": run(
        "--agent",
        "agents.py:asks",
        says=("function asks(prompt, tools)", "(task, tools, model)"),
        files={"agents.py": AGENTS},
    ),
    "agent of no parameters": run(
        "--agent",
        "agents.py:nothing",
        says=("function nothing()", "(task, tools, model)"),
        files={"agents.py": AGENTS},
    ),
    "factory of something else": run(
        "--agent",
        "agents.py:factory",
        says=("function factory()", "returned an object of type builtins.int"),
        files={"agents.py": AGENTS},
    ),
    "unknown framework": run(
        "--agent", "framework:pydantic", says=("no framework 'pydantic'. Did you mean 'pydantic-ai'?",)
    ),
    "unknown adapter": run(
        "--agent",
        "agents.py:fine",
        "--adapter",
        "nativ",
        says=("no adapter 'nativ'. Did you mean 'native'?",),
        files={"agents.py": AGENTS},
    ),
    "adapter of no agent": run("--adapter", "native", says=("--adapter", "--agent module:attribute")),
    "wrong adapter": run(
        "--agent",
        "agents.py:fine",
        "--adapter",
        "pydantic-ai",
        says=("function is no pydantic_ai.Agent",),
        files={"agents.py": AGENTS},
    ),
    "bad TOML in a scenario": run(
        *MINE,
        says=("scenarios/one/scenario.toml:2: bad TOML",),
        files=scenario(scenario_toml='prompt = "a"\nworld = files\n'),
    ),
    "unknown key in a scenario": run(
        *MINE,
        says=("scenario.toml:1: no key 'promt'. Did you mean 'prompt'?",),
        files=scenario(scenario_toml=SCENARIO.strip().replace("prompt", "promt")),
    ),
    "scenario without a full grader": run(
        *MINE,
        says=("scenario.toml:", "no [[full]] grader"),
        files=scenario(scenario_toml=SCENARIO.partition("[[full]]")[0]),
    ),
    "scenario with an unknown grader": run(
        *MINE,
        says=("scenario.toml:6: no grader 'file_equal'. Did you mean 'file_equals'?",),
        files=scenario(scenario_toml=SCENARIO.replace('"file_equals"', '"file_equal"')),
    ),
    "solution that is no Python": run(
        *MINE,
        says=("solution.py:1: SyntaxError",),
        files=scenario(solution_py="async def solve(task tools): pass"),
    ),
    "solution that fails its graders": run(
        *MINE,
        says=("'one': its own solution fails", "file_equals", "Repair solution.py"),
        files=scenario(solution_py=SOLUTION.replace('"1"', '"2"')),
    ),
    "solution that raises": run(
        *MINE,
        says=("'one': its own solution fails", "KeyError"),
        files=scenario(solution_py=SOLUTION.replace("await", '{}["x"]; await')),
    ),
    "world of nowhere": run(
        *MINE,
        says=("'one': no world 'nowhere.world'", "nowhere"),
        files=scenario(scenario_toml=SCENARIO.replace("tools", 'world = "nowhere.world"\ntools')),
    ),
    "unknown key in a fault": run(
        "--faults-dir",
        "faults",
        says=("faults/mine.toml:1: no key 'famly'. Did you mean 'family'?",),
        files={"faults/mine.toml": FAULT.replace("family", "famly")},
    ),
    "bad TOML in a fault": run(
        "--faults-dir",
        "faults",
        says=("faults/mine.toml:1: bad TOML",),
        files={"faults/mine.toml": "family = \n"},
    ),
    "unknown need in a fault": run(
        "--faults-dir",
        "faults",
        "--faults",
        "mine",
        "--scenarios",
        "sum_orders",
        "--out",
        "run",
        says=("fault mine.never: no need 'pth'. Did you mean 'path'?",),
        files={"faults/mine.toml": FAULT.replace('["path"]', '["pth"]')},
    ),
    "unknown key in the settings": run(
        says=("pyproject.toml:2: no key 'fault'. Did you mean 'faults'?",),
        files={"pyproject.toml": '[tool.forge-chaos]\nfault = "timeout"\n'},
    ),
    "bad TOML in the settings": run(
        says=("pyproject.toml:3: bad TOML",),
        files={"pyproject.toml": "[tool.forge-chaos]\nseed = 1\nseed 2\n"},
    ),
    "no run to go on with": run("--resume", "none", says=("none: no such directory", "reports/0001")),
    "going on with another request": run(
        "--resume",
        "none",
        "--faults",
        "timeout",
        "--seed",
        "2",
        says=("--faults, --seed cannot be said again",),
    ),
    "corrupt run": Mistake(
        ("report", "run"), ("run.sqlite is damaged",), {"run/run.sqlite": "no database " * 100}
    ),
    "corrupt run to go on with": run(
        "--resume", "run", says=("run.sqlite is damaged",), files={"run/run.sqlite": "no database " * 100}
    ),
    "corrupt run to replay": Mistake(
        ("replay", "run:t1"), ("run.sqlite is damaged",), {"run/run.sqlite": "no database " * 100}
    ),
    "no run to report": Mistake(("report", "none"), ("none: no such directory",)),
    "unknown form": Mistake(
        ("report", "none", "--as", "jnuit"), ("no report 'jnuit'. Did you mean 'junit'?",)
    ),
    "replay of nothing": Mistake(("replay", "what"), ("cannot read 'what'", "RUN_DIR:TRIAL")),
    "no regression file": Mistake(("replay", "no.chaos.toml"), ("there is no file 'no.chaos.toml'",)),
    "regression of a newer version": Mistake(
        ("replay", "a.chaos.toml"),
        ("a.chaos.toml:2: version 2", "newer"),
        {"a.chaos.toml": REGRESSION.replace("version = 1", "version = 2")},
    ),
    "unknown key in a regression": Mistake(
        ("replay", "a.chaos.toml"),
        ("a.chaos.toml:3: no key 'scenaro'. Did you mean 'scenario'?",),
        {"a.chaos.toml": REGRESSION.replace("scenario =", "scenaro =")},
    ),
    "regression of an unknown fault": Mistake(
        ("replay", "a.chaos.toml"),
        ("a.chaos.toml: no fault 'mising_file'",),
        {"a.chaos.toml": REGRESSION.replace("missing", "mising")},
    ),
    "regression of an unknown scenario": Mistake(
        ("replay", "a.chaos.toml"),
        ("a.chaos.toml: no scenario 'sum_order'",),
        {"a.chaos.toml": REGRESSION.replace("sum_orders", "sum_order")},
    ),
    "regression of no rule": Mistake(
        ("replay", "a.chaos.toml"),
        ("a.chaos.toml:4: key 'rules'",),
        {"a.chaos.toml": REGRESSION.replace('["missing_file.never@1:read_file(orders.csv)"]', "[]")},
    ),
    "unknown list": Mistake(("list", "fault"), ("no list 'fault'. Did you mean 'faults'?",)),
    "unknown to show": Mistake(
        ("show", "timeot"), ("no fault or scenario 'timeot'. Did you mean 'timeout'?",)
    ),
    "show of a directory": Mistake(
        ("show", "run"), ("run is a directory", "forge-chaos report run"), {"run/a": ""}
    ),
    "inspection of nothing": Mistake(("inspect", "no.py:agent"), ("there is no file 'no.py'",)),
}


def cases() -> list[Any]:
    """Each mistake; those that start a process of the agent's are slow, two of them apart."""
    fast = ("agent that does not import", "agent of no known type")
    return [
        pytest.param(
            mistake, id=name, marks=[pytest.mark.slow] if _starts(mistake) and name not in fast else []
        )
        for name, mistake in MISTAKES.items()
    ]


def _starts(mistake: Mistake) -> bool:
    return "--agent" in mistake.words or mistake.words[0] == "inspect"


@pytest.mark.parametrize("mistake", cases())
def test_a_mistake_is_told_in_one_message(mistake: Mistake, tmp_path: Path) -> None:
    write(tmp_path, mistake.files)
    before = everything(tmp_path)
    json = ("--json",) if mistake.words[0] == "run" else ()
    done = door(tmp_path, *mistake.words, *json)
    assert (done.code, done.out) == (4, ""), done
    assert done.err.startswith("forge-chaos: ")
    assert done.err.count("forge-chaos: ") == 1
    assert "Traceback" not in done.err
    for part in mistake.says:
        assert part in done.err
    assert everything(tmp_path) == before


@pytest.mark.slow
def test_a_terminal_without_our_characters_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = program(tmp_path, "run", "--scenarios", "sum_orders", "--faults", "timeout.raises")
    assert (done.code, done.err) == (0, "")
    assert "????" in done.out


@pytest.mark.slow
def test_who_stops_reading_is_told_nothing(tmp_path: Path) -> None:
    process = started(tmp_path, "list", "scenarios")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert (process.wait(60), process.stderr.read()) == (0, "")
    process.stderr.close()


def everything(folder: Path) -> set[str]:
    """What lies there, caches of Python's apart."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}
