"""refuse: not done, with the reason, and with what it would have changed."""

from __future__ import annotations

import asyncio

from forge_chaos import natural
from forge_chaos.mechanisms.refuse import refuse
from forge_chaos.nouns import Call, Err, Scenario
from forge_chaos.ports import World
from forge_chaos.worlds.records import records

from .env import Answers, Files, Trial, call, run, spec


def world() -> Files:
    return Files({"lib/legacy/a.py": "", "lib/legacy/b.py": "", "lib/new.py": "", "notes.txt": ""})


def test_nothing_is_done_and_the_effect_is_all_below_the_target() -> None:
    files = world()
    trial = Trial("Permission denied: 'lib/legacy'", files.world, spec("delete_file"))
    asked = call("delete_file", path="lib/legacy")
    result = run(refuse(asked, files.tools["delete_file"], trial, code="permission"))
    assert isinstance(result, Err)
    live = natural.exception(result, asked.target)
    assert isinstance(live, PermissionError)
    assert str(live) == "[Errno 13] Permission denied: 'lib/legacy'"
    assert files.ran == []
    assert files.names("lib/legacy") == ["a.py", "b.py"]
    effect = trial.fired[0]["effect"]
    assert [path for path in effect if path != "lib/legacy"] == ["lib/legacy/a.py", "lib/legacy/b.py"]


def test_the_effect_of_a_write_is_its_target_though_it_is_not_there_yet() -> None:
    files = world()
    trial = Trial("no", files.world, spec("write_file"))
    run(refuse(call("write_file", path="out.txt", text="notes.txt and lib"), Answers(""), trial))
    assert trial.fired[0]["effect"] == ["out.txt"]


def test_the_effect_of_a_command_is_every_path_that_it_names() -> None:
    files = world()
    for command in ("rm -rf ./lib/legacy/ 'notes.txt'", 'rm -rf lib/legacy notes.txt "unclosed'):
        trial = Trial("no", files.world, spec("run_command"))
        run(refuse(call("run_command", command=command), Answers(""), trial))
        assert trial.fired[0]["effect"] == ["lib/legacy/a.py", "lib/legacy/b.py", "notes.txt"]


def test_a_command_may_be_a_list() -> None:
    trial = Trial("no", world().world, spec("run_command"))
    run(refuse(call("run_command", command="", argv=["rm", "notes.txt"]), Answers(""), trial))
    assert trial.fired[0]["effect"] == ["notes.txt"]


def test_without_a_world_the_effect_is_unknown() -> None:
    tool, trial = Answers("charged"), Trial("no")
    assert run(refuse(call("charge", id="O1"), tool, trial)) == Err("blocked", "no")
    assert tool.ran == 0
    assert trial.fired == [{"changed": [], "effect": []}]


def test_the_way_is_named_for_the_tool_and_in_general() -> None:
    ways = {"delete_file": "Use move_file.", "*": "Use another tool."}
    for tool, text in (("delete_file", "no. Use move_file."), ("other", "no. Use another tool.")):
        asked = call("delete_file", path="a")
        asked.tool = tool
        assert run(refuse(asked, Answers(""), Trial("no."), ways=ways)) == Err("blocked", text)


def test_a_bare_refusal_has_no_text_at_all() -> None:
    result = run(refuse(call("delete_file", path="a"), Answers(""), Trial("")))
    assert isinstance(result, Err)
    assert str(natural.exception(result, "a")) == "[Errno 1] Operation not permitted: 'a'"


def test_the_effect_of_a_move_is_both_ends() -> None:
    files = world()
    trial = Trial("no", files.world, files.world.specs["move_file"])
    asked = Call(1, "move_file", {"source": "lib/legacy", "destination": "old"}, "lib/legacy")
    run(refuse(asked, Answers(""), trial))
    assert trial.fired[0]["effect"] == ["lib/legacy/a.py", "lib/legacy/b.py", "old"]


def test_the_effect_on_a_record_is_its_resource() -> None:
    scenario = Scenario("t", "", world="records", records={"orders": {"O1": {"amount": 1}}})
    there: World = records(scenario, asyncio.sleep)
    trial = Trial("no", there, there.specs["update_record"])
    asked = Call(1, "update_record", {"table": "orders", "id": "O1", "fields": {"amount": 2}}, "O1")
    run(refuse(asked, there.tools["update_record"], trial))
    (resource,) = trial.fired[0]["effect"]
    assert resource in there.resources()
    assert there.resources()[resource] == {"amount": 1}
