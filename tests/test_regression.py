"""Regression files are read, or refused with file and line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from forge_chaos import regression
from forge_chaos.errors import Misuse
from forge_chaos.regression import History, Regression

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
HISTORY = """
[history]
package   = "openai-agents"
buggy     = "0.16.0"
repaired  = "0.16.1"
ends      = "recovered"
with      = ["openai>=1.0"]
reference = "openai/openai-agents-python PR 3166"
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


def test_where_the_bug_came_and_went(tmp_path: Path) -> None:
    found = read(tmp_path, WHOLE + 'model = "own"\n' + HISTORY)
    assert (found.model, found.name) == ("own", "a")
    assert found.history == History(
        "openai-agents",
        "0.16.0",
        "0.16.1",
        "recovered",
        ("openai>=1.0",),
        "openai/openai-agents-python PR 3166",
    )


def test_of_a_history_only_the_package_must_be_said(tmp_path: Path) -> None:
    assert read(tmp_path, SHORT + '[history]\npackage = "p"\n').history == History("p")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("package   =", "packge    =", r"chaos\.toml:6: no key 'packge'\. Did you mean 'package'"),
        ("with  ", "requires", r"no key 'requires'.*Known: .*with"),
        ('package   = "openai-agents"\n', "", "key 'history.package' is missing"),
        (
            '"recovered"',
            '"recoverd"',
            r":9: key 'history\.ends': no outcome 'recoverd'\. Did you mean 'recovered'",
        ),
        (
            "[history]",
            'was = "damged"\n[history]',
            r":5: key 'was': no outcome 'damged'\. Did you mean 'damaged'",
        ),
        (
            "[history]",
            'model = "scriptd"\n[history]',
            r":5: key 'model': no model 'scriptd'\. Did you mean 'scripted'",
        ),
        ('"0.16.0"', "0.16", r":7: key 'history\.buggy'"),
        ('["openai>=1.0"]', '"openai"', r"key 'history\.with'"),
    ],
)
def test_what_is_wrong_with_a_history_is_said_with_its_line(
    old: str, new: str, says: str, tmp_path: Path
) -> None:
    assert old in HISTORY
    with pytest.raises(Misuse, match=says):
        read(tmp_path, SHORT + HISTORY.replace(old, new, 1))


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
            "own",
            History("p", "1.0", "1.1", "gave_up", ("a>=1", 'b; extra == "c"'), "x/y PR 1"),
        ),
        Regression(Path("c.chaos.toml"), "sums", ("timeout",), 1, history=History("p", buggy="2.0")),
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


# What lies beside a file.


def made(folder: Path, agent: str | None, *files: str) -> Regression:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return Regression(folder / "kept/a.chaos.toml", "sums", ("timeout",), 1, agent)


@pytest.mark.parametrize(
    ("agent", "files", "found"),
    [
        ("till.py:agent", ("till.py",), "."),
        ("till.py:agent", ("till.py", "kept/till.py"), "."),
        ("agents/till.py:agent", ("kept/agents/till.py",), "kept"),
        ("till.py:agent", (), "."),
        ("shop.till:agent", ("kept/shop/till.py",), "."),
        (None, (), "."),
    ],
)
def test_an_agent_is_looked_for_here_and_then_beside_the_file(
    agent: str | None, files: tuple[str, ...], found: str, tmp_path: Path
) -> None:
    assert made(tmp_path, agent, *files).home(tmp_path) == tmp_path / found


def test_a_scenario_beside_the_file_is_the_one_that_is_meant(tmp_path: Path) -> None:
    assert made(tmp_path, None, "kept/sum/scenario.toml", "sums/scenario.toml").scenarios_dirs() == ()
    found = made(tmp_path, None, "kept/sums/scenario.toml").scenarios_dirs()
    assert found == (str(tmp_path / "kept"),)
