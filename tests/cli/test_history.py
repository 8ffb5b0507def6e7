"""`forge-chaos history`: what is played, what is said of it, and the exit code."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.cli.door import Done, door, started, typed
from tests.history.conftest import cache, till_index
from tests.history.shop import kept

__all__ = ["cache", "till_index"]  # fixtures


def history(folder: Path, *words: str, code: int | None = None) -> Done:
    """The command's end; with `code` as the exit code that it must have."""
    done = door(folder, "history", *words)
    assert code in (None, done.code), done.out + done.err
    return done


# Both sides of a file.


@pytest.mark.slow
def test_both_sides_of_a_file_end_as_it_says(till_index: str, tmp_path: Path) -> None:
    kept(tmp_path, buggy="1.5", repaired="1.6", ends="gave_up")
    done = history(tmp_path, "till.chaos.toml", "--newest", code=0)
    lines = done.out.splitlines()
    assert lines[0].split() == ["file", "package", "buggy", "repaired", "newest"]
    assert " ".join(lines[1].split()) == (
        "till tillkit 1.5 bad (false_success) 1.6 good (gave_up) 2.5 good (gave_up)"
    )
    assert "till on tillkit 1.5: bad (false_success)\nThe goal is not reached but it said DONE." in done.out
    assert done.out.count("] ") >= 2  # events
    assert lines[-2] == "2 of 2 sides ended as their files say (exit 0)."
    assert done.last == "forge-chaos history till.chaos.toml --versions 1.5"
    again = typed(tmp_path, done.last)
    assert again.code == 1
    assert "forge-chaos: till on tillkit 1.6: good (gave_up)\n" in done.err


@pytest.mark.slow
def test_sides_that_end_otherwise_fail_and_undecided_ones_decide_nothing(
    till_index: str, tmp_path: Path
) -> None:
    kept(tmp_path / "swapped", buggy="1.6", repaired="1.5")
    history(tmp_path, "swapped", code=1)
    kept(tmp_path / "away", buggy="1.5", repaired="1.2")
    done = history(tmp_path, "away", code=2)
    assert "1 of 2 sides ended as their files say, not till (repaired) (exit 2)." in done.out
    assert "uv: " in done.out
    kept(tmp_path / "other", buggy="2.3", repaired="1.6")
    history(tmp_path, "other", code=1)  # crashed, where its file says false_success
    kept(tmp_path / "stale", rule="missing_file.never@9:read_file(orders.csv)", buggy="1.5")
    done = history(tmp_path, "stale", code=2)
    assert "not fired" in done.out


# Releases that are asked about.


@pytest.mark.slow
def test_releases_that_are_asked_about(till_index: str, tmp_path: Path) -> None:
    kept(tmp_path)
    good = history(tmp_path, "till.chaos.toml", "--versions", "1.0,1.6")
    assert (good.code, good.last) == (0, "2 cells played, 0 convicted (exit 0).")
    nothing = history(tmp_path, "till.chaos.toml", "--versions", " , ", code=4)
    assert "names no release of tillkit" in nothing.err
    mixed = history(tmp_path, "till.chaos.toml", "--versions", "1.6, 1.5, 1.6", "--json")
    assert mixed.code == 1
    assert [(cell["version"], cell["word"]) for cell in mixed.result["cells"]] == [
        ("1.6", "good (gave_up)"),
        ("1.5", "bad (false_success)"),
    ]
    assert mixed.result["exit"] == 1
    undecided = history(tmp_path, "till.chaos.toml", "--versions", "1.6,2.0")
    assert undecided.code == 2
    assert "control failed" in undecided.out
    assert "no till in this release" in undecided.out


@pytest.mark.slow
def test_the_border_in_a_range_is_found_by_halving(till_index: str, tmp_path: Path) -> None:
    kept(tmp_path)
    done = history(tmp_path, "till.chaos.toml", "--range", "1.0..1.5", code=1)
    assert (
        "till: the bug came in tillkit 1.3: 1.1 is good (gave_up) and 1.3 is bad (false_success); "
        "5 of 6 releases played. 1.2 between them could not be decided."
    ) in done.out
    assert "tillkit 1.4" not in done.out


@pytest.mark.slow
def test_all_of_a_range_where_its_ends_are_alike(till_index: str, tmp_path: Path) -> None:
    kept(tmp_path)
    done = history(tmp_path, "till.chaos.toml", "--range", "1.1..1.6")
    assert (
        "both ends are alike, so halving finds no border; 2 of 6 releases played. --all plays each"
        in done.out
    )
    assert done.code == 0
    done = history(tmp_path, "till.chaos.toml", "--range", "1.1..1.6", "--all", "--json")
    kinds = [cell["kind"] for cell in done.result["cells"]]
    assert kinds == ["good", "not installable", "bad", "bad", "bad", "good"]


@pytest.mark.slow
def test_what_is_written(till_index: str, tmp_path: Path) -> None:
    kept(tmp_path, buggy="1.5", repaired="1.6")
    history(tmp_path, "till.chaos.toml", "--times", "2", "--out", "told", code=0)
    page = (tmp_path / "told/README.md").read_text()
    assert "```sh\nforge-chaos history till.chaos.toml --times 2 --out told\n```" in page
    assert "It says done when the file is gone." in page
    assert str(tmp_path) not in page
    assert str(tmp_path) not in (tmp_path / "told/results.json").read_text()
    history(tmp_path, "till.chaos.toml", "--versions", "1.6", "--out", "one.md", code=0)
    assert "It says done when" in (tmp_path / "one.md").read_text()


@pytest.mark.slow
def test_ctrl_c_leaves_a_cache_that_can_be_used(
    till_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept(tmp_path)
    process = started(tmp_path, "history", "till.chaos.toml", "--versions", "2.4,1.6", "--jobs", "2")
    assert process.stderr is not None
    assert "tillkit 1.6: good" in process.stderr.readline()  # 2.4 sleeps for ten minutes
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "stopped" in err
    assert time.monotonic() - begun < 60
    places = sorted(path.suffix for path in (tmp_path / "cache/forge-chaos/history").iterdir())
    assert ".making" not in places
    history(tmp_path, "till.chaos.toml", "--versions", "1.6", code=0)
