"""`report`: a finished run in another form."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from forge_chaos import campaign
from forge_chaos.bench import Bench, Setup
from forge_chaos.executors.inline import inline
from forge_chaos.store import Store
from tests.cli.door import Done, door, typed

WORDS = (
    "run",
    "--scenarios",
    "sum_orders",
    "--faults",
    "missing_file.never",
    "--persona",
    "naive",
    "--out",
    "run",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a failed run, and what it printed."""
    place = tmp_path_factory.mktemp("reports")
    done = door(place, *WORDS)
    assert done.code == 1
    (place / "printed").write_text(done.out)
    return place


def report(folder: Path, *words: str) -> Done:
    done = door(folder, "report", *words)
    assert (done.code, done.err) == (0, "")
    return done


def test_it_is_what_the_run_printed(folder: Path) -> None:
    assert (
        report(folder, "run").out
        == report(folder, "run", "--as", "terminal").out
        == (folder / "printed").read_text()
    )


def test_json(folder: Path) -> None:
    found = report(folder, "run", "--as", "json").result
    assert (found["run"], found["exit"], len(found["failures"])) == ("run", 1, 2)


def test_junit(folder: Path) -> None:
    suite = xml.fromstring(report(folder, "run", "--as", "junit").out)
    assert len(list(suite.iter("failure"))) == 2


def test_markdown(folder: Path) -> None:
    out = report(folder, "run", "--as", "markdown").out
    assert "missing_file" in out
    assert "forge-chaos replay run:t" in out


@pytest.mark.parametrize("form", ["terminal", "json", "junit", "markdown"])
def test_a_file_holds_what_stdout_would(form: str, folder: Path) -> None:
    printed = report(folder, "run", "--as", form).out
    done = report(folder, "run", "--as", form, "-o", "the report")
    assert done.out == ""
    assert (folder / "the report").read_text(encoding="utf-8") == printed


def test_a_file_that_cannot_be_written(folder: Path) -> None:
    done = door(folder, "report", "run", "-o", "nowhere/report")
    assert (done.code, done.out) == (4, "")
    assert "cannot write 'nowhere/report': No such file or directory. Name another file with -o." in done.err


@pytest.mark.slow
def test_a_run_that_was_moved_names_where_it_lies_now(folder: Path) -> None:
    shutil.copytree(folder / "run", folder / "a copy")
    found = report(folder, "a copy", "--as", "json").result
    assert found["run"] == "a copy"
    again = typed(folder, found["failures"][0]["replay"])
    assert (again.code, again.last) == (1, "The trace is equal to the stored one.")


def test_a_run_that_was_not_finished(tmp_path: Path) -> None:
    home = Bench(Setup())
    options = campaign.Options(scenarios="sum_orders")
    made = campaign.Campaign(Setup(), options, inline(home), home.hello(), home)
    Store.create(tmp_path / "my run", made.config()).close()
    home.close()
    for form in ("terminal", "json"):
        done = door(tmp_path, "report", "my run", "--as", form)
        assert (done.code, done.out) == (4, "")
        assert "my run is not finished. Go on with: forge-chaos run --resume 'my run'" in done.err


def test_an_inconclusive_run_is_reported_too(tmp_path: Path) -> None:
    done = door(
        tmp_path, "run", "--scenarios", "sum_orders", "--faults", "timeout@99", "--out", "run", "--json"
    )
    assert done.code == 2
    assert json.loads(report(tmp_path, "run", "--as", "json").out) == done.result
