"""From experiments to rows: finished runs are skipped."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from time import perf_counter, process_time
from typing import Any

from zslearn._files import json_ready
from zslearn.reproduce.machine import (
    load_average,
    machine_facts,
    peak_memory_mb,
    reset_peak_memory,
    threads_for,
)
from zslearn.reproduce.results import ResultsFile
from zslearn.reproduce.runs import execute_kind
from zslearn.reproduce.sources import DataSource
from zslearn.reproduce.specification import Experiment, Run
from zslearn.reproduce.workers import run_all

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
        return {"status": "ok"} | execute_kind(run)
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
