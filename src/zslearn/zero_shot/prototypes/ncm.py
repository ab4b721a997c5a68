"""Nearest class mean with a learned metric."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Either, Number, Whole
from zslearn._progress import report
from zslearn.core.kernels import distance_unit
from zslearn.core.moments import Moments
from zslearn.core.nearest import scores
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.search import (
    Fold,
    SearchingMethod,
    choose_parameters,
    even_rows,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

RELATED = ("similar", "ancestors")
LEARNED = ("ncmml", "whitened", "identity")
_SEARCH_ROWS = 4000


class NCMClassifier(SearchingMethod):
    """Nearest class mean with a learned metric (Mensink et al., ECCV 2012).

    ``P(c|x) ∝ exp(−½ ‖L (x − μ_c)‖²)`` is fitted to the seen classes; the mean of a new class is
    that of related seen classes, and a sample belongs to the nearest mean under L. By default every
    seen class counts with weight ``softmax(−β ‖s − s_c‖²)``, for signatures of any kind. The paper
    goes through WordNet: the mean of an ancestor is that of the seen classes below it, and the mean
    of a class that of its ancestors (``related="ancestors"``, for signatures that say which kinds a
    class belongs to, as `zslearn.encoders.match_wordnet` makes them). A class whose signature was
    seen keeps its own mean.

    L is learned inside the discriminant subspace: ``L = M L₀`` with L₀ the directions that
    separate the class means after whitening the within-class covariance ("whitened" stops there),
    and M by L-BFGS.

    Parameters
    ----------
    learned : {"ncmml", "whitened", "identity"}, default="ncmml"
        How far the metric is learned.
    related : {"similar", "ancestors"}, default="similar"
        How seen classes make up the mean of a new class.
    beta : "cv" or float, default="cv"
        β, in units of the inverse mean squared distance of two seen signatures.
    center : "cv" or bool, default="cv"
        Subtract the mean of the seen signatures and scale to unit length before distances.
    shrinkage : float, default=1.0
        Added to the within-class covariance, in units of its mean eigenvalue.
    max_iter : int, default=20
        Iterations of "ncmml"; few, because it soon fits the seen classes too well.
    verbose : int, default=0
        1 reports each fold, 2 also each metric learned, on stderr.

    Attributes
    ----------
    beta_, center_ : float, bool
        Values used, by ``related="similar"``.
    metric_ : ndarray of shape (n_features, n_directions)
        Lᵀ.
    means_ : ndarray of shape (n_seen, n_directions)
        Projected means of the seen classes.
    n_iter_ : int
        Bound on the iterations.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import NCMClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = NCMClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.4
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, reference="Mensink, Verbeek, Perronnin & Csurka, ECCV 2012"
    )
    learned: str = parameter(default="ncmml", allowed=Either(*LEARNED))
    related: str = parameter(default="similar", allowed=Either(*RELATED))
    beta: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(10.0, 3.0, 30.0, 100.0)
    )
    center: bool | str = parameter(default="cv", allowed=Either(True, False), tried=(False, True))
    shrinkage: float = parameter(default=1.0, allowed=Number(above=0))
    max_iter: int = parameter(default=20, allowed=Whole(1))
    cv: int = parameter(default=3)
    verbose: int = parameter(default=0, allowed=Whole(0))
    metric_: NDArray = fitted("d p")
    means_: NDArray = fitted("c p")

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X = dense(X)
        rows = even_rows(y, _SEARCH_ROWS, np.random.default_rng(self.random_state))
        few, labels = X[rows], y[rows]
        # Weights by ancestors have nothing to choose.
        free = search_space(self) if self.related == "similar" else {}
        S, points = self.seen_signatures_, grid_points(self, free)

        def judge(fold: Fold) -> list[float]:
            metric, means = self._learn(few[fold.train], fold.y_train)
            Z = few[fold.held_out] @ metric.astype(few.dtype)
            weights = (similar_classes(S[fold.new], S[fold.known], **point) for point in points)
            ranked = (scores(Z, some @ means, "euclidean") for some in weights)
            return [held_out_accuracy(found, fold.y_held_out) for found in ranked]

        chosen = choose_parameters(self, points, unseen_class_folds(self, labels), judge)
        if self.related == "similar":
            self.beta_, self.center_ = chosen["beta"], chosen["center"]
        self.metric_, self.means_ = self._learn(X, y)
        self.n_iter_ = int(self.max_iter)

    def _learn(self, X: NDArray, y: NDArray[np.intp]) -> tuple[NDArray, NDArray]:
        """Lᵀ and the projected class means."""
        if self.learned == "identity":
            return np.eye(X.shape[1]), Moments.of(X, y).class_means
        moments = Moments.of(X, y, centered=True)
        # Start: linear discriminants. The metric M is then learned in their few coordinates.
        L0 = discriminant_directions(moments, float(self.shrinkage))
        means = moments.class_means @ L0
        if self.learned == "whitened":
            return L0, means
        M = learn_metric(X.astype(np.float64) @ L0, y, means, int(self.max_iter), self.verbose)
        return L0 @ M.T, means @ M.T

    def represent(self, rows: Features) -> NDArray:
        return np.asarray(dense(rows) @ self.metric_.astype(rows.dtype))

    def prepare(self, names: NDArray, vectors: NDArray) -> NDArray:
        S, seen = self._unit_signatures(names, vectors), self.seen_signatures_
        if self.related == "ancestors":
            return below_ancestors(S, seen) @ self.means_
        return similar_classes(S, seen, self.beta_, center=self.center_) @ self.means_

    def compare(self, queries: NDArray, classes: NDArray) -> NDArray:
        return scores(queries, classes, "euclidean")


def similar_classes(candidates: NDArray, seen: NDArray, beta: float, *, center: bool) -> NDArray:
    """Weights of the seen classes in the mean of each candidate, by their similarity.

    The shape is (n_candidates, n_seen). A candidate with the signature of a seen class takes only
    that class.
    """
    given = candidates, seen
    if center:
        origin = seen.mean(axis=0)
        candidates, seen = candidates - origin, seen - origin
        # ‖a − b‖² = 2 − 2 cos(a, b) of unit vectors.
        squared = 2.0 - 2.0 * scores(candidates, seen, "cosine")
        unit = 2.0
    else:
        squared = -scores(candidates, seen, "euclidean")
        unit = distance_unit(seen)
    return _own_class_first(softmax(-beta * squared / unit, axis=1), *given)


def below_ancestors(candidates: NDArray, seen: NDArray) -> NDArray:
    """Weights of the seen classes in the mean of each candidate, by the kinds they share.

    Columns say which kinds a class belongs to: a positive number where it does. A kind has the
    mean of the seen classes in it, a candidate the mean of its kinds; one that shares no kind with
    a seen class takes all of them alike.
    """
    members = (seen > 0).astype(np.float64)
    # A kind (ancestor) stands for the mean of its seen classes, a candidate for that of its kinds.
    sizes = members.sum(axis=0)
    kinds = ((candidates > 0) & (sizes > 0)) / np.maximum(sizes, 1.0)
    weights = kinds @ members.T
    # Without a common kind nothing is known: the mean of all.
    weights[weights.sum(axis=1) == 0] = 1.0
    return _own_class_first(weights / weights.sum(axis=1, keepdims=True), candidates, seen)


def _own_class_first(weights: NDArray, candidates: NDArray, seen: NDArray) -> NDArray:
    """Give a candidate with the signature of a seen class that class alone."""
    same = (candidates[:, None, :] == seen[None, :, :]).all(axis=2)
    own = same.any(axis=1)
    weights[own] = same[own] / same[own].sum(axis=1, keepdims=True)
    return weights


def discriminant_directions(moments: Moments, shrinkage: float) -> NDArray:
    """Directions that separate class means in units of the within-class deviation.

    Parameters
    ----------
    moments : Moments
        Of the training data.
    shrinkage : float
        Added to the within-class covariance, in units of its mean eigenvalue.

    Returns
    -------
    ndarray of shape (n_features, n_directions)
        At most one direction fewer than classes.
    """
    # Total scatter = between + within; shrinkage is in units of the mean within-class variance.
    offsets = moments.class_means - moments.mean
    about = moments.about(moments.mean)
    between = (offsets.T * moments.counts) @ offsets
    within = (about.gram - between) / moments.n_samples
    level = float(np.trace(within)) / len(within)
    if not level > 0:
        level = float(np.trace(between)) / len(between) / moments.n_samples or 1.0
    values, vectors = np.linalg.eigh(within)
    # Within-class deviation becomes 1 in all directions; then the axes of the class means.
    root = vectors / np.sqrt(np.maximum(values, 0.0) + shrinkage * level)
    rank = min(len(moments.classes) - 1, len(within))
    _, _, Vt = np.linalg.svd(offsets @ root, full_matrices=False)
    return root @ Vt[:rank].T


def ncm_loss(M: NDArray, Z: NDArray, y: NDArray[np.intp], means: NDArray) -> tuple[float, NDArray]:
    """Mean of ``−log P(y|z)`` with ``P(c|z) ∝ exp(−½ ‖M (z − μ_c)‖²)``, and its gradient in M."""
    P = softmax(0.5 * scores(Z @ M.T, means @ M.T, "euclidean"), axis=1)
    rows = np.arange(len(y))
    value = -float(np.mean(np.log(np.maximum(P[rows, y], 1e-300))))
    # ∂/∂d_c of −log softmax(−d)_y is 1[c = y] − P_c; rows of Q sum to 0, so z zᵀ drops out.
    Q = -P
    Q[rows, y] += 1.0
    Q /= len(y)
    cross = Z.T @ (Q @ means)
    inner = (means.T * Q.sum(axis=0)) @ means - cross - cross.T
    return value, M @ inner


def learn_metric(
    Z: NDArray, y: NDArray[np.intp], means: NDArray, max_iter: int, verbose: int = 0
) -> NDArray:
    """Minimize `ncm_loss` from the identity by L-BFGS; returns M of shape (n, n)."""
    n = Z.shape[1]

    def objective(flat: NDArray) -> tuple[float, NDArray]:
        value, gradient = ncm_loss(flat.reshape(n, n), Z, y, means)
        return value, gradient.ravel()

    result = minimize(
        objective,
        np.eye(n).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 2 * max_iter + 10},
    )
    line = f"[NCMClassifier] metric: loss {result.fun:.5f} after {result.nit} iterations"
    report(verbose > 1, line)
    return result.x.reshape(n, n)
