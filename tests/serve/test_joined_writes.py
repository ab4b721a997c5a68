"""Head and body of an answer in one packet, and never later than they must be."""

import asyncio
import socket

import pytest

from tests.serve.process import running_server
from zslearn.serve.connections import LONG, JoinedWrites

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"


class Wire:
    """A transport that keeps what is sent."""

    def __init__(self):
        self.sent, self.closed = [], False

    def write(self, data):
        assert not self.closed
        self.sent.append(data)

    def close(self):
        self.closed = True

    abort = close

    def is_closing(self):
        return self.closed

    def get_extra_info(self, name):
        return name

    def pause_reading(self):
        pass

    resume_reading = pause_reading


async def sent(act, wire):
    """What is sent at once, and what after a turn of the loop."""
    act(JoinedWrites(wire, asyncio.get_running_loop()))
    at_once = list(wire.sent)
    await asyncio.sleep(0)
    return at_once, wire.sent


@pytest.mark.parametrize(
    ("pieces", "at_once", "later"),
    [
        ([HEAD, b"body"], [HEAD + b"body"], [HEAD + b"body"]),
        ([HEAD], [], [HEAD]),  # a stream that begins without an event
        ([HEAD, b"bo", b"dy"], [HEAD + b"bo", b"dy"], [HEAD + b"bo", b"dy"]),
        ([HEAD, b"", HEAD, b"body"], [HEAD, HEAD + b"body"], [HEAD, HEAD + b"body"]),
        ([HEAD, b"x" * LONG], [HEAD, b"x" * LONG], [HEAD, b"x" * LONG]),
        ([b"body"], [b"body"], [b"body"]),
    ],
    ids=["answer", "head alone", "stream", "two answers", "long", "no head"],
)
def test_a_head_waits_for_what_follows_but_not_for_long(pieces, at_once, later):
    def act(transport):
        for piece in pieces:
            transport.write(piece)

    assert asyncio.run(sent(act, Wire())) == (at_once, later)


def test_closing_sends_what_waits_and_aborting_drops_it():
    def close(transport):
        transport.write(HEAD)
        transport.close()
        assert transport.is_closing()

    def abort(transport):
        transport.write(HEAD)
        transport.abort()

    assert asyncio.run(sent(close, Wire())) == ([HEAD], [HEAD])
    assert asyncio.run(sent(abort, Wire())) == ([], [])


def test_an_answer_of_the_server_comes_in_one_packet(model_file):
    ask = b"GET /v2/health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with running_server(model_file) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
            for _ in range(20):
                connection.sendall(ask)
                answer = connection.recv(65536)
                head, _, body = answer.partition(b"\r\n\r\n")
                assert b"content-length: %d" % len(body) in head
                assert body
