"""The child's side of `child`: builds a bench, runs the orders that come in, streams every event.

Two pipes of its own carry one JSON object a line: orders in, reports out. What the agent prints goes to
standard output and error, which the parent keeps apart. A report is an event (the partial trace, and
the sign of life) or one of hello, done, raised, misuse, broken.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from traceback import format_exc, print_exc
from typing import Any, NoReturn

from forge_chaos.errors import Misuse
from forge_chaos.order import Order
from forge_chaos.recorded import failure, redactor
from forge_chaos.tracefile import line


def main(orders_fd: int, reports_fd: int) -> NoReturn:
    """Serve orders until the pipe ends, then leave at once, whatever threads the agent has left."""
    for fd in (orders_fd, reports_fd):
        os.set_inheritable(fd, False)  # the agent's own processes must not hold the pipes open
    say = _mouth(reports_fd)
    with open(orders_fd, encoding="utf-8") as orders:
        first = orders.readline()
        if first:
            _serve(json.loads(first), orders, say)
    _leave(0)


def _serve(first: Mapping[str, Any], orders: Any, say: Callable[[str], None]) -> None:
    try:
        bench = _bench(first)
        hello = bench.hello()
    except Misuse as error:
        say(_line("misuse", text=str(error)))
        _leave(1)
    except BaseException:
        print_exc()  # the parent shows the last lines of it
        _leave(1)
    say(_line("hello", says=hello))
    for text in orders:
        try:
            trace = bench.trace(Order.from_json(json.loads(text)), lambda event: say(line(event)))
        except BaseException as error:
            # After any of these the event loop cannot be trusted: the parent starts a fresh child.
            _report(say, error)
            _leave(1)
        say(_line("done", events=len(trace)))
    close = getattr(bench, "close", None)
    if close is not None:
        close()


def _bench(first: Mapping[str, Any]) -> Any:
    """The bench on the parent's setup, imported with the parent's path and directory."""
    _die_with(first["parent"])
    sys.path[:] = first["path"]
    os.chdir(first["cwd"])
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    if first["memory"] is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (first["memory"], first["memory"]))
    where, _, attribute = first["bench"].partition(":")
    return getattr(import_module(where), attribute)(first["setup"])


def _report(say: Callable[[str], None], error: BaseException) -> None:
    """Whose failure it was: the user's, the agent's (what an event loop does not hold), or ours."""
    if isinstance(error, Misuse):
        say(_line("misuse", text=str(error)))
    elif isinstance(error, Exception) and not isinstance(error, MemoryError):
        say(_line("broken", text=f"{type(error).__name__}: {error}", traceback=format_exc()))
    else:
        say(_line("raised", error=failure(error, redactor())))


def _line(kind: str, **fields: Any) -> str:
    return json.dumps({"kind": kind, **fields}) + "\n"


def _mouth(fd: int) -> Callable[[str], None]:
    def say(text: str) -> None:
        data = text.encode("ascii")
        try:
            while data:
                data = data[os.write(fd, data) :]
        except OSError:
            _leave(1)  # nobody listens any more

    return say


def _leave(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed or replaced by the agent
            stream.flush()
    os._exit(code)


def _die_with(parent: int) -> None:
    """A parent that is killed takes us along, hung or not (Linux: PR_SET_PDEATHSIG)."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):  # a Python or libc without it
            import ctypes

            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
