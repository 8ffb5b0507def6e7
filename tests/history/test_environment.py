"""Environments: of that time, whole or not there, made once."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.history import environment
from forge_chaos.history.environment import ABOUT, NotInstallable, Wanted


def till(index: str, version: str = "1.0", *requires: str) -> Wanted:
    return Wanted("tillkit", version, requires, "2025-12-01T00:00:00Z", index)


def says(place: Path, code: str) -> str:
    command = [str(environment.python(place)), "-P", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


# The key.


@pytest.mark.parametrize(
    "other",
    [
        {"version": "1.1"},
        {"requires": ("coin==1.0",)},
        {"until": "2025-12-02T00:00:00Z"},
        {"python": "3.99"},
        {"ours": "/elsewhere/forge_chaos"},
    ],
)
def test_what_differs_in_anything_is_another_environment(other: dict[str, str]) -> None:
    one = till("http://a")
    assert replace(one, **other).key != one.key  # type: ignore[arg-type]  # fields by their names
    assert one.key.startswith("tillkit-1.0-")


def test_where_the_index_is_makes_no_difference() -> None:
    assert till("http://a").key == till("http://b").key


def test_they_are_kept_in_the_cache_of_the_user() -> None:
    assert environment.home({"XDG_CACHE_HOME": "/c"}) == Path("/c/forge-chaos/history")
    assert environment.home({}).parts[-3:] == (".cache", "forge-chaos", "history")


def test_what_forge_chaos_needs_comes_along_and_no_framework() -> None:
    names = [need.partition(">")[0] for need in environment.needs()]
    assert {"pydantic", "typer", "pytest", "httpx"} <= set(names)
    assert "openai-agents" not in names


# Made.


@pytest.mark.slow
def test_it_holds_the_release_with_what_there_was_then_and_the_running_forge_chaos(
    till_index: str, cache: Path
) -> None:
    place = environment.made(till(till_index), cache, Event())
    code = "import coin, tillkit, forge_chaos; from importlib.metadata import version as v"
    assert says(place, f"{code}; print(v('tillkit'), v('coin'), forge_chaos.__version__)").startswith(
        "1.0 1.0 "
    )
    assert says(place, f"{code}; print(tillkit.__file__)").startswith(str(place))


@pytest.mark.slow
def test_made_once_it_is_used_again_and_a_broken_one_is_not(till_index: str, tmp_path: Path) -> None:
    wanted = till(till_index)
    place = environment.made(wanted, tmp_path, Event())
    (place / "mark").touch()
    assert environment.made(wanted, tmp_path, Event()) == place
    assert (place / "mark").exists()
    (place / ABOUT).unlink()  # as a run that was killed would leave it
    assert not (environment.made(wanted, tmp_path, Event()) / "mark").exists()


@pytest.mark.slow
def test_what_cannot_be_installed_is_told_in_the_words_of_uv_and_leaves_nothing(
    till_index: str, tmp_path: Path
) -> None:
    with pytest.raises(NotInstallable) as told:
        environment.made(till(till_index, "1.2"), tmp_path, Event())
    assert "never-heard-of was not found" in str(told.value)
    assert till_index not in str(told.value)
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.slow
def test_several_at_once_make_it_once(till_index: str, tmp_path: Path) -> None:
    wanted = till(till_index, "1.1")
    with ThreadPoolExecutor(3) as pool:
        made = [pool.submit(environment.made, wanted, tmp_path, Event()) for _ in range(3)]
        places = {doing.result(timeout=120) for doing in made}
    assert len(places) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [wanted.key, f"{wanted.key}.lock"]


@pytest.mark.slow
def test_one_who_waits_for_another_can_be_stopped(till_index: str, tmp_path: Path) -> None:
    wanted = till(till_index)
    (tmp_path / f"{wanted.key}.lock").touch()
    code = (
        f"import fcntl, time; seat = open({str(tmp_path / f'{wanted.key}.lock')!r}, 'w'); "
        "fcntl.flock(seat, fcntl.LOCK_EX); print('held', flush=True); time.sleep(60)"
    )
    stopped = Event()
    stopped.set()
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(KeyboardInterrupt):
                environment.made(wanted, tmp_path, stopped)
        finally:
            holder.kill()
    assert not (tmp_path / wanted.key).exists()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misuse, match=r"cannot write .*file.*--cache"):
        environment.made(till("http://a"), tmp_path / "file", Event())


def test_one_whose_interpreter_is_gone_is_not_whole(tmp_path: Path) -> None:
    (tmp_path / ABOUT).write_text("{}")
    assert not environment._whole(tmp_path)
    interpreter = environment.python(tmp_path)
    interpreter.parent.mkdir(parents=True)
    interpreter.symlink_to(sys.executable)
    assert environment._whole(tmp_path)
    interpreter.unlink()
    interpreter.symlink_to(tmp_path / "gone")
    assert not environment._whole(tmp_path)
