"""What the wheel holds: the package, its type marker and our data, and nothing of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.meta.files import ROOT, name, ours


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names in a wheel built from this checkout."""
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(place), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = Path(place).glob("forge_chaos-*.whl")
    with ZipFile(made) as file:
        return file.namelist()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["faults", "scenarios"])
def test_it_holds_all_our_data(wheel: list[str], kind: str) -> None:
    wanted = {f"forge_chaos/data/{name(path)}" for path in ours() if path.is_relative_to(ROOT / kind)}
    assert len(wanted) >= 8
    assert wanted - set(wheel) == set()


@pytest.mark.slow
def test_it_holds_the_package_and_its_type_marker(wheel: list[str]) -> None:
    package = {name(path) for path in ours() if path.is_relative_to(ROOT / "forge_chaos")}
    assert "forge_chaos/py.typed" in package
    assert package - set(wheel) == set()


@pytest.mark.slow
def test_it_holds_nothing_else(wheel: list[str]) -> None:
    tops = {entry.partition("/")[0] for entry in wheel}
    assert {top for top in tops if not top.startswith("forge_chaos")} == set()
    assert [
        entry for entry in wheel if "__pycache__" in entry or entry.rpartition("/")[2].startswith("test_")
    ] == [
        entry
        for entry in wheel
        if entry.startswith("forge_chaos/data/scenarios/")
        and "/files/" in entry
        and entry.rpartition("/")[2].startswith("test_")
    ]
