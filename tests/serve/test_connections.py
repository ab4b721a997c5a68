"""HTTP itself: what is read, in which order it is answered, what never becomes a request."""

import json
import socket
from types import SimpleNamespace

import pytest

from tests.serve.process import running_server
from zslearn.serve.connections import STEPS, BoundedProtocol, JoinedWrites, _line

HOST = b"host: localhost\r\n"
LIVE = b"GET /v2/health/live HTTP/1.1\r\n" + HOST + b"\r\n"
CHUNKED = b"POST /predict HTTP/1.1\r\n" + HOST + b"transfer-encoding: chunked\r\n"
LAST = b"connection: close\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory, classifier):
    from zslearn.persistence import save

    path = tmp_path_factory.mktemp("connections") / "made.zsl"
    save(classifier, path)
    with running_server(path, "--log", "errors", "--timeout", 5) as server:
        yield server
        assert "Traceback" not in server.log.read_text()


def talk(server, *parts):
    """Send parts until the server has enough; return what it sends until it closes."""
    answer = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except OSError:
            pass
        try:
            while part := connection.recv(65536):
                answer += part
        except ConnectionError:
            pass
    return answer


def bodies(answer):
    """The bodies of several answers."""
    found = []
    while answer:
        head, _, rest = answer.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        found.append(json.loads(rest[:length]))
        answer = rest[length:]
    return found


ENDLESS = {
    "address": (b"GET /", b"a" * 65536),
    "header": (b"GET /v2 HTTP/1.1\r\n" + HOST + b"x: ", b"a" * 65536),
    "headers": (b"GET /v2 HTTP/1.1\r\n" + HOST, b"x: y\r\n" * 10_000),
    "empty lines": (b"", b"\r\n" * 30_000),
    "note on a piece": (CHUNKED + b"\r\n5;", b"a" * 65536),
    "trailer": (CHUNKED + b"\r\n2\r\n{}\r\n0\r\nx: ", b"a" * 65536),
    "trailers": (CHUNKED + b"\r\n2\r\n{}\r\n0\r\n", b"x: y\r\n" * 10_000),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_leads_to_no_body_is_bounded(server, kind):
    start, more = ENDLESS[kind]
    before = server.memory()
    answer = talk(server, start, *[more] * 500)  # 30 MB
    assert answer[:12] in (b"HTTP/1.1 431", b"")  # the client may be cut off while it sends
    assert server.memory() < before + 20


def test_a_head_that_is_too_long_is_told_so(server):
    head = b"GET /v2 HTTP/1.1\r\n" + HOST + b"x: " + b"y" * 70_000
    answer = talk(server, head)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert bodies(answer) == [{"error": "a request may have 65536 bytes besides its body."}]


def test_a_body_in_tiny_pieces_with_long_notes_is_read(server, data):
    body = json.dumps({"rows": data.X[:1].tolist()}).encode()
    pieces = [b"1;" + b"x" * 500 + b"\r\n" + body[i : i + 1] + b"\r\n" for i in range(len(body))]
    assert sum(map(len, pieces)) > 2**16  # more than a head may have
    answer = talk(server, CHUNKED + LAST + b"\r\n", *pieces, b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert len(bodies(answer)[0]["answers"]) == 1


def test_requests_sent_ahead_are_answered_in_their_order(server):
    asked = [b"/v2/health/live", b"/v2", b"/v2/models/made/ready", b"/v2/nothing"] * 5
    sent = [b"GET %s HTTP/1.1\r\n%s\r\n" % (path, HOST) for path in asked[:-1]]
    last = b"GET %s HTTP/1.1\r\n%s%s\r\n" % (asked[-1], HOST, LAST)
    found = bodies(talk(server, b"".join(sent) + last))
    keys = [["live", "ready"], ["name", "version", "extensions"], ["name", "ready", "live"]]
    assert [list(body) for body in found] == [*keys, ["error"]] * 5


def test_a_flood_of_requests_sent_ahead_is_cut_off(server):
    before = server.memory()
    for _ in range(5):
        talk(server, LIVE * 20_000)
    assert server.memory() < before + 20
    assert server.ask("GET", "/v2/health/live")[0] == 200


@pytest.mark.parametrize(
    "content",
    [
        b"\x16\x03\x01\x02\x00",  # the beginning of TLS
        b"GET /v2 HTTP/9.9\r\n\r\n",
        CHUNKED + b"content-length: 5\r\n\r\n0\r\n\r\n" + LIVE,
        b"POST /predict HTTP/1.1\r\n" + HOST + b"content-length: 5\r\ncontent-length: 6\r\n\r\n{}",
        b"POST /predict HTTP/1.1\r\n" + HOST + b"content-length: -5\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /v2 HTTP/1.1\r\n" + HOST + b"x y: z\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused_once_and_as_json(server, content):
    answer = talk(server, content)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert [list(body) for body in bodies(answer)] == [["error"]]


def test_two_hosts_are_refused(server):
    head = b"GET /v2 HTTP/1.1\r\nhost: evil.example\r\n" + HOST + LAST
    [body] = bodies(talk(server, head + b"\r\n"))
    assert "comes twice" in body["error"]
    assert b"200" in talk(server, LIVE[:-2] + b"x: 1\r\nx: 2\r\n" + LAST + b"\r\n")[:15]


def test_an_upgrade_is_not_made(server):
    upgrade = HOST + b"connection: upgrade\r\nupgrade: h2c\r\n"
    answer = talk(server, b"GET /v2 HTTP/1.1\r\n" + upgrade + b"\r\n" + LIVE)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert len(bodies(answer)) == 1  # and closed: what follows is not read as HTTP/1.1
    head = b"POST /predict HTTP/1.1\r\n" + upgrade + b"content-length: 2\r\n\r\n{}"
    [body] = bodies(talk(server, head))
    assert "Upgrade" in body["error"]


def test_an_answer_sent_whole_is_that_sent_in_parts(server, data):
    row = data.X[0].tolist()
    tensor = {"name": "features", "shape": [1, len(row)], "datatype": "FP64", "data": row}
    body = json.dumps({"inputs": [tensor]}).encode()
    length = b"content-length: %d\r\n" % len(body)
    asked = [
        b"POST /v2/models/made%s/infer HTTP/1.1\r\n" % version
        + HOST
        + more
        + length
        + b"\r\n"
        + body
        for version in (b"", b"/versions/1")
        for more in (b"", LAST)
    ]
    # One that closes the connection goes through uvicorn's own parts.
    answers = [
        part
        for kept, last in (asked[:2], asked[2:])
        for part in talk(server, kept, last).split(b"HTTP/1.1 ")[1:]
    ]
    heads = [
        {
            line
            for line in answer.partition(b"\r\n\r\n")[0].split(b"\r\n")
            if not line.startswith((b"date: ", b"connection: "))
        }
        for answer in answers
    ]
    assert len(answers) == 4
    assert all(head == heads[0] for head in heads)
    assert b"x-content-type-options: nosniff" in heads[0]
    assert len({answer.partition(b"\r\n\r\n")[2] for answer in answers}) == 1


def test_a_header_that_would_end_the_head_is_not_sent():
    with pytest.raises(ValueError, match="a header cannot hold"):
        _line(b"x-name", b"a\r\nset-cookie: b")


@pytest.mark.parametrize(
    ("sends", "waiting", "kept"), [(True, 0, True), (True, 100, False), (False, 0, False)]
)
def test_a_stream_is_kept_while_what_is_sent_is_taken(sends, waiting, kept):
    """Waiting: bytes that the client has not taken."""
    aborted = []
    transport = SimpleNamespace(
        write=lambda data: None,
        is_closing=lambda: False,
        get_write_buffer_size=lambda: waiting,
        abort=lambda: aborted.append(True),
    )
    connection = object.__new__(BoundedProtocol)
    connection.loop = SimpleNamespace(call_later=lambda *given: None)
    connection.limits = SimpleNamespace(seconds=1)
    connection.transport = JoinedWrites(transport, connection.loop)
    connection.cycle = SimpleNamespace(response_complete=False)
    for _ in range(3 * STEPS):
        if sends:
            connection.transport.write(b": alive\n\n")
        connection._look()
    assert bool(aborted) is not kept
