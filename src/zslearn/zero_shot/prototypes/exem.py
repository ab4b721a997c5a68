"""EXEM: predict where the samples of a class will lie, then take the nearest."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import NuSVR

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Either, Number, Whole
from zslearn.core.kernels import kernel_ridge, rbf
from zslearn.core.logistic import Axes
from zslearn.core.moments import Moments
from zslearn.core.nearest import scores
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.search import (
    Fold,
    Point,
    SearchingMethod,
    choose_parameters,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

METRICS = ("std-euclidean", "euclidean", "cosine")
REGRESSORS = ("kernel ridge", "nu-svr")
Statistics = tuple[NDArray, NDArray]


class EXEMClassifier(SearchingMethod):
    """Predicted exemplars (Changpinyo, Chao and Sha, ICCV 2017).

    Features are projected on their principal axes; a regression with an RBF kernel learns the mean
    of a seen class from its signature and predicts that of any other; a sample belongs to the
    nearest. Distances are divided by the within-class deviation of each axis, averaged over seen
    classes. The authors use one ν-SVR per axis ("nu-svr"); the default is kernel ridge, which has a
    closed form and serves every axis with one solution (CUB .65 against .64 of ν-SVR, at width 1
    and ridge 0.1).

    Parameters
    ----------
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
    n_axes: int = parameter(default=500, allowed=Whole(1))
    regressor: str = parameter(default="kernel ridge", allowed=Either(*REGRESSORS))
    width: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(1.0, 0.3, 3.0, 10.0)
    )
    ridge: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(0.1, 0.003, 0.01, 0.03, 0.3)
    )
    metric: str = parameter(default="std-euclidean", allowed=Either(*METRICS))
    nu: float = parameter(default=0.5, allowed=Number(above=0, most=1))
    origin_: NDArray = fitted("d")
    axes_: NDArray = fitted("d p")
    dual_: NDArray = fitted("c p")
    mean_: NDArray = fitted("p")
    deviation_: NDArray = fitted("p")

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X = dense(X)
        # Principal axes, as the paper projects before regression.
        axes = Axes.of(X).restricted(int(self.n_axes))
        self.origin_, self.axes_ = axes.mean, axes.rotation
        Z = axes.coordinates(X).astype(np.float64)
        # Exemplars are class means; the deviation within classes is the unit of each axis.
        means = Moments.of(Z, y).class_means
        spreads = np.stack([Z[y == c].std(axis=0) for c in range(len(means))])

        S, points = self.seen_signatures_, grid_points(self, search_space(self))

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
            # Σ_j (z_j − e_j)² / σ_j²
            return scores(Z / deviation, exemplars / deviation, "euclidean")
        return scores(Z, exemplars, "cosine" if self.metric == "cosine" else "euclidean")

    def represent(self, rows: Features) -> NDArray:
        return np.asarray((dense(rows).astype(np.float64) - self.origin_) @ self.axes_)

    def prepare(self, names: NDArray, vectors: NDArray) -> NDArray:
        S = self._unit_signatures(names, vectors)
        # Exemplar of a class: k(s_c, S) α plus the mean that was taken off the targets.
        return rbf(S, self.seen_signatures_, self.width_) @ self.dual_ + self.mean_

    def compare(self, queries: NDArray, classes: NDArray) -> NDArray:
        return self._scores(queries, classes, self.deviation_)


def support_vectors(K: NDArray, means: NDArray, nu: float, C: float) -> Statistics:
    """Dual weights and offsets of one ν-SVR for each column of the means.

    Targets are scaled to unit deviation first, because the loss has its own scale.
    """
    dual, offset = np.zeros_like(means), np.empty(means.shape[1])
    # ν-SVR has one target; each is brought to deviation 1, so that one C suits all.
    for j, column in enumerate(means.T):
        scale = float(column.std()) or 1.0
        model = NuSVR(kernel="precomputed", nu=nu, C=C).fit(K, (column - column.mean()) / scale)
        dual[model.support_, j] = scale * model.dual_coef_.ravel()
        offset[j] = column.mean() + scale * float(model.intercept_[0])
    return dual, offset


def _deviation(spreads: NDArray) -> NDArray:
    """Mean over classes of the deviation of each axis, never 0."""
    mean = spreads.mean(axis=0)
    # An axis on which the samples of a class do not vary would decide alone.
    floor = 1e-3 * float(mean.mean()) or 1.0
    return np.maximum(mean, floor)
