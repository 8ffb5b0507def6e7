"""`[tool.forge-chaos]` of the user's pyproject.toml, and the model named in the environment or `.env`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forge_chaos.errors import Misuse

if TYPE_CHECKING:
    from forge_chaos.tomlfile import Document

TABLE = ("tool", "forge-chaos")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user need not say on the command line. None and empty: not stated.

    `root` is the folder of the pyproject.toml that was found, else the one that reading started in;
    the directories are absolute. `model` comes from FORGE_CHAOS_MODEL (environment, then `.env`) before
    the table. `claim` is a regular expression over the answers of agents with their own tools: its group
    `failed` finds a claim of failure, any other match is a claim of success.
    """

    root: Path
    agent: str | None = None
    adapter: str | None = None
    faults_dir: tuple[Path, ...] = ()
    scenarios_dir: tuple[Path, ...] = ()
    seed: int | None = None
    faults: str | None = None
    min_clean: float | None = None
    fail_under: float | None = None
    model: str | None = None
    claim: str | None = None


def read(start: Path) -> Settings:
    """The settings that hold in `start`: of the nearest pyproject.toml, looking upwards.

    Raises Misuse, with file and line, for bad TOML, an unknown key, a wrong value and a directory that
    does not exist.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        if path.is_file():
            # A cheap look first: most projects say nothing, and pydantic costs a tenth of a second.
            if b"forge-chaos" in path.read_bytes():
                return _table(path)
            return Settings(folder, model=environment(folder).get("FORGE_CHAOS_MODEL"))
    return Settings(start, model=environment(start).get("FORGE_CHAOS_MODEL"))


def environment(root: Path) -> dict[str, str]:
    """The environment, above the variables of `.env` in `root`: where a model's key and address stand."""
    import os

    if not (root / ".env").is_file():
        return dict(os.environ)
    from pydantic_settings import BaseSettings, SettingsConfigDict

    class DotEnv(BaseSettings):
        model_config = SettingsConfigDict(env_file=root / ".env", case_sensitive=True, extra="allow")

    stated = DotEnv().model_extra or {}
    return {**{name: str(value) for name, value in stated.items() if value is not None}, **os.environ}


def _table(path: Path) -> Settings:
    from forge_chaos import tomlfile

    document = tomlfile.read(path).below(*TABLE)
    model = environment(path.parent).get("FORGE_CHAOS_MODEL")
    if not document.data:
        return Settings(path.parent, model=model)
    stated: dict[str, Any] = _checked(document)
    for key in ("faults_dir", "scenarios_dir"):
        stated[key] = _directories(document, key, stated.get(key))
    if isinstance(stated.get("faults"), list):
        stated["faults"] = ",".join(stated["faults"])
    return Settings(path.parent, **{**stated, "model": model or stated.get("model")})


def _checked(document: Document) -> dict[str, Any]:
    import re
    from typing import Annotated

    from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

    from forge_chaos import tomlfile

    def pattern(text: str) -> str:
        try:
            re.compile(text)
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}") from None
        return text

    share = Annotated[float, Field(ge=0, le=1)]
    fields: dict[str, Any] = {
        "agent": str,
        "adapter": str,
        "faults_dir": str | list[str],
        "scenarios_dir": str | list[str],
        "seed": Annotated[int, Field(ge=0)],
        "faults": str | list[str],
        "min_clean": share,
        "fail_under": share,
        "model": str,
        "claim": Annotated[str, AfterValidator(pattern)],
    }
    optional: dict[str, Any] = {name: (kind | None, None) for name, kind in fields.items()}
    config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())
    table: type[BaseModel] = create_model("SettingsTable", __config__=config, **optional)
    return tomlfile.checked(document, table).model_dump(exclude_none=True)


def _directories(document: Document, key: str, stated: str | list[str] | None) -> tuple[Path, ...]:
    names = [stated] if isinstance(stated, str) else stated or []
    found = tuple(document.path.parent / name for name in names)
    for name, place in zip(names, found, strict=True):
        if not place.is_dir():
            raise Misuse(f"{document.where(key)}: {key} {name!r} is no directory in {document.path.parent}.")
    return found
