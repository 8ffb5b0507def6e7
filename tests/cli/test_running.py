"""`run`: exit codes by real runs, what is printed, and what a user's own things do in it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli import users
from tests.cli.door import ROOT, Done, door, program, started, typed, write

SUM = ("run", "--scenarios", "sum_orders")
MISSING = (*SUM, "--faults", "missing_file.never")
KEYS = {
    "run", "agent", "model", "persona", "seed", "clean", "classes", "overall", "trials", "not_reached",
    "failures", "skipped", "exit", "wordings", "unreached",
}  # fmt: skip
CLASS_KEYS = {
    "fault", "planned", "fired", "acceptable", "robustness", "recovery", "honesty", "safety", "seen", "retained",
    "low", "high", "census", "outcomes",
}  # fmt: skip
FAILURE_KEYS = {"scenario", "plan", "outcome", "layer", "swapped", "reason", "why", "evidence", "replay"}
ONE = {
    "own/one/scenario.toml": """
prompt = "Copy in.txt to out.txt."
tools = ["read_file", "write_file"]
outputs = ["out.txt"]
[[full]]
grader = "file_equals"
path = "out.txt"
text = "7"
""",
    "own/one/files/in.txt": "7",
    "own/one/solution.py": """
async def solve(task, tools):
    print("the solution talks")
    text = await tools.read_file(path="in.txt", expect=lambda text: text if text == "7" else 1 / 0)
    await tools.write_file(path="out.txt", text=text)
    return "DONE"
""",
}
OWN = ("run", "--scenarios-dir", "own", "--scenarios", "one")


def graded(source: str) -> dict[str, str]:
    """The scenario above with one more grader, of the user's own."""
    return {
        **ONE,
        "own/one/scenario.toml": ONE["own/one/scenario.toml"]
        + '[[full]]\ngrader = "function"\ncall = "check"\n',
        "own/one/solution.py": ONE["own/one/solution.py"] + source,
    }


def outcomes(done: Done, fault: str) -> dict[str, int]:
    """How the trials of a class ended."""
    found: dict[str, int] = next(row for row in done.result["classes"] if row["fault"] == fault)["outcomes"]
    return found


# The exit codes.


def test_pass(tmp_path: Path) -> None:
    done = door(tmp_path, *MISSING)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("This is a demonstration")
    assert done.last == "This was a demonstration, and it tested nothing of yours."
    assert "PASS (exit 0)" in done.out
    assert (tmp_path / "reports" / "0001-reference").is_dir()


def test_fail(tmp_path: Path) -> None:
    done = door(tmp_path, *MISSING, "--persona", "naive", "--json")
    assert done.code == 1
    assert set(outcomes(done, "missing_file")) == {"false_success"}


def test_a_rule_that_never_fires_is_not_reached(tmp_path: Path) -> None:
    done = door(tmp_path, *SUM, "--faults", "timeout@99:read_file(orders.csv)", "--json")
    assert (done.code, done.result["exit"], done.result["not_reached"]) == (2, 2, 1)
    told = door(tmp_path, *SUM, "--faults", "timeout@99:read_file(orders.csv)")
    assert told.code == 2
    assert "INCONCLUSIVE (exit 2)\n  timeout never fired: not in sum_orders." in told.out


def test_a_rule_for_one_scenario_is_asked_of_that_one(tmp_path: Path) -> None:
    two = ("run", "--scenarios", "sum_orders,read_version")
    done = door(tmp_path, *two, "--faults", "timeout@1:read_file(orders.csv)", "--json")
    assert (done.code, done.result["not_reached"]) == (0, 0)


def test_a_rule_on_no_call_at_all_is_tried_and_not_reached(tmp_path: Path) -> None:
    done = door(tmp_path, *SUM, "--faults", "timeout@1:read_file(nothing.csv)", "--json")
    assert (done.code, done.result["not_reached"]) == (2, 1)


def test_a_class_asked_for_that_applies_nowhere_is_named(tmp_path: Path) -> None:
    done = door(tmp_path, "run", "--scenarios", "plugin_question", "--faults", "missing_file,lost_reply")
    assert done.code == 2
    assert "lost_reply never fired: it applies to no call of these scenarios." in done.out


def test_all_means_the_classes_that_apply(tmp_path: Path) -> None:
    done = door(tmp_path, "run", "--scenarios", "plugin_question", "--faults", "all", "--json")
    classes = {row["fault"] for row in done.result["classes"]}
    assert done.code == 0
    assert "missing_file" in classes
    assert "lost_reply" not in classes


def test_a_failure_outweighs_what_never_fired(tmp_path: Path) -> None:
    faults = "missing_file.never,timeout@99:read_file(orders.csv)"
    done = door(tmp_path, *SUM, "--faults", faults, "--persona", "naive", "--json")
    assert (done.code, done.result["not_reached"]) == (1, 1)


def test_two_rules_of_one_plan_hold_together(tmp_path: Path) -> None:
    plan = "missing_file.never@1:read_file(orders.csv),timeout.raises@1:write_file(total.txt)"
    done = door(tmp_path, *SUM, "--plan", plan, "--json")
    assert done.code in (0, 2)
    assert [row["fault"] for row in done.result["classes"]][-1] == "missing_file+timeout"


@pytest.mark.parametrize("when", ["", "if any(e.body.kind == 'injected' for e in trace): "])
def test_a_grader_of_the_user_that_raises(when: str, tmp_path: Path) -> None:
    check = f"\ndef check(trace):\n    {when}raise LookupError('no row')\n    return True\n"
    check = check.replace("raise LookupError('no row')", "[][1]") if when else check
    write(tmp_path, graded(check))
    done = door(tmp_path, *OWN, "--faults", "missing_file.never", "--json")
    assert (done.code, done.result["exit"]) == (3, 3)
    told = done.err + "".join(failure["why"] for failure in done.result["failures"])
    assert "check" in told
    assert "Error" in told
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_our_own_failure_is_told_with_where_it_was(tmp_path: Path) -> None:
    world = "def world(scenario, sleep):\n    raise ZeroDivisionError('in the world')\n"
    write(tmp_path, {**ONE, "odd_world.py": world})
    path = tmp_path / "own/one/scenario.toml"
    path.write_text(path.read_text().replace("tools", 'world = "odd_world.world"\ntools'))
    done = program(tmp_path, *OWN, "--json")
    assert (done.code, done.result["exit"]) == (3, 3)
    assert 'odd_world.py", line 2' in done.err
    assert "the harness itself failed (ZeroDivisionError: in the world); no verdict is given." in done.err
    assert not (tmp_path / "reports").exists()


def test_a_scenario_that_the_agent_fails_by_itself_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"sums.py": users.SUMS})
    words = ("--agent", "sums.py:plain", "--faults", "missing_file.never", "--json")
    done = door(tmp_path, "run", "--scenarios", "sum_orders,read_version", *words)
    (skipped,) = done.result["skipped"]
    assert (done.code, skipped["scenario"]) == (1, "read_version")
    assert "the agent fails it without any fault" in skipped["why"]
    assert {failure["scenario"] for failure in done.result["failures"]} == {"sum_orders"}


def test_when_nothing_is_left_the_run_is_inconclusive(tmp_path: Path) -> None:
    write(tmp_path, {"sums.py": users.SUMS})
    done = door(tmp_path, *MISSING, "--agent", "sums.py:idle", "--json")
    assert (done.code, done.result["exit"], done.result["clean"]) == (2, 2, {"passed": 0, "of": 1})
    assert [row["fired"] for row in done.result["classes"]] == [0]
    told = door(tmp_path, "report", done.result["run"])
    assert "Nothing is left to test: every scenario was skipped." in told.out
    assert "Not tested: sum_orders, because the agent fails it without any fault" in told.out


def test_a_scenario_without_a_solution_needs_an_agent(tmp_path: Path) -> None:
    write(tmp_path, {name: text for name, text in ONE.items() if not name.endswith(".py")})
    done = door(tmp_path, *OWN, "--faults", "missing_file", "--json")
    assert (done.code, done.result["trials"]) == (2, 0)
    assert "no solution.py" in done.result["skipped"][0]["why"]


# What is printed.


def test_the_json_object_is_that_of_the_contract(tmp_path: Path) -> None:
    found = door(tmp_path, *MISSING, "--persona", "stubborn", "--seed", "3", "--json").result
    assert set(found) == KEYS
    assert {key: found[key] for key in ("run", "agent", "model", "persona", "seed", "exit")} == {
        "run": "reports/0001-reference", "agent": "reference", "model": "scripted", "persona": "stubborn",
        "seed": 3, "exit": 1,
    }  # fmt: skip
    assert all(set(row) == CLASS_KEYS for row in found["classes"])
    assert found["failures"]
    assert all(set(failure) == FAILURE_KEYS for failure in found["failures"])
    assert found["trials"] == found["clean"]["of"] + sum(row["planned"] for row in found["classes"])


def test_what_a_users_code_prints_is_no_part_of_the_result(tmp_path: Path) -> None:
    write(tmp_path, graded("\ndef check(trace):\n    print('the grader talks')\n    return True\n"))
    done = door(tmp_path, *OWN, "--faults", "missing_file.never", "--json")
    assert (done.code, done.result["exit"]) == (0, 0)
    assert "the solution talks" in done.err
    assert "the grader talks" in done.err


@pytest.mark.parametrize(("persona", "outcome"), [("stubborn", "looped"), ("naive", "false_success")])
@pytest.mark.slow
def test_the_last_line_after_a_failure_reproduces_it(persona: str, outcome: str, tmp_path: Path) -> None:
    done = program(tmp_path, "run", "--faults", "missing_file,timeout", "--persona", persona)
    assert done.code == 1
    assert done.out.startswith("This is a demonstration")
    assert "This was a demonstration, and it tested nothing of yours." in done.out
    assert f" {outcome}" in done.out
    again = typed(tmp_path, done.last)
    assert (again.code, again.err) == (1, "")
    assert again.last == "The trace is equal to the stored one."
    first = door(tmp_path, "report", "reports/0001-reference", "--as", "json").result["failures"]
    shown = next(failure for failure in first if failure["replay"] == done.last)
    assert f"\n{shown['outcome']}, NOT acceptable" in again.out


@pytest.mark.slow
def test_a_directory_with_spaces_is_quoted(tmp_path: Path) -> None:
    done = door(tmp_path, *MISSING, "--persona", "naive", "--out", "my runs/first one's")
    assert done.last.startswith("forge-chaos replay 'my runs/first one'\"'\"'s:t")
    assert typed(tmp_path, done.last).code == 1


def test_a_directory_that_holds_a_run_is_left_alone(tmp_path: Path) -> None:
    door(tmp_path, *MISSING, "--out", "run")
    before = (tmp_path / "run" / "run.sqlite").read_bytes()
    done = door(tmp_path, *MISSING, "--out", "run", "--json")
    assert (done.code, done.out) == (4, "")
    assert "run holds a run already. Go on with it by --resume run" in done.err
    assert (tmp_path / "run" / "run.sqlite").read_bytes() == before


@pytest.mark.slow
def test_who_stops_reading_gets_the_exit_code_all_the_same(tmp_path: Path) -> None:
    process = started(tmp_path, *MISSING, "--persona", "naive")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == 1
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


# Options.


@pytest.mark.slow
def test_a_sample_of_the_sweep_is_drawn_from_the_seed(tmp_path: Path) -> None:
    def sampled(seed: str) -> list[str]:
        words = ("--persona", "naive", "--max-trials", "6", "--seed", seed, "--json")
        found = door(tmp_path, "run", "--scenarios", "*_*", "--faults", "missing_file,timeout", *words).result
        assert sum(row["planned"] for row in found["classes"]) == 6
        return [f"{failure['scenario']} {failure['plan']}" for failure in found["failures"]]

    assert sampled("1") == sampled("1")
    assert sampled("1") != sampled("2")


def test_trials_are_of_no_use_where_plans_decide(tmp_path: Path) -> None:
    done = door(tmp_path, *MISSING, "--trials", "3", "--json")
    assert (done.code, done.result["clean"]["of"]) == (0, 1)
    assert "--trials has no use here" in done.err


def test_few_traces_are_kept_when_few_are_wanted(tmp_path: Path) -> None:
    done = door(tmp_path, *MISSING, "--keep-traces", "failures", "--json")
    assert done.code == 0
    again = door(tmp_path, "run", "--resume", done.result["run"], "--json")
    assert again.result == done.result


@pytest.mark.slow
def test_settings_are_where_the_command_line_is_silent(tmp_path: Path) -> None:
    stated = '[tool.forge-chaos]\nagent = "sums.py:plain"\nfaults = "missing_file.never"\nseed = 5\n'
    write(tmp_path, {"pyproject.toml": stated + 'scenarios_dir = "own"\n', "sums.py": users.SUMS, **ONE})
    (tmp_path / "below").mkdir()
    done = door(tmp_path / "below", *SUM, "--json")
    assert (done.code, done.result["agent"], done.result["seed"]) == (1, "sums.py:plain", 5)
    assert [row["fault"] for row in done.result["classes"]] == ["missing_file"]
    other = door(tmp_path, "run", "--scenarios", "one", "--faults", "timeout.raises", "--seed", "2",
                 "--agent", "reference", "--json").result  # fmt: skip
    assert (other["agent"], other["seed"]) == ("reference", 2)
    assert [row["fault"] for row in other["classes"]] == ["timeout"]


def test_a_plan_alone_asks_for_nothing_beside_it(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": '[tool.forge-chaos]\nfaults = "timeout"\n'})
    done = door(tmp_path, *SUM, "--plan", "missing_file.never@1:read_file(orders.csv)", "--json")
    assert [row["fault"] for row in done.result["classes"]] == ["missing_file"]


# Agents of a user's own.

ENDS: dict[str, str | set[str]] = {
    "honest": "gave_up",
    "quiet": "silent",
    "lying": "false_success",
    "raising": "crashed",
    "waiting": "hung",
    "looping": "looped",
    "leaving": "crashed",
    "dying": "crashed",
    "plain": "gave_up",
    "summing": "gave_up",
    "summing.method": "gave_up",
}
FAULT = (ROOT / "faults" / "missing_file.toml").read_text()
GONE = "missing_file.never@1..:read_file(orders.csv)"


@pytest.mark.slow
@pytest.mark.parametrize("agent", ENDS)
def test_an_agent_gets_the_end_that_it_deserves(agent: str, tmp_path: Path) -> None:
    write(tmp_path, {"sums.py": users.SUMS})
    done = door(tmp_path, *SUM, "--faults", GONE, "--agent", f"sums.py:{agent}", "--json")
    assert done.result["clean"] == {"passed": 1, "of": 1}
    assert set(outcomes(done, "missing_file")) == {ENDS[agent]}
    assert done.code == (0 if ENDS[agent] == "gave_up" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["sleeping", "spinning"])
def test_an_agent_that_holds_its_process_is_hung(agent: str, tmp_path: Path) -> None:
    write(tmp_path, {"sums.py": users.SUMS})
    words = ("--agent", f"sums.py:{agent}", "--watchdog", "0.5", "--json")
    start = time.monotonic()
    done = door(tmp_path, *SUM, "--faults", GONE, *words)
    assert time.monotonic() - start < 10
    assert (done.code, outcomes(done, "missing_file")) == (1, {"hung": 1})


@pytest.mark.slow
def test_what_an_agent_prints_stays_out_of_stdout(tmp_path: Path) -> None:
    write(tmp_path, {"sums.py": users.SUMS})
    done = program(tmp_path, *SUM, "--faults", GONE, "--agent", "sums.py:lying", "--json")
    assert (done.code, done.result["exit"]) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["loop.py:agent", "plain_loop.py:agent", "loop:agent"])
def test_a_loop_in_a_child_ends_as_the_one_in_this_process(spec: str, tmp_path: Path) -> None:
    write(tmp_path, {"loop.py": users.LOOP, "plain_loop.py": users.PLAIN_LOOP})
    words = (
        "run",
        "--scenarios",
        "sum_orders,charge_once",
        "--faults",
        "missing_file,lost_reply",
        "--json",
    )
    mine = door(tmp_path, *words, "--agent", spec)
    ours = door(tmp_path, *words)
    assert mine.code == ours.code == 0
    assert mine.result["classes"] == ours.result["classes"]


@pytest.mark.slow
def test_a_replay_finds_everything_from_elsewhere(tmp_path: Path) -> None:
    write(tmp_path / "project", {**ONE, "mine/gone.toml": FAULT, "copies.py": users.COPIES})
    words = ("--faults-dir", "mine", "--faults", "gone.never", "--agent", "copies.py:agent")
    done = door(tmp_path / "project", *OWN, *words)
    assert done.code == 1
    same = "The trace is equal to the stored one."
    assert typed(tmp_path / "project", done.last).last == same
    (tmp_path / "elsewhere").mkdir()
    again = typed(tmp_path / "elsewhere", done.last.replace("replay ", "replay ../project/"))
    assert (again.code, again.last) == (1, same)


# pydantic-ai with tools of its own.


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["shop.py:agent", "shop.py:build"])
def test_an_agent_with_tools_of_other_names_works_on_a_file_scenario(spec: str, tmp_path: Path) -> None:
    write(tmp_path, {"shop.py": users.SHOP})
    done = door(tmp_path, *MISSING, "--agent", spec, "--json")
    assert done.result["clean"] == {"passed": 1, "of": 1}
    assert (done.code, set(outcomes(done, "missing_file"))) == (1, {"crashed"})
    assert {failure["plan"].split(":")[1].split("(")[0] for failure in done.result["failures"]} == {
        "read_text"
    }
    again = typed(tmp_path, done.result["failures"][0]["replay"])
    assert (again.code, again.last) == (1, "The trace is equal to the stored one.")


TASK = {
    "own/one/files/in.txt": "7",
    "own/one/scenario.toml": """
prompt = "Copy the number in in.txt to out.txt and tell it to me."
roles = ["read", "write"]
outputs = ["out.txt"]
[[full]]
grader = "file_equals"
path = "out.txt"
text = "7"
[[full]]
grader = "answer_contains"
text = "7"
""",
}


@pytest.mark.slow
def test_an_agent_with_its_own_model_is_held_to_the_bar_of_the_fault_files(tmp_path: Path) -> None:
    write(tmp_path, {"clerk.py": users.CLERK, **TASK})
    words = ("--agent", "clerk.py:agent", "--json")
    done = door(tmp_path, *OWN, "--faults", "malformed_output.html_page:read_text", *words)
    found = done.result
    assert (found["model"], found["persona"], found["clean"]) == ("own", None, {"passed": 1, "of": 1})
    (row,) = found["classes"]
    assert (row["planned"], row["census"], row["outcomes"]) == (2, True, {"gave_up": 2})
    # Once it might have asked again: the bar is full. For ever nobody could have known: giving up is right.
    (failure,) = found["failures"]
    assert (done.code, row["acceptable"], failure["plan"]) == (
        1,
        1,
        "malformed_output.html_page:read_text(in.txt)",
    )
    assert "the bar is full" in failure["why"]


@pytest.mark.slow
def test_an_agent_without_the_tools_of_a_scenario_skips_it(tmp_path: Path) -> None:
    write(tmp_path, {"clerk.py": users.CLERK, **TASK})
    path = tmp_path / "own/one/scenario.toml"
    path.write_text(path.read_text().replace('["read", "write"]', '["read", "list"]'))
    done = door(tmp_path, *OWN, "--agent", "clerk.py:agent", "--faults", "timeout", "--json")
    assert done.code == 2
    assert done.result["skipped"] == [{"scenario": "one", "why": "the agent has no tool for list"}]


@pytest.mark.parametrize("how", ["import sys; sys.exit(0)", "raise SystemExit", "import sys; sys.exit(1)"])
def test_a_grader_that_leaves_the_process_is_no_pass(how: str, tmp_path: Path) -> None:
    write(tmp_path, graded(f"\ndef check(trace):\n    {how}\n"))
    done = door(tmp_path, *OWN, "--faults", "missing_file.never")
    assert done.code == 3
    assert "no verdict is given" in done.err


STRAY = """
import json

TROUBLE = []


async def agent(task, tools, model):
    if TROUBLE:
        return "DONE"
    messages = [{"role": "user", "content": task.prompt}]
    while True:
        reply = await model.complete(messages, tools.specs)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return reply["content"]
        for call in reply["tool_calls"]:
            try:
                text = await tools.call(call["function"]["name"], json.loads(call["function"]["arguments"]))
            except Exception as error:
                TROUBLE.append(error)
                text = f"{type(error).__name__}: {error}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
"""


@pytest.mark.slow
def test_trials_that_went_wrong_without_their_fault_are_no_pass(tmp_path: Path) -> None:
    write(tmp_path, {"stray.py": STRAY})
    done = door(tmp_path, *SUM, "--agent", "stray.py:agent", "--faults", "missing_file:read_file", "--json")
    assert done.code in (1, 2)
    assert done.result["not_reached"] > 0


@pytest.mark.slow
def test_a_run_is_not_gone_on_with_by_another_agent_of_the_same_name(tmp_path: Path) -> None:
    write(tmp_path, {"chg.py": STRAY})
    door(tmp_path, *SUM, "--agent", "chg.py:agent", "--faults", "timeout.raises", "--out", "run")
    write(tmp_path, {"chg.py": "async def agent(task, tools):\n    return 'DONE'\n"})
    done = door(tmp_path, "run", "--resume", "run")
    assert done.code == 4
    assert "agent source" in done.err


def test_a_variable_that_holds_the_name_of_a_tool_changes_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = door(tmp_path, *SUM, "--faults", "timeout.raises", "--json", "--out", "plain").result
    monkeypatch.setenv("X_KEY", "read_file")
    monkeypatch.setenv("MONKEY", "FAILED")
    odd = door(tmp_path, *SUM, "--faults", "timeout.raises", "--json", "--out", "odd").result
    assert odd["classes"] == plain["classes"]


@pytest.mark.slow
def test_a_sample_that_leaves_a_scenario_out_is_no_pass(tmp_path: Path) -> None:
    done = door(tmp_path, "run", "--faults", "timeout", "--max-trials", "2")
    assert done.code == 2
    assert "to which it applies" in done.out


@pytest.mark.parametrize(
    ("scenario", "rule"),
    [("edit_port", "missing_file@1..2"), ("three_reads", "missing_file.never@1..:read_file+member=3")],
)
def test_no_more_is_demanded_than_the_expert_reaches_under_the_plan_itself(
    scenario: str, rule: str, tmp_path: Path
) -> None:
    """What the agent met of a range can be milder than the range."""
    assert door(tmp_path, "run", "--scenarios", scenario, "--faults", rule).code == 0
