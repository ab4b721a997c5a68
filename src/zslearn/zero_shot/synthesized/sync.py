"""Synthesized classifiers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist
from scipy.special import softmax
from sklearn.cluster import KMeans

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Either, Flag, Number, Whole
from zslearn.core.losses import structured_hinge
from zslearn.core.nearest import Targets
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.scoring import Branch, LinearForm
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

Array = NDArray[Any]


def median_distance(S: Array) -> float:
    """Return the median distance between two rows; 1 if no two rows differ."""
    median = float(np.median(pdist(S))) if len(S) > 1 else 0.0
    return median if median > 0 else 1.0


def phantom_similarity(A: Array, B: Array, scale: float) -> NDArray[np.float64]:
    """Return softmax over phantoms r of −scale · ‖a_c − b_r‖².

    Parameters
    ----------
    A : ndarray of shape (n_classes, n_dimensions)
        Signatures of the classes.
    B : ndarray of shape (n_phantoms, n_dimensions)
        Coordinates of the phantom classes.
    scale : float
        How fast the similarity falls with the distance.

    Returns
    -------
    ndarray of shape (n_classes, n_phantoms)
        Rows sum to one.
    """
    return softmax(-scale * cdist(A, B, "sqeuclidean"), axis=1)


def one_versus_other(F: Array, y: NDArray[np.intp]) -> tuple[float, Array]:
    """Return the mean over samples and classes of [1 ∓ F]₊² and its gradient in F.

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Scores; the true class should reach 1, the others −1.
    y : ndarray of shape (n_samples,)
        True class of each row.

    Returns
    -------
    loss : float
    gradient : ndarray of shape (n_samples, n_classes)
    """
    target = np.full_like(F, -1.0)
    target[np.arange(len(y)), y] = 1.0
    hinge = np.maximum(0.0, 1.0 - target * F)
    return float((hinge * hinge).mean()), -2.0 / F.size * target * hinge


def minimize_classifiers(
    start: Array,
    X: Array,
    y: NDArray[np.intp],
    loss: Callable[[Array, NDArray[np.intp]], tuple[float, Array]],
    lam: float,
    mixing: Array | None = None,
    *,
    max_iter: int = 100,
) -> tuple[Array, int]:
    """Minimize loss(X Wᵀ) + (λ/2)‖W‖² over W, or over V with W = mixing · V, by L-BFGS.

    Parameters
    ----------
    start : ndarray of shape (n_classes or n_phantoms, n_features)
        Where to begin.
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        True class of each row.
    loss : callable
        ``loss(F, y)`` returns a value and its gradient in F.
    lam : float
        λ.
    mixing : ndarray of shape (n_classes, n_phantoms), optional
        Similarities of classes and phantoms.
    max_iter : int
        Maximum number of L-BFGS iterations.

    Returns
    -------
    solution : ndarray, shaped as `start`
        W or V.
    n_iter : int
        Iterations taken.
    """

    def objective(flat: Array) -> tuple[float, Array]:
        V = flat.reshape(start.shape)
        W = V if mixing is None else mixing @ V
        # F = X Wᵀ and G = ∂L/∂F, so ∂L/∂W = Gᵀ X; with W = mixing·V, ∂L/∂V = mixingᵀ ∂L/∂W.
        value, G = loss(X @ W.T.astype(X.dtype), y)
        gradient = (G.T @ X).astype(np.float64) + lam * W
        if mixing is not None:
            gradient = mixing.T @ gradient
        return value + lam / 2.0 * float(np.vdot(W, W)), gradient.ravel()

    flat = np.asarray(start, dtype=np.float64).ravel()
    # The loss is a mean, so its gradient is small: stop relative to where it starts.
    tolerance = 1e-4 * float(np.abs(objective(flat)[1]).max())
    options = {"maxiter": max_iter, "gtol": tolerance, "ftol": 1e-9, "maxls": 10}
    found = minimize(objective, flat, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x).reshape(start.shape), int(found.nit)


@dataclass(frozen=True)
class PhantomProblem:
    """The objective of SynC as a function of the coordinates of its phantoms.

    With classifiers V of the phantoms given, mixtures M put the phantoms at ``B = M A``, and
    ``W = S(B) V`` are the classifiers of the seen classes. The objective is (Changpinyo et al.)::

        loss(X Wᵀ) + (λ/2)‖W‖² + η Σ |M| + (κ/2) Σ_r (‖b_r‖² − h²)²

    with h² the mean squared length of the seen signatures.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        True class of each row.
    A : ndarray of shape (n_seen, n_dimensions)
        Signatures of the seen classes.
    loss : callable
        ``loss(F, y)`` returns a value and its gradient in F.
    lam, scale, sparsity, length : float
        λ, the sharpness of the similarity, η and κ.
    """

    X: Array
    y: NDArray[np.intp]
    A: Array
    loss: Callable[[Array, NDArray[np.intp]], tuple[float, Array]]
    lam: float
    scale: float
    sparsity: float
    length: float

    def value(self, M: Array, V: Array) -> tuple[float, Array]:
        """Return the objective without η Σ |M|, and its gradient in M."""
        B = M @ self.A
        S = phantom_similarity(self.A, B, self.scale)
        W = S @ V
        value, G = self.loss(self.X @ W.T.astype(self.X.dtype), self.y)
        # ‖b_r‖² − h², of the term that holds phantoms to the length of signatures.
        excess = np.einsum("ij,ij->i", B, B) - float(np.mean(np.sum(self.A**2, axis=1)))
        total = value + self.lam / 2 * float(np.vdot(W, W)) + self.length / 2 * excess @ excess
        in_S = ((G.T @ self.X).astype(np.float64) + self.lam * W) @ V.T
        # S is a softmax of −scale · D with D the squared distances.
        in_D = -self.scale * S * (in_S - np.sum(S * in_S, axis=1, keepdims=True))
        in_B = 2 * (in_D.sum(axis=0)[:, None] * B - in_D.T @ self.A)
        in_B += 2 * self.length * excess[:, None] * B
        return float(total), in_B @ self.A.T

    def minimized(self, M: Array, V: Array, max_iter: int = 25) -> Array:
        """Return better mixtures, by L-BFGS on the positive and negative parts of M."""
        size = M.size

        def objective(parts: Array) -> tuple[float, Array]:
            value, gradient = self.value((parts[:size] - parts[size:]).reshape(M.shape), V)
            flat = gradient.ravel()
            both = np.concatenate([flat, -flat]) + self.sparsity
            return value + self.sparsity * float(parts.sum()), both

        # M = P − N with P, N ≥ 0 makes Σ|M| = Σ P + N smooth.
        start = np.concatenate([np.maximum(M, 0).ravel(), np.maximum(-M, 0).ravel()])
        found = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * (2 * size),
            options={"maxiter": max_iter},
        )
        best = np.asarray(found.x)
        return (best[:size] - best[size:]).reshape(M.shape)


LOSSES = ("ovo", "cs", "struct")
# Turns of learning the coordinates of phantoms, and what holds their lengths to the signatures'.
ROUNDS = 2
LENGTH_WEIGHT = 1e-2
# λ from strong to weak, because each fit starts at the one before; the range is the authors'.
LAMS = {
    "ovo": (2.0**-8, 2.0**-11, 2.0**-14, 2.0**-17),
    "cs": (2.0**-8, 2.0**-10, 2.0**-12, 2.0**-14),
    "struct": (2.0**-8, 2.0**-10, 2.0**-12, 2.0**-14),
}
SCALES = tuple(2.0**power for power in range(-5, 6))
START_LAM = 2.0**-12


class SynCClassifier(SearchingMethod):
    """Classifiers of unseen classes as mixtures of phantom classifiers (SynC).

    With signatures a_c of unit length, divided by their median distance, the classifier of a class
    is w_c = Σ_r s_cr v_r with s_cr = softmax_r(−scale · ‖a_c − b_r‖²) (Changpinyo et al.).
    With one phantom for each seen class, b_r = a_r, the w_c of the seen classes are learned
    directly and V = pinv(S) W (the authors' fast version). Losses, each plus (λ/2)‖W‖²::

        ovo     mean over samples and classes of [1 − t w_cᵀx]₊²,  t = ±1
        cs      mean over samples of max_c [1 + w_cᵀx − w_yᵀx]₊             (Crammer–Singer)
        struct  mean over samples of max_c [‖a_y − a_c‖ + w_cᵀx − w_yᵀx]₊

    all minimized by L-BFGS, "cs" and "struct" from the solution of "ovo" (they have a kink at the
    authors' start near zero, where every class ties). With `learn_phantoms` the coordinates b_r are
    learned too, as sparse mixtures of the seen signatures, in turn with V (the authors' full
    version); λ and scale are chosen with the phantoms where they start.

    Parameters
    ----------
    loss : {"ovo", "cs", "struct"}, default="ovo"
        Which loss.
    lam : "cv" or float, default="cv"
        λ; "cv" chooses it on held-out classes, together with `scale`.
    scale : "cv" or float, default="cv"
        Sharpness of the similarity.
    n_phantoms : int, optional
        Number of phantom classes at k-means centers of the seen signatures, at most the number of
        seen classes; V is learned directly then. None means the seen classes themselves.
    learn_phantoms : bool, default=False
        Whether to learn the coordinates of the phantoms.
    sparsity : float, default=1e-4
        Weight of the absolute mixing weights of the phantoms, if they are learned.
    max_iter : int, default=100
        Maximum number of L-BFGS iterations.
    random_state : int, default=0
        Order in which classes are dealt to folds, and the start of k-means.
    verbose : int, default=0
        1 reports each fold on stderr.

    Attributes
    ----------
    phantoms_ : ndarray of shape (n_phantoms, n_dimensions)
        b_r, in units of `median_distance_`.
    coef_ : ndarray of shape (n_phantoms, n_features)
        V.
    median_distance_ : float
        Median distance between two seen signatures.
    lam_, scale_ : float
        What was used.
    n_iter_ : int
        L-BFGS iterations of the final fit.
    cv_results_ : dict or None
        Held-out accuracy of every λ and scale, with scikit-learn's keys.

    References
    ----------
    S. Changpinyo, W.-L. Chao, B. Gong, F. Sha. Synthesized classifiers for zero-shot learning.
    CVPR 2016.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import SynCClassifier
    >>> data = make_zero_shot(n_seen=40, n_dimensions=8, random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = SynCClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, reference="Changpinyo, Chao, Gong & Sha, CVPR 2016"
    )
    loss: str = parameter(default="ovo", allowed=Either(*LOSSES))
    lam: float | str = parameter(default="cv", allowed=Either("cv", Number(above=0)))
    scale: float | str = parameter(default="cv", allowed=Number(above=0), tried=SCALES)
    n_phantoms: int | None = parameter(default=None, allowed=Either(None, Whole(1)))
    learn_phantoms: bool = parameter(default=False, allowed=Flag())
    sparsity: float = parameter(default=1e-4, allowed=Number(least=0))
    max_iter: int = parameter(default=100, allowed=Whole(1))
    cv: int = parameter(default=3)
    verbose: int = parameter(default=0, allowed=Whole(0))
    phantoms_: NDArray = fitted("p k")
    coef_: NDArray = fitted("p d")
    scale_: float = fitted("")

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X = dense(X).astype(np.float32, copy=False)
        # In units of the median distance between seen classes one grid of scales suits all tables.
        self.median_distance_ = median_distance(self.seen_signatures_)
        A = self.seen_signatures_ / self.median_distance_
        chosen = self._chosen(X, y, A)
        self.lam_, self.scale_ = float(chosen["lam"]), float(chosen["scale"])
        self.phantoms_ = self._phantoms(A)
        self.coef_ = self._path(X, y, A, self.phantoms_, (self.lam_,), (self.scale_,))[0][0]
        if self.learn_phantoms:
            self._learn_phantoms(X, y, A)

    def _learn_phantoms(self, X: NDArray, y: NDArray[np.intp], A: NDArray) -> None:
        """Move the phantoms and learn their classifiers anew, in turn."""
        problem = PhantomProblem(
            X, y, A, self._loss(A), self.lam_, self.scale_, self.sparsity, LENGTH_WEIGHT
        )
        # Phantoms are kept as mixtures of signatures, b_r = Σ_c m_rc a_c.
        mixtures = self.phantoms_ @ np.linalg.pinv(A)
        for _ in range(ROUNDS):
            mixtures = problem.minimized(mixtures, self.coef_)
            self.phantoms_ = mixtures @ A
            mixing = phantom_similarity(A, self.phantoms_, self.scale_)
            self.coef_, self.n_iter_ = minimize_classifiers(
                self.coef_, X, y, problem.loss, self.lam_, mixing, max_iter=self.max_iter
            )

    def _mixing(self, S: NDArray) -> NDArray:
        """Weights of the phantoms in each class, of shape (n_classes, n_phantoms)."""
        return phantom_similarity(S / self.median_distance_, self.phantoms_, self.scale_)

    def prepare(self, names: NDArray, vectors: NDArray) -> Targets:
        # w_c = Σ_r s_cr v_r
        return Targets.of(self._mixing(self._unit_signatures(names, vectors)) @ self.coef_, "dot")

    def compare(self, queries: Features, classes: Targets) -> NDArray:
        return classes.scores(queries)

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        mixing = self._mixing(self._unit_signatures([name], vector[None]))[0]
        seen = len(self.phantoms_) == len(self.seen_classes_) and not self.learn_phantoms
        phantoms = self.seen_classes_ if seen else range(1, len(self.phantoms_) + 1)
        names = [str(name) if seen else f"phantom {name}" for name in phantoms]
        return Explanation.of(names, mixing * (self.coef_ @ rows[0]))

    def linear_form(self, classes: Targets) -> LinearForm:
        return LinearForm((Branch(None, classes),), self.feature_norm)

    def _chosen(self, X: NDArray, y: NDArray[np.intp], A: NDArray) -> Point:
        """Choose λ and scale on held-out classes; in the middle of the grid if there are none."""
        grid = {"lam": LAMS[self.loss], **search_space(self)}
        middle = {name: (values[len(values) // 2],) for name, values in grid.items()}
        points, [default] = grid_points(self, grid), grid_points(self, middle)
        lams, scales = (tuple(dict.fromkeys(p[name] for p in points)) for name in grid)

        def judge(fold: Fold) -> list[float]:
            B = self._phantoms(A[fold.known])
            path = self._path(X[fold.train], fold.y_train, A[fold.known], B, lams, scales)
            mixings = [phantom_similarity(A[fold.new], B, scale) for scale in scales]
            W = (mixing @ V for row in path for mixing, V in zip(mixings, row, strict=True))
            ranked = (X[fold.held_out] @ w.T.astype(X.dtype) for w in W)
            return [held_out_accuracy(scores, fold.y_held_out) for scores in ranked]

        return choose_parameters(self, points, unseen_class_folds(self, y), judge, default=default)

    def _path(
        self, X: NDArray, y: NDArray, A: NDArray, B: NDArray, lams: tuple, scales: tuple
    ) -> list[list[NDArray]]:
        """V of every λ and scale, each fit starting where the last λ ended."""
        loss = self._loss(A)
        if self.n_phantoms is None:
            # As many phantoms as classes: every W is some S V, so W is learned once for each λ and
            # V = S⁺ W found for each scale.
            mixings = [np.linalg.pinv(phantom_similarity(A, B, scale)) for scale in scales]
            fits = self._fits(X, y, loss, lams, len(A), None)
            return [[mixing @ W for mixing in mixings] for W in fits]
        mixed = (phantom_similarity(A, B, scale) for scale in scales)
        by_scale = [self._fits(X, y, loss, lams, len(B), mixing) for mixing in mixed]
        return [list(one_lam) for one_lam in zip(*by_scale, strict=True)]

    def _fits(
        self, X: NDArray, y: NDArray, loss: Any, lams: tuple, rows: int, mixing: NDArray | None
    ) -> list[NDArray]:
        """Minimizers of every λ."""
        V = np.zeros((rows, X.shape[1]))
        # The margin losses start from a few steps of the smooth one.
        if self.loss != "ovo":
            V, _ = minimize_classifiers(V, X, y, one_versus_other, START_LAM, mixing, max_iter=10)
        fits = []
        # A path is only used for searching, so its fits may be rougher than a single one.
        limit = self.max_iter if len(lams) == 1 else max(1, self.max_iter // 4)
        for lam in lams:
            V, self.n_iter_ = minimize_classifiers(V, X, y, loss, lam, mixing, max_iter=limit)
            fits.append(V)
        return fits

    def _loss(self, A: NDArray) -> Any:
        if self.loss == "ovo":
            return one_versus_other
        # Crammer–Singer's margin is 1, that of the struct loss the distance of the two classes.
        margin = 1.0 if self.loss == "cs" else cdist(A, A).astype(np.float32)
        return lambda F, y: structured_hinge(F, y, margin)

    def _phantoms(self, A: NDArray) -> NDArray:
        if self.n_phantoms is None or self.n_phantoms >= len(A):
            return A
        means = KMeans(self.n_phantoms, n_init=4, random_state=self.random_state).fit(A)
        return np.asarray(means.cluster_centers_)
