from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import trial
from forge_chaos.executors import _worker
from forge_chaos.worlds._fake import FakeWorkspace

HELD = {"Path": Path}
HELPER = """
import os
from os import listdir as names
from pathlib import Path

DATA = (Path(__file__).parent / "data.txt").read_text()


def look():
    import shutil
    return names("."), os.path.exists("a"), Path("a").read_text(), open("a").read(), shutil.copy("a", "b")
"""


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of a user's, with a file of data beside it, not imported yet."""
    (tmp_path / "late_helper.py").write_text(HELPER)
    (tmp_path / "data.txt").write_text("its own")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("late_helper", None)


def test_a_module_imported_meanwhile_reads_its_own_data_and_works_in_the_fake(helper: Path) -> None:
    with closing(FakeWorkspace({"a": b"one"})):
        import late_helper as late  # type: ignore[import-not-found]  # the fixture writes it

        assert late.DATA == "its own"
        assert late.look() == (["a"], True, "one", "one", "b")
        assert not type(late.__loader__).__module__.startswith("forge_chaos"), "no loader of ours stays on it"
        assert late.__spec__.loader is late.__loader__
    assert sys.modules["late_helper"] is late, "it stays imported, so that the next trial has the same one"
    assert late.os is os
    assert late.names is os.listdir
    assert late.Path is Path
    with closing(FakeWorkspace({"a": b"two"})):
        assert late.look() == (["a"], True, "two", "two", "b")


def test_an_import_that_fails_does_so_as_ever() -> None:
    with closing(FakeWorkspace({"a": b""})):
        with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
            __import__("no_such_module_at_all")
        assert os.listdir(".") == ["a"]


def test_doors_imported_in_a_function_are_the_fake_ones_too() -> None:
    with closing(FakeWorkspace({"a": b"one"})):
        import os as late
        from pathlib import Path as Late

        assert late.listdir(".") == ["a"]
        assert Late("a").read_text() == "one"


def test_a_path_class_that_no_patch_finds_leads_to_the_fake_too() -> None:
    with closing(FakeWorkspace({"a": b"one"})):
        assert HELD["Path"]("a").read_text() == (HELD["Path"].cwd() / "a").read_text() == "one"


def test_paused_means_the_real_files_for_us_and_none_for_the_agent(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("real")
    outcome: list[object] = []

    def agent() -> None:
        try:
            outcome.append((tmp_path / "real").write_text("changed"))
        except OSError as error:
            outcome.append(type(error).__name__)

    fake = FakeWorkspace({"a": b"one"})
    with fake.paused():
        assert (tmp_path / "real").read_text() == "real"
        with fake.paused():
            (tmp_path / "ours").write_text("x")
        assert (tmp_path / "ours").exists(), "a pause within a pause does not end it"
        thread = threading.Thread(target=agent)
        thread.start()
        thread.join(10)
    assert os.listdir(".") == ["a"]
    assert outcome == ["Detour"]
    with pytest.raises(Exception, match="went round"):
        fake.close()
    assert (tmp_path / "real").read_text() == "real"


def test_what_is_lazy_is_not_woken() -> None:
    woken: list[str] = []

    class Lazy:
        @property  # type: ignore[misc]  # as the lazy ones have it
        def __class__(self) -> Any:
            woken.append("woken")
            return Lazy

    holder = type(sys)("holder_of_a_lazy_thing")
    holder.__dict__["thing"] = Lazy()
    sys.modules[holder.__name__] = holder
    try:
        with closing(FakeWorkspace({})):
            pass
    finally:
        del sys.modules[holder.__name__]
    assert woken == []


def test_our_own_modules_keep_the_real_doors() -> None:
    real: object = os
    with closing(FakeWorkspace({})):
        assert vars(trial)["os"] is vars(_worker)["os"] is real
        assert vars(trial)["os"] is not os
