"""The server in a process of its own: the installed program, or a fork that starts in a moment."""

import http.client
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("zslearn")


class RunningServer:
    """A server in a process of its own, and a plain client of it."""

    def __init__(self, process, port, log):
        self.process, self.port, self.log = process, port, log

    def ask(self, method, path, body=None, headers=None, timeout=120):
        """Return status and content of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            content = json.dumps(body) if isinstance(body, dict | list) else body
            connection.request(method, path, content, headers or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def json(self, method, path, body=None):
        return json.loads(self.ask(method, path, body)[1])

    def signal(self, number):
        os.kill(self.process.pid, number)

    def wait_for_log(self, text, seconds=120):
        """Wait until the log holds a text."""
        deadline = time.monotonic() + seconds
        while text not in self.log.read_text():
            assert time.monotonic() < deadline, (
                f"{text!r} is not in the log: {self.log.read_text()}"
            )
            time.sleep(0.05)

    def memory(self):
        """Megabytes that the process has in memory now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


class Fork:
    """The program in a child of a process that has everything imported, with Popen's methods."""

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["zslearn.cli.serve", "zslearn.serve"])

    def __init__(self, command, log):
        self.child = self.context.Process(target=_serve, args=(command, str(log)), daemon=True)
        self.child.start()
        self.pid = self.child.pid

    def poll(self):
        return self.child.exitcode

    def wait(self, timeout=None):
        self.child.join(timeout)
        return self.child.exitcode


def _serve(command, log):
    from zslearn.cli import cli

    os.setpgid(0, 0)
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), 2)
    cli(command)


def _program(command, log):
    with log.open("wb") as stderr:
        return subprocess.Popen([PROGRAM, *command], stderr=stderr, process_group=0)


@contextmanager
def running_server(model, *arguments, start=Fork):
    """Start ``zslearn serve`` on a free port; kill it at the end if it still runs."""
    log = Path(model).with_name(f"log-{time.monotonic_ns()}")
    log.touch()
    command = ["serve", str(model), "--port", "0", *map(str, arguments)]
    process = start(command, log)
    try:
        deadline = time.monotonic() + 180
        while not (found := re.search(r"Listening on http://\S+:(\d+),", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.02)
        yield RunningServer(process, int(found[1]), log)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


installed = _program
