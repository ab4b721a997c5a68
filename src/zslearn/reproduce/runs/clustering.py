"""One mapping of supervised clustering on draws of the synthetic data."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

from zslearn.cluster import LinearMapping, SupervisedKMeans, make_mapping
from zslearn.datasets import make_subclusters
from zslearn.metrics import clustering_loss
from zslearn.reproduce.specification import Run

FIRST_SEED = 1000


def measure(run: Run) -> dict[str, Any]:
    """Fit on each draw and cluster its test points."""
    options = run.parameters
    losses, floor, times = [], [], []
    for draw in range(options["draws"]):
        data = make_subclusters(options["sizes"], random_state=FIRST_SEED + draw + run.seed)
        model = SupervisedKMeans(
            _mapping(run.method), standardize=options["scaling"] == "standardized"
        )
        start = perf_counter()
        model.fit(data.X_train, data.y_train)
        times.append(perf_counter() - start)
        losses.append(clustering_loss(data.y_test, model.cluster(data.X_test)))
        floor.append(clustering_loss(data.y_test, data.bayes_partition(data.X_test)))
    return {
        "clustering_loss": sum(losses) / len(losses),
        "fit_seconds": median(times),
        "series": {"losses": losses, "floor": floor},
    }


def _mapping(name: str) -> LinearMapping:
    """Return a mapping; "sae=0.5" gives its λ as a number."""
    base, _, lam = name.partition("=")
    return make_mapping(base, **({"lam": float(lam)} if lam else {}))
