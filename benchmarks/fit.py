"""Time and memory of the semantic autoencoder against the paper's Algorithm 1, in one run.

    python benchmarks/fit.py [--shape 0 --shape 1 ...]
    python benchmarks/fit.py --cub DIR

The peer is Algorithm 1 with ``scipy.linalg.solve_sylvester``, given the same Gram matrices. Its
grid search is extrapolated from its own solves, because running it would take minutes to hours.

With the folder of CUB, prototype regression is measured beside SAE on it instead, both with all
they choose: CPU seconds, one BLAS thread, the best of three fits in turn.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import machine
import numpy as np
from machine import timed
from threadpoolctl import threadpool_limits

from zslearn.core import sylvester
from zslearn.core.learner import gather_rows
from zslearn.core.linear_maps import autoencoder_equation, lam_grid
from zslearn.core.moments import Moments, PairMoments
from zslearn.core.paths import fold_accuracy
from zslearn.datasets import open_dataset
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import PrototypeRegression, SAEClassifier

# (samples, features, semantic dimensions, seen classes)
SHAPES = [
    (24295, 1024, 85, 40),
    (8855, 1024, 312, 150),
    (24295, 2048, 85, 40),
    (20000, 4096, 1000, 800),
]
N_LAMS, N_FOLDS = 30, 5


def peak_memory(function: Callable[[], Any]) -> float:
    """Extra memory in MB that a call allocates at its peak."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def problem(n: int, d: int, k: int, n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlated features around class means that depend on random signatures."""
    rng = np.random.default_rng(0)
    S = rng.uniform(0, 1, (n_classes, k))
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    y = np.arange(n) % n_classes
    spread = rng.standard_normal((d, d)).astype(np.float32) / np.sqrt(d)
    X = rng.standard_normal((n, d)).astype(np.float32) @ spread
    X += (S @ rng.standard_normal((k, d))).astype(np.float32)[y]
    return X / np.linalg.norm(X, axis=1, keepdims=True), y, S


def peer_run(A: np.ndarray, G: np.ndarray, C: np.ndarray, lam: float) -> dict[str, Any]:
    """Time Algorithm 1, above 2,048 features on half of them and of the dimensions."""
    factor, how = 1, "run"
    if len(G) > 2048:
        k, d = len(A) // 2, len(G) // 2
        A, G, C = (np.ascontiguousarray(M) for M in (A[:k, :k], G[:d, :d], C[:k, :d]))
        factor, how = 8, "extrapolated by the cube from half the size"
    seconds, W_peer = timed(
        lambda: sylvester.solve_reference(A, G, C, lam), 3 if len(G) <= 1024 else 1
    )
    W = sylvester.solve(A, G, C, lam)
    return {
        "how": how,
        "seconds": factor * seconds,
        "difference": float(np.linalg.norm(W - W_peer) / np.linalg.norm(W_peer)),
        "peak_mb": peak_memory(lambda: sylvester.solve_reference(A, G, C, lam))
        * (4 if factor > 1 else 1),
    }


def measure(shape: tuple[int, int, int, int]) -> dict[str, Any]:
    _, d, _, _ = shape
    X, y, S = problem(*shape)
    repeats = 3 if d <= 2048 else 1
    t_moments, moments = timed(lambda: Moments.of(X, y), repeats)
    pairs = PairMoments.of_classes(moments, S)
    A, G, C = pairs.semantic_gram, pairs.feature_gram, pairs.cross
    lams = lam_grid(None, moments, S)
    lam = float(lams[len(lams) // 2])

    peer = peer_run(A, G, C, lam)
    solves = {
        method: timed(lambda m=method: sylvester.solve(A, G, C, lam, m), repeats)
        for method in ("tridiagonal", "spectral")
    }
    t_solve, _ = timed(lambda: sylvester.solve(A, G, C, lam), repeats)

    def path(
        train: Moments, seen: np.ndarray, rows: np.ndarray, method: str = "auto"
    ) -> np.ndarray:
        equation = autoencoder_equation(train, seen, float(lams.max()), method)
        return equation.prototypes(rows, lams)

    t_path, _ = timed(lambda: path(moments, S, S[:10]), repeats)
    t_path_spectral, _ = timed(
        lambda: path(moments, S, S[:10], "spectral"),
        repeats,
    )
    folds = list(ClassKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))
    rules = [("encode", "cosine"), ("decode", "cosine")]

    def cross_validate() -> np.ndarray:
        folded = gather_rows(X, y, folds)
        return np.stack([fold_accuracy(folded, f, S, path, rules) for f in range(N_FOLDS)])

    t_cv, _ = timed(cross_validate, 1)
    t_peer = peer["seconds"]
    return {
        "shape": dict(zip(("n", "d", "k", "classes"), shape, strict=True)),
        "difference": peer["difference"],
        "peer": peer["how"],
        "seconds": {
            "moments (one pass)": t_moments,
            "peer solve": t_peer,
            "our solve": t_solve,
            "our solve, tridiagonal": solves["tridiagonal"][0],
            "our solve, spectral": solves["spectral"][0],
            f"our path of {N_LAMS}": t_path,
            f"our path of {N_LAMS}, spectral": t_path_spectral,
            f"our class-wise CV ({N_FOLDS} x {N_LAMS}, both directions)": t_cv,
            "peer's CV, extrapolated": N_FOLDS * N_LAMS * t_peer,
        },
        "peak_mb": {
            "peer solve": peer["peak_mb"],
            "our solve": peak_memory(lambda: sylvester.solve(A, G, C, lam)),
            "our class-wise CV": peak_memory(cross_validate),
        },
        "ratios": {
            "solve": t_peer / t_solve,
            "path to one solve": t_path / t_solve,
            "class-wise CV": N_FOLDS * N_LAMS * t_peer / t_cv,
        },
    }


def measure_choices(folder: str, repeats: int = 3) -> dict[str, Any]:
    """Fit SAE and prototype regression on the training classes of the proposed split."""
    data = open_dataset(folder)
    rows = data.train_rows(data.split("proposed"))
    X, y = data.X[rows], data.y[rows]
    seconds: dict[str, list[float]] = {}
    with threadpool_limits(1):
        for _ in range(repeats):
            for estimator in (SAEClassifier, PrototypeRegression):
                start = time.process_time()
                estimator(data.signatures).fit(X, y)
                seconds.setdefault(estimator.__name__, []).append(time.process_time() - start)
    best = {name: min(times) for name, times in seconds.items()}
    ratio = best["PrototypeRegression"] / best["SAEClassifier"]
    return {"shape": X.shape, "cpu_seconds": best, "ratio": ratio}


def report(row: dict[str, Any]) -> None:
    shape = row["shape"]
    print("N = {n}, d = {d}, k = {k}, {classes} classes".format(**shape))
    print(f"  peer: {row['peer']}; relative difference of W to its W: {row['difference']:.1e}")
    for name, seconds in row["seconds"].items():
        print(f"  {name:<52} {seconds:10.3f} s")
    for name, size in row["peak_mb"].items():
        print(f"  {name + ', extra memory at its peak':<52} {size:10.1f} MB")
    for name, ratio in row["ratios"].items():
        print(f"  ratio, {name:<45} {ratio:10.1f}")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=int, action="append", choices=range(len(SHAPES)))
    parser.add_argument("--cub", help="folder of CUB: prototype regression beside SAE")
    arguments = parser.parse_args()
    if arguments.cub:
        print(json.dumps(measure_choices(arguments.cub), indent=1))
        return
    facts, rows = machine.facts(), []
    for index in arguments.shape or range(len(SHAPES)):
        rows.append(measure(SHAPES[index]))
        report(rows[-1])
    machine.write("fit", facts, rows, small=arguments.shape is not None)


if __name__ == "__main__":
    main()
