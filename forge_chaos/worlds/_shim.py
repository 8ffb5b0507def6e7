"""What stands behind every name in a folder of shims: it asks before the real program runs.

Run as a script of its own, with nothing but the interpreter's built-in modules, since it is started for every
program. One question and at most two answers, each with its length in front (`packed`):

    name NUL folder NUL number of this process NUL arguments...      what is about to run
    R path        run that program in my place; nothing is kept of what it prints
    C path        run it and hand over what it printed, as: exit code (4 bytes), standard output
    T exit (4 bytes), length of output (4 bytes), output, errors     print that and end so
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` would load much, and is not needed to run
if TYPE_CHECKING:
    from _socket import socket
    from typing import NoReturn

KEPT = 1_000_000  # bytes of output that are handed over; the rest is read and dropped
PATIENCE = 3600.0  # seconds; who asks is answered, or the end of the trial closes the connection
OVER = 1  # the exit code when nobody is there to answer


def packed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def main(address: str) -> NoReturn:
    import _signal  # type: ignore[import-not-found]  # quicker than `signal`, which loads enum
    import _socket

    _signal.signal(
        _signal.SIGPIPE, _signal.SIG_DFL
    )  # the interpreter ignores it, and a program would inherit that
    name, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
    try:
        here = os.getcwd()
    except OSError:
        here = ""
    asked = [name, here, str(os.getpid()), *arguments]
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    line.settimeout(PATIENCE)
    try:
        line.connect(address)
        line.sendall(packed(b"\0".join(os.fsencode(word) for word in asked)))
        answer = _heard(line)
        if answer[:1] == b"C":
            line.sendall(packed(_captured(answer[1:], arguments)))
            answer = _heard(line)
    except OSError:  # the trial is over
        os._exit(OVER)
    if answer[:1] == b"R":
        _become(answer[1:], arguments)
    size = int.from_bytes(answer[5:9], "big")
    _print(1, answer[9 : 9 + size])
    _print(2, answer[9 + size :])
    os._exit(int.from_bytes(answer[1:5], "big") & 255)


def _heard(line: socket) -> bytes:
    size = int.from_bytes(_read(line, 4), "big")
    return _read(line, size)


def _read(line: socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more: bytes = line.recv(min(size - len(data), 1 << 16))
        if not more:
            raise OSError
        data += more
    return data


def _become(program: bytes, arguments: list[str]) -> NoReturn:
    """Its full path is its name too: some find their home by it."""
    try:
        os.execv(program, [program, *map(os.fsencode, arguments)])
    except OSError as error:
        _print(2, program + b": " + os.fsencode(error.strerror or "") + b"\n")
        os._exit(126)


def _captured(program: bytes, arguments: list[str]) -> bytes:
    """Its exit code and what it printed on standard output; input and errors are its own as ever."""
    ours, its = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(its, 1)
        os.close(ours)
        os.close(its)
        _become(program, arguments)
    os.close(its)
    kept = b""
    while data := os.read(ours, 1 << 16):
        kept += data[: KEPT - len(kept)]
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return (code if code >= 0 else 128 - code).to_bytes(4, "big") + kept


def _print(where: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(where, data) :]
    except OSError:  # nobody reads it
        pass


if __name__ == "__main__":
    main(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0]))), "ask"))
