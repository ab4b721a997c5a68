"""How much longer fits take next to programs that do nothing but compute.

    python benchmarks/busy.py [--folder DIR] [--source SRC]

Wall time of the semantic autoencoder and of prototype regression, everything chosen by folds, on
the animals that ship with the library and on CUB (an xlsa17 folder in DIR). Each fit is timed alone
and next to one busy process per core, started here and stopped at the end, in a separate process
with BLAS as it comes. No fit should take more than three times as long; a fair share of two cores
with two busy processes is one and a half times. With SRC, the ``src`` folder of another checkout,
the same is measured there. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine

METHODS = ("SAEClassifier", "PrototypeRegression")
DATA = Path(os.environ.get("ZSLEARN_DATA", "../shared/data")) / "xlsa17" / "CUB"
ROUNDS = 2
# Runs in a fresh process: arguments are the data, the method and the number of rounds.
FIT = """
import json, sys, time
from zslearn import zero_shot
from zslearn.datasets import load_animals, open_dataset
data = load_animals() if sys.argv[1] == "animals" else open_dataset(sys.argv[1])
rows = data.rows(data.split("proposed").seen)
X, y = data.X[rows], data.y[rows]
found = []
for _ in range(int(sys.argv[3])):
    clock, cpu = time.perf_counter(), time.process_time()
    getattr(zero_shot, sys.argv[2])(data.signatures).fit(X, y)
    found.append((time.perf_counter() - clock, time.process_time() - cpu))
print(json.dumps(min(found)))
"""


def compute_for_ever() -> None:
    while True:
        sum(range(10_000))


@contextlib.contextmanager
def busy_cores(n: int) -> Iterator[None]:
    """Keep n processes computing inside the block."""
    hogs = [multiprocessing.Process(target=compute_for_ever, daemon=True) for _ in range(n)]
    for hog in hogs:
        hog.start()
    time.sleep(0.5)
    try:
        yield
    finally:
        for hog in hogs:
            hog.terminate()
            hog.join()


def fit_seconds(data: str, method: str, source: Path | None, rounds: int) -> tuple[float, float]:
    """Wall and CPU seconds of a fit in a fresh process, the better of some rounds."""
    environment = dict(os.environ)
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    command = [sys.executable, "-c", FIT, data, method, str(rounds)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    wall, cpu = json.loads(done.stdout)
    return wall, cpu


def measure(name: str, data: str, method: str, source: Path | None) -> dict[str, Any]:
    alone = fit_seconds(data, method, source, ROUNDS)
    with busy_cores(os.cpu_count() or 1):
        beside = fit_seconds(data, method, source, 1)
    return {
        "data": name,
        "method": method,
        "alone": round(alone[0], 3),
        "busy": round(beside[0], 3),
        "ratio": round(beside[0] / alone[0], 2),
        "cpu_alone": round(alone[1], 3),
        "cpu_busy": round(beside[1], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=DATA, help="the folder of CUB")
    parser.add_argument("--source", type=Path, help="measure the code in this src folder")
    arguments = parser.parse_args()
    places = {"animals": "animals"}
    if arguments.folder.is_dir():
        places["CUB"] = str(arguments.folder)
    else:
        print(f"{arguments.folder} is not there, so CUB is left out", file=sys.stderr)
    before, rows = machine.facts(), []
    for name, place in places.items():
        for method in METHODS:
            rows.append(measure(name, place, method, arguments.source))
            text = (
                "{data:8} {method:20} alone {alone:7.2f} s, busy {busy:7.2f} s: {ratio:.1f} times"
            )
            print(text.format(**rows[-1]), flush=True)
    if arguments.source is None:
        machine.write("busy", before, rows, small=False)


if __name__ == "__main__":
    main()
