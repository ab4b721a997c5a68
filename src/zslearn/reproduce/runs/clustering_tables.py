"""One mapping of supervised clustering on random halves of a table that scikit-learn ships."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from zslearn.cluster import SupervisedKMeans, make_mapping
from zslearn.metrics import clustering_loss
from zslearn.reproduce.specification import Run

# Sweeps of ITML are loops over pairs; 50 of them keep the run short.
OVERRIDES = {"itml": {"max_iter": 50}}
TABLES = {
    "digits": sklearn.datasets.load_digits,
    "wine": sklearn.datasets.load_wine,
    "breast cancer": sklearn.datasets.load_breast_cancer,
    "iris": sklearn.datasets.load_iris,
}
Parts = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def measure(run: Run) -> dict[str, Any]:
    """Fit on one half of the samples, or of the classes, and cluster the other."""
    options = run.parameters
    X, y = TABLES[options["table"]](return_X_y=True)
    halve = _halves_of_classes if options.get("new_classes") else _halves_of_samples
    losses, indices = [], []
    for seed in range(run.seed, run.seed + options["splits"]):
        X_train, X_test, y_train, y_test = halve(X, y, seed)
        mapping = make_mapping(run.method, **OVERRIDES.get(run.method, {}))
        labels = SupervisedKMeans(mapping).fit(X_train, y_train).cluster(X_test)
        losses.append(float(clustering_loss(y_test, labels, normalize=True)))
        indices.append(float(adjusted_rand_score(y_test, labels)))
    return {
        "clustering_loss": float(np.mean(losses)),
        "adjusted_rand_index": float(np.mean(indices)),
        "series": {"losses": losses, "adjusted_rand_indices": indices},
    }


def _halves_of_samples(X: NDArray[Any], y: NDArray[Any], seed: int) -> Parts:
    parts: Parts = tuple(train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed))
    return parts


def _halves_of_classes(X: NDArray[Any], y: NDArray[Any], seed: int) -> Parts:
    classes = np.unique(y)
    known = np.isin(y, np.random.RandomState(seed).permutation(classes)[: len(classes) // 2])
    return X[known], X[~known], y[known], y[~known]
