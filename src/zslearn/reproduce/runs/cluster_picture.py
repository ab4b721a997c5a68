"""Points and clusters for the picture of the synthetic data."""

from __future__ import annotations

from typing import Any

import numpy as np

from zslearn.cluster import SupervisedKMeans, make_mapping
from zslearn.datasets import make_subclusters
from zslearn.metrics import clustering_loss
from zslearn.reproduce.specification import Run

POINTS = 600


def measure(run: Run) -> dict[str, Any]:
    """Cluster the test points of one draw and keep some of them."""
    data = make_subclusters(run.parameters["sizes"], random_state=1000 + run.seed)
    model = SupervisedKMeans(make_mapping(run.method)).fit(data.X_train, data.y_train)
    labels = model.cluster(data.X_test)
    shown = np.linspace(0, len(labels) - 1, POINTS).astype(int)
    return {
        "clustering_loss": clustering_loss(data.y_test, labels),
        "series": {
            "points": np.round(data.X_test[shown], 2),
            "classes": data.y_test[shown],
            "clusters": labels[shown],
        },
    }
