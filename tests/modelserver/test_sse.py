"""Server-sent events, written and read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.modelserver import sse


@given(st.text(max_size=100))
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    assert "".join(sse.pieces(text)) == text
    assert all(0 < len(piece) <= sse.PIECE for piece in sse.pieces(text))


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5) | st.none(), max_size=3), max_size=4)
)
def test_what_is_written_is_read(found: list[dict[str, object]]) -> None:
    body = b"".join(sse.event(each, "x" if n % 2 else "") for n, each in enumerate(found)) + sse.DONE
    assert sse.read(body) == found
    assert sse.read(body.replace(b"\n", b"\r\n")) == found
    assert b"".join(sse.parts(body)) == body
    assert len(list(sse.parts(body))) == len(found) + 1
    assert sse.content_type(body) == "text/event-stream"


def test_an_event_has_its_form() -> None:
    assert sse.event({"a": "ä"}, "name") == b'event: name\ndata: {"a":"\\u00e4"}\n\n'
    assert sse.event([]) == b"data: []\n\n"


def test_json_is_no_stream() -> None:
    for body in (b'{"data": 1}', b"", b"[]"):
        assert sse.content_type(body) == "application/json"
        assert list(sse.parts(body)) == [body]


def test_what_is_no_json_is_left_out() -> None:
    assert sse.read(b'data: {"a"\n\n: note\n\ndata: 3\n\ndata: {"b":1}\n\ndata: [DONE]\n\n') == [{"b": 1}]


def test_what_has_come_of_a_stream_that_breaks() -> None:
    def delta(**more: object) -> bytes:
        return sse.event({"choices": [{"index": 0, "delta": more, "finish_reason": None}]})

    end = sse.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    chat = delta(role="assistant", content="") + delta(content="a") + delta(content="b")
    assert sse.broken_off(chat + end + sse.DONE) == chat
    calls = delta(role="assistant") + delta(tool_calls=[{"index": 0}])
    assert sse.broken_off(calls + end + sse.DONE) == calls
    piece = sse.event({"type": "response.output_text.delta", "delta": "a"}, "response.output_text.delta")
    assert sse.broken_off(piece + sse.event({"type": "response.completed"})) == piece
    block = sse.event({"type": "content_block_delta", "delta": {}}, "content_block_delta")
    assert sse.broken_off(block + sse.event({"type": "message_delta"}, "message_delta")) == block
    assert sse.broken_off(end + sse.DONE) == b""
