"""Semi-supervised vocabulary-informed learning."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Constraint, Either, Number, Whole
from zslearn.core.nearest import scores, unit_rows
from zslearn.exceptions import InvalidInputError
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

LAMS = (1e-2, 1e-3, 1e-4, 1e-5)


def is_matrix(words: Any) -> bool:
    """Say whether a vocabulary is a matrix of numbers."""
    try:
        array = np.asarray(words)
    except ValueError:  # lists of different lengths
        return False
    return array.ndim == 2 and array.dtype.kind in "iuf"


class SSVocClassifier(SearchingMethod):
    """Regression to signatures with a margin to an open vocabulary (SS-Voc).

    g(x) = W x is learned by L-BFGS from (Fu and Sigal; D(x, u) = ‖g(x) − u‖²)::

        mean over samples of  α Σ_j [|g_j − u_yj| − ε]₊²
                              + (1 − α)/2 · Σ_{v ∈ A(y)} [Δ + D(x, u_y)/2 − D(x, v)/2]₊²
        + λ ‖W‖²

    A(y) holds the other seen signatures and the `n_neighbors` words of the vocabulary nearest to
    u_y. Without a vocabulary only the seen signatures remain: still a working model, but the
    semi-supervised part is gone. The start is the ridge solution of the first term. The squared
    hinge, α = 0.6 and ε = 0.1 are as reported for the authors' model, from secondary notes; ε is in
    units of the standard deviation of the signatures' entries here.

    Parameters
    ----------
    vocabulary : array-like of shape (n_words, n_dimensions), optional
        Vectors of the open vocabulary, in the space of the signatures. Words closer than 1e-6 to a
        seen signature are treated as the class's own name and left out.
    alpha : float, default=0.6
        α.
    epsilon : float, default=0.1
        ε.
    margin : float, default=0.1
        Δ, for signatures of unit length.
    n_neighbors : int, default=5
        Words of the vocabulary in A(y).
    lam : "cv" or float, default="cv"
        λ; "cv" chooses 1e-2 to 1e-5 on held-out classes.
    max_iter : int, default=32
        Maximum number of L-BFGS iterations.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample, signature and word to unit length.
    verbose : int, default=0
        1 reports each fold on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (n_dimensions, n_features)
        W, for features minus `feature_mean_` and signatures minus `signature_mean_`.
    feature_mean_, signature_mean_ : ndarray
        Means of the training features and of the seen signatures.
    lam_, n_iter_ : float, int
        λ used, and iterations of the final fit.
    cv_results_ : dict or None
        Held-out accuracy of every λ, with scikit-learn's keys.

    References
    ----------
    Y. Fu, L. Sigal. Semi-supervised vocabulary-informed learning. CVPR 2016.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import SSVocClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = SSVocClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, reference="Fu & Sigal, CVPR 2016"
    )
    vocabulary: ArrayLike | None = parameter(
        default=None, allowed=Either(None, Constraint("a matrix with one row per word", is_matrix))
    )
    alpha: float = parameter(default=0.6, allowed=Number(least=0, most=1))
    epsilon: float = parameter(default=0.1, allowed=Number(least=0))
    margin: float = parameter(default=0.1, allowed=Number(least=0))
    n_neighbors: int = parameter(default=5, allowed=Whole(0))
    lam: float | str = parameter(default="cv", allowed=Number(above=0), tried=LAMS)
    max_iter: int = parameter(default=32, allowed=Whole(1))
    cv: int = parameter(default=3)
    verbose: int = parameter(default=0, allowed=Whole(0))
    coef_: NDArray = fitted("k d")
    feature_mean_: NDArray = fitted("d")
    signature_mean_: NDArray = fitted("k")

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X, S = dense(X).astype(np.float32, copy=False), self.seen_signatures_
        words = self._words(S)
        self.lam_ = self._chosen(X, y, S, words)
        W, self.feature_mean_, self.signature_mean_, self.n_iter_ = self._solve(
            X, y, S, words, self.lam_, self.max_iter
        )
        self.coef_ = W.T

    def represent(self, rows: Features) -> NDArray:
        # (x − μ) W as x W − μ W, so that sparse rows stay sparse.
        offset = self.feature_mean_ @ self.coef_.T
        return np.asarray(rows @ self.coef_.T.astype(rows.dtype)) - offset.astype(rows.dtype)

    def prepare(self, names: NDArray, vectors: NDArray) -> NDArray:
        return self._unit_signatures(names, vectors) - self.signature_mean_

    def compare(self, queries: NDArray, classes: NDArray) -> NDArray:
        return scores(queries, classes, "cosine")

    def _chosen(self, X: NDArray, y: NDArray[np.intp], S: NDArray, words: NDArray) -> float:
        """Choose λ on held-out classes; in the middle of the grid if there are none."""
        points = grid_points(self, search_space(self))
        # The search only compares λ, for which a quarter of the iterations has to do.
        limit = max(1, self.max_iter // 4)

        def ranked(fold: Fold, point: Point) -> NDArray:
            train = X[fold.train], fold.y_train, S[fold.known]
            W, mean, center, _ = self._solve(*train, words, point["lam"], limit)
            encoded = (X[fold.held_out] - mean.astype(X.dtype)) @ W.astype(X.dtype)
            return scores(encoded, S[fold.new] - center, "cosine")

        def judge(fold: Fold) -> list[float]:
            return [held_out_accuracy(ranked(fold, p), fold.y_held_out) for p in points]

        folds, middle = unseen_class_folds(self, y), points[len(points) // 2]
        return float(choose_parameters(self, points, folds, judge, default=middle)["lam"])

    def _solve(
        self, X: NDArray, y: NDArray, S: NDArray, words: NDArray, lam: float, max_iter: int
    ) -> tuple[NDArray, NDArray, NDArray, int]:
        """W of shape (n_features, n_dimensions), the two means, and the iterations taken."""
        mean, center = X.mean(axis=0, dtype=np.float64), S.mean(axis=0)
        X = X - mean.astype(X.dtype)
        # Classes first, then words: row y is the class's own.
        U = (np.vstack([S, words]) - center).astype(X.dtype)
        allowed = neighbor_mask(S, words, self.n_neighbors)
        # The tube of the ε-insensitive loss, in units of the deviation of signatures.
        epsilon = self.epsilon * float(U[: len(S)].std())
        # Ridge regression to the signatures: the minimum for ε = 0 and α = 1.
        gram = (X.T @ X).astype(np.float64) / len(X) + lam * np.eye(X.shape[1])
        start = np.linalg.solve(gram, (X.T @ U[y]).astype(np.float64) / len(X))

        def objective(flat: NDArray) -> tuple[float, NDArray]:
            W = flat.reshape(start.shape)
            # Data term, its gradient through g = X W, and the ridge λ‖W‖².
            value, G = vocabulary_loss(
                X @ W.astype(X.dtype), y, U, allowed, self.alpha, epsilon, self.margin
            )
            gradient = (X.T @ G).astype(np.float64) + 2.0 * lam * W
            return value + lam * float(np.vdot(W, W)), gradient.ravel()

        options = {"maxiter": max_iter, "gtol": 1e-7, "ftol": 1e-7}
        found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)
        return found.x.reshape(start.shape), mean, center, int(found.nit)

    def _words(self, S: NDArray) -> NDArray:
        """Words of the vocabulary, normalized as the signatures, without the classes' own names."""
        if self.vocabulary is None:
            return np.empty((0, S.shape[1]))
        words = np.asarray(self.vocabulary, dtype=np.float64)
        if words.shape[1] != S.shape[1] or not np.isfinite(words).all():
            raise InvalidInputError(
                f"vocabulary must be finite numbers of shape (n_words, {S.shape[1]}), in the space "
                f"of the signatures; got shape {words.shape}."
            )
        words = unit_rows(words) if self.signature_norm == "l2" else words
        # A word that is a class would be pushed away from itself.
        return words[cdist(words, S).min(axis=1) > 1e-6]


def neighbor_mask(S: NDArray, words: NDArray, n_neighbors: int) -> NDArray[np.bool_]:
    """Which rows of [S; words] each class is kept away from, (n_classes, n_classes + n_words)."""
    allowed = np.zeros((len(S), len(S) + len(words)), dtype=bool)
    # From all other seen classes, and from the words nearest to its own signature.
    allowed[:, : len(S)] = ~np.eye(len(S), dtype=bool)
    n = min(n_neighbors, len(words))
    if n:
        nearest = np.argsort(cdist(S, words), axis=1, kind="stable")[:, :n]
        np.put_along_axis(allowed, len(S) + nearest, True, axis=1)
    return allowed


def vocabulary_loss(
    g: NDArray,
    y: NDArray[np.intp],
    U: NDArray,
    allowed: NDArray[np.bool_],
    alpha: float,
    epsilon: float,
    margin: float,
) -> tuple[float, NDArray]:
    """Mean loss of the encoded samples g, and its gradient in g; row y of U is the class's own."""
    gap = g - U[y]
    over = np.maximum(np.abs(gap) - epsilon, 0.0)
    # D(x, u_y)/2 − D(x, v)/2 = (‖u_y‖² − ‖v‖²)/2 − g·(u_y − v), linear in g
    half = np.einsum("ij,ij->i", U, U) / 2.0
    reach = g @ U.T - half
    hinge = np.maximum(margin + reach - reach[np.arange(len(y)), y][:, None], 0.0) * allowed[y]
    loss = alpha * float((over * over).sum()) + (1.0 - alpha) / 2.0 * float((hinge * hinge).sum())
    # ∂/∂g of ½ Σ_v hinge_v² is Σ_v hinge_v (v − u_y).
    pull = hinge @ U - U[y] * hinge.sum(axis=1)[:, None]
    gradient = 2.0 * alpha * np.sign(gap) * over + (1.0 - alpha) * pull
    return loss / len(y), (gradient / len(y)).astype(g.dtype)
