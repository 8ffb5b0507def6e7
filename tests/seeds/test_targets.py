"""Files of targets load unchanged, and what is wrong with one is told with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.seeds.targets import Target, one, read

ROWS = [
    {"name": "go", "command": ["go", "run", "."], "dir": "agents/go", "env": {"LEVEL": "2", "A": ""}},
    {"name": "shell", "command": ["./agent.sh"], "dir": None, "env": None},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "agents" / "go").mkdir(parents=True)
    (tmp_path / "targets.json").write_text(json.dumps(ROWS))
    return tmp_path / "targets.json"


def test_the_targets_of_a_file(file: Path) -> None:
    assert read(file) == (
        Target("go", ("go", "run", "."), file.parent / "agents/go", True, (("A", ""), ("LEVEL", "2"))),
        Target("shell", ("./agent.sh",), file.parent, False),
    )


def test_one_of_them_by_its_name(file: Path) -> None:
    assert one(f"{file}:shell").words == ("./agent.sh",)
    with pytest.raises(Misuse, match=r"no target 'shel'. Did you mean 'shell'\? Known: go, shell"):
        one(f"{file}:shel")
    for wrong in (str(file), f"{file}:", ":go"):
        with pytest.raises(Misuse, match="Write target:FILE:NAME"):
            one(wrong)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "holds no target"),
        ("", "holds no target. Write a JSON array of targets"),
        ("[1]", "a target must be a JSON object"),
        ('[{"name": "a"}]', ":1: key 'command' is missing"),
        ('[{"name": "a", "command": "ls"}]', "key 'command'"),
        ('[{"name": "a", "command": []}]', "key 'command'"),
        ('[{"name": "a", "command": ["ls"], "cwd": "."}]', "no key 'cwd'"),
        ('[{"name": "a", "command": ["ls"], "env": {"A": 1}}]', "env.A"),
        ('[{"name": "a", "command": ["ls"],\n"dir": "nowhere"}]', ":2: target 'a': there is no folder"),
        (
            '[{"name": "a", "command": ["ls"]},\n{"name": "a", "command": ["ls"]}]',
            ":2: a target 'a' is there",
        ),
    ],
)
def test_what_is_no_target(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "targets.json").write_text(text)
    with pytest.raises(Misuse) as told:
        read(tmp_path / "targets.json")
    assert why in str(told.value)
    assert "targets.json" in str(told.value)
