"""`forge-chaos serve --upstream`: the program, from its first line to its exit code."""

from __future__ import annotations

import json
import re
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from forge_chaos import tracefile
from forge_chaos.cli.forwarding import _summed_up
from forge_chaos.events import Asked, Finished, Injected, find
from tests.cli.door import door, started
from tests.cli.test_serving import _heard
from tests.modelserver.raw import answer, raw

LINE = re.compile(r"OPENAI_BASE_URL=(http://127\.0\.0\.1:\d+)/v1 ANTHROPIC_BASE_URL=\1\n")
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
CALL = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}
REPLY = {
    "id": "x",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
            "finish_reason": "tool_calls",
        }
    ],
}
WAIT = 60  # seconds


@contextmanager
def forwarding(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = started(folder, "serve", "--upstream", *words, restore_signals=True, preexec_fn=_heard)
    try:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], WAIT)[0], "it says nothing"
        line = process.stdout.readline()
        found = LINE.fullmatch(line)
        assert found is not None, line or process.communicate(timeout=WAIT)[1]
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()


def posted(url: str) -> tuple[int, bytes]:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=30)
    try:
        connection.request("POST", "/v1/chat/completions", BODY, {"authorization": "Bearer sk-of-mine"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@pytest.mark.slow
def test_it_ends_by_itself_and_says_what_fired_on_which_request(tmp_path: Path) -> None:
    plan = "bad_tool_call.broken_json@2..3,provider_error.overloaded@4"
    words = ("--plan", plan, "--requests", "4", "--trace", "trace.jsonl")
    with (
        raw([answer(json.dumps(REPLY).encode())]) as there,
        forwarding(tmp_path, there.url, *words) as (program, url),
    ):
        told = [posted(url) for _ in range(4)]
        out, err = program.communicate(timeout=WAIT)
    assert [status for status, _ in told] == [200, 200, 200, 529]
    assert told[0][1] == json.dumps(REPLY).encode()
    assert told[1][1] != told[0][1]
    assert (out, program.returncode) == ("", 0)
    assert err.splitlines() == [
        "fired: bad_tool_call.broken_json@2..3 on requests 2, 3",
        "fired: provider_error.overloaded@4 on request 4",
        "4 model requests came by.",
    ]
    text = (tmp_path / "trace.jsonl").read_text()
    trace = tracefile.loads(text)
    assert [body.request for _, body in find(trace, Injected)] == [2, 3, 4]
    assert len(list(find(trace, Asked))) == 4
    assert [body.end for _, body in find(trace, Finished)] == ["answered"]
    assert "sk-of-mine" not in text
    assert all(b"authorization: Bearer sk-of-mine" in sent for sent in there.asked)


@pytest.mark.slow
def test_ctrl_c_ends_it_and_a_rule_that_never_fired_is_exit_2(tmp_path: Path) -> None:
    with (
        raw([answer(b"{}")]) as there,
        forwarding(tmp_path, there.url, "--plan", "provider_error@2") as (program, url),
    ):
        assert posted(url) == (200, b"{}")
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=WAIT)
    assert program.returncode == 2
    assert err.splitlines() == ["never fired: provider_error@2", "1 model request came by."]


@pytest.mark.slow
def test_without_a_plan_it_only_watches(tmp_path: Path) -> None:
    with raw([b""]) as there, forwarding(tmp_path, f"{there.url}/v1", "--requests", "1") as (program, url):
        assert posted(url)[0] == 502
        _, err = program.communicate(timeout=WAIT)
    assert program.returncode == 0
    first, *rest = err.splitlines()
    assert re.fullmatch(r"forge-chaos: 127\.0\.0\.1:\d+ cannot be reached: .*", first)
    assert rest == ["1 model request came by."]


def test_a_mechanism_that_broke_is_exit_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert _summed_up((), (), ["a mechanism at the model seam: KeyError: 'x'"]) == 3
    assert "a mechanism at the model seam: KeyError: 'x'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("--upstream", "api.openai.com"),
            "'api.openai.com' is no address. It looks like https://api.openai.com/v1",
        ),
        (
            ("--upstream", "http://x.example", "--scenario", "sum_orders"),
            "--scenario and --upstream do not go together",
        ),
        (
            ("--upstream", "http://x.example", "--mcp", "http", "--window", "9"),
            "--window, --mcp and --upstream",
        ),
        (("--upstream", "http://x.example", "--plan", "timeout"), "this one is at the tool"),
        (("--upstream", "http://x.example", "--plan", "provider_eror"), "Did you mean 'provider_error'?"),
        (("--upstream", "http://x.example", "--plan", "bad_tool_call:read_file"), "so this can never fire"),
        (("--upstream", "http://x.example", "--trace", "no/where.jsonl"), "there is no folder no"),
        (("--upstream", "http://x.example", "--requests", "0"), "--requests"),
        (("--scenario", "sum_orders", "--requests", "3"), "--requests needs --upstream"),
        (("--scenario", "sum_orders", "--plan", "provider_error"), "by --upstream URL"),
        ((), "--scenario NAME"),
    ],
)
def test_a_mistake_is_told(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = door(tmp_path, "serve", *words)
    assert done.code == 4
    assert says in done.err
    assert done.out == ""
    assert "Traceback" not in done.err
