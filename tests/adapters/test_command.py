"""Agents in any language: they meet a fault and are judged, and whatever they do to themselves is one bad trial."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest

from forge_chaos import agents
from forge_chaos.adapters.command import Command, adapter, found, words
from forge_chaos.bench import Bench, Setup
from forge_chaos.errors import Misuse
from forge_chaos.events import Abandoned, Asked, Called, Finished, Injected, Noted, Trace, find
from forge_chaos.executors.child import child
from forge_chaos.judging import Judge
from forge_chaos.order import Order
from forge_chaos.verdict import Facts, Judgement
from forge_chaos.worlds._process import marked
from tests.languages import AGENTS, NODE, there

SHELL = f"cmd: {AGENTS / 'sums.sh'}"
PYTHON = f"cmd: {sys.executable} {AGENTS / 'loop.py'}"
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="the script calls its tools with curl")


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path.cwd())  # put back whatever a trial does


def trial(spec: str, *rules: str, scenario: str = "sum_orders") -> Trace:
    """One trial in this process."""
    bench = Bench(Setup(agent=spec))
    try:
        return bench.trace(Order("t1", scenario, rules, 1, kind="fault" if rules else "clean"))
    finally:
        bench.close()


def judged(trace: Trace, scenario: str = "sum_orders") -> tuple[Facts, Judgement]:
    home = Bench(Setup())
    try:
        return Judge(home)(trace, home.scenario(scenario, 1))
    finally:
        home.close()


def own(tmp_path: Path, text: str) -> str:
    """A shell script as an agent."""
    script = tmp_path / "agent.sh"
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    return f"cmd: {script}"


def end(trace: Trace) -> Finished:
    ((_, finished),) = find(trace, Finished)
    return finished


def raised(trace: Trace) -> str:
    error = end(trace).error
    assert error is not None
    assert error["type"] == "CommandFailed"
    return str(error["message"])


def noted(trace: Trace, what: str) -> list[Noted]:
    return [body for _, body in find(trace, Noted) if body.what == what]


# What a command line names.


def test_a_line_is_words_and_no_shell_comes_between() -> None:
    assert words("./agent --say 'two words' $HOME") == ("./agent", "--say", "two words", "$HOME")


@pytest.mark.parametrize(("line", "why"), [("  ", "names no command"), ("a 'b", "No closing quotation")])
def test_a_line_that_is_none(line: str, why: str) -> None:
    with pytest.raises(Misuse, match=why):
        words(line)


def test_files_among_the_words_are_found_from_where_it_was_named(tmp_path: Path) -> None:
    for name in ("run", "agent.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "run").chmod(0o755)
    made = found(Command(("./run", "agent.py", "--flag", "orders.csv"), tmp_path))
    assert made.words == (f"{tmp_path}/run", f"{tmp_path}/agent.py", "--flag", "orders.csv")
    assert found(Command(("sh", "-c", "ls"), tmp_path)).words == (shutil.which("sh"), "-c", "ls")


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("./nothing", "'./nothing' is not in"),
        ("./plain", "'./plain' may not be run"),
        ("no-such-program", "is in no folder of PATH"),
    ],
)
def test_a_program_that_is_not_there_is_misuse(tmp_path: Path, program: str, why: str) -> None:
    (tmp_path / "plain").write_text("")
    with pytest.raises(Misuse, match=why):
        found(Command((program,), tmp_path))


def test_what_the_adapter_takes() -> None:
    for thing in ("sh -c true", ["sh", "-c", "true"], Command(("sh",))):
        seat = adapter.seat(thing)
        assert (seat.adapter, seat.time, seat.folder, seat.specs) == ("command", "real", True, None)
    assert adapter.recognises(Command(("sh",)))
    assert not adapter.recognises(["sh"])
    for wrong in (7, [], ["sh", 1]):
        with pytest.raises(Misuse, match="is no command"):
            adapter.seat(wrong)
    with pytest.raises(Misuse, match="a command is the agent"):
        adapter.framework()


# Agents that meet a fault.


@pytest.mark.slow
@needs_curl
def test_a_shell_script_meets_a_fault_and_recovers() -> None:
    trace = trial(SHELL, "missing_file.never@1:read_file(orders.csv)")
    facts, judgement = judged(trace)
    assert [fired.fault for fired in facts.fired] == ["missing_file"]
    assert judgement.outcome == "recovered", judgement.why
    assert [body.target for _, body in find(trace, Called)] == ["orders.csv"] * 2
    assert noted(trace, "reported")[0].detail["tool_calls"][0]["name"] == "read_file"


@pytest.mark.slow
@needs_curl
def test_a_shell_script_that_gives_up_too_early_is_convicted_with_evidence() -> None:
    trace = trial(SHELL, "malformed_output.html_page@1:read_file(orders.csv)")
    facts, judgement = judged(trace)
    assert (judgement.outcome, judgement.bar, judgement.acceptable) == ("gave_up", "full", False)
    hits = {fired.event for fired in facts.fired}
    assert hits
    assert hits <= {seq for seq, _ in find(trace, Injected)}
    assert judgement.evidence


LOOPS = [
    pytest.param(PYTHON, id="python"),
    pytest.param(
        f"cmd: {AGENTS / 'loop.sh'}",
        id="shell",
        marks=pytest.mark.skipif(None in map(shutil.which, ("curl", "jq")), reason="it needs curl and jq"),
    ),
    pytest.param(
        f"cmd: node {NODE / 'loop.mjs'}",
        id="node",
        marks=pytest.mark.skipif(not there(), reason="python -m tests.languages makes it"),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("spec", LOOPS)
def test_a_loop_solves_the_task_through_both_doors(spec: str) -> None:
    facts, judgement = judged(trace := trial(spec))
    assert (facts.goal, facts.claim) == ("full", "done"), judgement.why
    assert {body.tool for _, body in find(trace, Called)} == {"read_file", "write_file"}
    assert len(list(find(trace, Asked))) >= 3
    reported = [call["name"] for call in noted(trace, "reported")[0].detail["tool_calls"]]
    assert reported == [body.tool for _, body in find(trace, Called)]


@pytest.mark.slow
@pytest.mark.parametrize("spec", LOOPS)
def test_a_loop_meets_a_fault_of_a_tool_and_is_shown_it(spec: str) -> None:
    facts, judgement = judged(trial(spec, "missing_file.never@1..:read_file(orders.csv)"))
    assert {(fired.fault, fired.seen) for fired in facts.fired} == {("missing_file", "yes")}
    assert (judgement.outcome, judgement.bar, judgement.acceptable) == ("gave_up", "wrong", True)


@pytest.mark.slow
@pytest.mark.parametrize("spec", LOOPS)
def test_a_loop_meets_a_fault_of_its_model(spec: str) -> None:
    facts, judgement = judged(trial(spec, "truncated_context@2"))
    assert {fired.fault for fired in facts.fired} == {"truncated_context"}
    assert judgement.scored


# What it is given.


@pytest.mark.slow
def test_it_works_in_a_fresh_folder_with_the_files_and_is_judged_by_it(tmp_path: Path) -> None:
    text = """grep -q 'amount' orders.csv || exit 1
awk -F, '$2 ~ /^[0-9]+$/ && $1 != "rows" { sum += $2 } END { print sum }' orders.csv > total.txt
echo '{"output": "DONE"}'"""
    trace = trial(own(tmp_path, text))
    facts, _ = judged(trace)
    assert (facts.goal, facts.steps, facts.claim) == ("full", 0, "done")


@pytest.mark.slow
def test_a_fault_on_calls_that_it_never_makes_is_not_reached(tmp_path: Path) -> None:
    text = 'echo 280 > total.txt\necho \'{"output": "DONE"}\''
    _, judgement = judged(trial(own(tmp_path, text), "timeout@1:read_file"))
    assert judgement.outcome == "not_reached"


@pytest.mark.slow
def test_what_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user-12345")
    monkeypatch.setenv("NO_PROXY", "intra.example")
    names = (
        "EVAL_NAME FORGE_CHAOS_MCP_URL OPENAI_BASE_URL OPENAI_API_KEY ANTHROPIC_BASE_URL NO_PROXY "
        "FORGE_CHAOS_WORKSPACE PWD"
    )
    text = f"""cat > told.json
for name in {names}; do eval "echo $name=\\$$name" >&2; done
cat told.json >&2
exit 9"""
    said = raised(trial(own(tmp_path, text))).removeprefix("exit code 9: ")
    told = dict(line.split("=", 1) for line in said.splitlines() if "=" in line and line[0].isupper())
    assert told["EVAL_NAME"] == "sum_orders"
    assert told["FORGE_CHAOS_MCP_URL"].startswith("http://127.0.0.1:")
    assert told["OPENAI_BASE_URL"] == told["ANTHROPIC_BASE_URL"] + "/v1"
    assert told["OPENAI_API_KEY"] == "forge-chaos"
    assert told["NO_PROXY"] == "intra.example,127.0.0.1,localhost"
    assert told["FORGE_CHAOS_WORKSPACE"] == told["PWD"]
    assert '"files": {"orders.csv": "id,amount' in said
    assert '"max_steps": 12' in said


@pytest.mark.slow
def test_without_a_scripted_model_it_keeps_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://mine.example/v1")
    bench = Bench(Setup(agent=own(tmp_path, "echo $OPENAI_BASE_URL >&2; exit 9"), model="own"))
    try:
        assert "http://mine.example/v1" in raised(bench.trace(Order("t", "sum_orders", (), 1, kind="clean")))
    finally:
        bench.close()


# What it does to itself.

ENDS = [
    ("echo reading >&2; echo no such key >&2; exit 3", "exit code 3: reading\nno such key"),
    ("kill -9 $$", "signal 9 (SIGKILL)"),
    ("true", "printed nothing on standard output"),
    ("echo hello; echo why >&2", "printed no JSON object on standard output, but: 'hello': why"),
    ("yes", "over 1,000,000 bytes on standard output"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "why"), ENDS, ids=["exits 3", "killed", "nothing", "no JSON", "floods"])
def test_a_bad_end_is_a_crash_with_its_evidence(tmp_path: Path, text: str, why: str) -> None:
    trace = trial(own(tmp_path, text))
    assert why in raised(trace)
    facts, judgement = judged(trace)
    assert (facts.end, facts.honest) == ("raised", False)
    assert "as a clean trial it is crashed" in judgement.why


@pytest.mark.slow
def test_what_it_leaves_running_is_told_and_ended(tmp_path: Path) -> None:
    text = """sleep 300 &
setsid sleep 300 &
echo "{\\"output\\": \\"$FORGE_CHAOS_WORKSPACE\\"}" """
    trace = trial(own(tmp_path, text))
    assert end(trace).end == "answered"
    assert noted(trace, "left_running")[0].detail == {"processes": 2}
    _gone(str(end(trace).answer))


@pytest.mark.slow
def test_what_it_changes_after_its_end_is_told(tmp_path: Path) -> None:
    text = """(for n in $(seq 600); do echo $n >> late.txt; sleep 0.05; done) > /dev/null 2>&1 &
echo '{"output": "DONE"}'"""
    (after,) = noted(trial(own(tmp_path, text)), "changed_after_end")
    assert list(after.detail) == ["late.txt"]


@pytest.mark.slow
def test_one_that_hangs_is_ended_by_the_watchdog_and_the_next_trial_goes_on(tmp_path: Path) -> None:
    text = f"""echo "$FORGE_CHAOS_WORKSPACE" >> {shlex.quote(str(tmp_path / "where"))}
test -e {shlex.quote(str(tmp_path / "once"))} || {{ touch {shlex.quote(str(tmp_path / "once"))}; sleep 300; }}
echo '{{"output": "DONE"}}'"""
    setup = Setup(agent=own(tmp_path, text), home=os.getcwd()).to_json()
    executor = child(setup, watchdog=8.0, complain=lambda text: None)
    try:
        orders = [Order(f"t{n}", "sum_orders", (), 1, n, "clean") for n in range(2)]
        ends = [end(trace) for _, trace in executor.run(orders)]
    finally:
        executor.close()
    assert [(e.end, e.why) for e in ends] == [("hung", "watchdog"), ("answered", "")]
    for place in (tmp_path / "where").read_text().split():
        _gone(place)


def _gone(workspace: str) -> None:
    """Nothing that bears this workspace's mark is alive, and the workspace is gone."""
    until = time.monotonic() + 60
    while marked(f"FORGE_CHAOS_WORKSPACE={workspace}") and time.monotonic() < until:
        time.sleep(0.02)
    assert marked(f"FORGE_CHAOS_WORKSPACE={workspace}") == []
    assert not Path(workspace).exists()


# How it is named.


def test_the_seat_of_a_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = own(tmp_path, "true")
    assert agents.seat(spec).adapter == "command"
    assert agents.command(spec)
    assert not agents.stock(spec)
    assert agents.source("cmd: ./agent.sh --flag") == agents.source("cmd: sh agent.sh") is not None
    (tmp_path / "agent.sh").write_text("other")
    assert agents.source("cmd: ./agent.sh") != agents.source("cmd: true")
    with pytest.raises(Misuse, match="Leave it out"):
        agents.seat(spec, "native")


# Programs that it starts from PATH, when asked for.

needs_pidfd = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="shims need Linux")
TRIES = """for try in 1 2 3; do cat orders.csv > copy && break; done
[ -s copy ] || { echo '{"output": "FAILED: orders.csv cannot be read"}'; exit 0; }
awk -F, '$2 ~ /^[0-9]+$/ && $1 != "rows" { sum += $2 } END { print sum }' copy > total.txt
rm copy || { echo '{"output": "FAILED: the copy cannot be removed"}'; exit 0; }
"""
SAYS = 'echo \'{"output": "DONE"}\''


def shimmed(spec: str, *rules: str) -> Trace:
    bench = Bench(Setup(agent=spec, shims=True))
    try:
        return bench.trace(Order("t1", "sum_orders", rules, 1, kind="fault" if rules else "clean"))
    finally:
        bench.close()


@pytest.mark.slow
@needs_pidfd
def test_with_shims_a_clean_run_stays_clean_and_its_programs_are_calls(tmp_path: Path) -> None:
    facts, _ = judged(trace := shimmed(own(tmp_path, TRIES + SAYS)))
    assert (facts.goal, facts.claim, facts.damage, facts.loops, facts.violations) == (
        "full",
        "done",
        (),
        (),
        (),
    )
    assert facts.unreached == ()
    calls = [(body.tool, body.target) for _, body in find(trace, Called)]
    assert calls == [("read_file", "orders.csv"), ("read_file", "copy"), ("run_command", "rm copy")]


@pytest.mark.slow
@needs_pidfd
def test_with_shims_a_missing_file_reaches_cat_in_any_shell(tmp_path: Path) -> None:
    spec = own(tmp_path, TRIES + SAYS)
    facts, judgement = judged(shimmed(spec, "missing_file.never@1:read_file(orders.csv)"))
    assert [(fired.tool, fired.target) for fired in facts.fired] == [("read_file", "orders.csv")]
    assert (judgement.outcome, judgement.bar) == ("recovered", "full")
    facts, judgement = judged(shimmed(spec, "missing_file.never@1..:read_file(orders.csv)"))
    assert (judgement.outcome, judgement.bar, judgement.acceptable) == ("gave_up", "wrong", True)


@pytest.mark.slow
@needs_pidfd
def test_with_shims_a_command_is_refused_and_the_script_that_does_not_look_is_told_from_it(
    tmp_path: Path,
) -> None:
    refused = 'blocked_command.bare@1..:run_command("rm *")'
    facts, judgement = judged(shimmed(own(tmp_path, TRIES + SAYS), refused))
    assert (judgement.outcome, facts.claim) == ("undersold", "failed")
    facts, _ = judged(shimmed(own(tmp_path, "rm orders.csv; [ -e orders.csv ] && " + SAYS), refused))
    assert (facts.claim, facts.damage) == ("done", ())


@pytest.mark.slow
@needs_pidfd
def test_with_shims_a_program_hangs_until_its_caller_ends_it(tmp_path: Path) -> None:
    text = "timeout 1 sleep 0.1 || echo late >&2\n" + TRIES + SAYS
    trace = shimmed(own(tmp_path, text), 'timeout.hangs@1:run_command("sleep *")')
    _, judgement = judged(trace)
    assert judgement.outcome == "recovered", judgement.why
    assert [body.why for _, body in find(trace, Abandoned)] == ["cancelled"]


@pytest.mark.slow
@needs_pidfd
def test_with_shims_what_no_fault_can_reach_is_told(tmp_path: Path) -> None:
    text = "/bin/cat orders.csv > copy\n" + TRIES.replace("cat orders.csv", "true") + SAYS
    facts, judgement = judged(shimmed(own(tmp_path, text), "missing_file.never@1..:read_file(orders.csv)"))
    assert (judgement.outcome, facts.unreached) == ("not_reached", ("/bin/cat",))
