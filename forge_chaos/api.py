"""The door for Python: a scenario written as a call, where the agent and its tests are.

    from forge_chaos import Scenario

    def broken(folder):
        (folder / "math_helper.py").write_text("def divide(a, b): return a / b")
        (folder / "test_math.py").write_text(TESTS)

    divide = Scenario(
        "divide", "Make divide(a, b) raise ValueError when b is 0.",
        setup=broken, check_command="python -m unittest test_math.py",
    )

`forge-chaos run --agent module:agent --tasks module:divide` runs it, and so does `run(divide, agent)`.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from forge_chaos import registry
from forge_chaos.errors import Misuse, unknown
from forge_chaos.nouns import ROLES, Check, Limits, Role, Solve
from forge_chaos.nouns import Scenario as Made
from forge_chaos.seeds.files import files as placed

if TYPE_CHECKING:
    from forge_chaos.campaign import Run

Goal: TypeAlias = Check | Mapping[str, Any] | Callable[..., Any]
Workspace = Literal["memory", "disk", "fake"]
Suite = Literal["capability", "regression", "edge"]
Expects = Literal["DONE", "FAILED"]
SYNTAX = "Write {'grader': NAME, ...its parameters}, or a function (trace) -> bool."


def Scenario(
    name: str,
    prompt: str,
    *,
    setup: Callable[[Path], Any] | None = None,
    check_command: str | Sequence[str] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    full: Iterable[Goal] | Goal = (),
    degraded: Iterable[Goal] | Goal = (),
    must_not: Iterable[Goal] | Goal = (),
    outputs: Sequence[str] = ("*",),
    scratch: Sequence[str] = (),
    tools: Sequence[str] = (),
    roles: Sequence[Role] = (),
    steps: int = Limits().steps,
    seconds: float = Limits().seconds,
    expects: Expects = "DONE",
    suite: Suite = "capability",
    workspace: Workspace | None = None,
    world: str = "files",
    effects: Mapping[str, int] | None = None,
    records: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
    commands: Mapping[str, Callable[..., Any]] | None = None,
    solve: Solve | None = None,
) -> Made:
    """A clean task.

    `setup(folder)` fills the workspace, after `files` were put there, each time anew. `check_command` is
    run in the workspace after the agent and must exit with 0. `full`, `degraded` and `must_not` are
    graders as in scenario.toml (`{"grader": "file_equals", "path": ..., "text": ...}`) or functions of
    the trace. `outputs` are globs of what may be changed: everything unless said. `workspace` is `disk`
    where there is a set-up or a check command, else `memory`. `solve` is a solution, as in solution.py;
    without one the task needs an agent with a mind of its own or a real model.
    Raises Misuse for what does not fit, and for a task that nothing could tell success of.
    """
    where = f"Scenario {name!r}"
    if not name.strip() or not prompt.strip():
        raise Misuse(f"{where}: name and prompt must not be empty.")
    for what, given, known in (
        ("suite", suite, get_args(Suite)),
        ("expects", expects, get_args(Expects)),
        ("workspace", workspace or "memory", get_args(Workspace)),
        *(("role", role, ROLES) for role in roles),
    ):
        if given not in known:
            raise unknown(what, given, known, where)
    if steps < 1 or seconds <= 0:
        raise Misuse(f"{where}: steps and seconds must be more than 0.")
    _callable(where, "setup(folder)", setup, asynchronous=False)
    _callable(where, "solve(task, tools)", solve, asynchronous=True)
    goals = _checks(where, full)
    if check_command is not None:
        command = check_command if isinstance(check_command, str) else list(check_command)
        if not (shlex.split(command) if isinstance(command, str) else command):
            raise Misuse(f"{where}: check_command is empty.")
        goals += (Check("check_command", {"command": command}),)
    _looks_at_the_end(where, goals)
    _tools_exist(where, world, tools)
    return Made(
        name=name,
        prompt=prompt.strip(),
        suite=suite,
        world=world,
        workspace=workspace or ("disk" if setup is not None or check_command is not None else "memory"),
        tools=tuple(tools),
        roles=tuple(roles),
        outputs=_globs(where, "outputs", outputs),
        scratch=_globs(where, "scratch", scratch),
        expects=expects,
        limits=Limits(steps, seconds),
        effects=dict(effects or {}),
        full=goals,
        degraded=_checks(where, degraded),
        must_not=_checks(where, must_not),
        files=placed(where, files or {}),
        records=records or {},
        commands=dict(commands or {}),
        solve=solve,
        setup=setup,
        hash=_hash(name, prompt, files, setup, solve, goals, outputs, tools, steps, seconds),
    )


def run(
    scenarios: Made | Iterable[Made],
    agent: Any = None,
    *,
    faults: str | None = None,
    plan: str | None = None,
    adapter: str | None = None,
    model: str = "scripted",
    persona: str = "expert",
    trials: int = 1,
    seed: int = 1,
    max_trials: int | None = None,
    fail_under: float | None = None,
    out: Path | str | None = None,
) -> Run:
    """Try an agent on these scenarios under faults, in this process; the options are those of
    `forge-chaos run`. Nothing: our own agent, which needs scenarios with a solution.

    `agent` is an object or a SPEC. In this process nobody can end an agent that blocks for ever; the
    command line (`--tasks module:attribute`) runs it in a child that can be killed.
    Raises Misuse for what does not exist, Inconclusive when nothing is left to run.
    """
    from forge_chaos import agents, campaign
    from forge_chaos.bench import Bench, Setup
    from forge_chaos.executors.inline import inline
    from forge_chaos.runs import next_directory
    from forge_chaos.store import Store

    several = (scenarios,) if isinstance(scenarios, Made) else tuple(scenarios)
    if not several:
        raise Misuse("run() was given no scenario.")
    named = agent is None or isinstance(agent, str)
    spec = (
        agent if named else f"{agent.__module__}:{getattr(agent, '__qualname__', type(agent).__qualname__)}"
    )
    setup = Setup(agent=spec, adapter=adapter, persona=persona, model=model)
    options = campaign.Options(faults, plan, "*", trials, seed, max_trials=max_trials, fail_under=fail_under)
    home = Bench(replace(setup, agent=None, adapter=None), several)
    seat = None if named else agents.seat_of(agent, adapter)
    bench = Bench(setup, several, seat)
    try:
        made = campaign.Campaign(setup, options, inline(bench), bench.hello(), home)
        made.check()  # before anything is written
        directory = next_directory("reports", made.agent) if out is None else Path(out)
        with Store.create(directory, made.config()) as store:
            return made.run(store)
    finally:
        bench.close()
        home.close()


def _checks(where: str, goals: Iterable[Goal] | Goal) -> tuple[Check, ...]:
    several = (goals,) if isinstance(goals, Check | Mapping) or callable(goals) else tuple(goals)
    return tuple(_check(where, goal) for goal in several)


def _check(where: str, goal: Goal) -> Check:
    if isinstance(goal, Check):
        return goal
    if isinstance(goal, Mapping):
        given = dict(goal)
        name = given.pop("grader", None)
        if not isinstance(name, str):
            raise Misuse(f"{where}: {dict(goal)!r} names no grader. {SYNTAX}")
        if name not in registry.names("graders"):
            raise unknown("grader", name, registry.names("graders"), where, "forge-chaos list graders")
        return Check(name, registry.params("graders", name, given, where))
    if not callable(goal):
        raise Misuse(f"{where}: {goal!r} is no grader. {SYNTAX}")
    return Check("function", function=goal)


def _looks_at_the_end(where: str, goals: Sequence[Check]) -> None:
    from forge_chaos.scenariofile import LOOKS_AT_THE_WAY

    if all(check.grader.startswith(LOOKS_AT_THE_WAY) for check in goals):
        raise Misuse(
            f"{where}: nothing looks at state or answer, so nothing would tell success from failure. "
            f"Give a check_command or full=. {SYNTAX}"
        )


def _tools_exist(where: str, world: str, tools: Sequence[str]) -> None:
    if "." in world or ":" in world:  # the user's own
        return
    if world not in registry.names("worlds"):
        raise unknown("world", world, registry.names("worlds"), where, "forge-chaos list worlds")
    specs = registry.leaf("worlds", world).specs
    for tool in tools:
        if tool not in specs:
            raise unknown(f"tool in world {world!r}", tool, specs, where, "forge-chaos list worlds")


def _globs(where: str, what: str, globs: Sequence[str]) -> tuple[str, ...]:
    if isinstance(globs, str):
        raise Misuse(f"{where}: {what} is a list of globs, not the text {globs!r}.")
    return tuple(globs)


def _callable(where: str, shape: str, given: Any, *, asynchronous: bool) -> None:
    if given is None:
        return
    if not callable(given) or inspect.iscoroutinefunction(given) != asynchronous:
        raise Misuse(f"{where}: {given!r} must be {'async ' if asynchronous else ''}def {shape}.")


def _hash(*parts: object) -> str:
    """`b2:` and the hash of what the scenario is made of; of functions, their source."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(repr(_plain(part)).encode("utf-8", "backslashreplace") + b"\0")
    return "b2:" + digest.hexdigest()


def _plain(part: object) -> object:
    if isinstance(part, Mapping):
        return sorted((str(key), repr(_plain(value))) for key, value in part.items())
    if isinstance(part, Check):
        return (part.grader, _plain(part.params), _plain(part.function))
    if isinstance(part, tuple | list):
        return [_plain(each) for each in part]
    if not callable(part):
        return part
    try:
        return inspect.getsource(part)
    except (OSError, TypeError):
        return getattr(part, "__qualname__", type(part).__qualname__)
