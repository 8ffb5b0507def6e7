"""missing_file: gone for the call, gone for the other tools while the rule holds, back after it."""

from __future__ import annotations

import asyncio

from forge_chaos import natural
from forge_chaos.mechanisms.absent import absent
from forge_chaos.nouns import Call, Err, Ok

from .env import Answers, Files, Trial, call, run

READ = call("read_file", path="data/orders.csv")


def world() -> Files:
    return Files({"data/orders.csv": "id\n1\n", "data/notes.txt": "x", "top.txt": "y"})


def test_the_last_hit_fails_alone_and_hides_nothing() -> None:
    files = world()
    trial = Trial("No such file or directory: 'data/orders.csv'", files.world, last=True)
    result = run(absent(READ, files.tools["read_file"], trial))
    assert result == Err("not_found", "No such file or directory: 'data/orders.csv'")
    assert trial.fired == [{"changed": [], "how": "hidden"}]
    assert files.ran == []
    assert files.names("data") == ["notes.txt", "orders.csv"]


def test_the_told_error_is_the_one_that_open_would_raise() -> None:
    result = run(absent(READ, Answers(""), Trial("No such file or directory: 'data/orders.csv'")))
    assert isinstance(result, Err)
    live = natural.exception(result, READ.target)
    assert isinstance(live, FileNotFoundError)
    assert (live.errno, live.filename) == (2, "data/orders.csv")
    assert str(live) == "[Errno 2] No such file or directory: 'data/orders.csv'"


def test_while_the_rule_holds_no_tool_finds_the_path_and_the_last_hit_gives_it_back() -> None:
    files = world()
    first, second, third = Trial("", files.world), Trial("", files.world), Trial("", files.world, last=True)
    run(absent(READ, files.tools["read_file"], first))
    assert files.names("data") == ["notes.txt"]
    natural_error = run(files.tools["read_file"](READ))
    assert isinstance(natural_error, Err)
    assert natural_error.code == "not_found"
    run(absent(READ, files.tools["read_file"], second))
    assert files.names("data") == ["notes.txt"]
    run(absent(READ, files.tools["read_file"], third))
    assert run(files.tools["read_file"](READ)) == Ok("id\n1\n")
    assert [t.fired[0]["changed"] for t in (first, second, third)] == [["data/orders.csv"], [], []]
    assert files.world.touched() == ()  # none of it is the agent's doing


def test_a_directory_stands_in_its_place() -> None:
    files = world()
    trial = Trial("Is a directory: 'data/orders.csv'", files.world)
    result = run(absent(READ, files.tools["read_file"], trial, errno="EISDIR", how="directory"))
    assert isinstance(result, Err)
    assert isinstance(natural.exception(result, READ.target), IsADirectoryError)
    assert files.names("data") == ["notes.txt", "orders.csv/"]
    told = run(files.tools["read_file"](READ))
    assert isinstance(told, Err)
    assert told.code == "is_directory"
    run(
        absent(
            READ, files.tools["read_file"], Trial("", files.world, last=True), errno="EISDIR", how="directory"
        )
    )
    assert run(files.tools["read_file"](READ)) == Ok("id\n1\n")


def test_renamed_lies_beside_under_a_near_and_free_name_and_stays_there() -> None:
    files = Files({"data/orders.csv": "id\n1\n", "data/orders_v2.csv": "another"})
    trial = Trial("", files.world)
    run(absent(READ, files.tools["read_file"], trial, how="renamed"))
    assert files.names("data") == ["orders_v2.csv", "orders_v3.csv"]
    assert files.workspace.read("data/orders_v3.csv") == b"id\n1\n"
    assert trial.fired[0]["changed"] == ["data/orders.csv", "data/orders_v3.csv"]
    assert files.world.touched() == ()
    run(absent(READ, files.tools["read_file"], Trial("", files.world, last=True), how="renamed"))
    assert files.names("data") == ["orders_v2.csv", "orders_v3.csv"]


def test_healing_undoes_hiding_and_renaming() -> None:
    async def trial() -> None:
        for how in ("hidden", "renamed", "directory"):
            files = world()
            env = Trial("", files.world, heal=7.0)
            await absent(READ, files.tools["read_file"], env, how=how)
            assert files.names("data") != ["notes.txt", "orders.csv"]
            await env.pass_time(6.0)
            assert files.names("data") != ["notes.txt", "orders.csv"]
            await env.pass_time(1.0)
            assert files.names("data") == ["notes.txt", "orders.csv"]

    asyncio.run(trial())


def test_a_renamed_file_is_not_moved_back_over_what_the_agent_wrote() -> None:
    async def trial() -> None:
        files = world()
        env = Trial("", files.world, heal=7.0)
        await absent(READ, files.tools["read_file"], env, how="renamed")
        files.workspace.write("data/orders.csv", b"mine")
        await env.pass_time(7.0)
        assert files.workspace.read("data/orders.csv") == b"mine"

    asyncio.run(trial())


def test_appears_later_is_gone_after_its_only_hit_until_its_time() -> None:
    async def trial() -> None:
        files = world()
        env = Trial("", files.world, last=True)
        await absent(READ, files.tools["read_file"], env, appears=5.0)
        assert isinstance(await files.tools["read_file"](READ), Err)
        await env.pass_time(4.0)
        assert isinstance(await files.tools["read_file"](READ), Err)
        await env.pass_time(1.0)
        assert await files.tools["read_file"](READ) == Ok("id\n1\n")

    asyncio.run(trial())


def test_a_missing_parent_takes_everything_in_it() -> None:
    files = world()
    trial = Trial("", files.world)
    run(absent(READ, files.tools["read_file"], trial, of="parent"))
    assert files.names() == ["top.txt"]
    assert trial.fired[0]["changed"] == ["data/notes.txt", "data/orders.csv"]
    run(absent(READ, files.tools["read_file"], Trial("", files.world, last=True), of="parent"))
    assert files.names("data") == ["notes.txt", "orders.csv"]


def test_a_target_that_the_workspace_does_not_have_just_fails() -> None:
    files = world()
    for target in ("O1002", "/etc/hosts", "../up", "a\0b"):
        for last in (False, True):
            for how in ("hidden", "renamed", "directory"):
                trial = Trial("gone", files.world, last=last)
                asked = Call(1, "read_file", {"path": target}, target)
                result = run(absent(asked, files.tools["read_file"], trial, how=how))
                assert result == Err("not_found", "gone")
                assert trial.fired == [{"changed": [], "how": how}]
    assert files.names() == ["data/", "top.txt"]


def test_without_a_world_or_a_target_the_call_just_fails() -> None:
    tool = Answers("text")
    for asked, text in ((READ, "gone"), (Call(1, "read", {}, None), "")):
        trial = Trial("gone")
        assert run(absent(asked, tool, trial)) == Err("not_found", text)
        assert len(trial.fired) == 1
    assert tool.ran == 0


def test_the_workspace_itself_is_never_missing() -> None:
    files = world()
    trial = Trial("gone", files.world)
    search = call("search_files", path=".", pattern="y")
    assert run(absent(search, files.tools["search_files"], trial)) == Ok("top.txt:1: y")
    assert trial.fired == []
