from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import closing
from time import monotonic
from typing import Any

import pytest

from forge_chaos.clock import VirtualLoop
from forge_chaos.errors import Misuse
from forge_chaos.nouns import ROLES, Err
from forge_chaos.ports import World
from forge_chaos.worlds._ground import Ground
from forge_chaos.worlds.files import files
from tests.worlds.playing import ask, call, refused, scenario

FILES = {
    "orders.csv": b"id,amount\n1,5\n2,7\n",
    "notes/todo.txt": "één\ntwee\n".encode(),
    "latin.txt": "caf\xe9\n".encode("latin-1"),
    "empty.txt": b"",
}


def hello(args: list[str], workspace: Any) -> str:
    workspace.write("said.txt", " ".join(args).encode())
    return f"hello {' '.join(args)}"


def broken(args: list[str], workspace: Any) -> tuple[int, str]:
    return 3, "it broke\n"


def cat(args: list[str], workspace: Any) -> str:
    return str(workspace.read(args[0]).decode())


COMMANDS = {"hello": hello, "broken": broken, "cat": cat}


@pytest.fixture(params=["memory", "disk", "fake"])
def world(request: pytest.FixtureRequest) -> Iterator[Ground]:
    with closing(files(scenario(files=FILES, workspace=request.param), asyncio.sleep)) as made:
        yield made


@pytest.fixture
def memory() -> Ground:
    return files(scenario(files=FILES, commands=COMMANDS), asyncio.sleep)


@pytest.fixture
def disk() -> Iterator[Ground]:
    with closing(files(scenario(files=FILES, workspace="disk"), asyncio.sleep)) as made:
        yield made


def test_it_has_the_shape_of_a_world(world: Ground) -> None:
    shape: World = world
    assert set(shape.specs) == set(shape.tools) == set(files.specs)


def test_listing(world: Ground) -> None:
    assert call(world, "list_files") == '["empty.txt", "latin.txt", "notes/", "orders.csv"]'
    assert call(world, "list_files", path="notes") == '["todo.txt"]'
    with pytest.raises(NotADirectoryError, match=r"'orders\.csv'"):
        call(world, "list_files", path="orders.csv")


def test_reading(world: Ground) -> None:
    assert call(world, "read_file", path="orders.csv") == "id,amount\n1,5\n2,7\n"
    assert call(world, "read_file", path="orders.csv", offset=1, limit=1) == "1,5\n"
    assert call(world, "read_file", path="orders.csv", offset=2) == "2,7\n"
    assert call(world, "read_file", path="orders.csv", limit=1, offset=None) == "id,amount\n"
    assert call(world, "read_file", path="orders.csv", offset=9) == ""
    assert call(world, "read_file", path="empty.txt") == ""
    with pytest.raises(UnicodeDecodeError, match="can't decode byte 0xe9 in position 3"):
        call(world, "read_file", path="latin.txt")
    with pytest.raises(FileNotFoundError, match=r"^\[Errno 2\] No such file or directory: 'nope'$"):
        call(world, "read_file", path="nope")


def test_writing_and_appending_keep_every_character(world: Ground) -> None:
    assert (
        call(world, "write_file", path="out/total.txt", text="12\r\n\tü")
        == "wrote 6 characters to out/total.txt"
    )
    assert (
        call(world, "append_file", path="out/total.txt", text="!") == "appended 1 characters to out/total.txt"
    )
    assert call(world, "read_file", path="out/total.txt") == "12\r\n\tü!"
    assert world.touched() == ("out/total.txt",)
    assert world.resources()["out/total.txt"] == "12\r\n\tü!"
    assert world.resources()["latin.txt"] == b"caf\xe9\n"


def test_editing(world: Ground) -> None:
    assert (
        call(world, "edit_file", path="orders.csv", old="1,5", new="1,6")
        == "replaced 1 passage in orders.csv"
    )
    assert call(world, "read_file", path="orders.csv") == "id,amount\n1,6\n2,7\n"
    with pytest.raises(ValueError, match=r"does not stand in orders\.csv.*read the file"):
        call(world, "edit_file", path="orders.csv", old="1,5", new="x")
    with pytest.raises(ValueError, match=r"stands 3 times in orders\.csv"):
        call(world, "edit_file", path="orders.csv", old=",", new=";")
    with pytest.raises(ValueError, match="`old` is empty"):
        call(world, "edit_file", path="orders.csv", old="", new=";")


def test_moving_and_deleting(world: Ground) -> None:
    assert (
        call(world, "move_file", source="orders.csv", destination="old/o.csv")
        == "moved orders.csv to old/o.csv"
    )
    assert call(world, "delete_file", path="notes") == "deleted notes"
    assert call(world, "list_files") == '["empty.txt", "latin.txt", "old/"]'
    assert world.touched() == ("notes/todo.txt", "old/o.csv", "orders.csv")


def test_searching(world: Ground) -> None:
    assert call(world, "search_files", pattern=",") == "\n".join(
        ["orders.csv:1: id,amount", "orders.csv:2: 1,5", "orders.csv:3: 2,7"]
    )
    assert call(world, "search_files", pattern="twee", path="notes") == "notes/todo.txt:2: twee"
    assert call(world, "search_files", pattern="één", path="notes/todo.txt") == "notes/todo.txt:1: één"
    assert call(world, "search_files", pattern="(a+)+$") == "no line holds '(a+)+$'", "taken literally"
    with pytest.raises(FileNotFoundError):
        call(world, "search_files", pattern="x", path="nope")


def test_a_search_with_many_hits_is_cut_and_says_so() -> None:
    world = files(scenario(files={"big": b"x\n" * 1005}), asyncio.sleep)
    lines = call(world, "search_files", pattern="x").splitlines()
    assert (len(lines), lines[-1]) == (1001, "... and 5 lines more")


@pytest.mark.parametrize(
    ("tool", "args", "kind", "text"),
    [
        ("read_file", {}, TypeError, "missing required argument 'path'"),
        ("read_file", {"file": "a", "path": "a"}, TypeError, "unexpected argument 'file'"),
        ("read_file", {"path": 3}, TypeError, "'path' must be of type string, not integer"),
        ("read_file", {"path": None}, TypeError, "'path' must be of type string, not null"),
        ("read_file", {"path": ["a"]}, TypeError, "'path' must be of type string, not array"),
        (
            "read_file",
            {"path": "a", "limit": True},
            TypeError,
            "'limit' must be of type integer, not boolean",
        ),
        ("read_file", {"path": "a", "offset": -1}, ValueError, "'offset' must be at least 0, not -1"),
        (
            "read_file",
            {"path": "a\ud83d"},
            ValueError,
            "'path' is no text: it holds half of a surrogate pair",
        ),
        ("move_file", {}, TypeError, "missing required argument 'source', 'destination'"),
    ],
)
def test_wrong_arguments_name_what_is_accepted(
    world: Ground, tool: str, args: dict[str, Any], kind: type[Exception], text: str
) -> None:
    err = refused(world, tool, **args)
    assert err.code == "invalid_arguments"
    assert type(err.exception) is kind
    assert text in err.message
    accepted = world.specs[tool].parameters["properties"]
    assert all(f"{name} ({schema['type']}" in err.message for name, schema in accepted.items())


def test_commands_in_memory_are_the_scenarios_own_functions(memory: Ground) -> None:
    assert call(memory, "run_command", command="hello 'big world'") == "hello big world\nexit code: 0"
    assert memory.touched() == ("said.txt",)
    assert call(memory, "run_command", command="broken") == "it broke\nexit code: 3"
    assert (
        call(memory, "run_command", command="cat nope")
        == "cat: No such file or directory: nope\nexit code: 1"
    )
    assert call(memory, "run_command", command="ls -la") == "sh: ls: command not found\nexit code: 127"
    assert call(memory, "run_command", command="hello && hello").endswith("exit code: 2")
    assert call(memory, "run_command", command="hello 'x").endswith("exit code: 2")
    assert call(memory, "run_command", command="") == "exit code: 0"


def test_commands_on_disk_are_real(disk: Ground) -> None:
    assert call(disk, "run_command", command="cat notes/todo.txt; exit 4") == "één\ntwee\nexit code: 4"
    assert call(disk, "run_command", command="printf 12 > total.txt; rm -r notes") == "exit code: 0"
    assert disk.touched() == ("notes/todo.txt", "total.txt")


def test_a_command_sees_no_secret_no_terminal_and_no_absolute_path(
    disk: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sesame")
    assert "sesame" not in call(disk, "run_command", command="env")
    assert call(disk, "run_command", command="pwd; cat") == ".\nexit code: 0"
    assert call(
        disk, "run_command", command="ls $PWD/notes/*; echo $HOME $TMPDIR; touch $HOME/x $TMPDIR/y"
    ) == ("notes/todo.txt\n../home ../tmp\nexit code: 0")
    assert disk.touched() == (), "HOME and TMPDIR are no part of the workspace"


def test_a_command_past_its_time_gives_what_it_printed(disk: Ground) -> None:
    start = monotonic()
    err = refused(disk, "run_command", command="echo begun; sleep 60 & sleep 60", timeout=0.3)
    assert monotonic() - start < 3
    assert err.code == "timeout"
    assert err.message == "command timed out after 0.3 seconds and was killed. Output until then:\nbegun\n"
    assert disk.processes() == []
    assert refused(disk, "run_command", command="ls", timeout=0).code == "value"


def test_what_a_command_leaves_running_is_found_and_ended(disk: Ground) -> None:
    assert call(disk, "run_command", command="sleep 60 & echo left") == "left\nexit code: 0"
    assert len(disk.processes()) == 1
    disk.close()
    assert disk.processes() == []


def test_a_command_does_not_block_the_loop_and_time_does_not_leap_past_it(disk: Ground) -> None:
    loop = VirtualLoop()
    order: list[str] = []

    async def command() -> None:
        await ask(disk, "run_command", command="sleep 0.2")
        order.append("command")

    async def sleeper() -> None:
        order.append("beside it")
        await asyncio.sleep(30)
        order.append("sleeper")

    async def both() -> None:
        await asyncio.gather(command(), sleeper())

    try:
        loop.run_until_complete(both())
    finally:
        loop.close()
    assert order == ["beside it", "command", "sleeper"]


def test_a_cancelled_command_is_killed(disk: Ground) -> None:
    async def cancel() -> list[int]:
        task = asyncio.ensure_future(ask(disk, "run_command", command="sleep 60"))
        while not disk.processes():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return disk.processes()

    start = monotonic()
    assert asyncio.run(cancel()) == []
    assert monotonic() - start < 3


def test_check_command_runs_the_graders_python(world: Ground) -> None:
    call(
        world,
        "write_file",
        path="test_m.py",
        text="import unittest\nclass T(unittest.TestCase):\n def test(self): pass\n",
    )
    done = world.check_command(["python", "-m", "unittest", "test_m.py"], 20)
    assert done["exit"] == 0
    assert "Ran 1 test" in done["output"]
    assert world.check_command("python3 -c 'import hypothesis' && test ! -e __pycache__", 20)["exit"] == 0
    assert world.check_command(["false"], 5) == {"argv": ["false"], "exit": 1, "output": ""}
    assert world.check_command(["no-such"], 5)["exit"] == 127
    late = world.check_command("echo x; sleep 60", 0.2)
    assert (late["exit"], late["output"]) == (124, "x\n[timed out after 0.2 seconds]\n")


def test_only_the_tools_that_the_scenario_names() -> None:
    world = files(scenario(tools=("read_file", "list_files")), asyncio.sleep)
    assert list(world.tools) == list(world.specs) == ["read_file", "list_files"]
    by_role = files(scenario(roles=("effect", "execute")), asyncio.sleep)
    assert set(by_role.tools) == {"append_file", "run_command"}
    with pytest.raises(Misuse, match=r"scenario 'small': no tool 'read_flie'\. Did you mean 'read_file'\?"):
        files(scenario(tools=("read_flie",)), asyncio.sleep)


def test_specs_are_built_once_and_shared() -> None:
    one, two = (files(scenario(tools=("read_file",)), asyncio.sleep) for _ in range(2))
    assert one.specs is two.specs
    assert one.specs["read_file"] is files.specs["read_file"]


def test_a_setup_makes_the_files_in_every_workspace() -> None:
    def setup(folder: Any) -> None:
        (folder / "made").write_text((folder / "a").read_text() + "!")

    for kind in ("memory", "disk", "fake"):
        with closing(files(scenario(files={"a": b"1"}, workspace=kind, setup=setup), asyncio.sleep)) as world:
            assert world.resources() == {"a": "1", "made": "1!"}
            assert world.workspace.diff() == {}


def test_a_given_root_is_worked_in(tmp_path: Any) -> None:
    with closing(files(scenario(files=FILES), asyncio.sleep, tmp_path)) as world:
        call(world, "write_file", path="x", text="y")
    assert (tmp_path / "x").read_text() == "y"


def test_every_spec_says_what_it_must() -> None:
    roles = {name: set(spec.roles) for name, spec in files.specs.items()}
    assert roles == {
        "list_files": {"list"},
        "read_file": {"read"},
        "write_file": {"write"},
        "append_file": {"write", "effect"},
        "edit_file": {"write"},
        "move_file": {"write"},
        "delete_file": {"write"},
        "search_files": {"read"},
        "run_command": {"execute"},
    }
    for name, spec in files.specs.items():
        assert spec.name == name
        assert spec.roles <= set(ROLES)
        assert spec.target in spec.parameters["properties"]
        assert spec.parameters["additionalProperties"] is False
        assert json.loads(json.dumps(spec.openai()))["function"]["name"] == name
        if spec.roles & {"write", "effect"}:
            assert spec.returns
            assert spec.verify
            assert spec.settle > 0
    assert files.specs["move_file"].target == "source"
    assert files.specs["run_command"].target == "command"


CHANGES = [
    ("write_file", {"path": "notes/a b.txt", "text": " sum 5\n"}),
    ("append_file", {"path": "orders.csv", "text": "3,9\n"}),
    ("edit_file", {"path": "orders.csv", "old": "1,5", "new": "1,55"}),
    ("edit_file", {"path": "orders.csv", "old": "1,5\n", "new": ""}),
    ("move_file", {"source": "orders.csv", "destination": "o.csv"}),
    ("delete_file", {"path": "notes/todo.txt"}),
    ("delete_file", {"path": "notes/"}),
]


@pytest.mark.parametrize(("tool", "args"), CHANGES)
def test_a_change_is_read_back_after_it_and_not_before(
    world: Ground, tool: str, args: dict[str, Any]
) -> None:
    spec = world.specs[tool]
    assert spec.verify is not None
    assert spec.returns is not None

    def there() -> bool:
        assert spec.verify is not None
        found = asyncio.run(ask(world, spec.verify.tool, **spec.verify.asks(args)))
        return not isinstance(found, Err) and spec.verify.holds(args, found.value)

    assert not there()
    assert re.fullmatch(spec.returns, call(world, tool, **args))
    assert there()


def test_replies_that_are_no_good_ones_do_not_match_returns() -> None:
    for name, spec in files.specs.items():
        for reply in ("", "Error", "[Errno 2] No such file or directory: 'x'", "<html>502</html>", "null"):
            assert spec.returns is None or not re.fullmatch(spec.returns, reply), name
