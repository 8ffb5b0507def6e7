"""`scenarios/<name>/` -> Scenario: what users write, checked at the edge and filled in from the seed."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard, get_args

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from forge_chaos import registry, solutionfile, template, tomlfile
from forge_chaos.errors import Misuse, unknown
from forge_chaos.faultfile import params
from forge_chaos.nouns import Check, Limits, Role, Scenario, Turn, dice
from forge_chaos.solutionfile import Solution
from forge_chaos.tomlfile import Document

LOOKS_AT_THE_WAY = ("tool", "steps", "error")
"""Graders whose names start so look at the way and not at the end: no scenario can be held to them alone."""


Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class LimitsTable(BaseModel):
    model_config = ConfigDict(extra="forbid")
    steps: PositiveInt = Limits().steps
    seconds: Amount = Limits().seconds
    cost: Amount | None = None
    price: Amount | None = None


class CheckTable(BaseModel):
    model_config = ConfigDict(extra="allow")  # the grader's own parameters, checked against it
    grader: str


class TurnTable(BaseModel):
    model_config = ConfigDict(extra="forbid")
    prompt: Annotated[str, Field(min_length=1)]


class ScenarioTable(BaseModel):
    model_config = ConfigDict(extra="forbid")
    prompt: Annotated[str, Field(min_length=1)]
    suite: Literal["capability", "regression", "edge"] = "capability"
    world: str = "files"
    workspace: Literal["memory", "disk", "fake"] = "memory"
    tools: list[str] = []
    roles: list[Role] = []
    outputs: list[str] = []
    scratch: list[str] = []
    shared: list[str] = []
    expects: Literal["DONE", "FAILED"] = "DONE"
    limits: LimitsTable = LimitsTable()
    effects: dict[str, Annotated[int, Field(ge=0)]] = {}
    check_command: str | list[str] | None = None
    full: list[CheckTable] = []
    degraded: list[CheckTable] = []
    must_not: list[CheckTable] = []
    turns: list[TurnTable] = []


Contents = tuple[tuple[str, bytes], ...]


def _limits(document: Document, table: LimitsTable) -> Limits:
    if (table.cost is None) != (table.price is None):
        stated = "price" if table.cost is None else "cost"
        raise Misuse(
            f"{document.where('limits', stated)}: a budget needs both: cost, and the price of each reply of the "
            "model. Write cost = 2.5 and price = 1.0, or neither."
        )
    return Limits(table.steps, table.seconds, table.cost, table.price or 0.0)


def scenario(folder: Path, seed: int) -> Scenario:
    """The scenario in `folder` with the values of `seed`. Raises Misuse with file and line.

    The folder is read each time; what was made of equal bytes and an equal seed is kept.
    """
    found: dict[str, bytes] = {}
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    if "scenario.toml" not in found:
        raise Misuse(f"{folder}: holds no scenario.toml, so it is no scenario.")
    return _filled(folder, tuple(sorted(found.items())), seed)


def hash(contents: Contents) -> str:
    """`b2:` and the hash of a folder's paths and bytes: what makes two versions of a scenario differ."""
    digest = blake2b(digest_size=16)
    for name, data in contents:
        digest.update(f"{len(name)}:{name}:{len(data)}:".encode())
        digest.update(data)
    return "b2:" + digest.hexdigest()


@lru_cache(maxsize=64)
def _parsed(folder: Path, contents: Contents) -> tuple[Document, ScenarioTable, Solution]:
    held = dict(contents)
    document = tomlfile.parse(folder / "scenario.toml", held["scenario.toml"])
    table = tomlfile.checked(document, ScenarioTable, "forge-chaos show sum_orders")
    path = folder / "solution.py"
    source = held.get("solution.py")
    return document, table, Solution(path) if source is None else solutionfile.solution(path, source)


@lru_cache(maxsize=256)
def _filled(folder: Path, contents: Contents, seed: int) -> Scenario:
    document, table, solution = _parsed(folder, contents)
    values = solution.values(dice(seed, "values", folder.name))

    def text(key: str, source: str) -> str:
        return template.filled(source, values, document.where(key))

    def checks(key: str, rows: list[CheckTable]) -> tuple[Check, ...]:
        return tuple(_check(document, (key, n), row, values, solution) for n, row in enumerate(rows))

    _tools_exist(document, table)
    full = checks("full", table.full)
    if table.check_command is not None:
        full += (Check("check_command", {"command": table.check_command}),)
    return Scenario(
        name=folder.name,
        prompt=text("prompt", table.prompt.strip()),
        suite=table.suite,
        world=table.world,
        workspace=table.workspace,
        tools=tuple(table.tools),
        roles=tuple(table.roles),
        outputs=tuple(text("outputs", path) for path in table.outputs),
        scratch=tuple(text("scratch", glob) for glob in table.scratch),
        shared=tuple(text("shared", path) for path in table.shared),
        expects=table.expects,
        limits=_limits(document, table.limits),
        effects=table.effects,
        full=_goal(document, full),
        degraded=checks("degraded", table.degraded),
        must_not=checks("must_not", table.must_not),
        files=_files(folder, contents, values),
        records=_records(folder, contents, values),
        commands=solution.commands,
        values=values,
        solve=solution.solve,
        detour=solution.detour,
        turns=_turns(document, table, values, solution),
        setup=solution.setup,
        seed=seed,
        hash=hash(contents),
    )


def _turns(
    document: Document, table: ScenarioTable, values: Mapping[str, Any], solution: Solution
) -> tuple[Turn, ...]:
    """The user's further messages, each with what plays it. Raises Misuse where the solution plays others."""
    numbers = range(2, len(table.turns) + 2)
    if solution.solve is not None and set(solution.turns) != set(numbers):
        wanted = ", ".join(f"solve_{n}" for n in numbers) or "none"
        found = ", ".join(f"solve_{n}" for n in sorted(solution.turns)) or "none"
        raise Misuse(
            f"{solution.path}: for the user's further messages it has {found}, and the {len(table.turns)} "
            f"[[turns]] of scenario.toml need {wanted}. Write one solve_N for each, N from 2."
        )
    return tuple(
        Turn(
            template.filled(turn.prompt.strip(), values, document.where("turns", n, "prompt")),
            solution.turns.get(n + 2),
        )
        for n, turn in enumerate(table.turns)
    )


def _goal(document: Document, full: tuple[Check, ...]) -> tuple[Check, ...]:
    if all(check.grader.startswith(LOOKS_AT_THE_WAY) for check in full):
        raise Misuse(
            f"{document.where('full')}: no [[full]] grader looks at state or answer, so nothing would tell "
            "success from failure. Add one (forge-chaos list graders)."
        )
    return full


def _check(
    document: Document, at: tomlfile.Loc, row: CheckTable, values: Mapping[str, Any], solution: Solution
) -> Check:
    if row.grader not in registry.names("graders"):
        where = document.where(*at, "grader")
        raise unknown("grader", row.grader, registry.names("graders"), where, "forge-chaos list graders")
    given = {
        key: template.deep(value, values, document.where(*at, key), native=not _wants_text(row.grader, key))
        for key, value in (row.model_extra or {}).items()
    }
    if row.grader == "function" and isinstance(given.get("call"), str):
        try:
            given["call"] = solution.function(given["call"])
        except Misuse as error:
            raise Misuse(f"{document.where(*at, 'call')}: {error}") from None
    return Check(row.grader, params(document, at, "graders", row.grader, given))


def _wants_text(grader: str, key: str) -> bool:
    """Is this parameter declared as text, so that a drawn number must be written out?"""
    parameter = inspect.signature(registry.leaf("graders", grader), eval_str=True).parameters.get(key)
    if parameter is None:
        return True
    parts = [parameter.annotation, *get_args(parameter.annotation)]
    return str in parts and Any not in parts and int not in parts


def _tools_exist(document: Document, table: ScenarioTable) -> None:
    """Raises Misuse for a tool that the world does not have, where the world says what it has."""
    known = registry.names("worlds")
    if "." in table.world or ":" in table.world:  # the user's own
        return
    if table.world not in known:
        raise unknown("world", table.world, known, document.where("world"), "forge-chaos list worlds")
    specs = getattr(registry.leaf("worlds", table.world), "specs", None)
    if not isinstance(specs, Mapping):
        return
    for key, names in (("tools", table.tools), ("effects", list(table.effects))):
        for name in names:
            if name not in specs:
                where = document.where(key) if key == "tools" else document.where(key, name)
                raise unknown(f"tool in world {table.world!r}", name, specs, where, "forge-chaos list worlds")


def _files(folder: Path, contents: Contents, values: Mapping[str, Any]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, data in contents:
        if name.startswith("files/"):
            path = name.removeprefix("files/")
            if path.endswith(".j2"):  # its name may be a template as well
                path = template.filled(path.removesuffix(".j2"), values, str(folder / name))
            found[path] = _rendered(folder / name, data, values)
    return found


def _rendered(path: Path, data: bytes, values: Mapping[str, Any]) -> bytes:
    """The file's bytes, filled in when its name ends in `.j2`."""
    if path.suffix != ".j2":
        return data
    try:
        return template.filled(data.decode(), values, str(path), line=1).encode()
    except UnicodeDecodeError as error:
        raise Misuse(f"{path}: byte {error.start} is no UTF-8; only text can be filled in.") from None


def _records(
    folder: Path, contents: Contents, values: Mapping[str, Any]
) -> dict[str, dict[str, dict[str, Any]]]:
    held = dict(contents)
    name = next((name for name in ("records.json.j2", "records.json") if name in held), None)
    if name is None:
        return {}
    path = folder / name
    try:
        tables = json.loads(_rendered(path, held[name], values))
    except json.JSONDecodeError as error:
        raise Misuse(f"{path}:{error.lineno}: bad JSON: {error.msg}.") from None
    if not _is_tables(tables):
        raise Misuse(f'{path}: must be {{"table": {{"id": {{"column": value}}}}}}.')
    return tables


def _is_tables(tables: Any) -> TypeGuard[dict[str, dict[str, dict[str, Any]]]]:
    return isinstance(tables, dict) and all(
        isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values())
        for rows in tables.values()
    )
