"""Errors and the exceptions that Python code would really meet: one table, both ways.

A fault has to reach the agent's framework as the exception that the user's own tool would have
raised, so that the framework's own error policy is what is tested.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from forge_chaos.errors import Misuse
from forge_chaos.nouns import Err


def _os(number: int) -> Callable[[str, str | None], BaseException]:
    def build(message: str, target: str | None) -> BaseException:
        # OSError picks its subclass by errno; str() of it is "[Errno 2] No such file ...: 'path'".
        text = os.strerror(number)
        if not message or message == text or message == f"{text}: {target!r}":
            return OSError(number, text, target) if target is not None else OSError(number, text)
        return OSError(number, message)

    return build


def _plain(type_: type[BaseException]) -> Callable[[str, str | None], BaseException]:
    return lambda message, target: type_(message) if message else type_()


CODES: Mapping[str, Callable[[str, str | None], BaseException]] = {
    "not_found": _os(errno.ENOENT),
    "is_directory": _os(errno.EISDIR),
    "not_directory": _os(errno.ENOTDIR),
    "exists": _os(errno.EEXIST),
    "permission": _os(errno.EACCES),
    "blocked": _os(errno.EPERM),
    "no_space": _os(errno.ENOSPC),
    "not_empty": _os(errno.ENOTEMPTY),
    "busy": _os(errno.EBUSY),
    "io": _os(errno.EIO),
    "reset": _os(errno.ECONNRESET),
    "refused": _os(errno.ECONNREFUSED),
    "pipe": _os(errno.EPIPE),
    "os": _plain(OSError),
    "timeout": _plain(TimeoutError),
    "connection": _plain(ConnectionError),
    "permission_text": _plain(PermissionError),
    "cancelled": _plain(asyncio.CancelledError),
    "invalid_arguments": _plain(ValueError),
    "value": _plain(ValueError),
    "type": _plain(TypeError),
    "key": _plain(KeyError),
    "lookup": _plain(LookupError),
    "unknown_tool": _plain(LookupError),
    "unicode": _plain(UnicodeError),
    "assertion": _plain(AssertionError),
    "runtime": _plain(RuntimeError),
    "system_exit": _plain(SystemExit),
}
_BY_ERRNO = {
    errno.ENOENT: "not_found",
    errno.EISDIR: "is_directory",
    errno.ENOTDIR: "not_directory",
    errno.EEXIST: "exists",
    errno.EACCES: "permission",
    errno.EPERM: "blocked",
    errno.ENOSPC: "no_space",
    errno.ENOTEMPTY: "not_empty",
    errno.EBUSY: "busy",
    errno.EIO: "io",
    errno.ECONNRESET: "reset",
    errno.ECONNREFUSED: "refused",
    errno.EPIPE: "pipe",
}
_BY_TYPE: tuple[tuple[type[BaseException], str], ...] = (
    (asyncio.CancelledError, "cancelled"),
    (FileNotFoundError, "not_found"),
    (IsADirectoryError, "is_directory"),
    (NotADirectoryError, "not_directory"),
    (FileExistsError, "exists"),
    (PermissionError, "permission_text"),
    (TimeoutError, "timeout"),
    (ConnectionError, "connection"),
    (OSError, "os"),
    (UnicodeError, "unicode"),
    (KeyError, "key"),
    (LookupError, "lookup"),
    (ValueError, "value"),
    (TypeError, "type"),
    (AssertionError, "assertion"),
    (SystemExit, "system_exit"),
)


def exception(err: Err, target: str | None = None) -> BaseException:
    """The exception to raise for `err`: its live one, its named type, or the table's.

    Raises Misuse for a type that cannot be imported, or not be built from its arguments.
    """
    if err.exception is not None:
        return err.exception
    if err.type is None:
        return CODES.get(err.code, CODES["runtime"])(err.message, target)
    arguments = err.arguments or (err.message,)
    try:
        live = _named(err.type)(*arguments)
    except Misuse:
        raise
    except Exception as error:
        raise Misuse(f"{err.type!r} cannot be built from {arguments!r}: {error}") from None
    return live


def _named(name: str) -> Callable[..., BaseException]:
    where, _, attribute = name.partition(":")
    try:
        found: Any = import_module(where)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # importing the user's module can raise anything
        raise Misuse(
            f"no exception {name!r}: {error}. Write module:Type, for example builtins:KeyError."
        ) from None
    if not (isinstance(found, type) and issubclass(found, BaseException)):
        raise Misuse(f"{name!r} is no exception type. Write module:Type, for example builtins:KeyError.")
    return found


def err(error: BaseException) -> Err:
    """What a raised exception means, keeping it alive so that it can be raised again unchanged."""
    code = _BY_ERRNO.get(error.errno or 0) if isinstance(error, OSError) else None
    if code is None:
        code = next((code for type_, code in _BY_TYPE if isinstance(error, type_)), "runtime")
    return Err(code, shown(error), error)


def shown(error: BaseException) -> str:
    """`str(error)`, as an exact string. One that raises is told as such: it is data, not our failure."""
    try:
        return str.__str__(str(error))
    except (Exception, asyncio.CancelledError, SystemExit) as broken:
        return f"<str raised {type(broken).__name__}>"


def worded(error: BaseException) -> str:
    """An exception as the last line of its traceback says it, without its module."""
    text = shown(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def wording(err: Err, target: str | None = None) -> str:
    """What a careful agent feeds back to its model: `FileNotFoundError: [Errno 2] No such file ...`."""
    return worded(exception(err, target))
