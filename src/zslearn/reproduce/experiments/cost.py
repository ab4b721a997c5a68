"""Time of training and recognition of several methods, one after the other: the paper's Table 5."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.threads import cores
from zslearn.exceptions import ZslearnError
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import Row, Table, method_title, seconds, select
from zslearn.signatures import Signatures
from zslearn.zero_shot import METHODS, make_classifier

REPEATS = 3


def measure(run: Run) -> dict[str, Any]:
    """Time each method: the whole fit, one fit with what it chose, and the test samples."""
    options = run.parameters
    X, y, table, n_train = _problem(options)
    _warm_up(X)
    given = options.get("options", {})
    rows = [_timed(name, given.get(name, {}), X, y, table, n_train) for name in options["methods"]]
    return {"cores": cores(), "series": {"methods": rows}}


def _timed(
    name: str,
    given: dict[str, Any],
    X: NDArray[Any],
    y: NDArray[Any],
    table: Signatures,
    n_train: int,
) -> dict[str, Any]:
    if name not in METHODS:
        return {"method": name, "status": "failed", "error": "this library has no such method"}
    model = make_classifier(name, table, **given)
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
        "n_learned_from": min(n_train, getattr(model, "max_samples", n_train)),
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


REFERENCE = "sae-encode"
COLUMNS = (
    "method",
    "samples",
    "training s",
    "× SAE",
    "with search s",
    "test s",
    "× SAE (test)",
)


def cost_tables(rows: Iterable[Row]) -> list[Table]:
    """Return times of each method and their ratio to SAE's, all of one run."""
    return [_table(row) for row in select(rows, kind="cost", status="ok")]


def _table(row: Row) -> Table:
    entries = {entry["method"]: entry for entry in row["series"]["methods"]}
    base = entries.get(REFERENCE, {})
    body = tuple(_line(name, entry, base) for name, entry in entries.items())
    notes = [
        f"{row['parameter_n_train']:,} training and "
        f"{row['parameter_n_samples'] - row['parameter_n_train']:,} test samples, "
        f"d = {row['parameter_n_features']}, k = {row['parameter_n_dimensions']}, "
        f"{row['parameter_n_seen']}/{row['parameter_n_unseen']} classes, synthetic. Samples: those "
        "that the method learns from.",
        "Training: one fit with the parameters the method chose; with search: choosing them by "
        "class-wise cross-validation included.",
        f"{row['machine_cores']} cores, {row['machine_threads']} threads, load "
        f"{row.get('machine_load')}, {row['machine_cpu']}.",
    ]
    notes += [f"{n}: {e['error']}" for n, e in entries.items() if e["status"] == "failed"]
    size = row["parameter_n_train"]
    title = f"Cost with {size:,} training samples, wall time"
    return Table(f"cost-{size}", title, COLUMNS, body, tuple(notes))


def _line(name: str, entry: Row, base: Row) -> tuple[str, ...]:
    learned = entry.get("n_learned_from")
    return (
        method_title(name),
        f"{learned:,}" if learned else "",
        _cell(entry, "fit_seconds"),
        _ratio(entry, base, "fit_seconds"),
        _cell(entry, "search_seconds"),
        _cell(entry, "predict_seconds"),
        _ratio(entry, base, "predict_seconds"),
    )


def _cell(entry: Row, key: str) -> str:
    return seconds(entry[key]) if entry["status"] == "ok" else "failed"


def _ratio(entry: Row, base: Row, key: str) -> str:
    if entry["status"] != "ok" or base.get("status") != "ok":
        return ""
    return f"{entry[key] / base[key]:.1f}"


TABLES = {"cost": cost_tables}
