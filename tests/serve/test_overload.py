"""What a request is told when the server is full, or when its answer takes too long."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from zslearn.serve import routes as route
from zslearn.serve.settings import Limits


@pytest.fixture
def gate(monkeypatch):
    """Hold every answer back until the gate opens, and count those that wait at it."""
    infer, opened, waiting = route.infer, threading.Event(), threading.Semaphore(0)

    def held(*args):
        waiting.release()
        assert opened.wait(20)
        return infer(*args)

    monkeypatch.setattr(route, "infer", held)
    yield opened, waiting
    opened.set()


def asked(client, rows):
    part = {"name": "features", "shape": list(rows.shape), "datatype": "FP32"}
    body = {"inputs": [part | {"data": rows.ravel().tolist()}]}
    return client.post("/v2/models/made/infer", json=body)


def test_an_answer_that_takes_too_long_is_a_504(make_client, rows, gate, classifier):
    opened, _ = gate
    client = make_client(limits=Limits(seconds=0.2))
    with client:
        late = asked(client, rows)
        assert late.status_code == 504
        assert late.json() == {"error": "the answer took longer than 0.2 seconds."}
        assert late.headers["content-type"] == "application/json"
        opened.set()
        answer = asked(client, rows).json()["outputs"][0]["data"]
        assert answer == classifier.predict(rows).tolist()


def test_a_full_queue_is_a_503_that_says_when_to_come_back(make_client, rows, gate, classifier):
    opened, waiting = gate
    client = make_client(limits=Limits(concurrency=1, queue=1))
    with client, ThreadPoolExecutor(2) as others:
        running = [others.submit(asked, client, rows)]
        assert waiting.acquire(timeout=20)
        running.append(others.submit(asked, client, rows))
        pool = client.app.state.server.pool
        end = time.monotonic() + 20
        while pool.pending < 2 and time.monotonic() < end:
            time.sleep(0.01)
        assert pool.pending == 2
        refused = asked(client, rows)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert refused.json() == {"error": "too many requests are waiting; try again."}
        opened.set()
        for answer in running:
            data = answer.result(20).json()["outputs"][0]["data"]
            assert data == classifier.predict(rows).tolist()
        assert asked(client, rows).status_code == 200
