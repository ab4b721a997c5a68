"""CPU time of fits on few samples with many features: the animals that ship with the library.

    python benchmarks/small.py [--before SRC]

1,320 samples of 1,280 features, everything chosen by folds of classes, one BLAS thread, the best of
three fits in a separate process. CPU seconds hardly depend on what else the machine does. With
SRC, the ``src`` folder of another checkout, the same fits are measured there as well; what is
chosen and the accuracy on unseen classes must be the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import machine

METHODS = ("SAEClassifier", "RidgeClassifierFS", "ESZSLClassifier", "PrototypeRegression")
# Runs in a fresh process: the argument is the method.
FIT = """
import json, sys, time
from zslearn import zero_shot
from zslearn.datasets import load_animals
animals = load_animals()
split = animals.split("proposed")
seen, unseen = animals.rows(split.seen), animals.rows(split.unseen)
X, y, times = animals.X[seen], animals.y[seen], []
for _ in range(3):
    start = time.process_time()
    model = getattr(zero_shot, sys.argv[1])(animals.signatures).fit(X, y)
    times.append(time.process_time() - start)
found = model.predict(animals.X[unseen], candidates=split.unseen)
hits = [(found == truth)[animals.y[unseen] == truth].mean() for truth in split.unseen]
print(json.dumps([min(times), sum(hits) / len(hits)]))
"""


def fit_seconds(method: str, source: Path | None = None) -> tuple[float, float]:
    """CPU seconds of a fit, and its accuracy per class on the unseen classes."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "ZSLEARN_THREADS": "1"}
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    command = [sys.executable, "-c", FIT, method]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    seconds, accuracy = json.loads(done.stdout)
    return seconds, accuracy


def measure(method: str, before: Path | None) -> dict[str, Any]:
    seconds, accuracy = fit_seconds(method)
    row = {"method": method, "cpu_seconds": round(seconds, 3), "accuracy": accuracy}
    if before is not None:
        old, old_accuracy = fit_seconds(method, before)
        row |= {"cpu_seconds_before": round(old, 3), "accuracy_before": old_accuracy}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="also measure the code in this src folder")
    arguments = parser.parse_args()
    facts, rows = machine.facts(), []
    for method in METHODS:
        row = measure(method, arguments.before)
        rows.append(row)
        text = f"{method:20} {row['cpu_seconds']:6.2f} CPU s, accuracy {row['accuracy']:.4f}"
        if arguments.before is not None:
            text += "; before {cpu_seconds_before:.2f} s, {accuracy_before:.4f}".format(**row)
        print(text, flush=True)
    machine.write("small", facts, rows, small=arguments.before is None)


if __name__ == "__main__":
    main()
