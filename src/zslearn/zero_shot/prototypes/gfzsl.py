"""GFZSL: a Gaussian for every class, predicted from its signature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Number
from zslearn.core.kernels import kernel_ridge, rbf
from zslearn.core.moments import Moments
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.search import (
    Fold,
    Point,
    SearchingMethod,
    choose_parameters,
    even_rows,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

Gaussians = tuple[NDArray, NDArray]
_SEARCH_ROWS = 4000


class GFZSLClassifier(SearchingMethod):
    """Generative framework for zero-shot learning (Verma and Rai, ECML 2017).

    Every class is a Gaussian with its own mean and its own variance of each feature. Kernel ridge
    regression over the seen classes learns mean and log-variance from the signature, and predicts
    those of any class; a sample gets the class with the largest likelihood. This is the inductive
    form; the paper also refines the Gaussians on the test batch.

    Parameters
    ----------
    width : "cv" or float, default="cv"
        Of the kernel ``exp(−‖s − s'‖² / width)``, in units of the mean squared distance between two
        seen signatures.
    ridge : "cv" or float, default="cv"
        Penalty of the regression of means.
    ridge_variance : "cv" or float, default="cv"
        Penalty of the regression of log-variances; the authors' is so large on some data that all
        classes share one variance.
    floor : "cv" or float, default="cv"
        Added to every variance, in units of the mean within-class variance. The authors add 0.05
        in the units of their features, which breaks on features of another scale.

    Attributes
    ----------
    width_, ridge_, ridge_variance_, floor_ : float
        Values used.
    mean_dual_, log_variance_dual_ : ndarrays of shape (n_seen, n_features)
        The two regressions.
    mean_, log_variance_ : ndarrays of shape (n_features,)
        Their offsets; variances are in units of `unit_`.
    unit_ : float
        Mean within-class variance of a feature.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import GFZSLClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = GFZSLClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.5
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(reference="Verma & Rai, ECML 2017")
    width: float | str = parameter(default="cv", allowed=Number(above=0), tried=(1.0, 3.0, 10.0))
    ridge: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(0.1, 0.01, 0.03, 0.3)
    )
    ridge_variance: float | str = parameter(default="cv", allowed=Number(above=0), tried=(1e3, 1.0))
    floor: float | str = parameter(default="cv", allowed=Number(above=0), tried=(0.1, 1.0))
    mean_dual_: NDArray = fitted("c d")
    mean_: NDArray = fitted("d")
    log_variance_dual_: NDArray = fitted("c d")
    log_variance_: NDArray = fitted("d")
    unit_: float = fitted("")

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X = dense(X)
        means = Moments.of(X, y).class_means
        spreads = np.stack([X[y == c].var(axis=0, dtype=np.float64) for c in range(len(means))])
        # Variances are measured in units of the mean one; without any, of that between classes.
        unit = float(spreads.mean()) or float(means.var()) or 1.0
        S = self.seen_signatures_
        rows = even_rows(y, _SEARCH_ROWS, np.random.default_rng(self.random_state))
        few, labels = X[rows].astype(np.float64), y[rows]

        points = grid_points(self, search_space(self))

        def judge(fold: Fold) -> list[float]:
            known = fold.known
            search = _Search(S[known], S[fold.new], means[known], spreads[known] / unit, unit)
            ranked = search.scores(few[fold.held_out], points)
            return [held_out_accuracy(scores, fold.y_held_out) for scores in ranked]

        chosen = choose_parameters(self, points, unseen_class_folds(self, labels), judge)
        for name, value in chosen.items():
            setattr(self, f"{name}_", value)
        fitted = _regressions(S, means, spreads / unit, chosen)
        (self.mean_dual_, self.mean_), (self.log_variance_dual_, self.log_variance_) = fitted
        self.unit_ = unit

    def represent(self, rows: Features) -> NDArray:
        return dense(rows)

    def prepare(self, names: NDArray, vectors: NDArray) -> Gaussians:
        K = rbf(self._unit_signatures(names, vectors), self.seen_signatures_, self.width_)
        fitted = (self.mean_dual_, self.mean_), (self.log_variance_dual_, self.log_variance_)
        return _gaussians(K, fitted, self.unit_)

    def compare(self, queries: NDArray, classes: Gaussians) -> NDArray:
        return log_likelihood(queries, *classes)


def _regressions(
    seen: NDArray, means: NDArray, relative: NDArray, point: dict[str, float]
) -> tuple[Gaussians, Gaussians]:
    """Regressions of the means and of the logarithm of the floored variances."""
    K = rbf(seen, seen, point["width"])
    # Logarithms, so that every prediction is a positive variance.
    logs = np.log(relative + point["floor"])
    return kernel_ridge(K, means, point["ridge"]), kernel_ridge(K, logs, point["ridge_variance"])


@dataclass(frozen=True)
class _Search:
    """Classes of a fold, for all points at once: each regression is solved once."""

    seen: NDArray
    new: NDArray
    means: NDArray
    relative: NDArray
    unit: float

    def scores(self, X: NDArray, points: list[Point]) -> Iterator[NDArray]:
        """Yield `log_likelihood` of the new classes for every point."""
        center = self.means.mean(axis=0)
        x = X - center
        squares = x**2
        seen, new = self.seen, self.new

        # Parameters repeat over the grid: a regression is solved once for each combination it sees.
        @cache
        def kernels(width: float) -> Gaussians:
            return rbf(seen, seen, width), rbf(new, seen, width)

        @cache
        def predicted(width: float, ridge: float) -> NDArray:
            K, k = kernels(width)
            dual, mean = kernel_ridge(K, self.means, ridge)
            return np.asarray(k @ dual + (mean - center))

        @cache
        def spread(width: float, ridge: float, floor: float) -> Gaussians:
            K, k = kernels(width)
            dual, mean = kernel_ridge(K, np.log(self.relative + floor), ridge)
            logs = k @ dual + mean
            precision = np.exp(-logs) / self.unit
            return precision, squares @ precision.T + logs.sum(axis=1)

        # −½ Σ_j [(x_j − m_j)² / v_j + log v_j] with the square expanded: only x·(m/v) depends on
        # all four parameters.
        for p in points:
            m = predicted(p["width"], p["ridge"])
            precision, rest = spread(p["width"], p["ridge_variance"], p["floor"])
            weighted = m * precision
            yield -0.5 * (rest - 2.0 * x @ weighted.T + (m * weighted).sum(axis=1))


def _gaussians(K: NDArray, fitted: tuple[Gaussians, Gaussians], unit: float) -> Gaussians:
    """Means and variances of classes, of shape (n_classes, n_features)."""
    (mean_dual, mean), (log_dual, log_mean) = fitted
    # μ_c = k(s_c) α + μ̄ and log v_c = k(s_c) β + log v̄.
    return K @ mean_dual + mean, unit * np.exp(K @ log_dual + log_mean)


def log_likelihood(X: NDArray, means: NDArray, variances: NDArray) -> NDArray:
    """Return ``−½ Σ_j [(x_j − μ_j)² / v_j + log v_j]``, up to a constant.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    means, variances : ndarrays of shape (n_classes, n_features)
        One diagonal Gaussian per class.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    # Moved to the middle of the classes, so that the expanded square keeps its digits.
    center = means.mean(axis=0)
    x, m = X.astype(np.float64) - center, means - center
    precision = 1.0 / variances
    squares = (x**2) @ precision.T - 2.0 * x @ (m * precision).T + (m**2 * precision).sum(axis=1)
    return -0.5 * (squares + np.log(variances).sum(axis=1))
