"""Segmentation of flowers by supervised clustering, a short form of the paper's Table 8."""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.cluster import SAEMapping, Statistics, make_mapping
from zslearn.cluster.two_means import two_means
from zslearn.datasets import load_flowers17
from zslearn.exceptions import InvalidInputError
from zslearn.features import pixel_features
from zslearn.metrics import clustering_loss
from zslearn.reproduce.specification import Run

LAM = 100.0


def measure(run: Run) -> dict[str, Any]:
    """Learn from some photographs, cluster the pixels of others, one photograph at a time."""
    if run.source is None:
        raise InvalidInputError("flowers need the photographs of Flowers-17.")
    options = run.parameters
    sizes = (options["height"], options["train"], options["test"])
    train, test = _pixels(run.source.path, run.seed, *sizes)
    start = perf_counter()
    parts = [Statistics.of(X, y, by_class=True) for X, y in train]
    total = sum(parts[1:], parts[0])
    standard = total.standardized(total.total.mean, total.spread)
    mapping: Any = SAEMapping(LAM) if run.method == "sae" else make_mapping(run.method)
    coef = mapping.fit_statistics(standard).coef_ / total.spread
    fit_seconds = perf_counter() - start
    losses = [_loss(X, y, coef) for X, y in test]
    return {
        "clustering_loss": float(np.mean(losses)),
        "standard_error": float(np.std(losses, ddof=1) / np.sqrt(len(losses))),
        "fit_seconds": fit_seconds,
        "n_pixels": int(total.total.n_samples),
    }


def _loss(X: NDArray[Any], y: NDArray[Any], coef: NDArray[Any]) -> float:
    # k-means does not see a shift; about the mean, float32 codes keep their digits.
    codes = np.ascontiguousarray((X - X.mean(axis=0)) @ coef.T.astype(X.dtype))
    labels = two_means(codes, restarts=0, rng=np.random.RandomState(0))
    return float(clustering_loss(y, labels))


@lru_cache(maxsize=1)
def _pixels(folder: str, seed: int, height: int, n_train: int, n_test: int) -> Any:
    """Return features and labels of the pixels of training and of test photographs."""
    data = load_flowers17(folder)
    order = np.random.default_rng(seed).permutation(len(data))
    described = [_described(data, int(i), height) for i in order[: n_train + n_test]]
    return described[:n_train], described[n_train:]


def _described(data: Any, i: int, height: int) -> tuple[NDArray[Any], NDArray[Any]]:
    mask = data.mask(i, height=height, undefined="background").ravel()
    return pixel_features(data.image(i, height=height)), mask
