"""New runs get the next free number, each its own; an old one is gone on with only by the same agent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.runs import compatible, next_directory

CONFIG: dict[str, Any] = {
    "format": 1,
    "agent": "pkg:agent",
    "seed": 1,
    "versions": {"forge-chaos": "0.1", "pydantic-ai": "2.60"},
    "scenarios": {"sum": "b2:1", "copy": "b2:2"},
    "options": {"out": "x"},
    "keep_traces": 5,
}


def test_numbers_go_up_from_the_highest(tmp_path: Path) -> None:
    base = tmp_path / "reports"
    assert next_directory(base, "reference") == base / "0001-reference"
    for name in ("0041-other", "12-short", "notes", "9999x", "0050"):
        (base / name).mkdir()
    assert next_directory(base, "reference") == base / "0042-reference"
    (base / "10000-many").mkdir()
    assert next_directory(base, "reference") == base / "10001-reference"


@pytest.mark.parametrize(
    ("label", "slug"),
    [
        ("shop.agent:make_agent", "shop-agent-make-agent"),
        ("../../etc/x.py:A", "etc-x-py-a"),
        ("Ünïcode", "n-code"),
        ("///", "run"),
        ("", "run"),
        ("a" * 39 + "-" + "b" * 20, "a" * 39),
    ],
)
def test_labels_become_plain_names(tmp_path: Path, label: str, slug: str) -> None:
    assert next_directory(tmp_path, label).name == f"0001-{slug}"


MANY = """
import sys
from forge_chaos.runs import next_directory
sys.stdout.write("ready\\n")
sys.stdout.flush()
sys.stdin.read()
for n in range(100):
    next_directory(sys.argv[1], sys.argv[2])
"""


def test_processes_at_the_same_time_share_no_number(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    racing = [
        subprocess.Popen(
            [sys.executable, "-c", MANY, tmp_path, label],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for label in ("a", "b", "c")
    ]
    for one in racing:
        assert one.stdout is not None
        assert one.stdout.readline() == b"ready\n"
    for one in racing:
        assert one.stdin is not None
        one.stdin.close()
    assert [one.wait() for one in racing] == [0, 0, 0]
    for one in racing:
        assert one.stdout is not None
        one.stdout.close()
    numbers = sorted(name.partition("-")[0] for name in os.listdir(tmp_path))
    assert numbers == [f"{n:04}" for n in range(1, 301)]


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misuse, match=r"cannot write a run in .*--out DIR"):
        next_directory(tmp_path / "file", "x")


def test_the_same_agent_goes_on() -> None:
    compatible(CONFIG, CONFIG)
    compatible(CONFIG, {**CONFIG, "options": {}, "keep_traces": "all", "format": 2})
    compatible({"list": [1]}, {"list": (1,)})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"agent": "other"}, "agent was pkg:agent, is other"),
        (
            {"versions": {"forge-chaos": "0.1", "pydantic-ai": "2.61"}},
            "versions.pydantic-ai was 2.60, is 2.61",
        ),
        ({"versions": {"forge-chaos": "0.1"}}, "versions.pydantic-ai was 2.60, is not there"),
        ({"scenarios": {"sum": "b2:9", "copy": "b2:2"}}, "scenarios.sum was b2:1, is b2:9"),
        ({"agent": "other", "seed": 2}, "agent was pkg:agent, is other; seed was 1, is 2"),
        ({"extra": True}, "extra was not there, is True"),
    ],
)
def test_what_differs_is_named(change: dict[str, Any], says: str) -> None:
    with pytest.raises(Misuse) as caught:
        compatible(CONFIG, {**CONFIG, **change}, "reports/0001-x")
    assert str(caught.value).startswith(f"reports/0001-x cannot be gone on with: {says}. ")
