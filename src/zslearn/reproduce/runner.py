"""From experiments to rows: finished runs are skipped, each in a process with a limit on time."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from time import monotonic, perf_counter, process_time
from typing import Any

from zslearn import __version__
from zslearn._files import json_ready
from zslearn._parameters import check_flags
from zslearn.core.threads import cores
from zslearn.reproduce.experiments import measure
from zslearn.reproduce.results import ResultsFile
from zslearn.reproduce.sources import DataSource
from zslearn.reproduce.specification import Experiment, Run

# What a method may fail with; anything else is a bug in the program and is reported in full.
EXPECTED = (ValueError, TypeError, ArithmeticError, RuntimeError, MemoryError, OSError, ImportError)
Report = Callable[[int, int, Run, dict[str, Any]], None]


def plan(experiments: Sequence[Experiment], sources: Sequence[DataSource]) -> list[Run]:
    """Return the runs of experiments, each once even if several experiments ask for it.

    Parameters
    ----------
    experiments : sequence of Experiment
        What to run.
    sources : sequence of DataSource
        The available data.

    Returns
    -------
    list of Run

    Examples
    --------
    >>> from zslearn.reproduce import choose_experiments, find_data, plan
    >>> sources, _ = find_data()
    >>> runs = plan(choose_experiments(["gzsl"], ["sae"]), sources)
    >>> runs[0].method, runs[0].split
    ('sae', 'standard')
    """
    runs = (run for experiment in experiments for run in experiment.runs(sources))
    return list({run.key: run for run in runs}.values())


def run_experiments(
    runs: Sequence[Run],
    results: ResultsFile,
    *,
    jobs: int = 1,
    repeat_failed: bool = False,
    report: Report | None = None,
) -> int:
    """Run what has no row yet, and add a row for each as it finishes.

    Runs that compare times have the machine to themselves; the others share it, each process with
    its share of the cores.

    Parameters
    ----------
    runs : sequence of Run
        What is wanted; see :func:`plan`.
    results : ResultsFile
        Where rows are found and added; other runs cannot add theirs meanwhile.
    jobs : int, default=1
        Number of processes.
    repeat_failed : bool, default=False
        Repeat runs that have failed.
    report : callable, optional
        Called with number, total, run and row after each run.

    Returns
    -------
    int
        Number of runs done in this call.
    """
    check_flags(repeat_failed=repeat_failed)
    with results.held():
        pending = [run for run in runs if not _is_done(results.find(run.key), repeat_failed)]
        return _run_pending(pending, results, jobs, report)


def _run_pending(
    pending: Sequence[Run], results: ResultsFile, jobs: int, report: Report | None
) -> int:
    """Run all, those that compare times last and alone; return how many there were."""
    shared = [run for run in pending if not run.exclusive]
    alone = [run for run in pending if run.exclusive]
    number = 0
    for part, width in ((shared, jobs), (alone, 1)):
        threads = threads_for(min(width, len(part)))
        for run, outcome in run_all(part, execute, jobs=width, threads=threads):
            number += 1
            row = _row(run, outcome, min(width, len(part)), threads)
            results.add(row)
            if report is not None:
                report(number, len(pending), run, row)
    return number


def execute(run: Run) -> dict[str, Any]:
    """Do one run in this process; a failure becomes a row with its reason.

    Parameters
    ----------
    run : Run
        What to do.

    Returns
    -------
    dict
        Flat entries: "status", what was measured, "seconds", "cpu_seconds",
        "peak_memory_mb" and warnings.
    """
    reset_peak_memory()
    start, cpu = perf_counter(), process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = _outcome(run)
    outcome |= {
        "seconds": perf_counter() - start,
        "cpu_seconds": process_time() - cpu,
        "peak_memory_mb": peak_memory_mb(),
    }
    told = dict.fromkeys(" ".join(str(item.message).split()) for item in caught)
    return json_ready(outcome | ({"warnings": list(told)} if told else {}))


def _outcome(run: Run) -> dict[str, Any]:
    try:
        return {"status": "ok"} | measure(run)
    except EXPECTED as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return {"status": "failed", "error": reason}
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return {"status": "failed", "error": reason}


def _is_done(row: dict[str, Any] | None, repeat_failed: bool) -> bool:
    return row is not None and not (repeat_failed and row.get("status") == "failed")


def _row(run: Run, outcome: dict[str, Any], jobs: int, threads: int) -> dict[str, Any]:
    """Return one flat row: configuration, what was measured, machine."""
    identity = run.source.identity if run.source else ""
    shared = {
        "data_identity": identity,
        "machine_jobs": jobs,
        "machine_threads": threads,
        "machine_load": load_average(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    # Names of the configuration are what tables look for; a result must not change them.
    measured = {key: value for key, value in outcome.items() if key not in run.configuration()}
    return {"key": run.key} | run.configuration() | measured | machine_facts() | shared


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


PACKAGES = ("numpy", "scipy", "scikit-learn")


def machine_facts() -> dict[str, Any]:
    """Return versions, processor, cores and memory as flat entries."""
    facts: dict[str, Any] = {
        "version_zslearn": __version__,
        "version_python": platform.python_version(),
    }
    facts |= {f"version_{name}": _version(name) for name in PACKAGES}
    facts |= {
        "machine_system": f"{platform.system()} {platform.machine()}",
        "machine_cpu": cpu_name(),
        "machine_cores": cores(),
        "machine_memory_gb": _memory_gb(),
    }
    return facts


def threads_for(jobs: int) -> int:
    """Return each process's share of the cores, within what the user allows."""
    allowed = [os.environ.get(name, "") for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")]
    limits = [int(text) for text in allowed if text.isdigit() and int(text) > 0]
    return max(1, min([cores() // max(1, jobs), *limits]))


def load_average() -> float | None:
    """Return how many processes wanted a core over the last minute."""
    try:
        return round(os.getloadavg()[0], 1)
    except OSError:
        return None


def reset_peak_memory() -> None:
    """Reset the memory peak of this process, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory_mb() -> float | None:
    """Return the peak of resident memory of this process in MB."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        return None
    return None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def cpu_name() -> str:
    """Return what the processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None
