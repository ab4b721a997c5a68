"""The semantic autoencoder with class-wise cross-validation against its peers, in one run.

    python benchmarks/peers.py [--data FOLDER] [--features NAME] [--small]

FOLDER holds CUB in the xlsa17 layout; without it, data of the same shape are made. Peers: the
paper's Algorithm 1 with scipy's ``solve_sylvester`` and a plain grid search, extrapolated from
solves that are really made; scikit-learn's RidgeCV from features to semantics; ESZSL and a ranking
method trained by gradient descent, both of this library; and only the solve by GNU Octave's
``sylvester``, if the program octave-cli is there.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
import numpy as np
from scipy.io import loadmat, savemat
from sklearn.linear_model import RidgeCV

from zslearn.core import sylvester
from zslearn.core.moments import Moments, PairMoments
from zslearn.core.nearest import Targets, unit_rows
from zslearn.datasets import make_zero_shot, open_dataset
from zslearn.metrics import per_class_accuracy
from zslearn.zero_shot import ESZSLClassifier, SAEClassifier, SJEClassifier

N_FOLDS, N_LAMS = 5, 30
_QUICK = 30.0


@dataclass(frozen=True)
class Task:
    """Training data of seen classes, and test data of unseen ones, normalized."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray
    signatures: Any
    unseen: list[str]

    def accuracy(self, classes: np.ndarray, samples: np.ndarray) -> float:
        """Return the per-class accuracy of the nearest class vector."""
        best = Targets.of(classes, "cosine").scores(samples).argmax(axis=1)
        return per_class_accuracy(self.y_new, np.array(self.unseen)[best])


def task(folder: Path | None, features: str | None, small: bool) -> Task:
    if folder is not None:
        data = open_dataset(str(folder), features)
        split = data.split("proposed")
    else:
        shape = {"n_per_class": 10, "n_features": 128} if small else {"n_per_class": 59}
        size = {"n_features": 1024, "n_dimensions": 312} | shape
        data = make_zero_shot(150, 50, noise=2.0, random_state=0, **size)
        split = data.split("standard")
    seen, unseen = data.train_rows(split), data.rows(split.unseen)
    return Task(
        unit_rows(data.X[seen].astype(np.float64)),
        data.y[seen],
        unit_rows(data.X[unseen].astype(np.float64)),
        data.y[unseen],
        data.signatures,
        list(split.unseen),
    )


def measured(function: Callable[[], float | None]) -> dict[str, Any]:
    """Time without, then memory with, the tracing of allocations; the latter for quick ones."""
    seconds, accuracy = machine.timed(function, 1)
    if seconds > _QUICK:
        return {"seconds": seconds, "peak_mb": None, "accuracy": accuracy}
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return {"seconds": seconds, "peak_mb": peak, "accuracy": accuracy}


def fitted(t: Task, kind: Any, **parameters: Any) -> float:
    model = kind(t.signatures, **parameters).fit(t.X, t.y)
    return model.score(t.X_new, t.y_new, t.unseen)


def algorithm_1(t: Task, lam: float) -> float:
    """One solve of the paper's algorithm, from the samples; the grid search repeats all of it."""
    S = unit_rows(t.signatures.rows(t.y))
    A, G, C = S.T @ S, t.X.T @ t.X, S.T @ t.X
    W = sylvester.solve_reference(A, G, C, lam)
    return t.accuracy(unit_rows(t.signatures.rows(np.array(t.unseen))) @ W, t.X_new)


def ridge(t: Task) -> float:
    S = unit_rows(t.signatures.rows(t.y))
    # The mode it takes by default did not finish within three minutes on CUB (a busy machine).
    alphas = np.logspace(-4, 4, N_LAMS)
    model = RidgeCV(alphas, fit_intercept=False, gcv_mode="eigen").fit(t.X, S)
    return t.accuracy(unit_rows(t.signatures.rows(np.array(t.unseen))), model.predict(t.X_new))


def octave(t: Task, lam: float) -> dict[str, Any] | None:
    """Seconds of Octave's ``sylvester`` on the same matrices, and how far its W is from ours."""
    program = shutil.which("octave-cli")
    if program is None:
        return None
    classes = np.unique(t.y)
    pairs = PairMoments.of_classes(Moments.of(t.X, t.y), unit_rows(t.signatures.rows(classes)))
    A, G, C = pairs.semantic_gram, pairs.feature_gram, pairs.cross
    with tempfile.TemporaryDirectory() as place:
        savemat(f"{place}/in.mat", {"A": A, "B": lam * G, "C": (1 + lam) * C})
        script = (
            f"load('{place}/in.mat'); tic; W = sylvester(A, B, C); seconds = toc; "
            f"save('-v6', '{place}/out.mat', 'W', 'seconds');"
        )
        subprocess.run([program, "--quiet", "--eval", script], check=True, capture_output=True)
        out = loadmat(f"{place}/out.mat")
    ours, W = machine.timed(lambda: sylvester.solve(A, G, C, lam), 3)
    scipys, _ = machine.timed(lambda: sylvester.solve_reference(A, G, C, lam), 1)
    difference = float(np.linalg.norm(W - out["W"]) / np.linalg.norm(W))
    return {
        "octave_seconds": float(out["seconds"].item()),
        "our_seconds": ours,
        "scipy_seconds": scipys,
        "relative_difference": difference,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="CUB in the xlsa17 layout")
    parser.add_argument("--features", help="name of its feature file")
    parser.add_argument("--small", action="store_true", help="a trial of seconds")
    arguments = parser.parse_args()
    before = machine.facts()
    t = task(arguments.data, arguments.features, arguments.small)
    lam = SAEClassifier(t.signatures).fit(t.X, t.y).lam_["decode"]
    rows = {
        "SAE, λ chosen by class-wise CV": measured(lambda: fitted(t, SAEClassifier)),
        "SAE, λ given": measured(lambda: fitted(t, SAEClassifier, lam=lam)),
        "Algorithm 1 with scipy, λ given": measured(lambda: algorithm_1(t, lam)),
        "RidgeCV of scikit-learn, F to S": measured(lambda: ridge(t)),
        "ESZSL, chosen by class-wise CV": measured(lambda: fitted(t, ESZSLClassifier)),
        "SJE by gradient descent": measured(lambda: fitted(t, SJEClassifier)),
    }
    one = rows["Algorithm 1 with scipy, λ given"]
    rows["Algorithm 1, grid search, extrapolated"] = one | {
        "seconds": one["seconds"] * (N_FOLDS * N_LAMS + 1)
    }
    ours = rows["SAE, λ chosen by class-wise CV"]["seconds"]
    print(f"{t.X.shape[0]} samples, {t.X.shape[1]} features, {t.signatures.vectors.shape[1]} dims")
    for name, row in rows.items():
        print(
            f"  {name:<40} {row['seconds']:10.2f} s  {row['seconds'] / ours:8.2f} x  "
            f"{row['peak_mb'] or np.nan:8.1f} MB  accuracy {row['accuracy']:.3f}"
        )
    solved = octave(t, lam)
    print("  octave-cli is not installed" if solved is None else f"  solve alone: {solved}")
    result = {"data": str(arguments.data and arguments.data.name), "rows": rows, "octave": solved}
    machine.write("peers", before, result, small=arguments.small)


if __name__ == "__main__":
    main()
