"""Programs that a shell starts ask the gate first; one that no rule hits is what it would be without us."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from forge_chaos.events import SHELL
from forge_chaos.nouns import Call, Err, Ok, Result, Tool
from forge_chaos.worlds._disk import DiskWorkspace
from forge_chaos.worlds._shims import Shims, shims
from forge_chaos.worlds.files import files

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="shims need Linux"),
]
LIMIT = 60


class Gate:
    """A gate with one rule: what a call with this word in its arguments is told, in place of the program or after
    it has run."""

    def __init__(self, word: str = "", told: Result | None = None, after: bool = False) -> None:
        self.word, self.told, self.after = word, told, after
        self.hit: set[int] = set()
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.results: list[Result] = []
        self.left: list[int] = []

    async def __call__(self, name: str, args: Mapping[str, Any], tool: Tool, by: str = "") -> Result:
        assert by.startswith(SHELL)
        self.calls.append((name, args))
        number = len(self.calls)
        call = Call(number, name, dict(args))
        result: Result
        try:
            if self.word and self.word in str(args):
                self.hit.add(number)
                if self.after:
                    self.results.append(await tool(call))
                if self.told is None:
                    await asyncio.get_running_loop().create_future()
                result = self.told or Ok()
            else:
                result = await tool(call)
        except asyncio.CancelledError:
            self.left.append(number)
            raise
        self.results.append(result)
        return result


@asynccontextmanager
async def shimmed(gate: Gate, notes: list[Any] | None = None) -> AsyncIterator[tuple[Shims, DiskWorkspace]]:
    workspace = DiskWorkspace({"a.txt": b"one\ntwo\n", "in/b.txt": b"three\n"})
    try:
        note = (notes if notes is not None else []).append
        async with shims(workspace, files.specs, gate, (), note) as made:
            yield made, workspace
    finally:
        workspace.close()


async def shell(made: Shims, script: str, shell: str = "sh") -> tuple[int, bytes, str]:
    """(exit code, output, errors) of a script."""
    child = await asyncio.create_subprocess_exec(
        shell,
        "-c",
        script,
        cwd=made.workspace.root,
        env={**os.environ, **made.environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(child.communicate(), LIMIT)
    await made.settled()
    assert child.returncode is not None
    return child.returncode, out, err.decode()


def ran(script: str, gate: Gate | None = None, notes: list[Any] | None = None) -> tuple[int, bytes, str]:
    async def run() -> tuple[int, bytes, str]:
        async with shimmed(gate or Gate(), notes) as (made, _):
            return await shell(made, script)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("script", "exit", "out"),
    [
        ("cat a.txt | grep two | tr a-z A-Z", 0, b"TWO\n"),
        ("grep -q zzz a.txt", 1, b""),
        ("yes | head -n 2", 0, b"y\ny\n"),
        ("head -c 300000 /dev/zero | cat | wc -c", 0, b"300000\n"),
        ("printf '\\377\\000\\n' > raw; cat raw", 0, b"\xff\x00\n"),
        ("cd in && cat b.txt ../a.txt", 0, b"three\none\ntwo\n"),
        ("echo x | tee copy | cat - copy", 0, None),
        ("sort < a.txt; exit 7", 7, b"one\ntwo\n"),
        ("python3 -c 'import sys; sys.exit(5)'", 5, b""),
        ("echo 'cat a.txt' > s; chmod +x s; ./s", 0, b"one\ntwo\n"),
        ("env printf %s ok | xargs -n1 echo", 0, b"ok\n"),
    ],
)
def test_what_no_rule_hits_is_as_without_us(script: str, exit: int, out: bytes | None) -> None:
    code, said, err = ran(script)
    assert (code, err) == (exit, "")
    assert out is None or said == out


def test_an_interpreter_finds_its_own_home() -> None:
    ask = "import sys; print(sys.executable, sys.prefix, sys.flags.isolated)"
    bare = subprocess.run(["python3", "-c", ask], capture_output=True, check=True, timeout=LIMIT)
    assert ran(f"python3 -c '{ask}'") == (0, bare.stdout, "")


def test_each_program_is_one_call_of_the_tool_that_it_stands_for() -> None:
    gate = Gate()
    ran(
        "cat a.txt | grep -c o; ls in; sed -n 1p in/b.txt; sed -i s/o/0/ a.txt; test -e a.txt && echo built in",
        gate,
    )
    piped, rest = sorted(gate.calls[:2], key=str), gate.calls[2:]
    assert piped == [("read_file", {"path": "a.txt"}), ("run_command", {"command": "grep -c o"})]
    assert rest == [
        ("run_command", {"command": "ls in"}),
        ("read_file", {"path": "in/b.txt"}),
        ("run_command", {"command": "sed -i s/o/0/ a.txt"}),
    ]


def test_what_went_straight_to_its_caller_is_recorded_as_unknown_and_never_as_equal() -> None:
    gate = Gate()
    ran("cat a.txt; cat a.txt", gate)
    assert gate.results == [Ok("#1"), Ok("#2")]


@pytest.mark.parametrize(
    ("told", "script", "exit", "err"),
    [
        (Err("not_found", "No such file or directory: 'a.txt'"), "cat a.txt", 1, "cat: a.txt: No such file or directory\n"),
        (Err("not_found", "ENOENT"), "cat a.txt", 1, "cat: ENOENT\n"),
        (Err("blocked", "Operation not permitted"), "rm a.txt", 126, "rm: Operation not permitted\n"),
        (Err("timeout", "'run_command' timed out"), "rm a.txt", 124, "rm: 'run_command' timed out\n"),
        (Err("unknown_tool", "no such thing"), "rm a.txt", 127, "rm: no such thing\n"),
        (Err("connection", ""), "rm a.txt", 1, "rm: connection\n"),
    ],
)  # fmt: skip
def test_an_error_is_told_as_programs_tell_it_and_nothing_runs(
    told: Err, script: str, exit: int, err: str
) -> None:
    gate = Gate("a.txt", told)
    assert ran(f"{script}; code=$?; test -e a.txt && exit $code", gate) == (exit, b"", err)


@pytest.mark.parametrize(
    ("told", "script", "exit", "out"),
    [
        (Ok(""), "cat a.txt", 0, b""),
        (Ok("one\n"), "cat a.txt", 0, b"one\n"),
        (Ok("one\ntwo\n"), "cat a.txt", 0, b"one\ntwo\n"),
        (Ok("x\nexit code: 3"), "ls a.txt", 3, b"x"),
        (Ok("exit code: 0"), "ls a.txt", 0, b""),
        (Ok("a.txt\nexit code: 0"), "ls a.txt", 0, b"a.txt\n"),
        (Ok("x" * 200_000), "cat a.txt", 0, b"x" * 200_000),
    ],
)
def test_a_reply_that_a_rule_has_changed_is_what_is_printed(
    told: Ok, script: str, exit: int, out: bytes
) -> None:
    gate = Gate("a.txt", told, after=True)
    assert ran(script, gate) == (exit, out, "")
    assert gate.results[0] == Ok("one\ntwo\n" if script.startswith("cat") else "a.txt\nexit code: 0")


def test_a_program_whose_caller_does_not_wait_any_longer_leaves_the_call_open() -> None:
    gate = Gate("'sleep 9'", None)
    code, _, _ = ran("timeout 1 sleep 9; echo then", gate)
    assert code == 0
    assert gate.left == [2], gate.calls


def test_when_the_trial_is_over_who_still_asks_ends_at_once() -> None:
    async def run() -> int:
        async with shimmed(Gate("sleep", None)) as (made, workspace):
            child = await asyncio.create_subprocess_exec(
                "sh", "-c", "sleep 999; exit 3", cwd=workspace.root, env={**os.environ, **made.environment}
            )
            while not made._open:
                await asyncio.sleep(0.02)
        return await asyncio.wait_for(child.wait(), LIMIT)

    assert asyncio.run(run()) == 3


def test_a_program_that_is_nowhere_is_not_found_by_the_shell() -> None:
    gate = Gate()
    assert ran("no-such-program", gate)[0] == 127
    assert gate.calls == []


def test_what_speaks_to_a_door_of_ours_is_no_program_of_the_agents() -> None:
    gate = Gate()
    ran("echo http://127.0.0.1:1/mcp; printf '' | cat - http://127.0.0.1:1/mcp 2>&1 | wc -l", gate)
    assert gate.calls == [("run_command", {"command": "wc -l"})]


def test_an_absolute_path_is_found_out() -> None:
    notes: list[Any] = []
    gate = Gate()
    assert ran("/bin/cat a.txt > copy; # /bin/ls\n/bin/sleep 1; cat copy", gate, notes)[1] == b"one\ntwo\n"
    assert gate.calls == [("read_file", {"path": "copy"})]
    ((note),) = notes
    assert "/bin/cat" in {**note["started"], **dict.fromkeys(note["named"])}
    assert note["started"]["/bin/sleep"] == 1
    assert "/bin/ls" not in str(note)


def test_nothing_is_noted_where_everything_asked() -> None:
    notes: list[Any] = []
    ran("cat a.txt | sort | head -n 1; sleep 0.3; (sleep 0.3; ls) & wait", Gate(), notes)
    assert notes == []
    ran("cat a.txt; ls", Gate("a.txt", Ok("x"), after=True), notes)
    assert notes == []
