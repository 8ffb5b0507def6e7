"""What every adapter has to keep, with the real framework and the real wire.

The measure of "nothing changed" is what the model was shown and how the run ended, with the agent run by
itself on one side and behind the gate on the other.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import agents
from forge_chaos.events import Abandoned, Called, Executed, Finished, Injected, Returned, find
from forge_chaos.nouns import Call, Err, Ok, Rule, Tool
from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.play import behind_the_gate, plainly, played, raising, tried
from tests.conformance.frameworks.wire import Wire
from tests.gates import Planned

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
LIMIT = 900  # seconds: what hangs has failed
NAMED = {"missing_file", "timeout", "malformed_output", "blocked_command", "truncated_context"}
BLOCKED = """
import threading
from tests.conformance.frameworks.{kit} import KIT
from tests.conformance.frameworks.wire import Wire

def read_file(path: str) -> str:
    \"\"\"Read a file.

    Args:
        path: The path of the file.
    \"\"\"
    threading.Event().wait()

def write_file(path: str, text: str) -> str:
    \"\"\"Write a file.

    Args:
        path: The path of the file.
        text: What the file will hold.
    \"\"\"
    return "written"

agent = KIT.build([read_file, write_file], Wire([[("read_file", {{"path": "orders.csv"}})]]))
"""
ERRORS: list[Callable[[], BaseException]] = [
    lambda: FileNotFoundError(2, "No such file or directory", "a.csv"),
    lambda: TimeoutError("timed out after 30 seconds"),
    lambda: PermissionError(13, "Permission denied", "a.csv"),
    lambda: ConnectionResetError(104, "Connection reset by peer"),
    lambda: ValueError("bad value"),
    lambda: KeyError("rows"),
    lambda: RuntimeError("broken"),
    lambda: OSError(28, "No space left on device"),
    lambda: asyncio.CancelledError("from inside"),
]


def reader(kind: str, error: BaseException | None = None, waits: float = 0.0) -> Callable[..., Any]:
    """A user's tool of that kind; it raises `error` at its first call."""
    calls: list[str] = []

    def read(path: str) -> str:
        calls.append(path)
        if error is not None and len(calls) == 1:
            raise error
        return f"text of {path}"

    if kind == "async":

        async def read_file(path: str) -> str:
            """Read a file.

            Args:
                path: The path of the file.
            """
            await asyncio.sleep(waits)
            return read(path)

        return read_file

    def read_file_blocking(path: str) -> str:
        """Read a file.

        Args:
            path: The path of the file.
        """
        return read(path)

    read_file_blocking.__name__ = "read_file"
    return read_file_blocking


def reads(kit: Kit, *paths: str) -> list[tuple[str, dict[str, Any]]]:
    """One reply of the model: a call for each path."""
    return [(kit.tool, {kit.argument: path}) for path in paths]


def one_by_one(kit: Kit) -> list[list[tuple[str, dict[str, Any]]]]:
    return [reads(kit, "a.csv"), reads(kit, "b.csv")]


def test_the_object_is_known_for_what_it_is(kit: Kit) -> None:
    seat = agents.seat_of(kit.build([reader(kit.kinds[0])], Wire(one_by_one(kit))))
    assert seat.adapter == kit.name
    assert seat.specs is not None
    spec = seat.specs[kit.tool]
    assert (set(spec.roles), spec.target) == ({kit.role}, kit.argument)
    assert kit.argument in spec.parameters["properties"]


def test_an_empty_plan_changes_nothing_and_every_call_passes_the_gate_once(kit: Kit) -> None:
    for kind in kit.kinds:
        plain = plainly(kit, [reader(kind)], one_by_one(kit))
        gated, trace = behind_the_gate(kit, [reader(kind)], one_by_one(kit))
        assert "DONE" in plain.end
        assert gated == plain
        assert [body.args for _, body in find(trace, Called)] == [args for ((_, args),) in one_by_one(kit)]
        assert len(list(find(trace, Executed))) == len(list(find(trace, Returned))) == 2


@pytest.mark.parametrize("error", ERRORS, ids=lambda make: type(make()).__name__)
def test_we_inject_it_and_the_own_tool_raises_it_are_the_same(
    kit: Kit, error: Callable[[], BaseException]
) -> None:
    for kind in kit.kinds:
        plain = plainly(kit, [reader(kind, error())], one_by_one(kit))
        gated, trace = behind_the_gate(kit, [reader(kind)], one_by_one(kit), [raising(error())])
        assert len(list(find(trace, Injected))) == 1
        if type(error()).__name__ not in kit.unequal:
            assert gated == plain, kind


def test_parallel_calls_keep_their_ids_when_one_fails(kit: Kit) -> None:
    if not kit.parallel:
        pytest.skip(f"{kit} carries out one call after the other")
    for kind in kit.kinds:
        rule = raising(ConnectionResetError(104, "reset"), Rule("tool_exception", target="b.csv"))
        gated, trace = behind_the_gate(
            kit, [reader(kind)], [reads(kit, "a.csv", "b.csv", "c.csv")], [rule], seated=True
        )
        orders = {body.args[kit.argument]: body.order for _, body in find(trace, Called)}
        assert set(orders) <= {"a.csv", "b.csv", "c.csv"}
        assert all(order is not None for order in orders.values()), "the model's order is known"
        assert [p for p, _ in sorted(orders.items(), key=lambda item: item[1] or (0, 0))] == sorted(orders)
        told = json.dumps(gated.requests[-1])
        assert told.count("text of a.csv") == told.count("text of c.csv") <= 1


def test_the_end_of_the_trial_is_recorded_on_open_calls(kit: Kit) -> None:
    """A call that never ends is cut when nothing else is left to wait for, and the trace says so."""

    async def hang(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    for kind in kit.kinds:
        _, trace = behind_the_gate(kit, [reader(kind)], one_by_one(kit), [Planned(Rule("timeout"), hang)])
        closed = [b.call for _, b in find(trace, Returned)] + [b.call for _, b in find(trace, Abandoned)]
        assert sorted(closed) == sorted(b.call for _, b in find(trace, Called))
        (finished,) = [body for _, body in find(trace, Finished)]
        assert finished.end in ("hung", "stopped", "answered", "raised")
        assert list(find(trace, Abandoned))


def test_nothing_stays_patched(kit: Kit) -> None:
    """The same object, run by itself after a trial, does what a fresh one does."""
    kind = kit.kinds[0]
    wire = Wire(one_by_one(kit))
    agent = kit.build([reader(kind)], wire)
    _, trace = tried(agent, wire, [raising(ValueError("x"))], kit.modelless)
    assert len(list(find(trace, Injected))) == 1
    assert played(kit, agent, wire) == plainly(kit, [reader(kind)], one_by_one(kit))


def test_two_trials_in_one_process_do_not_influence_each_other(kit: Kit) -> None:
    for kind in kit.kinds:
        wire = Wire(one_by_one(kit))
        agent = kit.build([reader(kind)], wire)
        tried(agent, wire, [raising(ValueError("x"))], kit.modelless)
        fresh, _ = behind_the_gate(kit, [reader(kind)], one_by_one(kit))
        assert tried(agent, wire, (), kit.modelless)[0] == fresh


@pytest.mark.slow
def test_a_tool_that_blocks_for_ever_is_cut_by_the_watchdog(kit: Kit, tmp_path: Path) -> None:
    """No time limit of an event loop reaches a thread: the trial's process is ended, with a verdict."""
    if "sync" not in kit.kinds:
        pytest.skip(f"{kit} takes no tool that could block a thread")
    if kit.role != "read":
        pytest.skip(
            f"{kit} has a tool of its own, whose commands run in a process, and not one that could block"
        )
    agent = tmp_path / "blocked.py"
    agent.write_text(BLOCKED.format(kit=kit.name.replace("-", "_")))
    done = forge_chaos(
        *("run", "--agent", f"{agent}:agent", "--scenarios", "sum_orders"),
        *("--plan", "silent_noop@1", "--out", str(tmp_path / "run"), "--json"),
    )
    assert done.returncode == 2, done.stderr
    (skipped,) = json.loads(done.stdout)["skipped"]
    assert f"the agent fails it without any fault: {kit.blocked}: " in skipped["why"]


@pytest.mark.slow
def test_the_stock_loop_runs_scenarios_under_every_named_class(kit: Kit) -> None:
    """A few of them, as many as the classes need; `forge-chaos run --agent framework:NAME` plays all."""
    done = forge_chaos(
        "run", "--agent", f"framework:{kit.name}", "--scenarios", "sum_orders,remove_cache", "--json"
    )
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    assert {each["fault"] for each in told["classes"]} == NAMED
    for each in told["classes"]:
        assert each["fired"] > 0, each
        assert each["outcomes"].get("invalid", 0) == 0, each


@pytest.mark.slow
def test_a_stock_agent_of_a_users_is_taken_as_it_is(kit: Kit) -> None:
    """By `--agent path.py:attribute`, without a change to the file."""
    if kit.stock is None:
        pytest.skip(f"{kit} has no stock file")
    source = HERE / kit.stock.partition(":")[0]
    text = source.read_text()
    assert "forge_chaos" not in text
    assert "https://" in text, "the page that it follows is named"
    done = forge_chaos(
        *("run", "--agent", str(HERE / kit.stock), "--scenarios", "sum_orders"),
        *("--faults", "missing_file,timeout", "--json"),
    )
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    assert [each["fired"] > 0 for each in told["classes"]] == [True, True]
    assert "invalid" not in done.stdout


def forge_chaos(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "forge_chaos", *words],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        check=False,
    )
