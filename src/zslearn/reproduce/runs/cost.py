"""Time of training and recognition of several methods, one after the other on the same data."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.threads import cores
from zslearn.exceptions import ZslearnError
from zslearn.reproduce.specification import Run
from zslearn.signatures import Signatures
from zslearn.zero_shot import METHODS, make_classifier

REPEATS = 3


def measure(run: Run) -> dict[str, Any]:
    """Time each method: the whole fit, one fit with what it chose, and the test samples."""
    options = run.parameters
    X, y, table, n_train = _problem(options)
    _warm_up(X)
    rows = [_timed(name, X, y, table, n_train) for name in options["methods"]]
    return {"cores": cores(), "series": {"methods": rows}}


def _timed(
    name: str, X: NDArray[Any], y: NDArray[Any], table: Signatures, n_train: int
) -> dict[str, Any]:
    if name not in METHODS:
        return {"method": name, "status": "failed", "error": "this library has no such method"}
    model = make_classifier(name, table)
    try:
        searched, _ = _seconds(lambda: model.fit(X[:n_train], y[:n_train]), 1)
        fixed = model.frozen()
        fit, _ = _seconds(lambda: fixed.fit(X[:n_train], y[:n_train]), REPEATS)
        unseen: Any = np.unique(y[n_train:])
        test, _ = _seconds(lambda: fixed.predict(X[n_train:], candidates=unseen), REPEATS)
    except (ZslearnError, ValueError, MemoryError) as error:
        return {"method": name, "status": "failed", "error": str(error)}
    return {
        "method": name,
        "status": "ok",
        "search_seconds": searched,
        "fit_seconds": fit,
        "predict_seconds": test,
    }


def _seconds(call: Any, repeats: int) -> tuple[float, Any]:
    """Median wall-clock time of calls; a slow call is not repeated."""
    times: list[float] = []
    while len(times) < repeats and sum(times) < 30.0:
        start = perf_counter()
        result = call()
        times.append(perf_counter() - start)
    return median(times), result


def _problem(options: Any) -> tuple[NDArray[Any], NDArray[Any], Signatures, int]:
    """Correlated features around class means that depend on the signatures; seen classes first."""
    rng = np.random.default_rng(0)
    n, n_train, d = options["n_samples"], options["n_train"], options["n_features"]
    n_seen, n_unseen, k = options["n_seen"], options["n_unseen"], options["n_dimensions"]
    S = rng.uniform(0, 1, (n_seen + n_unseen, k))
    y = np.concatenate([np.arange(n_train) % n_seen, n_seen + np.arange(n - n_train) % n_unseen])
    spread = rng.standard_normal((d, d)).astype(np.float32) / np.sqrt(d)
    X = rng.standard_normal((n, d)).astype(np.float32) @ spread
    X += ((S - S.mean(axis=0)) @ rng.standard_normal((k, d)) / 2).astype(np.float32)[y]
    names = np.array([f"class {i:02d}" for i in range(n_seen + n_unseen)])
    # Pooled network features are non-negative.
    return np.maximum(X, 0.0), names[y], Signatures(names, S), n_train


def _warm_up(X: NDArray[Any]) -> None:
    """Let the linear algebra start its threads before anything is timed."""
    np.linalg.eigh(X[:500].T @ X[:500])
