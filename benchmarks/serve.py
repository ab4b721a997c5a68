"""Requests per second and their latency, beside a minimal FastAPI handler and MLServer.

    python benchmarks/serve.py [--small] [--seconds 10] [--peers DIR] [--soak SECONDS]

The same model, 1,280 features and 200 classes, behind `zslearn serve` and behind its peers, on
loopback, one worker each, asked in turns by the same client with the same requests over 1 and 8
kept connections: 1 row and 256 rows; figures are medians over the turns. The client is `wrk` where
it is installed, since it takes little of the two cores itself, or else one in this process; each
row says which. Binary requests are for ours alone: MLServer 1.7.1 reads the whole body of a request
by HTTP as JSON and answers 422. The bare `rank` call in this process shows what a request costs on
top; the server's processor time per request depends neither on the client nor on how busy it is. A
peer is a Python of its own, `DIR/fastapi/bin/python` and `DIR/mlserver/bin/python`, with
zslearn and it installed; one that is missing is left out. `--soak 300` asks for five minutes while
classes come and go, and reports errors and memory.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import machine
import numpy as np

from zslearn.persistence import save
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

FEATURES, CLASSES, DIMENSIONS = 1280, 200, 100
PEERS = Path(__file__).with_name("serve_peers")
INFER = "/v2/models/model/infer"
OURS = "zslearn serve"
# Servers are asked in turns, so that a busy moment of the machine does not meet one of them alone.
ROUNDS = 5
# What wrk asks, and what it says at the end; the body comes in a file.
WRK_SCRIPT = """
wrk.method = "POST"
wrk.body = io.open(os.getenv("BODY"), "rb"):read("*a")
wrk.headers["content-type"] = "application/json"
if os.getenv("JSON_LENGTH") then
  wrk.headers["inference-header-content-length"] = os.getenv("JSON_LENGTH")
end
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  print(string.format("FOUND %d %d %f %f %d", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), failed))
end
"""


def make_model(path: Path) -> SAEClassifier:
    """Fit a model of the size of real ones and save it."""
    rng = np.random.default_rng(0)
    names = [f"class{i:03}" for i in range(CLASSES)]
    table = Signatures(names, rng.standard_normal((CLASSES, DIMENSIONS)))
    X = rng.standard_normal((1500, FEATURES))
    clf = SAEClassifier(table, lam=1.0).fit(X, table.names[np.arange(1500) % 150])
    save(clf, path)
    return clf


def body_of(rows: np.ndarray, *, binary: bool) -> tuple[bytes, int | None]:
    """Return the body of a request, and the length of its JSON if raw numbers follow."""
    part: dict[str, Any] = {"name": "features", "shape": list(rows.shape), "datatype": "FP32"}
    raw = b""
    if binary:
        raw = rows.tobytes()
        part["parameters"] = {"binary_data_size": len(raw)}
    else:
        part["data"] = rows.ravel().tolist()
    text = json.dumps({"inputs": [part]}).encode()
    return text + raw, len(text) if binary else None


def request(body: bytes, json_length: int | None) -> bytes:
    """Return one whole HTTP request."""
    extra = "" if json_length is None else f"inference-header-content-length: {json_length}\r\n"
    head = (
        f"POST {INFER} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n{extra}"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def ask(port: int, content: bytes, seconds: float, times: list[float]) -> int:
    """Ask over one connection until the time is over; return the number of errors."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    end, errors = time.perf_counter() + seconds, 0
    while (start := time.perf_counter()) < end:
        writer.write(content)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        times.append(time.perf_counter() - start)
        errors += not head.startswith(b"HTTP/1.1 200")
    writer.close()
    return errors


def load(
    port: int, body: bytes, json_length: int | None, seconds: float, connections: int
) -> dict[str, Any]:
    """Ask over several connections; return requests per second and latencies."""
    by = _load_by_wrk if shutil.which("wrk") else _load_by_asyncio
    return by(port, body, json_length, seconds, connections)


def _load_by_wrk(
    port: int, body: bytes, json_length: int | None, seconds: float, connections: int
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        script, content = Path(folder, "ask.lua"), Path(folder, "body")
        script.write_text(WRK_SCRIPT)
        content.write_bytes(body)
        facts = {"BODY": str(content)}
        if json_length is not None:
            facts["JSON_LENGTH"] = str(json_length)
        # wrk counts whole seconds.
        often = ["-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "60s"]
        said = subprocess.run(
            ["wrk", *often, "-s", str(script), f"http://127.0.0.1:{port}{INFER}"],
            env=os.environ | facts,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
    requests, microseconds, p50, p99, errors = said.split("FOUND ")[1].split()
    return {
        "requests_per_second": round(int(requests) / int(microseconds) * 1e6, 1),
        "requests": int(requests),
        "p50_ms": round(float(p50) / 1e3, 3),
        "p99_ms": round(float(p99) / 1e3, 3),
        "errors": int(errors),
    }


def _load_by_asyncio(
    port: int, body: bytes, json_length: int | None, seconds: float, connections: int
) -> dict[str, Any]:
    content = request(body, json_length)

    async def run() -> tuple[list[float], int]:
        times: list[float] = []
        work = [ask(port, content, seconds, times) for _ in range(connections)]
        return times, sum(await asyncio.gather(*work))

    start = time.perf_counter()
    times, errors = asyncio.run(run())
    return {
        "requests_per_second": round(len(times) / (time.perf_counter() - start), 1),
        "requests": len(times),
        "p50_ms": round(1e3 * float(np.percentile(times, 50)), 3),
        "p99_ms": round(1e3 * float(np.percentile(times, 99)), 3),
        "errors": errors,
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def servers(model: Path, peers: Path | None) -> dict[str, list[str]]:
    """Return the commands of ours and of the peers that are installed; {port} is filled in."""
    ours = [sys.executable, "-m", "zslearn", "serve", f"model={model}", "--port", "{port}"]
    found = {OURS: [*ours, "--log", "errors"]}
    for name in ("fastapi", "mlserver"):
        python = Path(peers or "", name, "bin", "python")
        if peers is not None and python.exists():
            script = str(PEERS / f"{name}_server.py")
            found[name] = [str(python.absolute()), script, str(model), "{port}"]
    return found


class Running:
    """A server in a process of its own."""

    def __init__(self, command: list[str]) -> None:
        self.port = free_port()
        words = [word.format(port=self.port) for word in command]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            words, env=environment, stdout=subprocess.DEVNULL, process_group=0
        )

    def __enter__(self) -> Running:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                time.sleep(1)
                return self
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the server does not start")

    def __exit__(self, *_: object) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def memory_mb(self) -> float:
        """Return what it holds in memory now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def cpu_seconds(self) -> float:
        """Return the processor time it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(server: Running, asked: tuple[Any, ...]) -> dict[str, Any]:
    """Ask one server for a while; return its figures with the processor time per request."""
    before = server.cpu_seconds()
    row = load(server.port, *asked)
    used = server.cpu_seconds() - before
    return row | {"cpu_ms_per_request": round(1e3 * used / max(row["requests"], 1), 3)}


def middle(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the median of each figure, and all errors."""
    found = {key: round(float(np.median([row[key] for row in rows])), 3) for key in rows[0]}
    return found | {"errors": sum(row["errors"] for row in rows)}


def compare(
    clf: SAEClassifier, commands: dict[str, list[str]], seconds: float, rounds: int = ROUNDS
) -> list[Any]:
    """Measure every server with every kind of request, and the bare call."""
    rng = np.random.default_rng(1)
    rows: list[Any] = []
    recognizer = clf.recognizer()
    for n in (1, 256):
        X = rng.standard_normal((n, FEATURES)).astype(np.float32)
        bare, _ = machine.timed(lambda X=X: recognizer.rank(X, 1), 50)
        rows.append({"server": "bare rank", "rows": n, "p50_ms": round(1e3 * bare, 3)})
    with ExitStack() as stack:
        running = {name: stack.enter_context(Running(one)) for name, one in commands.items()}
        for n, binary, connections in itertools.product((1, 256), (True, False), (1, 8)):
            X = rng.standard_normal((n, FEATURES)).astype(np.float32)
            content = body_of(X, binary=binary)
            asked = {name: running[name] for name in running if name == OURS or not binary}
            for server in asked.values():
                load(server.port, *content, min(1.0, seconds), connections)
            found: dict[str, list[dict[str, Any]]] = {name: [] for name in asked}
            for _ in range(rounds):
                for name, server in asked.items():
                    turn = (*content, seconds / rounds, connections)
                    found[name].append(measured(server, turn))
            for name, figures in found.items():
                kind = {"server": name, "rows": n, "binary": binary, "connections": connections}
                kind["client"] = "wrk" if shutil.which("wrk") else "asyncio"
                rows.append(kind | middle(figures))
                print(rows[-1], flush=True)
    return rows


async def change_classes(port: int, seconds: float) -> int:
    """Add and remove classes until the time is over; return how many changes were made."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    end, changes = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        name = f"new{changes % 50}"
        body = json.dumps({"like": "class000", "changes": {}}).encode()
        for method, content in (("PUT", body), ("DELETE", b"")):
            head = f"{method} /v2/models/model/classes/{name} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            writer.write(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
            answer = await reader.readuntil(b"\r\n\r\n")
            if answer.split()[1] not in (b"201", b"204"):
                raise RuntimeError(answer)
            if method == "PUT":
                length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
            changes += 1
    writer.close()
    return changes


def soak(command: list[str], seconds: float) -> dict[str, Any]:
    """Ask and change classes at the same time; memory is looked at ten times."""
    rows = np.random.default_rng(2).random((4, FEATURES), np.float32)
    content = request(*body_of(rows, binary=True))
    memory: list[float] = []

    async def watch(server: Running) -> None:
        for _ in range(10):
            await asyncio.sleep(seconds / 10.5)
            memory.append(round(server.memory_mb(), 1))

    async def run(server: Running) -> tuple[int, int, int]:
        times: list[float] = []
        asking = [ask(server.port, content, seconds, times) for _ in range(4)]
        changes, _, *errors = await asyncio.gather(
            change_classes(server.port, seconds), watch(server), *asking
        )
        return len(times), int(changes or 0), sum(errors)

    with Running(command) as server:
        asked, changes, errors = asyncio.run(run(server))
    return {"requests": asked, "changes": changes, "errors": errors, "memory_mb": memory}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a trial of seconds")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--peers", type=Path, help="folder of the environments of the peers")
    parser.add_argument("--soak", type=float, metavar="SECONDS", help="only soak, so long")
    options = parser.parse_args()
    before = machine.facts()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.zsl")
        clf = make_model(model)
        commands = servers(model, options.peers)
        if options.soak:
            found = soak(commands[OURS], options.soak)
            print(found)
            machine.write("serve_soak", before, [found], small=options.small)
            return
        size = {"seconds": 1.0, "rounds": 1} if options.small else {"seconds": options.seconds}
        rows = compare(clf, commands, **size)
    machine.write("serve", before, rows, small=options.small)


if __name__ == "__main__":
    main()
