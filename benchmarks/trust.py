"""What the checks of files and numbers cost: save, load and predict beside an older checkout.

    git worktree add /tmp/before cce19b0
    python benchmarks/trust.py --before /tmp/before/src

cce19b0 is the last commit before models were checked when they are loaded. Two processes, one with
each source, do the same thing in turns, one BLAS thread each, and the ratio is that of the fewest
CPU seconds each ever took. ``bare`` is what safetensors alone takes to read the file. The old code
kept the candidates of the last ``predict`` in a cache that could give wrong answers; now a
recognizer keeps them, so ``prepared`` compares ``predict`` then with a recognizer now.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import machine

MODELS = ("animals", "wide", "many classes")
# Answers a line "what" on stdin with the CPU seconds of doing it; what it needs is made first.
WORKER = """
import os, sys, tempfile, time
import numpy as np
import safetensors
from zslearn.datasets import load_animals, make_zero_shot
from zslearn.persistence import load, save
from zslearn.zero_shot import SAEClassifier
if sys.argv[1] == "animals":
    data = load_animals()
elif sys.argv[1] == "wide":
    data = make_zero_shot(200, 50, n_per_class=5, n_features=4096, n_dimensions=300, random_state=0)
else:
    data = make_zero_shot(50, 20_000, n_per_class=2, n_features=64, n_dimensions=50, random_state=0)
X, y = data.X[:2000], data.y[:2000]
model = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
path = os.path.join(tempfile.mkdtemp(), "m.zsl")
save(model, path)

prepared = model.recognizer().predict if hasattr(model, "recognizer") else model.predict

def bare():
    with safetensors.safe_open(path, framework="numpy") as file:
        return [file.get_tensor(name) for name in file.keys()]

jobs = {
    "save": lambda: save(model, path),
    "load": lambda: load(path),
    "bare": bare,
    "predict": lambda: model.predict(X),
    "prepared": lambda: prepared(X),
    "one by one": lambda: [prepared(X[:1]) for _ in range(20)],
}
for line in sys.stdin:
    job = jobs[line.strip()]
    start = time.process_time()
    job()
    print(time.process_time() - start, flush=True)
"""


class Worker:
    """A process with one source that does things when asked."""

    def __init__(self, model: str, source: Path) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "ZSLEARN_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER, model],
            env=environment | {"PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, job: str) -> float:
        """CPU seconds of one job."""
        given, told = self._process.stdin, self._process.stdout
        if given is None or told is None:
            raise RuntimeError("the worker has no pipes")
        given.write(job + "\n")
        given.flush()
        return float(told.readline())

    def end(self) -> None:
        """Let it end."""
        self._process.communicate()


def measure(model: str, before: Path, rounds: int) -> list[dict[str, Any]]:
    """Ratios of one model, every job in turns by both."""
    old, new = Worker(model, before), Worker(model, Path(__file__).parents[1] / "src")
    rows = []
    for job in ("save", "load", "bare", "predict", "prepared", "one by one"):
        for worker in (old, new):
            worker.seconds(job)  # imports what it needs
        turns = [(old.seconds(job), new.seconds(job)) for _ in range(rounds)]
        was, now = map(min, zip(*turns, strict=True))
        row = {"model": model, "job": job, "ms_before": 1000 * was, "ms": 1000 * now}
        rows.append(row | {"ratio": now / was})
    old.end()
    new.end()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, required=True, help="src folder of the old checkout")
    parser.add_argument("--rounds", type=int, default=31, help="turns of each; fewer are a trial")
    arguments = parser.parse_args()
    facts, rows = machine.facts(), []
    print(f"{'model':<14}{'job':<12}{'before ms':>10}{'now ms':>10}{'ratio':>8}")
    for model in MODELS:
        for row in measure(model, arguments.before, arguments.rounds):
            numbers = f"{row['ms_before']:10.2f}{row['ms']:10.2f}{row['ratio']:8.3f}"
            print(f"{model:<14}{row['job']:<12}{numbers}", flush=True)
            rows.append(row)
    machine.write("trust", facts, rows, small=arguments.rounds < 31)


if __name__ == "__main__":
    main()
