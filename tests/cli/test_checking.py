"""`forge-chaos selfcheck`: the door alone; what it finds is held by tests/test_selfcheck.py."""

from pathlib import Path

import pytest

from forge_chaos import selfcheck
from forge_chaos.cli import checking
from forge_chaos.specimens.table import BAD, Cell, Specimen
from tests.cli.door import door

HARMLESS = Specimen(
    "forge_chaos.reference:agent",
    (Cell("sum_orders", "missing_file.never@1:read_file(orders.csv)", "crashed"),),
)


def test_the_matrix_is_printed_and_the_exit_code_is_the_reports(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a smaller table, in this process: the real specimens, fewer of them."""
    monkeypatch.setattr(selfcheck, "BAD", BAD[:2])
    monkeypatch.setattr(selfcheck, "GOOD", ())
    monkeypatch.setattr(selfcheck, "CELLS", 1)
    for table, code in ((BAD[:2], 0), ((HARMLESS,), 1)):
        monkeypatch.setattr(selfcheck, "BAD", table)
        monkeypatch.setattr(selfcheck, "_personas", lambda: ())
        assert checking.selfcheck(1) == code
        out = capsys.readouterr().out
        assert all(specimen.name in out for specimen in table)


def test_a_number_of_processes_that_is_none_is_misuse(tmp_path: Path) -> None:
    done = door(tmp_path, "selfcheck", "--processes", "0")
    assert (done.code, done.out) == (4, "")
    assert "--processes" in done.err
