"""`forge-chaos selfcheck`: the door alone; what it finds is held by tests/test_selfcheck.py."""

from pathlib import Path

import pytest

from forge_chaos import selfcheck
from forge_chaos.cli import checking
from forge_chaos.specimens.table import BAD
from tests.cli.door import door


def test_the_matrix_is_printed_and_the_exit_code_is_the_reports(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a smaller table, in this process: the real specimens, fewer of them."""
    monkeypatch.setattr(selfcheck, "BAD", BAD[:2])
    monkeypatch.setattr(selfcheck, "GOOD", ())
    monkeypatch.setattr(selfcheck, "CELLS", 1)
    code = checking.selfcheck(1)
    out = capsys.readouterr().out
    assert BAD[0].name in out
    assert BAD[1].name in out
    assert code in (0, 1)


def test_a_number_of_processes_that_is_none_is_misuse(tmp_path: Path) -> None:
    done = door(tmp_path, "selfcheck", "--processes", "0")
    assert (done.code, done.out) == (4, "")
    assert "--processes" in done.err
