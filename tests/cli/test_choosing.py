"""Which cells `forge-chaos history` is asked for, and what is refused before anything is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_history import history
from tests.history.conftest import cache, till_index
from tests.history.shop import kept

__all__ = ["cache", "till_index"]  # fixtures


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("gone.chaos.toml",), "there is no file 'gone.chaos.toml'"),
        (("empty",), "there is no *.chaos.toml in empty"),
        (("bare.chaos.toml",), "bare.chaos.toml has no table [history]"),
        (("till.chaos.toml", "--versions", "1.9"), "tillkit has no release '1.9'. Did you mean '1."),
        (("till.chaos.toml", "--versions", "new"), "'new' is no version"),
        (("till.chaos.toml", "--range", "1.0"), "cannot read the range '1.0'. Write A..B"),
        (
            ("till.chaos.toml", "--package", "tilkit"),
            "no package in these files 'tilkit'. Did you mean 'tillkit'?",
        ),
        (("bare.chaos.toml", "--package", "tilkit", "--versions", "1.0"), "no package 'tilkit' in the index"),
        (("till.chaos.toml",), "till.chaos.toml states no release, buggy or repaired"),
        (("later.chaos.toml",), "later.chaos.toml: tillkit has no release '7.0'"),
        (("till.chaos.toml", "--all"), "--all plays each release of a range"),
        (("till.chaos.toml", "--versions", "1.0", "--range", "1.0..1.1"), "leave one of them out"),
        (("till.chaos.toml", "--versions", "1.0", "--newest"), "leave --versions and --range out"),
        (("till.chaos.toml", "other.chaos.toml", "--versions", "1"), "about otherkit, tillkit: say whose"),
        (("--versions", "1.0"), "pydantic-ai-slim, smolagents"),  # the files that come with forge-chaos
        (("slip.chaos.toml", "--versions", "1.0"), "slip.chaos.toml: no fault 'missing_fil'. Did you mean"),
        (("nobody.chaos.toml", "--versions", "1.0"), "nobody.chaos.toml names no agent"),
    ],
)
def test_what_is_misused_is_told_with_the_way_out(
    words: tuple[str, ...], says: str, till_index: str, tmp_path: Path
) -> None:
    path = kept(tmp_path)
    kept(tmp_path, "later", buggy="7.0")
    kept(tmp_path, "slip", "missing_fil@1")
    (tmp_path / "bare.chaos.toml").write_text(path.read_text().partition("[history]")[0])
    (tmp_path / "other.chaos.toml").write_text(path.read_text().replace("tillkit", "otherkit"))
    (tmp_path / "nobody.chaos.toml").write_text(path.read_text().replace("agent = ", "# "))
    (tmp_path / "empty").mkdir()
    done = history(tmp_path, *words)
    assert (done.code, done.out) == (4, "")
    assert says in done.err


def test_without_uv_it_is_said_what_is_missing(
    till_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from forge_chaos.history import environment

    kept(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.path", [])  # where the package uv would be found
    environment.uv.cache_clear()
    try:
        done = history(tmp_path, "till.chaos.toml", "--versions", "1.0")
    finally:
        environment.uv.cache_clear()
    assert (done.code, done.out) == (4, "")
    assert "no uv was found" in done.err
    assert "pip install 'forge-chaos[history]'" in done.err
