"""Real models over real sockets: a provider on 127.0.0.1, first alone, then behind the whole command."""

from __future__ import annotations

import asyncio
import gc
import json
import shlex
import shutil
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import catalog, notation
from forge_chaos.bench import Bench, Setup, specs_of
from forge_chaos.errors import Misuse
from forge_chaos.events import Asked, Finished, Replied, Trace, find
from forge_chaos.modelserver import endpoint as module
from forge_chaos.modelserver.endpoint import Endpoint, endpoint, keyed, paid
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.order import Order
from forge_chaos.store import Store
from tests.cli.door import Done, program
from tests.modelserver.loopback import DROP, HANG, Loopback, Odd

ROOT = Path(__file__).parents[2]
SPECS = ["openai:m", "anthropic:m"]
KEY = "sk-test-123456"
TASK = "sum_orders"
REFUSAL = b'{"error": {"message": "slow down", "type": "rate_limit_error"}}'


def ask() -> dict[str, Any]:
    """The first request of a trial."""
    scenario = catalog.load(TASK, 1, [])
    tools = [spec.openai() for spec in specs_of(scenario).values()]
    return {"model": "ours", "messages": [{"role": "user", "content": scenario.prompt}], "tools": tools}


def using(model: str, provider: Loopback, work: Callable[[Endpoint], Awaitable[Any]]) -> Any:
    """What `work` makes of the endpoint, closed afterwards, on a loop of its own."""

    async def run() -> Any:
        asked = endpoint(model, provider.environment)
        try:
            return await work(asked)
        finally:
            await asked.close()

    return asyncio.run(run())


def reply(model: str, provider: Loopback, request: dict[str, Any] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = using(model, provider, lambda asked: asked(request or ask()))
    return found


# The specification, the key, the address.


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("openia:gpt", "Did you mean 'openai:gpt'?"),
        ("antropic:claude", "Did you mean 'anthropic:claude'?"),
        ("scriptd", "Did you mean 'scripted'?"),
        ("openai", "Did you mean 'openai:NAME'?"),
        ("openai:", "Did you mean 'openai:NAME'?"),
        ("gpt-4o", "no model 'gpt-4o'. Known"),
        ("", "no model ''"),
    ],
)
def test_what_is_no_model(model: str, meant: str) -> None:
    for read in (keyed, paid, endpoint):
        with pytest.raises(Misuse) as told:
            read(model, {"OPENAI_API_KEY": KEY})
        assert meant in str(told.value)
        assert "Known: scripted, own, openai:NAME, anthropic:NAME." in str(told.value)


def test_a_key_counts_for_its_own_provider() -> None:
    assert keyed("openai:m", {"OPENAI_API_KEY": KEY})
    assert not keyed("openai:m", {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": ""})
    assert keyed("anthropic:m", {"ANTHROPIC_API_KEY": KEY})
    with pytest.raises(Misuse, match="no key for 'anthropic:m': set ANTHROPIC_API_KEY in"):
        endpoint("anthropic:m", {"OPENAI_API_KEY": KEY})


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "127.1.2.3:1", "[::1]:9"])
def test_a_model_on_this_machine_is_not_paid_and_needs_no_key(host: str) -> None:
    here = {"OPENAI_BASE_URL": f"http://{host}/v1"}
    assert keyed("openai:m", here)
    assert not paid("openai:m", here)
    assert isinstance(endpoint("openai:m", here), Endpoint)


@pytest.mark.parametrize("host", ["api.example", "10.0.0.1", "localhost.example", "127.example"])
def test_any_other_is_paid_and_needs_one(host: str) -> None:
    there = {"OPENAI_BASE_URL": f"http://{host}/v1"}
    assert paid("openai:m", there)
    assert not keyed("openai:m", there)
    assert paid("openai:m", {})
    assert paid("anthropic:m", {})


@pytest.mark.parametrize("url", ["api.example/v1", "ftp://a/v1", "http://", "http://[::1", "http://a:b/"])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(Misuse, match="OPENAI_BASE_URL is no address"):
        endpoint("openai:m", {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY})


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} x", "sk-ключ"])
def test_what_is_no_key_is_told_without_showing_it(key: str) -> None:
    with pytest.raises(Misuse, match="OPENAI_API_KEY holds") as told:
        endpoint("openai:m", {"OPENAI_API_KEY": key})
    assert key.strip() not in str(told.value)


def test_a_key_is_not_part_of_any_text_about_it() -> None:
    assert KEY not in repr(module.place("openai:m", {"OPENAI_API_KEY": KEY}))


def test_without_httpx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(Misuse, match=r"pip install 'forge-chaos\[model\]'"):
        endpoint("openai:m", {"OPENAI_API_KEY": KEY})


# One request.


@pytest.mark.parametrize("model", SPECS)
def test_a_request_is_answered(model: str) -> None:
    with Loopback([TASK]) as provider:
        message = reply(model, provider)["choices"][0]["message"]
        assert message["tool_calls"][0]["function"]["name"] == "read_file"
        assert provider.requests[0]["model"] == "m"


def test_the_key_goes_where_the_provider_wants_it() -> None:
    with Loopback([TASK]) as provider:
        for model in SPECS:
            reply(model, provider)
        first, second = provider.headers
        assert first["authorization"] == f"Bearer {provider.environment['OPENAI_API_KEY']}"
        assert second["x-api-key"] == provider.environment["ANTHROPIC_API_KEY"]
        assert "authorization" not in second


def test_what_the_agent_says_beside_the_messages_is_sent_on() -> None:
    with Loopback([TASK]) as provider:
        reply("openai:m", provider, {**ask(), "temperature": 0, "seed": 7})
        assert provider.requests == [{**ask(), "model": "m", "temperature": 0, "seed": 7}]


def test_the_official_client_is_told_the_same() -> None:
    openai = pytest.importorskip("openai")
    with Loopback([TASK]) as provider:
        with openai.OpenAI(base_url=f"{provider.url}/v1", api_key="k", max_retries=0) as client:
            official = client.chat.completions.create(**{**ask(), "model": "m"})
        ours = reply("openai:m", provider)
        assert official.model_dump(exclude_unset=True) == ours
        assert provider.requests[0] == provider.requests[1]


def test_the_official_client_of_the_other_provider_is_told_the_same() -> None:
    anthropic = pytest.importorskip("anthropic")
    tools = [
        {"name": spec.name, "description": spec.description, "input_schema": dict(spec.parameters)}
        for spec in specs_of(catalog.load(TASK, 1, [])).values()
    ]
    with Loopback([TASK]) as provider:
        with anthropic.Anthropic(base_url=provider.url, api_key="k", max_retries=0) as client:
            official = client.messages.create(
                model="m", max_tokens=4096, messages=ask()["messages"], tools=tools
            )
        call = reply("anthropic:m", provider)["choices"][0]["message"]["tool_calls"][0]
        (block,) = official.content
        assert (block.id, block.name, block.input) == (
            call["id"],
            call["function"]["name"],
            json.loads(call["function"]["arguments"]),
        )


@pytest.mark.parametrize("model", SPECS)
@pytest.mark.parametrize("status", [301, 400, 401, 404, 429, 500, 529])
def test_a_refusal_is_raised_once_with_its_body(model: str, status: int) -> None:
    with Loopback([TASK], always=(status, REFUSAL)) as provider:
        with pytest.raises(ProviderError, match="slow down") as told:
            reply(model, provider)
        assert (told.value.status, told.value.body) == (status, REFUSAL)
        assert len(provider.requests) == 1


def test_a_status_counts_more_than_what_comes_with_it() -> None:
    body = b'{"choices": [{"message": {"role": "assistant", "content": "DONE"}}]}'
    with Loopback([TASK], odd=[(200, body), (503, body)]) as provider:
        assert reply("openai:m", provider)["choices"][0]["message"]["content"] == "DONE"
        with pytest.raises(ProviderError) as told:
            reply("openai:m", provider)
        assert told.value.status == 503


GARBAGE = [
    b"",
    b"{",
    b"<html>",
    b"\xff",
    b"[]",
    b"{}",
    b'{"choices": []}',
    b'{"choices": [{}], "content": "x"}',
    b'{"choices": [{"message": {"tool_calls": [{"id": "a"}]}}], "content": [1]}',
    b'{"choices": [{"message": {"tool_calls": {"id": "a"}}}]}',
    b'{"choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}]}}]}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("model", SPECS)
@pytest.mark.parametrize("body", GARBAGE, ids=range(len(GARBAGE)))
def test_what_is_no_completion_is_raised_as_a_refusal(model: str, body: bytes) -> None:
    with Loopback([TASK], always=(200, body)) as provider:
        with pytest.raises(ProviderError) as told:
            reply(model, provider)
        assert (told.value.status, told.value.body) == (200, body)


def test_a_dropped_connection() -> None:
    with Loopback([TASK], always=DROP) as provider:
        with pytest.raises(ConnectionError, match=r"127\.0\.0\.1"):
            reply("openai:m", provider)
        assert len(provider.requests) == 1


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    asked = endpoint("openai:m", {"OPENAI_BASE_URL": base})
    with pytest.raises(ConnectionError):
        asyncio.run(asked(ask()))


@pytest.mark.parametrize(("bound", "kind"), [("READ", "ReadTimeout"), ("WHOLE", "TimeoutError")])
def test_no_answer_in_time(bound: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("READ", "WHOLE"):
        monkeypatch.setattr(module, name, 0.2 if name == bound else 5.0)
    with Loopback([TASK], always=HANG) as provider, pytest.raises(TimeoutError, match=rf"in time \({kind}\)"):
        reply("openai:m", provider)


def test_the_bounds_leave_a_child_alive() -> None:
    assert max(module.CONNECT, module.READ) < module.WHOLE < module.WATCHDOG


@pytest.mark.parametrize("text", ["\ud800", float("nan")])
@pytest.mark.parametrize("model", SPECS)
def test_a_request_that_cannot_be_written_is_not_sent(model: str, text: Any) -> None:
    with Loopback([TASK]) as provider:
        with pytest.raises(ValueError, match=r"surrogates|JSON|only text"):
            reply(model, provider, {"messages": [{"role": "user", "content": text}]})
        assert provider.requests == []


def test_a_stream_is_refused_before_it_is_asked_for() -> None:
    with Loopback([TASK]) as provider:
        with pytest.raises(ProviderError, match="streaming") as told:
            reply("openai:m", provider, {**ask(), "stream": True})
        assert (told.value.status, provider.requests) == (400, [])


def test_a_proxy_does_not_stand_between_this_machine_and_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with Loopback([TASK]) as provider:
        assert reply("openai:m", provider)["choices"]


def test_one_client_a_loop_and_none_after_its_end() -> None:
    with Loopback([TASK]) as provider:
        asked = endpoint("openai:m", provider.environment)

        async def twice() -> None:
            await asked(ask())
            await asked(ask())
            await asked.close()
            await asked.close()

        for loops in (1, 2):
            asyncio.run(twice())
            assert provider.opened == loops
            assert _soon(lambda: provider.open == 0)


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # nobody can close what a dead loop held
def test_a_loop_that_died_takes_its_client_with_it() -> None:
    with Loopback([TASK]) as provider:
        asked = endpoint("openai:m", provider.environment)
        loop = asyncio.new_event_loop()
        loop.run_until_complete(asked(ask()))
        loop.close()

        async def once() -> None:
            await asked(ask())
            await asked.close()

        asyncio.run(once())
        assert provider.opened == 2
        gc.collect()


def _soon(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + 5
    while not true() and time.monotonic() < until:
        time.sleep(0.005)
    return true()


# Behind the bench: an agent, a gate, a trace.


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bench]]:
    # Late effects are no part of these trials, and here waiting for them takes real time.
    monkeypatch.setattr("forge_chaos.settling.SETTLE", 0.02)
    made: list[Bench] = []

    def make(provider: Loopback, **setup: Any) -> Bench:
        for name, value in provider.environment.items():
            monkeypatch.setenv(name, value)
        made.append(Bench(Setup(**{"model": "openai:m", **setup})))
        return made[-1]

    yield make
    for one in made:
        one.close()


def trial(bench: Bench, *rules: str, scenario: str = TASK) -> Trace:
    return bench.trace(Order("t", scenario, rules, 1, 0, "fault" if rules else "clean"))


def end(trace: Trace) -> Finished:
    ((_, finished),) = find(trace, Finished)
    return finished


@pytest.mark.parametrize("model", SPECS)
def test_the_reference_agent_works_with_a_real_model(model: str, bench: Callable[..., Bench]) -> None:
    with Loopback([TASK, "three_reads"]) as provider:
        made = bench(provider, model=model)
        for scenario in (TASK, "three_reads"):
            trace = trial(made, scenario=scenario)
            assert end(trace).end == "answered"
            assert end(trace).answer == "DONE"
        assert provider.opened == 1
        assert not made.deterministic
        assert made.hello()["time"] == "real"
        made.close()
        assert _soon(lambda: provider.open == 0)


REFUSALS: list[tuple[Odd, str]] = [
    ((429, REFUSAL), "ProviderError: Error code: 429 - slow down"),
    ((500, REFUSAL), "ProviderError: Error code: 500 - slow down"),
    ((400, REFUSAL), "ProviderError: Error code: 400 - slow down"),
    ((200, b"{oops"), "ProviderError: Error code: 200 - {oops"),
    (DROP, "ConnectionError: 127.0.0.1: Server disconnected without sending a response."),
]


@pytest.mark.parametrize(("odd", "text"), REFUSALS)
def test_trouble_with_the_provider_is_met_and_recorded(
    odd: Odd, text: str, bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forge_chaos.reference.PAUSE", 0.01)
    with Loopback([TASK], odd=[None, odd, odd]) as provider:
        trace = trial(bench(provider))
    assert [replied.error for _, replied in find(trace, Replied)][:4] == [None, text, text, None]
    assert end(trace).answer == "DONE"
    with Loopback([TASK], always=odd) as provider:
        trace = trial(bench(provider))
        assert len(provider.requests) == len(list(find(trace, Asked))) == 3
    assert (end(trace).end, end(trace).answer) == (
        "answered",
        f"FAILED: the model refused: {text.partition(': ')[2]}",
    )


def test_a_model_that_never_answers_is_stopped_at_the_deadline(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "scenarios" / TASK, tmp_path / "quick")
    file = tmp_path / "quick" / "scenario.toml"
    text = file.read_text()
    assert "[limits]" in text
    assert "seconds" not in text
    file.write_text(text.replace("[limits]", "[limits]\nseconds = 0.5"))
    with Loopback([TASK], always=HANG) as provider:
        made = bench(provider, scenarios_dirs=(str(tmp_path),))
        began = time.monotonic()
        trace = trial(made, scenario="quick")
        assert 0.5 <= time.monotonic() - began < 5
        assert (end(trace).end, end(trace).why) == ("stopped", "seconds")
        provider.always = None
        assert end(trial(made)).answer == "DONE"


def test_the_expert_needs_no_real_time_beside_a_real_model(bench: Callable[..., Bench]) -> None:
    with Loopback([TASK]) as provider:
        made = bench(provider)
        trial(made)
        asked = len(provider.requests)
        began = time.monotonic()
        rule = notation.parse("timeout.hangs@1..:read_file")
        trace = made.expert(made.scenario(TASK, 1), [made.resolve(notation.write(rule)).rule], 1)
        assert trace[-1].at > 30
        assert time.monotonic() - began < 5
        assert len(provider.requests) == asked
        trial(made)


def test_a_framework_that_speaks_the_wire_reaches_the_model(bench: Callable[..., Bench]) -> None:
    pytest.importorskip("pydantic_ai")
    with Loopback([TASK]) as provider:
        made = bench(provider, agent="framework:pydantic-ai")
        assert end(trial(made)).answer == "DONE"
        assert {request["model"] for request in provider.requests} == {"m"}
        provider.always = (400, REFUSAL)
        trace = trial(made)
        assert "slow down" in str(end(trace).error)
        assert end(trace).honest
        provider.always = DROP
        assert end(trial(made)).end == "raised"


def test_a_finished_agent_is_given_the_model_that_was_named(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    pytest.importorskip("pydantic_ai")
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    with Loopback([TASK]) as provider:
        made = bench(provider, agent=f"{file}:agent")
        assert made.own_tools
        trace = trial(made)
        assert end(trace).answer == "DONE"
        assert provider.requests
        assert list(find(trace, Asked))


OWN = '''
from pathlib import Path
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

agent = Agent(TestModel(custom_output_text="the wrong model"))


@agent.tool_plain
def read_file(path: str) -> str:
    """Read a file."""
    return Path(path).read_text()


@agent.tool_plain
def write_file(path: str, text: str) -> str:
    """Write a file."""
    Path(path).write_text(text)
    return f"wrote {len(text)} characters to {path}"


@agent.tool_plain
def list_files(path: str = ".") -> list[str]:
    """List a folder."""
    return sorted(p.name for p in Path(path).iterdir())
'''


# Behind the command.

FIVE = "sum_orders,three_reads,refund_batch,mail_report,edit_port"
SHORT = ("--scenarios", TASK, "--faults", "missing_file.never@1:read_file")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Done]:
    """The command in a folder of its own, with what a provider wants in its environment."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def command(*words: str, **environment: str) -> Done:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            return program(tmp_path, *words)

    return command


@pytest.mark.slow
def test_a_run_is_scored_with_an_interval(run: Callable[..., Done]) -> None:
    with Loopback(FIVE.split(",")) as provider:
        words = ("--scenarios", FIVE, *SHORT[2:], "--trials", "2", "--fail-under", "0.2", "--json")
        done = run("run", "--model", "openai:x", *words, **provider.environment)
        assert len(provider.requests) > 20
        assert {request["model"] for request in provider.requests} == {"x"}
    assert done.code == 0, done.err
    result = done.result
    (row,) = result["classes"]
    assert (result["model"], result["persona"], result["clean"]) == (
        "openai:x",
        None,
        {"passed": 10, "of": 10},
    )
    assert (row["census"], row["fired"], row["acceptable"]) == (False, 10, 10)
    assert 0.2 < row["low"] < row["high"] == 1


@pytest.mark.slow
def test_too_few_scenarios_decide_nothing(run: Callable[..., Done]) -> None:
    with Loopback([TASK]) as provider:
        words = ("run", "--model", "anthropic:x", *SHORT, "--trials", "2", "--fail-under", "0.2")
        done = run(*words, **provider.environment)
        assert len(provider.requests) > 8
    assert done.code == 2, done.err
    assert "an interval needs 5 scenarios" in done.out


@pytest.mark.slow
def test_an_agent_in_a_child_with_the_model_down(run: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("async def agent(task, model):\n    await model.complete([])\n")
    with Loopback([TASK], always=(500, REFUSAL)) as provider:
        done = run("run", "--agent", "mine.py:agent", "--model", "openai:x", *SHORT, **provider.environment)
        assert len(provider.requests) == 1
    assert done.code == 2
    assert "the agent fails it without any fault" in done.out
    assert "ProviderError: Error code: 500 - slow down" in done.out
    with Store.open(tmp_path / "reports" / "0001-mine-agent") as store:
        assert store.config["setup"]["watchdog"] == module.WATCHDOG


@pytest.mark.slow
def test_the_key_is_in_nothing_that_is_kept_or_printed(run: Callable[..., Done], tmp_path: Path) -> None:
    """The provider tells it in a refusal, and the model in its answer."""
    refusal = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    message = {"role": "assistant", "content": f"My key is {KEY}.\nDONE"}
    answer = json.dumps({"choices": [{"message": message}]}).encode()
    told: list[Odd] = [None, (400, refusal), (200, answer)]
    with Loopback([TASK]) as usual:
        run("run", "--model", "openai:x", *SHORT, "--out", "usual", **usual.environment)
        clean = _requests_of_the_clean_trial(tmp_path / "usual")
    with Loopback([TASK], odd=[*[None] * clean, *told]) as provider:
        environment = {**provider.environment, "OPENAI_API_KEY": KEY}
        done = run("run", "--model", "openai:x", *SHORT, "--out", "told", **environment)
        assert provider.headers[0]["authorization"] == f"Bearer {KEY}"
        replay = run(*shlex.split(done.last.partition("forge-chaos ")[2]), **environment)
    kinds = ("terminal", "json", "markdown", "junit")
    said = [done, replay, *(run("report", "told", "--as", kind) for kind in kinds)]
    with Store.open(tmp_path / "told") as store:
        trials = list(store.trials())
        traces = [repr(store.trace(one.id)) for one in trials]
    said += [run("show", f"told:{one.id}") for one in trials]
    assert "Incorrect API key provided: [redacted]" in traces[-1]
    assert "My key is [redacted]." in traces[-1]
    assert [one.facts.claim for one in trials] == ["done", "done"]
    kept = [file.read_bytes() for file in (tmp_path / "told").rglob("*") if file.is_file()]
    assert KEY not in "".join([*traces, repr(trials), *(one.out + one.err for one in said)])
    assert kept
    assert not any(KEY.encode() in data for data in kept)


def _requests_of_the_clean_trial(directory: Path) -> int:
    with Store.open(directory) as store:
        (clean,) = (one.id for one in store.trials() if one.kind == "clean")
        return len(list(find(store.trace(clean), Asked)))


@pytest.mark.slow
def test_a_model_from_dotenv_and_its_key_for_a_replay(run: Callable[..., Done], tmp_path: Path) -> None:
    with Loopback([TASK]) as provider:
        (tmp_path / ".env").write_text(
            f"FORGE_CHAOS_MODEL=openai:x\nOPENAI_BASE_URL={provider.url}/v1\nOPENAI_API_KEY={KEY}\n"
        )
        done = run("run", *SHORT, "--json")
        assert done.result["model"] == "openai:x"
        assert provider.headers[0]["authorization"] == f"Bearer {KEY}"
        with Store.open(Path(tmp_path / done.result["run"])) as store:
            ids = [one.id for one in store.trials()]
        provider.requests.clear()
        replay = run("replay", f"{done.result['run']}:{ids[-1]}")
        assert replay.code == 0, replay.err
        assert provider.requests
        assert provider.headers[-1]["authorization"] == f"Bearer {KEY}"


@pytest.mark.slow
def test_a_key_alone_chooses_no_model(run: Callable[..., Done]) -> None:
    with Loopback([TASK]) as provider:
        done = run("run", *SHORT, "--json", **provider.environment)
        assert (done.result["model"], provider.requests) == ("scripted", [])
        assert done.err == ""


@pytest.mark.slow
def test_a_model_without_a_key_is_played_by_the_script_and_that_is_said(
    run: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("FORGE_CHAOS_MODEL=openai:x\n")
    done = run("run", *SHORT, "--json", ANTHROPIC_API_KEY=KEY)
    assert (done.code, done.result["model"]) == (0, "scripted")
    assert "no key for 'openai:x' in the environment or .env; the scripted model plays" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "fuzz"])
def test_a_model_named_on_the_command_line_without_its_key_is_misuse(
    command: str, run: Callable[..., Done], tmp_path: Path
) -> None:
    done = run(command, *SHORT, "--json", "--model", "openai:x", ANTHROPIC_API_KEY=KEY)
    assert (done.code, done.out) == (4, "")
    assert "no key for 'openai:x': set OPENAI_API_KEY in the environment or .env." in done.err
    assert "Without --model the scripted model plays." in done.err
    assert not (tmp_path / "reports").exists()


@pytest.mark.slow
def test_a_run_that_was_made_with_a_key_is_not_gone_on_with_without(run: Callable[..., Done]) -> None:
    with Loopback([TASK]) as provider:
        done = run("run", "--model", "anthropic:x", *SHORT, "--json", **provider.environment)
    resumed = run("run", "--resume", done.result["run"])
    assert resumed.code == 4
    assert "no key for 'anthropic:x': set ANTHROPIC_API_KEY" in resumed.err


@pytest.mark.slow
def test_a_word_that_is_no_model_is_misuse(run: Callable[..., Done]) -> None:
    done = run("run", *SHORT, "--model", "openia:x", OPENAI_API_KEY=KEY)
    assert (done.code, done.out) == (4, "")
    assert "Did you mean 'openai:x'?" in done.err
