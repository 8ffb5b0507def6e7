"""`list`, `show` and `inspect`."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge_chaos import catalog, registry
from forge_chaos.cli.showing import KINDS, LEAVES
from tests.cli import users
from tests.cli.door import ROOT, door, write

SCENARIO = """
prompt = "Write 1 to one.txt."
[[full]]
grader = "function"
call = "check"
"""
OWN = {
    "mine/gone.toml": (ROOT / "faults" / "missing_file.toml").read_text(),
    "own/first/scenario.toml": SCENARIO,
    "own/first/solution.py": "def check(trace):\n    return True\n",
}


def test_list_tells_what_it_can_list(tmp_path: Path) -> None:
    done = door(tmp_path, "list")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_listed_with_a_line_each(kind: str, tmp_path: Path) -> None:
    done = door(tmp_path, "list", kind)
    assert (done.code, done.err) == (0, "")
    names = {
        "faults": list(catalog.faults()),
        "scenarios": list(catalog.folders()),
        **{leaf: list(registry.names(leaf)) for leaf in LEAVES},
    }[kind]
    assert [line.split()[0].replace("-", "_") for line in done.out.splitlines()] == names
    for line in done.out.splitlines():
        assert len(line.split()) > 3, f"says nothing: {line}"


@pytest.mark.parametrize("name", catalog.faults())
def test_every_fault_is_explained(name: str, tmp_path: Path) -> None:
    done = door(tmp_path, "show", name)
    assert (done.code, done.err) == (0, "")
    fault = catalog.faults()[name]
    for text in (fault.summary, fault.tempts, *(f"{name}.{variant.id} (" for variant in fault.variants)):
        assert text in done.out
    assert done.last == f"Try it: forge-chaos run --faults {name}"


@pytest.mark.parametrize("name", catalog.folders())
def test_every_scenario_is_explained(name: str, tmp_path: Path) -> None:
    done = door(tmp_path, "show", name)
    assert (done.code, done.err) == (0, "")
    scenario = catalog.load(name, 1)
    assert scenario.prompt in done.out
    assert all(f"full: {check.grader}" in done.out for check in scenario.full)
    assert "<function" not in done.out
    assert done.last == f"Try it: forge-chaos run --scenarios {name}"


def test_a_users_own_are_there_too(tmp_path: Path) -> None:
    write(tmp_path, OWN)
    dirs = ("--scenarios-dir", "own", "--faults-dir", "mine")
    assert "\ngone  " in " ".join(door(tmp_path, "list", "faults", *dirs).out.split(" ")).replace("   ", "  ")
    assert "first " in door(tmp_path, "list", "scenarios", *dirs).out
    assert "full: function call=check" in door(tmp_path, "show", "first", *dirs).out
    assert door(tmp_path, "show", "gone", *dirs).out.startswith("gone: ")
    write(tmp_path, {"pyproject.toml": '[tool.forge-chaos]\nfaults_dir = "mine"\nscenarios_dir = "own"\n'})
    assert door(tmp_path, "show", "first").code == door(tmp_path, "show", "gone").code == 0


def test_a_stored_trial_is_told_event_by_event(tmp_path: Path) -> None:
    words = ("--scenarios", "sum_orders", "--faults", "missing_file.never", "--persona", "naive", "--json")
    replay = door(tmp_path, "run", *words).result["failures"][0]["replay"]
    done = door(tmp_path, "show", replay.split()[-1])
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("false_success: ")
    assert [line.split()[0] for line in lines[1:]] == [f"[{n}]" for n in range(len(lines) - 1)]
    assert any("FAULT missing_file.never on call 1" in line for line in lines)
    none = door(tmp_path, "show", "reports/0001-reference:t0")
    assert (none.code, none.out) == (4, "")
    assert "no trial 't0'" in none.err


# inspect


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (
            "loop.py:agent",
            "loop.py:agent: adapter native, virtual time, deterministic\nIt takes the scenario's tools.\n",
        ),
        (
            "framework:pydantic-ai",
            "framework:pydantic-ai: adapter pydantic-ai, virtual time, deterministic\n",
        ),
        ("reference", "reference: adapter native, virtual time, deterministic\n"),
        (
            "cmd: true",
            "cmd: true: adapter command, real time, deterministic\nIt is started for each trial in a fresh folder",
        ),
    ],
)
@pytest.mark.slow
def test_what_an_agent_is_taken_for(spec: str, says: str, tmp_path: Path) -> None:
    write(tmp_path, {"loop.py": "print('imported')\n" + users.LOOP})
    done = door(tmp_path, "inspect", spec)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(says)


@pytest.mark.slow
def test_tools_of_its_own_are_shown_with_roles_and_targets(tmp_path: Path) -> None:
    declared = users.SHOP + '\nsave_file.chaos = {"roles": ["effect"], "target": "content"}\n'
    write(tmp_path, {"shop.py": declared})
    done = door(tmp_path, "inspect", "shop.py:agent")
    assert (done.code, done.err) == (0, "")
    assert "It brings 3 tools of its own" in done.out
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in done.out.splitlines()[2:5]}
    assert rows == {
        "list_files": "list; target directory",
        "read_text": "read; target file_path",
        "save_file": "effect; target content",
    }
