"""Errors and exceptions: one table, both ways, in the words that Python prints."""

from __future__ import annotations

import asyncio
import errno
import os
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos import natural
from forge_chaos.errors import Misuse
from forge_chaos.natural import CODES, err, exception, shown, wording
from forge_chaos.nouns import Err

# Codes that say something to the agent that no exception type does: on the way back they are plain.
COARSER = {"invalid_arguments": "value", "unknown_tool": "lookup"}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("message", ["", "what went wrong"])
@pytest.mark.parametrize("target", [None, "a/b.csv"])
def test_every_code_has_an_exception_and_every_exception_its_code(
    code: str, message: str, target: str | None
) -> None:
    live = exception(Err(code, message), target)
    back = err(live)
    assert back.code == COARSER.get(code, code)
    assert back.exception is live
    again = exception(back, target)
    assert (type(again), str(again), getattr(again, "errno", None)) == (
        type(live),
        str(live),
        getattr(live, "errno", None),
    )
    if isinstance(live, OSError):
        assert message in str(live)


def raised(act: Callable[[], Any]) -> BaseException:
    try:
        act()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("code", "real"),
    [
        ("not_found", lambda path: (path / "nothing").read_bytes()),
        ("is_directory", lambda path: path.read_bytes()),
        ("exists", lambda path: os.mkdir(path)),
        ("not_directory", lambda path: os.listdir(path / "file")),
        ("not_empty", lambda path: os.rmdir(path)),
    ],
)
def test_the_system_says_the_same(code: str, real: Callable[[Any], Any], tmp_path: Any) -> None:
    (tmp_path / "file").write_text("")
    live = raised(lambda: real(tmp_path))
    assert isinstance(live, OSError)
    made = exception(Err(code, ""), str(live.filename))
    assert (type(made), str(made), made.args) == (type(live), str(live), live.args)
    assert err(live).code == code


@pytest.mark.parametrize("code", [code for code in CODES if code != "cancelled"])
@pytest.mark.parametrize("message", ["", "two words"])
def test_the_wording_is_what_python_prints(code: str, message: str) -> None:
    result = Err(code, message)
    printed = "".join(traceback.format_exception_only(exception(result, "a.csv"))).strip()
    assert wording(result, "a.csv") == printed


def test_a_message_that_says_the_path_itself_is_not_said_twice() -> None:
    clear = Err("not_found", "No such file or directory: 'a.csv'")
    assert str(exception(clear, "a.csv")) == "[Errno 2] No such file or directory: 'a.csv'"
    assert exception(clear, "a.csv").args == (2, "No such file or directory")
    assert str(exception(clear, "b.csv")) == "[Errno 2] No such file or directory: 'a.csv'"
    assert str(exception(Err("no_space", ""))) == "[Errno 28] No space left on device"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConnectionResetError(errno.ECONNRESET, "reset"), "reset"),
        (ConnectionResetError("no number"), "connection"),
        (OSError(errno.ETIMEDOUT, "timed out"), "timeout"),
        (OSError(errno.EXDEV, "cross-device"), "os"),
        (OSError(), "os"),
        (PermissionError(errno.EACCES, "no"), "permission"),
        (PermissionError(errno.EPERM, "no"), "blocked"),
        (PermissionError("no"), "permission_text"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "unicode"),
        (IndexError("i"), "lookup"),
        (ZeroDivisionError("z"), "runtime"),
        (ExceptionGroup("g", [ValueError()]), "runtime"),
        (asyncio.CancelledError(), "cancelled"),
        (SystemExit(2), "system_exit"),
    ],
)
def test_a_live_exception_keeps_its_type_and_number(error: BaseException, code: str) -> None:
    found = err(error)
    assert (found.code, found.message) == (code, str(error))
    assert exception(found, "elsewhere") is error


class Coded(Exception):
    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


def test_any_type_can_be_named() -> None:
    live = exception(Err("runtime", "x", type="tests.test_natural:Coded", arguments=(7, "seven")))
    assert isinstance(live, Coded)
    assert (live.number, str(live)) == (7, "seven")
    assert repr(exception(Err("runtime", "a", type="builtins:KeyError"))) == "KeyError('a')"
    nested = exception(Err("runtime", "x", type="tests.test_natural:Home.Inner"))
    assert isinstance(nested, Home.Inner)


class Home:
    class Inner(Exception):
        pass


@pytest.mark.parametrize(
    "name",
    [
        "KeyError",
        "builtins.KeyError",
        "builtins:",
        ":KeyError",
        "builtins:Nothing",
        "nowhere:X",
        ".a:X",
        "builtins:int",
        "builtins:len",
    ],
)
def test_a_type_that_is_none_is_the_users_mistake(name: str) -> None:
    with pytest.raises(Misuse) as caught:
        exception(Err("runtime", "x", type=name))
    assert name in str(caught.value)
    assert "module:Type" in str(caught.value)


def test_a_type_that_takes_other_arguments_is_the_users_mistake() -> None:
    with pytest.raises(Misuse, match=r"'builtins:UnicodeDecodeError' cannot be built from \('x',\)"):
        exception(Err("runtime", "x", type="builtins:UnicodeDecodeError"))


def test_a_module_that_raises_when_imported_is_the_users_mistake(tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "breaks_when_imported.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(Misuse, match="division by zero"):
        exception(Err("runtime", "x", type="breaks_when_imported:X"))


class Strange(Exception):
    def __init__(self, text: Any) -> None:
        self.text = text

    def __str__(self) -> str:
        if isinstance(self.text, BaseException):
            raise self.text
        return self.text  # type: ignore[no-any-return]  # may be no text at all


class Loud(str):
    def __str__(self) -> str:
        return "louder"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ValueError("v"), "<str raised ValueError>"),
        (SystemExit(1), "<str raised SystemExit>"),
        (asyncio.CancelledError(), "<str raised CancelledError>"),
        (3, "<str raised TypeError>"),
        (Loud("as it is"), "as it is"),
        ("", ""),
    ],
)
def test_an_exception_that_cannot_be_shown_is_still_told(text: Any, says: str) -> None:
    error = Strange(text)
    assert (shown(error), type(shown(error))) == (says, str)
    assert err(error) == Err("runtime", says, error)
    assert wording(err(error)) == (f"Strange: {says}" if says else "Strange")


def test_an_interrupt_is_the_users() -> None:
    with pytest.raises(KeyboardInterrupt):
        shown(Strange(KeyboardInterrupt()))


@given(st.sampled_from(sorted(CODES)), st.text(), st.none() | st.text())
def test_there_is_an_exception_for_whatever_is_said(code: str, message: str, target: str | None) -> None:
    live = exception(Err(code, message), target)
    assert isinstance(live, BaseException)
    assert natural.worded(live).startswith(type(live).__name__)


def test_an_unknown_code_is_a_runtime_error() -> None:
    assert repr(exception(Err("no_such_code", "x"))) == "RuntimeError('x')"
