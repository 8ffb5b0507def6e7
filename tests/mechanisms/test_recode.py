"""recode: the same bytes, damaged or misread."""

from __future__ import annotations

import pytest

from forge_chaos.mechanisms.recode import recode
from forge_chaos.nouns import Err, Ok

from .env import Answers, Trial, call, run

READ = call("read_file", path="a.txt")


def recoded(answer: str, **params: str) -> str:
    trial = Trial()
    result = run(recode(READ, Answers(answer), trial, **params))  # type: ignore[arg-type]  # as from a file
    assert isinstance(result, Ok)
    assert len(trial.fired) == 1
    return str(result.value)


def test_nul_and_invalid_bytes_read_with_replacement() -> None:
    assert recoded("id,amount", before="00ff") == "\x00\ufffdid,amount"


def test_an_escaped_byte_is_a_lone_surrogate_that_utf8_cannot_hold() -> None:
    text = recoded("id,amount", before="ff", errors="surrogateescape")
    assert text == "\udcffid,amount"
    with pytest.raises(UnicodeEncodeError):
        text.encode()


def test_utf8_read_as_windows_1252_is_mojibake_in_ascii_text_too() -> None:
    assert recoded("café", before="efbbbf", encoding="cp1252") == "ï»¿cafÃ©"
    assert recoded("id,amount", before="efbbbf", encoding="cp1252") == "ï»¿id,amount"


def test_an_answer_that_is_broken_already_can_be_broken_again() -> None:
    assert recoded("\ud83d", before="00ff").startswith("\x00\ufffd")


@pytest.mark.parametrize("answer", [Ok(""), Ok(None), Ok(b"\x00"), Err("io", "broken")])
def test_what_is_no_text_goes_through_untouched(answer: Ok | Err) -> None:
    trial = Trial()
    assert run(recode(READ, Answers(answer), trial, before="00ff")) is answer
    assert trial.fired == []


def test_what_comes_out_the_same_did_not_fire() -> None:
    trial = Trial()
    assert run(recode(READ, Answers("ascii"), trial, encoding="cp1252")) == Ok("ascii")
    assert trial.fired == []
