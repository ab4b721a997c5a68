"""EXEM: predict where the samples of a class will lie, then take the nearest."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import NuSVR

from zslearn._parameters import Either, Number, Whole
from zslearn.core.kernels import kernel_ridge, rbf
from zslearn.core.logistic import Axes
from zslearn.core.moments import Moments
from zslearn.core.nearest import scores
from zslearn.zero_shot.base import Features, NormalizedMethod, dense
from zslearn.zero_shot.search import (
    Fold,
    Point,
    choose_parameters,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

METRICS = ("std-euclidean", "euclidean", "cosine")
REGRESSORS = ("kernel ridge", "nu-svr")
Statistics = tuple[NDArray, NDArray]


class EXEMClassifier(NormalizedMethod):
    """Predicted exemplars (Changpinyo, Chao and Sha, ICCV 2017).

    Features are projected on their principal axes; a regression with an RBF kernel learns the mean
    of a seen class from its signature and predicts that of any other; a sample belongs to the
    nearest. Distances are divided by the within-class deviation of each axis, averaged over seen
    classes. The authors use one ν-SVR per axis ("nu-svr"); the default is kernel ridge, which has a
    closed form and serves every axis with one solution (CUB .65 against .64 of ν-SVR, at width 1
    and ridge 0.1).

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    n_axes : int, default=500
        Principal axes kept.
    regressor : {"kernel ridge", "nu-svr"}, default="kernel ridge"
        How class means are predicted. The parameters of "nu-svr" are ν = `nu` and C = 1 / ridge.
    width : "cv" or float, default="cv"
        Of the kernel ``exp(−‖s − s'‖² / width)``, in units of the mean squared distance between two
        seen signatures.
    ridge : "cv" or float, default="cv"
        Penalty of the regression.
    metric : {"std-euclidean", "euclidean", "cosine"}, default="std-euclidean"
        How a sample is compared with the predicted means.
    nu : float, default=0.5
        ν of "nu-svr".
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length, at fit and at prediction.
    cv : int, default=5
        Number of folds over classes.
    random_state : int, default=0
        Order in which classes are dealt to folds.

    Attributes
    ----------
    width_, ridge_ : float
        Values used.
    origin_, axes_ : ndarrays of shape (n_features,) and (n_features, n_axes)
        Projection of the features.
    dual_, mean_ : ndarrays of shape (n_seen, n_axes) and (n_axes,)
        The regression: ``k(s) dual_ + mean_`` is the predicted exemplar.
    deviation_ : ndarray of shape (n_axes,)
        Within-class deviation of each axis.
    cv_results_ : dict or None
        Held-out accuracy of every point tried, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import EXEMClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = EXEMClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.5
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        reference="Changpinyo, Chao & Sha, ICCV 2017"
    )
    _free: ClassVar = {
        "width": (1.0, 0.3, 3.0, 10.0),
        "ridge": (0.1, 0.003, 0.01, 0.03, 0.3),
    }
    parameter_constraints: ClassVar = {
        "n_axes": Whole(1),
        "regressor": Either(*REGRESSORS),
        "width": Either("cv", Number(above=0)),
        "ridge": Either("cv", Number(above=0)),
        "metric": Either(*METRICS),
        "nu": Number(above=0, most=1),
    }
    learned_shapes: ClassVar = {
        "origin_": "d",
        "axes_": "d p",
        "dual_": "c p",
        "mean_": "p",
        "deviation_": "p",
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        n_axes: int = 500,
        regressor: str = "kernel ridge",
        width: float | str = "cv",
        ridge: float | str = "cv",
        metric: str = "std-euclidean",
        nu: float = 0.5,
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        cv: int = 5,
        random_state: int | None = 0,
    ) -> None:
        self.signatures = signatures
        self.n_axes = n_axes
        self.regressor = regressor
        self.width = width
        self.ridge = ridge
        self.metric = metric
        self.nu = nu
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.cv = cv
        self.random_state = random_state

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X = dense(X)
        axes = Axes.of(X).restricted(int(self.n_axes))
        self.origin_, self.axes_ = axes.mean, axes.rotation
        Z = axes.coordinates(X).astype(np.float64)
        means = Moments.of(Z, y).class_means
        spreads = np.stack([Z[y == c].std(axis=0) for c in range(len(means))])

        S, points = self.seen_signatures_, grid_points(self, self._free)

        def ranked(fold: Fold, point: Point) -> NDArray:
            known = S[fold.known]
            dual, mean = self._regression(known, means[fold.known], point)
            exemplars = rbf(S[fold.new], known, point["width"]) @ dual + mean
            return self._scores(Z[fold.held_out], exemplars, _deviation(spreads[fold.known]))

        def judge(fold: Fold) -> list[float]:
            return [held_out_accuracy(ranked(fold, p), fold.y_held_out) for p in points]

        chosen = choose_parameters(self, points, unseen_class_folds(self, y), judge)
        self.width_, self.ridge_ = chosen["width"], chosen["ridge"]
        self.deviation_ = _deviation(spreads)
        self.dual_, self.mean_ = self._regression(S, means, chosen)

    def _regression(self, seen: NDArray, means: NDArray, point: dict[str, float]) -> Statistics:
        K = rbf(seen, seen, point["width"])
        if self.regressor == "kernel ridge":
            return kernel_ridge(K, means, point["ridge"])
        return support_vectors(K, means, self.nu, 1.0 / point["ridge"])

    def _scores(self, Z: NDArray, exemplars: NDArray, deviation: NDArray) -> NDArray:
        if self.metric == "std-euclidean":
            return scores(Z / deviation, exemplars / deviation, "euclidean")
        return scores(Z, exemplars, "cosine" if self.metric == "cosine" else "euclidean")

    def represent(self, rows: Features) -> NDArray:
        return np.asarray((dense(rows).astype(np.float64) - self.origin_) @ self.axes_)

    def prepare(self, names: NDArray, vectors: NDArray) -> NDArray:
        S = self._unit_signatures(names, vectors)
        return rbf(S, self.seen_signatures_, self.width_) @ self.dual_ + self.mean_

    def compare(self, queries: NDArray, classes: NDArray) -> NDArray:
        return self._scores(queries, classes, self.deviation_)


def support_vectors(K: NDArray, means: NDArray, nu: float, C: float) -> Statistics:
    """Dual weights and offsets of one ν-SVR for each column of the means.

    Targets are scaled to unit deviation first, because the loss has its own scale.
    """
    dual, offset = np.zeros_like(means), np.empty(means.shape[1])
    for j, column in enumerate(means.T):
        scale = float(column.std()) or 1.0
        model = NuSVR(kernel="precomputed", nu=nu, C=C).fit(K, (column - column.mean()) / scale)
        dual[model.support_, j] = scale * model.dual_coef_.ravel()
        offset[j] = column.mean() + scale * float(model.intercept_[0])
    return dual, offset


def _deviation(spreads: NDArray) -> NDArray:
    """Mean over classes of the deviation of each axis, never 0."""
    mean = spreads.mean(axis=0)
    floor = 1e-3 * float(mean.mean()) or 1.0
    return np.maximum(mean, floor)
