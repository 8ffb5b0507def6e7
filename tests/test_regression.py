"""Regression files are read, or refused with file and line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from forge_chaos import regression
from forge_chaos.errors import Misuse
from forge_chaos.regression import Regression

WHOLE = """
version  = 1
agent    = "shop.agent:agent"             # optional: else --agent, else [tool.forge-chaos] agent
scenario = "refund_batch"
hash     = "b2:9f3c"
rules    = ["lost_reply.done_then_timeout@1:refund(O1002)"]
seed     = 7
expect   = "acceptable"
was      = "damaged"
note     = "double refund after a gateway timeout"
"""
SHORT = 'version = 1\nscenario = "s"\nrules = ["timeout"]\n'


def read(folder: Path, text: str) -> Regression:
    path = folder / "a.chaos.toml"
    path.write_text(text)
    return regression.read(path)


def test_all_that_may_stand_in_one(tmp_path: Path) -> None:
    assert read(tmp_path, WHOLE) == Regression(
        tmp_path / "a.chaos.toml",
        "refund_batch",
        ("lost_reply.done_then_timeout@1:refund(O1002)",),
        7,
        "shop.agent:agent",
        "b2:9f3c",
        "damaged",
        "double refund after a gateway timeout",
    )


def test_all_that_must_stand_in_one(tmp_path: Path) -> None:
    found = read(tmp_path, SHORT)
    assert (found.seed, found.agent, found.hash, found.was, found.note) == (1, None, None, None, None)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("version = 1", "version = 2", r"a\.chaos\.toml:1: version 2 was written by a newer"),
        ("version = 1", 'version = "1"', r"a\.chaos\.toml:1: key 'version'"),
        ("version = 1\n", "", "key 'version' is missing"),
        ("rules", "rule", r"a\.chaos\.toml:3: no key 'rule'\. Did you mean 'rules'"),
        ('["timeout"]', "[]", r"a\.chaos\.toml:3: key 'rules'"),
        ('["timeout"]', '["timeout"]\nexpect = "fine"', r"a\.chaos\.toml:4: key 'expect'"),
        ('["timeout"]', '["timeout"]\nseed = -1', r"a\.chaos\.toml:4: key 'seed'"),
        ("rules =", "rules", r"a\.chaos\.toml:3: bad TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, says: str, tmp_path: Path) -> None:
    assert old in SHORT
    with pytest.raises(Misuse, match=says):
        read(tmp_path, SHORT.replace(old, new))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="there is no file"):
        regression.read(tmp_path / "a.chaos.toml")


# Writing.


@pytest.mark.parametrize(
    "made",
    [
        Regression(Path("b.chaos.toml"), "sums", ("timeout",), 1),
        Regression(
            Path("deep/down/b.chaos.toml"),
            "refund_batch",
            ("lost_reply.done_then_timeout:refund(O1002)", 'timeout:read_file("a, \\"b\\".csv")'),
            7,
            'my agents.py:"agent"',
            "b2:9f3c",
            "damaged",
            "a note\nwith \\ and \x7f and \u2028 and ü",
        ),
    ],
)
def test_what_is_written_is_read_again(made: Regression, tmp_path: Path) -> None:
    made = replace(made, path=tmp_path / made.path)
    assert regression.write(made) == made.path
    assert regression.read(made.path) == made


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misuse, match=r"cannot write .*a\.chaos\.toml"):
        regression.write(Regression(tmp_path / "file" / "a.chaos.toml", "sums", ("timeout",), 1))
