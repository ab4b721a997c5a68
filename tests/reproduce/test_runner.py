import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from zslearn.reproduce import ResultsFile, Run, make_tables, plan, run_experiments
from zslearn.reproduce.runner import execute, run_all
from zslearn.reproduce.specification import choose_experiments

TIMES = ("seconds", "finished", "memory", "load")


def answer(run):
    """What a worker does here: obey the method's name."""
    if run.method == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if run.method == "sleep":
        time.sleep(60)
    import threadpoolctl

    threads = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    return {"status": "ok", "answer": run.method, "threads": max(threads, default=1)}


def without_times(rows):
    return sorted(
        [{k: v for k, v in row.items() if not any(t in k for t in TIMES)} for row in rows],
        key=lambda row: row["key"],
    )


def shown(results):
    """Cells of the tables, without the column of times."""
    (table,) = make_tables(results.rows())["clustering-equal"]
    return [row[:2] for row in table.rows]


def test_workers_survive_runs_that_die_or_hang():
    runs = [Run("k", "a"), Run("k", "die"), Run("k", "sleep", seconds=0.5), Run("k", "b")]
    outcomes = {run.method: out for run, out in run_all(runs, answer, jobs=2, threads=1)}
    assert outcomes["a"] == {"status": "ok", "answer": "a", "threads": 1}
    assert outcomes["b"]["answer"] == "b"
    assert "SIGKILL" in outcomes["die"]["error"]
    assert outcomes["sleep"]["error"] == "took longer than the limit of 0 s"


def test_a_failed_run_is_a_row_with_its_reason(tmp_path, clustering_run):
    results = ResultsFile(tmp_path / "r.jsonl")
    good = clustering_run()
    bad = replace(good, parameters={"sizes": "odd", "scaling": "raw", "draws": 1})
    told = []
    done = run_experiments([bad, good], results, report=lambda *args: told.append(args[:2]))
    assert done == 2
    assert told == [(1, 2), (2, 2)]
    row = results.find(bad.key)
    assert row["status"] == "failed"
    assert "sizes must be 'equal'" in row["error"]
    assert results.find(good.key)["clustering_loss"] < 0.2
    assert {"version_numpy", "machine_cpu", "seconds", "peak_memory_mb"} <= set(row)
    assert run_experiments([bad, good], results) == 0
    assert run_experiments([bad, good], results, repeat_failed=True) == 1


def test_a_fault_of_the_program_is_told_in_full(clustering_run):
    row = execute(replace(clustering_run(), parameters={}))
    assert row["status"] == "failed"
    assert row["error"].startswith("KeyError: 'draws' (_draws, line")


def test_a_run_keeps_its_configuration(animals, tmp_path):
    run = Run("zero-shot", "sae+projection", animals, "proposed", "attributes", "conventional")
    results = ResultsFile(tmp_path / "r.jsonl")
    run_experiments([run], results)
    row = results.find(run.key)
    assert row["method"] == "sae+projection"
    assert row["status"] == "ok", row.get("error")
    assert 0.3 < row["per_class_accuracy"] < 0.8


def test_workers_end_with_the_program_in_the_middle_of_a_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\n"
        "from types import SimpleNamespace\n"
        "from zslearn.reproduce.runner import Worker\n"
        "def hang(run):\n"
        "    time.sleep(600)\n"
        "if __name__ == '__main__':\n"
        "    worker = Worker(hang, 1)\n"
        "    worker.send(SimpleNamespace(seconds=600))\n"
        "    print(worker.process.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    command = [sys.executable, str(script)]
    ended = subprocess.run(command, check=False, timeout=60, stdout=subprocess.PIPE, text=True)
    status = Path("/proc") / ended.stdout.strip() / "status"
    deadline = time.monotonic() + 30
    while status.exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_killed_in_the_middle_it_continues_and_says_the_same(tmp_path):
    """A process ended by the system loses no finished run, and tables come out the same."""
    names = ["lda", "mlca", "kissme", "rca"]
    experiments = choose_experiments(["clustering-equal"], names, quick=True)
    runs = plan(experiments, [])
    whole = ResultsFile(tmp_path / "whole.jsonl")
    run_experiments(runs, whole)
    path = tmp_path / "killed.jsonl"
    code = (
        "from zslearn.reproduce import *\n"
        "import os, sys\n"
        "if __name__ == '__main__':\n"
        f"    chosen = choose_experiments(['clustering-equal'], {names}, quick=True)\n"
        "    runs = plan(chosen, [])\n"
        "    stop = lambda n, *rest: os.kill(os.getpid(), 9) if n == 2 else None\n"
        f"    run_experiments(runs, ResultsFile({str(path)!r}), report=stop)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    ended = subprocess.run([sys.executable, str(script)], check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    killed = ResultsFile(path)
    assert len(killed.rows()) == 2
    assert run_experiments(runs, killed) == len(runs) - 2
    assert shown(killed) == shown(whole)
    assert without_times(killed.rows()) == without_times(whole.rows())


@pytest.mark.parametrize("steps", ["sae", "sae-encode"])
def test_both_steps_together_are_the_demo(animals, steps):
    """With the demo's λ and norms the two steps are the authors' CUB program."""
    import numpy as np
    from sklearn.pipeline import make_pipeline

    from zslearn.reproduce.experiments.zero_shot import BatchStandardizedSAE, SupervisedProjection
    from zslearn.zero_shot import LegacyCUB

    data = animals.load()
    split = data.split("proposed")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    direction = "encode" if steps == "sae-encode" else "decode"
    X, y = data.X.astype(np.float64), data.y
    ours = make_pipeline(
        SupervisedProjection(),
        BatchStandardizedSAE(data.signatures, lam=0.2, direction=direction, feature_norm=None),
    ).fit(X[seen], y[seen])
    theirs = LegacyCUB(data.signatures, direction=direction).fit(X[seen], y[seen])
    codes = ours[:-1].transform(X[unseen])
    a = ours[-1].decision_function(codes, candidates=list(split.unseen))
    b = theirs.decision_function(X[unseen], candidates=list(split.unseen))
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
