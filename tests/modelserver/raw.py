"""A server on 127.0.0.1 that sends what it is told, byte for byte, and keeps what it was sent."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

WAIT = 20.0  # seconds
Part = bytes | Event  # an event is waited for


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole HTTP answer."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def begun(*headers: str) -> bytes:
    """The head of an answer that comes in chunks."""
    lines = ["HTTP/1.1 200 OK", "transfer-encoding: chunked", "connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def chunk(body: bytes) -> bytes:
    return f"{len(body):x}\r\n".encode() + body + b"\r\n"


class Raw:
    """`asked` are the requests that came, `left` is set when a client has gone before its answer was whole."""

    def __init__(self, answers: Sequence[Sequence[Part]]) -> None:
        self._answers = list(answers)
        self.asked: list[bytes] = []
        self.left = Event()
        self.over = Event()
        self._place = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._place.getsockname()[1]}"
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self.over.is_set():
            with suppress(OSError):
                connection, _ = self._place.accept()
                Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(WAIT)
            came = b""
            while b"\r\n\r\n" not in came and not came.startswith(b"\x16"):  # that is the hello of TLS
                if not (more := connection.recv(65536)):
                    return
                came += more
            head, _, body = came.partition(b"\r\n\r\n")
            sizes = [line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            while len(body) < int(sizes[0] if sizes else 0):
                body += connection.recv(65536)
            self.asked.append(head + b"\r\n\r\n" + body)
            for part in self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]:
                if isinstance(part, bytes):
                    connection.sendall(part)
                elif not self._waited(part, connection):
                    return

    def _waited(self, event: Event, connection: socket.socket) -> bool:
        """Until the event; False when the client has gone first."""
        connection.settimeout(0.05)
        for _ in range(int(WAIT / 0.05)):
            if event.is_set():
                connection.settimeout(WAIT)
                return True
            try:
                if connection.recv(1) == b"":
                    self.left.set()
                    return False
            except TimeoutError:
                continue
        return False

    def close(self) -> None:
        self.over.set()
        with suppress(OSError), socket.create_connection(self._place.getsockname(), 1):
            pass
        self._thread.join()
        self._place.close()


@contextmanager
def raw(*answers: Sequence[Part]) -> Iterator[Raw]:
    """One answer a connection, the last one for ever."""
    server = Raw(answers)
    try:
        yield server
    finally:
        server.close()


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        return f"http://127.0.0.1:{place.getsockname()[1]}"
