"""Processes that run one job after the other, with a limit on time and threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from threading import Thread
from time import monotonic
from typing import Any

from zslearn.reproduce.specification import Run

Execute = Callable[[Run], dict[str, Any]]


class Worker:
    """A process that executes runs sent to it.

    Parameters
    ----------
    execute : callable
        What to call with a run; a function of a module, so that the process finds it.
    threads : int
        Threads of linear algebra in that process.
    """

    def __init__(self, execute: Execute, threads: int) -> None:
        self._execute, self._threads = execute, threads
        self.run: Run | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(other, self._execute, self._threads), daemon=True
        )
        self.process.start()
        other.close()

    def send(self, run: Run) -> None:
        """Give the process a run."""
        self.run, self.deadline = run, monotonic() + run.seconds
        self.connection.send(run)

    def collect(self) -> tuple[Run, dict[str, Any]]:
        """Return the outcome of the run that has ended, or the reason why there is none."""
        run = self.run
        assert run is not None  # collect follows send
        self.run = None
        try:
            return run, self.connection.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode or 0
            reason = f"its process ended with exit code {code}"
            if code < 0:
                reason = f"its process was killed by {signal.Signals(-code).name}; out of memory?"
            self._start()
            return run, failure(reason)

    def give_up(self) -> tuple[Run, dict[str, Any]]:
        """End a run that took too long, and start a new process."""
        run = self.run
        assert run is not None  # give_up follows send
        self.run = None
        self.close()
        self._start()
        return run, failure(f"took longer than the limit of {run.seconds:.0f} s")

    def close(self) -> None:
        """End the process."""
        self.connection.close()
        self.process.terminate()
        self.process.join()


def run_all(
    runs: Sequence[Run], execute: Execute, *, jobs: int, threads: int
) -> Iterator[tuple[Run, dict[str, Any]]]:
    """Yield runs with their outcome as they finish.

    Parameters
    ----------
    runs : sequence of Run
        What to do, in the order it is started.
    execute : callable
        What to call with each, in another process.
    jobs, threads : int
        Number of processes, and of threads of linear algebra in each.

    Yields
    ------
    run : Run
    outcome : dict
        What `execute` returned, or "status" and "error".
    """
    waiting = list(runs)[::-1]
    workers: list[Worker] = []
    try:
        workers += (Worker(execute, threads) for _ in range(min(jobs, len(waiting))))
        while waiting or any(worker.run is not None for worker in workers):
            for worker in workers:
                if worker.run is None and waiting:
                    worker.send(waiting.pop())
            yield from _finished([worker for worker in workers if worker.run is not None])
    finally:
        for worker in workers:
            worker.close()


def failure(reason: str) -> dict[str, Any]:
    """Return the outcome of a run that has none."""
    return {"status": "failed", "error": reason}


def _finished(busy: Sequence[Worker]) -> Iterator[tuple[Run, dict[str, Any]]]:
    """Wait until a worker has finished its run or its time is up."""
    nearest = min(worker.deadline for worker in busy)
    ready = wait([worker.connection for worker in busy], max(0.0, nearest - monotonic()))
    for worker in busy:
        if worker.connection in ready:
            yield worker.collect()
        elif worker.deadline <= monotonic():
            yield worker.give_up()


def _serve(connection: Connection, execute: Execute, threads: int) -> None:
    """Execute runs until the other side is gone."""
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    with threadpool_limits(threads):
        while True:
            try:
                run = connection.recv()
            except EOFError:
                return
            connection.send(execute(run))


def _end_with_parent() -> None:
    """End this process when the program that started it is gone, even in the middle of a run."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
