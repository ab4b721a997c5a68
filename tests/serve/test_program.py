import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from socket import IPPROTO_TCP

import pytest

from tests.serve.process import installed, running_server
from tests.streams import SeparateRunner
from zslearn.cli import cli
from zslearn.persistence import save
from zslearn.serve import ServerSettings
from zslearn.serve.running import listen
from zslearn.zero_shot import SAEClassifier

CLASSES = "/v2/models/made/classes"
READY = re.compile(r"worker (\d+) is ready")
KILLS = int(os.environ.get("ZSLEARN_SERVE_KILLS", "4"))


def names(server):
    return [one["name"] for one in server.json("GET", CLASSES)["classes"]]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_from_start_to_end(model_file, classifier, rows, workers):
    with running_server(
        model_file, "--workers", workers, "--log", "json", start=installed
    ) as server:
        answer = server.json("POST", "/predict", {"rows": rows.tolist()})
        assert [one["class"] for one in answer["answers"]] == classifier.predict(rows).tolist()
        # Every worker knows a class as soon as it is acknowledged.
        for i in range(10):
            assert server.ask("PUT", f"{CLASSES}/new{i}", {"like": "seen0"})[0] == 201
            wanted = {"rows": rows.tolist(), "candidates": [f"new{i}"]}
            for _ in range(4):
                assert server.ask("POST", "/predict", wanted)[0] == 200
        text = server.ask("GET", "/metrics")[1].decode()
        assert 'zslearn_requests_total{method="PUT",' in text
        assert 'status="201"} 10.0' in text
        kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        kept.request("GET", "/v2/health/ready")
        assert kept.getresponse().read()
        start = time.monotonic()
        server.signal(signal.SIGTERM)
        status = 200
        while status == 200:  # the process of several workers looks twice a second
            kept.request("GET", "/v2/health/ready")
            response = kept.getresponse()
            status = response.status
            assert response.read()
        assert status == 503
        kept.close()
        assert server.process.wait(15) == 0
        assert time.monotonic() - start < 10
    lines = [line for line in server.log.read_text().splitlines() if line.startswith("{")]
    facts = [json.loads(line) for line in lines]
    assert {"POST", "PUT", "GET"} <= {one.get("method") for one in facts}
    assert not any("seen0" in line for line in lines)  # bodies are not logged


@pytest.mark.parametrize("workers", [1, 2])
def test_a_changed_file_is_read_again_and_a_bad_one_is_not(model_file, data, workers):
    with running_server(model_file, "--workers", workers, start=installed) as server:
        # A worker that starts later finds the file already changed and has nothing to read again.
        while workers > 1 and len(READY.findall(server.log.read_text())) < workers:
            time.sleep(0.05)
        before = names(server)
        good = model_file.read_bytes()
        model_file.with_name("bad").write_bytes(good[:-9])
        os.replace(model_file.with_name("bad"), model_file)
        server.wait_for_log("served before stay")
        assert names(server) == before
        fewer = data.signatures.subset(data.signatures.names[:9])
        rows = [name in fewer for name in data.y]
        save(SAEClassifier(fewer, lam=1.0).fit(data.X[rows], data.y[rows]), model_file)
        while server.log.read_text().count("again") < workers:
            time.sleep(0.05)
        assert names(server) == list(fewer.names)
        # One process reads the models again; several are replaced one after the other.
        size, said = len(server.log.read_text()), "again" if workers == 1 else "is ready"
        server.signal(signal.SIGHUP)
        while server.log.read_text()[size:].count(said) < workers:
            assert server.ask("GET", "/v2/health/live")[0] == 200
            time.sleep(0.05)
        assert names(server) == list(fewer.names)


def test_running_requests_end_before_the_server_does(model_file, rows):
    with running_server(model_file) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        body = json.dumps({"rows": rows.tolist()}).encode()
        connection.putrequest("POST", "/predict")
        connection.putheader("content-length", str(len(body)))
        connection.endheaders()
        connection.send(body[:10])
        time.sleep(0.2)
        server.signal(signal.SIGTERM)
        time.sleep(1.5)
        connection.send(body[10:])
        response = connection.getresponse()
        assert (response.status, len(response.read()) > 0) == (200, True)
        connection.close()
        assert server.process.wait(10) == 0


def test_answers_are_sent_at_once():
    # asyncio sets TCP_NODELAY only on sockets that name their protocol; without it, each answer on
    # a kept connection waits 40 ms.
    with listen(ServerSettings({"m": "m.zsl"}, port=0)) as socket:
        assert socket.proto == IPPROTO_TCP


def test_a_dead_worker_is_replaced(model_file):
    with running_server(model_file, "--workers", 2, start=installed) as server:
        while len(workers := READY.findall(server.log.read_text())) < 2:
            time.sleep(0.05)
        os.kill(int(workers[0]), signal.SIGKILL)
        while len(READY.findall(server.log.read_text())) < 3:
            time.sleep(0.05)
        for _ in range(5):
            assert server.ask("GET", "/v2/health/ready")[0] == 200


def test_workers_end_when_the_process_that_started_them_is_killed(model_file):
    with running_server(model_file, "--workers", 2, start=installed) as server:
        while len(workers := READY.findall(server.log.read_text())) < 2:
            time.sleep(0.05)
        server.signal(signal.SIGKILL)
        server.process.wait()
        deadline = time.monotonic() + 120
        while any(Path(f"/proc/{worker}/stat").exists() for worker in workers):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_a_port_in_use_is_named(model_file):
    with running_server(model_file) as server:
        done = SeparateRunner().invoke(cli, ["serve", str(model_file), "--port", str(server.port)])
    assert (done.exit_code, "cannot listen" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("There is no file", ["none.zsl"]),
        ("two models are named", ["made.zsl", "made.zsl"]),
        ("Write NAME=FILE", ["a b=made.zsl"]),
        ("an API key is needed", ["made.zsl", "--host", "0.0.0.0"]),
        ("at least 16 letters", ["made.zsl", "--api-key-file", "short"]),
        ("No such file", ["made.zsl", "--api-key-file", "none"]),
        ("there is no folder", ["made.zsl", "--classes-dir", "none"]),
        ("cannot be loaded", ["short"]),
        ("rows must be a whole number", ["made.zsl", "--max-rows", "0"]),
    ],
)
def test_wrong_settings_end_in_one_line(model_file, monkeypatch, message, arguments):
    monkeypatch.chdir(model_file.parent)
    Path("short").write_text("abc")
    done = SeparateRunner().invoke(cli, ["serve", "--port", "0", *arguments])
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert isinstance(done.exception, SystemExit)


def test_nothing_acknowledged_is_lost_by_kill_9(model_file, classifier):
    known = classifier.classes_.tolist()
    truth = {}
    for kill in range(KILLS):
        rng = random.Random(kill)
        with running_server(model_file, "--log", "errors") as server:
            found = names(server)
            for name, state in truth.items():
                assert state is None or (name in found) == state, (kill, name)
            threads = [
                threading.Thread(target=_change, args=(server, truth, f"k{kill}t{i}"))
                for i in range(3)
            ]
            for thread in threads:
                thread.start()
            time.sleep(rng.uniform(0.05, 0.6))
            server.signal(signal.SIGKILL)
            server.process.wait()
            for thread in threads:
                thread.join()
    assert sum(state is not None for state in truth.values()) > KILLS
    assert not set(truth) & set(known)


def _change(server, truth, prefix):
    """Add and remove classes until the server is gone; note what was acknowledged."""
    number = 0
    try:
        while True:
            name, number = f"{prefix}n{number}", number + 1
            truth[name] = None  # asked for, not acknowledged
            if server.ask("PUT", f"{CLASSES}/{name}", {"like": "seen0"})[0] == 201:
                truth[name] = True
            if number % 3 == 0:
                truth[name] = None
                if server.ask("DELETE", f"{CLASSES}/{name}")[0] == 204:
                    truth[name] = False
    except (OSError, http.client.HTTPException):
        pass


def test_a_part_of_the_extra_that_is_missing_is_named():
    program = """
import importlib, sys
from zslearn.exceptions import MissingExtraError
for name in ("starlette", "uvicorn", "httptools", "orjson", "msgspec", "prometheus_client"):
    sys.modules[name] = None
    try:
        importlib.import_module("zslearn.serve")
    except MissingExtraError as error:
        print(f"{name!r}" in str(error) and "zslearn[serve]" in str(error))
    del sys.modules[name]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["True"] * 6, done.stderr


def test_every_line_of_the_log_is_one_of_the_program(model_file):
    odd = b"--x\r\ncontent-disposition: form-data; name=a\r\nbad header\r\n\r\nv\r\n--x--"
    kind = {"content-type": "multipart/form-data; boundary=x"}
    with running_server(model_file, "--log", "json", start=installed) as server:
        for body in (odd, b"", b"--x", b"\0" * 100, odd[:-9], b"--x\r\n\r\n--y--"):
            assert server.ask("POST", "/predict", body, kind)[0] == 400
        server.signal(signal.SIGTERM)
        assert server.process.wait(15) == 0
    lines = server.log.read_text().splitlines()
    begun = next(place for place, line in enumerate(lines) if "Listening" in line)
    assert len([json.loads(line) for line in lines[begun + 1 :]]) >= 6
