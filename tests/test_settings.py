"""The user's own pyproject.toml, environment and `.env`."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge_chaos import settings
from forge_chaos.errors import Misuse


@pytest.fixture(autouse=True)
def no_model_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORGE_CHAOS_MODEL", raising=False)


def project(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_all_keys_are_read_and_directories_lie_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    project(
        tmp_path,
        '[tool.forge-chaos]\nagent = "shop.agent:agent"\nadapter = "native"\nfaults_dir = "mine"\n'
        'scenarios_dir = ["mine"]\nseed = 7\nfaults = ["timeout", "missing_file"]\nmin_clean = 0.5\n'
        'fail_under = 1\nmodel = "m"\nclaim = "^OK"\n',
    )
    inner = tmp_path / "src" / "shop"
    inner.mkdir(parents=True)
    assert settings.read(inner) == settings.Settings(
        root=tmp_path,
        agent="shop.agent:agent",
        adapter="native",
        faults_dir=(tmp_path / "mine",),
        scenarios_dir=(tmp_path / "mine",),
        seed=7,
        faults="timeout,missing_file",
        min_clean=0.5,
        fail_under=1.0,
        model="m",
        claim="^OK",
    )


def test_a_project_that_says_nothing_has_no_settings(tmp_path: Path) -> None:
    project(tmp_path, '[project]\nname = "forge-chaos-user"\n')
    assert settings.read(tmp_path) == settings.Settings(tmp_path)


def test_the_nearest_pyproject_holds(tmp_path: Path) -> None:
    project(tmp_path, '[tool.forge-chaos]\nagent = "outer:agent"\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    project(inner, "[project]\n")
    assert settings.read(inner).agent is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('agnt = "a:b"', ":3: no key 'agnt'. Did you mean 'agent'? Known: adapter, agent, "),
        ("seed = 'x'", ":3: key 'seed': Input should be a valid integer (it is 'x')."),
        ("fail_under = 90", ":3: key 'fail_under': Input should be less than or equal to 1 (it is 90)."),
        ("claim = '('", ":3: key 'claim': is no regular expression: "),
        ("faults_dir = 'gone'", ":3: faults_dir 'gone' is no directory in "),
        ("seed = ", ":3: bad TOML: Invalid value."),
    ],
)
def test_misuse_names_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    project(tmp_path, f"# mine\n[tool.forge-chaos]\n{text}\n")
    with pytest.raises(Misuse) as caught:
        settings.read(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/pyproject.toml{said}")


def test_the_environment_names_the_model_before_dotenv_and_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path, '[tool.forge-chaos]\nmodel = "table"\n')
    assert settings.read(tmp_path).model == "table"
    (tmp_path / ".env").write_text('FORGE_CHAOS_MODEL=dotenv\nSOME_KEY="a b"\n')
    assert settings.read(tmp_path).model == "dotenv"
    monkeypatch.setenv("FORGE_CHAOS_MODEL", "environment")
    assert settings.read(tmp_path).model == "environment"
    assert settings.environment(tmp_path)["SOME_KEY"] == "a b"


def test_an_exported_key_names_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert settings.read(tmp_path).model is None
