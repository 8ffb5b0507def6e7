"""A run's file that is damaged, newer, full or out of reach is one clear error."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge_chaos.errors import Broken, Misuse
from forge_chaos.runfile import FILE
from forge_chaos.store import Store
from tests.store_writer import committed, create, filled, ids, trace, trial


@pytest.mark.parametrize("where", ["nowhere", "empty"])
def test_no_run_there(tmp_path: Path, where: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Misuse, match=rf"{where}: no .*run\.sqlite is missing"):
        Store.open(tmp_path / where)
    assert os.listdir(tmp_path / "empty") == []


def test_a_run_that_was_stopped_before_it_began(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    with pytest.raises(Misuse, match=r"stopped before it began\. Remove"):
        Store.open(tmp_path)


def test_a_file_that_is_no_run(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"something else entirely" * 100)
    with pytest.raises(Misuse, match=r"run\.sqlite is damaged: file is not a database"):
        Store.open(tmp_path)


def read_all(directory: Path) -> None:
    with Store.open(directory) as store:
        for id in ids(store):
            store.trace(id)


def test_a_damaged_page_is_damage_wherever_it_shows(tmp_path: Path) -> None:
    filled(tmp_path, *(f"t{n}" for n in range(200)))
    data = bytearray((tmp_path / FILE).read_bytes())
    for page in range(3 * 4096, len(data), 4096):
        data[page : page + 200] = b"\xff" * 200
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(Misuse, match="is damaged"):
        read_all(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE trials SET body = '{'",
        "UPDATE trials SET body = '{}'",
        "UPDATE traces SET body = x'00'",
        "UPDATE run SET value = '['",
        "UPDATE run SET value = '{}'",
        "DELETE FROM run",
        "DROP TABLE traces",
    ],
)
def test_a_damaged_row_is_damage(tmp_path: Path, change: str) -> None:
    filled(tmp_path, "t1")
    base = sqlite3.connect(tmp_path / FILE)
    base.execute(change)
    base.commit()
    base.close()
    with pytest.raises(Misuse, match="is damaged"):
        read_all(tmp_path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, "t1")
    base = sqlite3.connect(tmp_path / FILE)
    base.execute("""UPDATE run SET value = '{"format": 2}' WHERE key = 'config'""")
    base.commit()
    base.close()
    with pytest.raises(Misuse, match="format 2 was written by a newer version"):
        Store.open(tmp_path)


def add_many(store: Store) -> None:
    for n in range(1, 1_000):
        store.add(trial(f"t{n}"), trace(f"t{n}"))


def test_a_full_disk_is_one_clear_error_and_keeps_what_was_committed(tmp_path: Path) -> None:
    store = create(tmp_path)
    store.add(trial("t0"), trace("t0"))
    store.commit()
    (pages,) = store._base.execute("PRAGMA page_count").fetchone()
    store._base.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Broken, match=r"cannot write .*run\.sqlite: .*full.*--resume") as caught:
        add_many(store)
    assert caught.value.exit == 3
    assert caught.value.__cause__ is None
    store.close()
    assert committed(tmp_path) == ["t0"]


FULL = """
import resource, sys
from pathlib import Path
from forge_chaos.errors import Broken
from tests.store_writer import create, trial, trace
store = create(Path(sys.argv[1]), batch=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    for n in range(1_000):
        store.add(trial(f"t{n}"), trace(f"t{n}"))
        print(f"t{n}", flush=True)
except Broken as error:
    print(error)
"""


def test_writes_that_the_system_refuses_are_the_same_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "run"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    *acknowledged, message = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert message.startswith("cannot write ")
    assert len(acknowledged) > 5
    assert committed(tmp_path / "run")[: len(acknowledged)] == acknowledged


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A directory to which this process may not write, with a run in `run`; root steps down for it."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        filled(place / "run", "t1")
        for path in (place, place / "run"):
            path.chmod(0o555)
        (place / "run" / FILE).chmod(0o444)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        yield place
        if root:
            os.seteuid(0)
        for path in (place, place / "run"):
            path.chmod(0o755)


def test_a_read_only_place_is_one_clear_error(read_only: Path) -> None:
    with pytest.raises(Misuse, match=r"cannot write a run in .*new: Permission denied. .*--out DIR"):
        create(read_only / "new")


def test_a_read_only_run_can_be_read_but_not_gone_on_with(read_only: Path) -> None:
    with Store.open(read_only / "run") as store:
        assert ids(store) == ["t1"]
        assert store.trace("t1") == trace("t1")
        with pytest.raises(Misuse, match=r"cannot write a run in .*--out DIR"):
            store.add(trial("t2"), trace("t2"))
    assert os.listdir(read_only / "run") == [FILE]


def test_a_file_in_the_way_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for directory in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(Misuse, match="cannot write a run in"):
            create(directory)
