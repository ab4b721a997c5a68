"""The paper's comparison of costs: training and test time of SSE, ESZSL, AMP and SAE at AwA size.

    python benchmarks/cost.py [--json FILE]

Synthetic data of the size of Animals with Attributes (24,295 training samples of 40 classes, 6,180
test samples of 10 classes, 1,024 features, 85 attributes). Every method is timed twice in one run:
with the parameters given, as the paper must have done, and with them chosen by holding out classes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import timed

from zslearn.datasets import make_zero_shot
from zslearn.zero_shot import make_classifier

# seconds for training and for test in the paper's table, on the authors' machine
PAPER = {
    "sae-encode": (1.3, 0.07),
    "eszsl": (16, 0.08),
    "amp": (844, 0.23),
    "sse-relu": (1312, 9.2),
}
N_TRAIN, N_TEST = 24_295, 6_180


def awa_sized() -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a data set of AwA's size with its training and test rows."""
    data = make_zero_shot(
        40,
        10,
        n_per_class=620,
        n_features=1024,
        n_dimensions=85,
        noise=4.0,
        random_state=0,
    )
    split = data.split("standard")
    rng = np.random.default_rng(0)
    train = rng.permutation(data.rows(split.seen))[:N_TRAIN]
    return data, train, rng.permutation(data.rows(split.unseen))[:N_TEST]


def measure(name: str, data: Any, train: np.ndarray, test: np.ndarray) -> dict[str, Any]:
    X, y = data.X[train].astype(np.float32), data.y[train]
    X_test, unseen = data.X[test].astype(np.float32), list(data.split("standard").unseen)
    start = time.perf_counter()
    chosen = make_classifier(name, data.signatures).fit(X, y)
    searched = time.perf_counter() - start
    fixed = chosen.frozen()
    return {
        "method": name,
        "train, parameters chosen": searched,
        "train, parameters given": timed(lambda: fixed.fit(X, y), 3 if searched < 60 else 1)[0],
        "test": timed(lambda: chosen.predict(X_test, unseen), 5)[0],
        "accuracy": chosen.score(X_test, data.y[test]),
    }


def report(rows: list[dict[str, Any]]) -> str:
    base = rows[0]
    lines = [
        "| method | train, given | ratio to SAE | train, chosen | test | ratio to SAE | accuracy |"
        " paper: train, test | paper's ratios |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        train, test = PAPER[row["method"]]
        given, given_base = row["train, parameters given"], base["train, parameters given"]
        lines.append(
            f"| {row['method']} | {given:.2f} s | {given / given_base:.1f} | "
            f"{row['train, parameters chosen']:.1f} s | {row['test']:.3f} s | "
            f"{row['test'] / base['test']:.1f} | {row['accuracy']:.3f} | {train} s, {test} s | "
            f"{train / PAPER['sae-encode'][0]:.0f}, {test / PAPER['sae-encode'][1]:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    arguments = parser.parse_args()
    problem = awa_sized()
    rows = [measure(name, *problem) for name in PAPER]
    print(report(rows))
    if arguments.json:
        facts = {"cores": os.cpu_count(), "machine": platform.machine(), "numpy": np.__version__}
        arguments.json.write_text(json.dumps({"machine": facts, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
