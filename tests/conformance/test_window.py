"""A context window: who shortens what does not fit gets over a refusal, who does not know of one is convicted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import campaign, reference
from forge_chaos.adapters.native import adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.campaign import Campaign, Options, outgrown
from forge_chaos.cli.running import windowed
from forge_chaos.errors import Misuse
from forge_chaos.events import Finished, find
from forge_chaos.executors.inline import inline
from forge_chaos.modelserver import wires
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.order import Order
from forge_chaos.store import Store
from tests.cli.door import door, write
from tests.modelserver.clients import TALKS, seat

SHOWN = 500  # characters of a result that are kept at either end
LARGE = "oversized_output:read_file(orders.csv)"


async def loop(ask: Any, task: Any, tools: Any, model: Any) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": task.prompt}]
    for _ in range(task.max_steps):
        reply = await ask(model, messages, tools.specs)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return str(reply["content"])
        for call in reply["tool_calls"]:
            text, _ = await reference.perform(tools, call)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return "FAILED: out of steps"


async def shortens(task: Any, tools: Any, model: Any) -> str:
    """Refused for its length, it leaves out the middle of the longest result, and asks again."""

    async def ask(model: Any, messages: list[dict[str, Any]], specs: Any) -> Any:
        while True:
            try:
                return await model.complete(messages, specs)
            except ProviderError as error:
                longest = max(messages[1:], key=lambda message: len(message["content"] or ""))
                text = longest["content"]
                if error.error.get("code") != "context_length_exceeded" or len(text) <= 3 * SHOWN:
                    raise
                mark = f"\n[of {len(text)} characters the middle is left out]\n"
                longest["content"] = text[:SHOWN] + mark + text[-SHOWN:]

    return await loop(ask, task, tools, model)


async def dies(task: Any, tools: Any, model: Any) -> str:
    """It does not know that a request can be refused."""

    async def ask(model: Any, messages: list[dict[str, Any]], specs: Any) -> Any:
        return await model.complete(messages, specs)

    return await loop(ask, task, tools, model)


def run(
    folder: Path, agent: Any, window: int | None, faults: str, scenarios: str = "sum_orders"
) -> campaign.Run:
    setup = Setup(agent="small:agent", window=window)
    home = Bench(Setup(window=window))
    bench = Bench(Setup(window=window), seat=adapter.seat(agent))
    try:
        options = Options(faults=faults, scenarios=scenarios)
        made = Campaign(setup, options, inline(bench), bench.hello(), home)
        made.check()
        with Store.create(folder, made.config()) as store:
            return made.run(store)
    finally:
        bench.close()
        home.close()


def ends(done: campaign.Run) -> set[str]:
    return {trial.judgement.outcome for trial in done.trials if trial.kind == "fault"}


def test_who_shortens_what_does_not_fit_gets_over_it(tmp_path: Path) -> None:
    done = run(tmp_path / "a", shortens, 2_000, LARGE)
    assert done.scorecard.exit == 0, done.scorecard.reasons
    assert "recovered" in ends(done)
    assert done.scorecard.rows[0].fired == 4


def test_who_does_not_know_of_it_is_convicted_and_without_a_window_is_not(tmp_path: Path) -> None:
    done = run(tmp_path / "a", dies, 2_000, LARGE)
    assert ends(done) == {"crashed"}
    assert "2000 tokens, but the messages came to" in done.trials[-1].judgement.why
    assert "crashed" not in ends(run(tmp_path / "b", dies, None, LARGE))


@pytest.mark.parametrize("agent", [shortens, dies, reference.agent])
def test_a_scenario_that_does_not_fit_by_itself_is_left_out_and_said_so(agent: Any, tmp_path: Path) -> None:
    done = run(tmp_path / "a", agent, 620, "timeout.raises", "sum_orders,read_version,plugin_question")
    left = {each.scenario: each.why for each in done.scorecard.skipped}
    assert set(left) == {"sum_orders", "read_version"}
    why = left["sum_orders"]
    assert why.startswith(
        "without any fault it does not fit into --window 620: the agent sent a request of 661 tokens"
    )
    assert "Name a larger window" in why
    assert "forge-chaos replay" in why


def test_where_nothing_fits_nothing_is_decided(tmp_path: Path) -> None:
    done = run(tmp_path / "a", dies, 10, "timeout.raises")
    assert done.scorecard.exit == 2
    assert done.scorecard.reasons == ("Nothing is left to test: every scenario was skipped.",)


def test_a_bad_end_that_is_not_the_window_s_is_told_as_before(tmp_path: Path) -> None:
    async def idles(task: Any) -> str:
        return "DONE"

    [left] = run(tmp_path / "a", idles, 5_000, "timeout.raises").scorecard.skipped
    assert left.why.startswith("the agent fails it without any fault")


@pytest.mark.slow
@pytest.mark.parametrize("talk", TALKS)
@pytest.mark.parametrize("streamed", [False, True])
def test_every_wire_refuses_in_its_own_form(talk: str, streamed: bool) -> None:
    """The official clients raise what their provider's refusal is to them."""
    bench = Bench(Setup(window=600), seat=seat(TALKS[talk], streamed))
    try:
        trace = bench.trace(Order("t", "sum_orders", (), 1, 0, "clean"))
    finally:
        bench.close()
    [finished] = [body for _, body in find(trace, Finished)]
    assert (finished.error or {})["type"] == "BadRequestError"
    assert (outgrown(trace, 600) or 0) > 600
    assert outgrown(trace, 601) is None


def test_other_refusals_are_not_taken_for_it() -> None:
    for wire in wires.WIRES:
        text = f"Error code: 400 - {wire.over(600, 661)['error']['message']}"
        assert wires.outgrown_by(text, 600) == 661
        assert wires.outgrown_by(text, 60) is None
    assert wires.outgrown_by("The maximum context length is reached: 600", 600) is None


def test_an_agent_that_is_asked_with_a_model_of_its_own_has_no_use_for_it() -> None:
    home = Bench(Setup(window=99))
    try:
        hello = {**home.hello(), "own_tools": {}, "agent": "shop:agent"}
        made = Campaign(
            Setup("shop:agent", window=99), Options(scenarios="sum_orders"), inline(home), hello, home
        )
        made.__dict__["scenarios"] = (replace(home.scenario("sum_orders", 1), solve=None),)
        with pytest.raises(Misuse, match=r"shop:agent is asked with its own. Leave --window out"):
            made.check()
    finally:
        home.close()


# --- on the command line --------------------------------------------------------------------------------------

WORDS = (
    "--scenarios",
    "sum_orders",
    "--faults",
    "oversized_output@1:read_file(orders.csv)",
    "--window",
    "2000",
)
SAME = "The trace is equal to the stored one."


def test_it_is_stored_with_a_run_and_holds_when_a_trial_is_run_again(tmp_path: Path) -> None:
    done = door(tmp_path, "run", *WORDS, "--json")
    assert done.code == 1
    what = done.result["failures"][0]["replay"].split()[-1]
    again = door(tmp_path, "replay", what)
    assert (again.code, again.last) == (1, SAME)
    wider = door(tmp_path, "replay", what, "--window", "90000")
    assert (wider.code, "The trace differs" in wider.out) == (0, True)
    run = done.result["run"]
    resumed = door(tmp_path, "run", "--resume", run, "--json")
    assert (resumed.code, resumed.result["trials"]) == (1, done.result["trials"])
    refused = door(tmp_path, "run", "--resume", run, "--window", "9")
    assert refused.code == 4
    assert "--window cannot be said again" in refused.err


def test_a_regression_file_may_state_it(tmp_path: Path) -> None:
    lines = ("version = 1", 'scenario = "sum_orders"', f"rules = ['{WORDS[3]}']", "window = 2000")
    write(tmp_path, {"a.chaos.toml": "\n".join(lines), "b.chaos.toml": "\n".join(lines[:-1])})
    codes = [door(tmp_path, "replay", *words).code for words in (["a.chaos.toml"], ["b.chaos.toml"])]
    assert codes == [1, 0]
    assert door(tmp_path, "replay", "a.chaos.toml", "--window", "90000").code == 0
    assert door(tmp_path, "replay", "b.chaos.toml", "--window", "2000").code == 1


def test_a_search_keeps_it_in_what_it_saves(tmp_path: Path) -> None:
    words = (*WORDS[:2], "--faults", "oversized_output", *WORDS[4:])
    done = door(tmp_path, "fuzz", *words, "--first", "--budget", "20", "--save", "kept")
    assert done.code == 1
    [file] = (tmp_path / "kept").iterdir()
    assert "window   = 2000\n" in file.read_text()
    assert door(tmp_path, *done.last.split()[1:]).code == 1


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--agent", "reference", "--window", "0"),
        ("fuzz", "--window", "nine"),
        ("replay", "a.chaos.toml", "--window", "-1"),
    ],
)
def test_a_window_is_a_number_of_tokens(words: tuple[str, ...], tmp_path: Path) -> None:
    done = door(tmp_path, *words)
    assert done.code == 4
    assert "--window" in done.err


def test_a_real_model_has_one_of_its_own() -> None:
    with pytest.raises(Misuse, match=r"--model openai:x has one of its own. Leave one of them out"):
        windowed(9, "openai:x")
    windowed(None, "openai:x")
    windowed(9, "scripted")
