"""What is asked before a model that costs money: a provider behind a proxy, which is ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forge_chaos.cli.paying import ASK, Consent, consent
from forge_chaos.errors import Inconclusive, Misuse
from tests.cli.door import environment, program
from tests.modelserver.loopback import Loopback

PAID = {"OPENAI_BASE_URL": "http://model.example/v1", "OPENAI_API_KEY": "sk-none-0"}
TASK = "sum_orders"
MANY = ("--scenarios", TASK, "--faults", "missing_file", "--model", "openai:x", "--trials", "40")
FEW = ("--scenarios", TASK, "--faults", "missing_file.never@1:read_file", "--model", "openai:x")


def test_nobody_is_asked_where_nobody_is_paid() -> None:
    for model in ("scripted", "own"):
        assert consent(model, False, {}) is None
    assert consent("openai:m", False, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}) is None
    assert isinstance(consent("openai:m", False, {}), Consent)


def test_the_number_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    agree = Consent("openai:m")
    agree(7)
    agree(9)
    out, err = capsys.readouterr()
    assert (out, err) == ("", "forge-chaos: about 7 trials with openai:m, which may cost money.\n")


def test_where_nobody_can_be_asked() -> None:
    Consent("openai:m")(ASK)
    Consent("openai:m", yes=True)(ASK + 1)
    with pytest.raises(Misuse, match=f"{ASK + 1} trials with a paid model need --yes; --max-trials N"):
        Consent("openai:m")(ASK + 1)
    underway = Consent("openai:m")
    underway(3)
    with pytest.raises(Inconclusive, match="need --yes"):  # what is there already is kept
        underway(ASK + 1)


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Callable[[Loopback], None]:
    def through(provider: Loopback) -> None:
        for name in ("ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "http_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {**PAID, "HTTP_PROXY": provider.url}.items():
            monkeypatch.setenv(name, value)

    return through


@pytest.mark.slow
def test_a_long_run_without_a_terminal_does_not_begin(
    proxied: Callable[[Loopback], None], tmp_path: Path
) -> None:
    with Loopback([TASK]) as provider:
        proxied(provider)
        done = program(tmp_path, "run", *MANY)
        assert provider.requests == []
    assert (done.code, done.out) == (4, "")
    assert "trials with a paid model need --yes; --max-trials N" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("words", [FEW, (*MANY[:-2], "--max-trials", "1")])
def test_a_short_one_says_its_number_and_runs(
    words: tuple[str, ...], proxied: Callable[[Loopback], None], tmp_path: Path
) -> None:
    with Loopback([TASK]) as provider:
        proxied(provider)
        done = program(tmp_path, "run", *words)
        assert provider.requests
        assert provider.headers[0]["host"] == "model.example"
    assert done.code == 0, done.err
    assert done.err == "forge-chaos: about 2 trials with openai:x, which may cost money.\n"


@pytest.mark.slow
def test_at_a_terminal_it_asks_and_no_is_no(proxied: Callable[[Loopback], None], tmp_path: Path) -> None:
    with Loopback([TASK]) as provider:
        proxied(provider)
        with _at_terminal(tmp_path, "n", *MANY) as running:
            out, err = running.communicate(timeout=60)
        assert provider.requests == []
    assert (running.returncode, out) == (2, "")
    assert "trials with openai:x? [y/N]" in err
    assert "stopped before" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_yes_begins_the_run(proxied: Callable[[Loopback], None], tmp_path: Path) -> None:
    with Loopback([TASK]) as provider:
        proxied(provider)
        with _at_terminal(tmp_path, "y", *MANY) as running:
            until = time.monotonic() + 60
            while not provider.requests and time.monotonic() < until:
                time.sleep(0.02)
            running.send_signal(signal.SIGINT)
            _, err = running.communicate(timeout=60)
        assert provider.requests
    assert running.returncode == 2
    assert "trials with openai:x? [y/N]" in err
    assert "Go on with: forge-chaos run --resume reports/0001-reference" in err


@contextmanager
def _at_terminal(folder: Path, answer: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The command just started, with a terminal on which the answer is typed."""
    ours, theirs = os.openpty()
    try:
        os.write(ours, f"{answer}\n".encode())
        with subprocess.Popen(
            [sys.executable, "-m", "forge_chaos", "run", *words],
            cwd=folder,
            env=environment(),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            try:
                yield running
            finally:
                running.kill()  # nothing to an ended one, and the end of one that should have
    finally:
        os.close(ours)
        os.close(theirs)
