from __future__ import annotations

import errno
import importlib.metadata
import os
import stat
import sys
from contextlib import closing
from pathlib import Path

import certifi
import pytest

from forge_chaos.worlds._fake import FakeWorkspace
from forge_chaos.worlds._real import _outermost


def test_libraries_read_their_own_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with closing(FakeWorkspace({})):
        assert Path(certifi.where()).read_text().count("BEGIN CERTIFICATE") > 10
        assert importlib.metadata.version("pytest") == pytest.__version__
        assert any(name.startswith("os.") for name in os.listdir(Path(os.__file__).parent))


def test_where_the_trial_was_started_can_be_read_and_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prompts").mkdir(mode=0o700)
    (tmp_path / "prompts" / "one").write_text("be good")
    (tmp_path / "prompts" / "one").chmod(0o600)
    (tmp_path / "link").symlink_to("prompts/one")
    monkeypatch.chdir(tmp_path)
    with closing(FakeWorkspace({})):
        assert (tmp_path / "prompts" / "one").read_text() == (tmp_path / "link").read_text() == "be good"
        assert sorted(os.listdir(tmp_path)) == ["link", "prompts"]
        assert not os.path.exists("prompts"), "it is not the current folder any more"
        for attempt in (
            lambda: (tmp_path / "prompts" / "one").write_text("x"),
            lambda: (tmp_path / "prompts" / "two").write_text("x"),
            lambda: (tmp_path / "prompts" / "one").unlink(),
            lambda: (tmp_path / "new").mkdir(),
        ):
            with pytest.raises(PermissionError):
                attempt()
    assert (tmp_path / "prompts" / "one").read_text() == "be good"
    assert stat.S_IMODE((tmp_path / "prompts" / "one").stat().st_mode) == 0o600


def test_what_is_shown_takes_no_room_of_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "big").write_text("x" * 1000)
    monkeypatch.chdir(tmp_path)
    with closing(FakeWorkspace({"a": b"1"})) as fake:
        fake.fill()
        assert len((tmp_path / "big").read_text()) == 1000


def test_there_is_a_home_to_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with closing(FakeWorkspace({})):
        Path("~/.cache").expanduser().mkdir()
        assert os.listdir(os.path.expanduser("~")) == [".cache"]
    assert not (tmp_path / "home").exists()


def test_a_path_of_an_error_is_as_it_was_given() -> None:
    with closing(FakeWorkspace({"a": b""})) as fake:
        for path in ("nope", "./nope", "d/../nope", f"{fake.root}/nope"):
            for look in (open, os.stat, os.listdir, os.remove):
                with pytest.raises(FileNotFoundError) as caught:
                    look(path)
                assert caught.value.filename == path, look
        with pytest.raises(NotADirectoryError) as blocked:
            os.stat("a/b")
        assert (blocked.value.errno, blocked.value.filename) == (errno.ENOTDIR, "a/b")


def test_of_folders_in_each_other_the_outermost_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "ab").mkdir()
    paths = [str(tmp_path / name) for name in ("a/b", "a", "ab", "none")]
    assert _outermost(["", "/", *paths]) == [str(tmp_path / "a"), str(tmp_path / "ab")]
    assert _outermost(sys.path)
