"""Semantic similarity embedding."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import parameter
from zslearn._parameters import Either, Number, Whole
from zslearn.core.descent import Parameters
from zslearn.core.losses import structured_hinge
from zslearn.core.nearest import unit_rows
from zslearn.zero_shot.gradient import GradientClassifier, Learned, Scaling
from zslearn.zero_shot.search import Point, even_rows
from zslearn.zero_shot.tags import ZeroShotTags

Array = NDArray[Any]


def project_to_simplex(V: Array) -> Array:
    """Return the nearest point of the probability simplex to each row.

    Parameters
    ----------
    V : ndarray of shape (n_rows, n_coordinates)
        Any points.

    Returns
    -------
    ndarray of shape (n_rows, n_coordinates)
        Rows are not negative and sum to one (sorting algorithm of Held, Wolfe and Crowder 1974).

    Examples
    --------
    >>> import numpy as np
    >>> project_to_simplex(np.array([[0.5, 0.5, -1.0], [3.0, 1.0, 0.0]]))
    array([[0.5, 0.5, 0. ],
           [1. , 0. , 0. ]])
    """
    ordered = -np.sort(-V, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    counts = np.arange(1, V.shape[1] + 1, dtype=V.dtype)
    # The number of positive coordinates is the largest j with u_j > (Σ_{i ≤ j} u_i − 1) / j.
    positive = (ordered * counts > excess).sum(axis=1)
    threshold = excess[np.arange(len(V)), positive - 1] / positive
    return np.maximum(V - threshold[:, None], 0.0).astype(V.dtype)


def simplex_codes(A: Array, B: Array, gamma: float, *, max_iter: int = 2000) -> NDArray[np.float64]:
    """Return for each row a of A the z on the simplex that minimizes ½‖a − zB‖² + (γ/2)‖z‖².

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_dimensions)
        Vectors to code.
    B : ndarray of shape (n_atoms, n_dimensions)
        Vectors to mix.
    gamma : float
        γ > 0 makes the solution unique; a larger γ mixes more atoms.
    max_iter : int
        Maximum number of iterations (accelerated projected gradient, Beck and Teboulle 2009).

    Returns
    -------
    ndarray of shape (n_rows, n_atoms)
    """
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    H, target = B @ B.T + gamma * np.eye(len(B)), A @ B.T
    # Projected gradient steps of 1/L with Nesterov's momentum (FISTA, Beck & Teboulle, 2009).
    step = 1.0 / float(np.linalg.eigvalsh(H)[-1])
    Z = np.full((len(A), len(B)), 1.0 / len(B))
    look, t = Z, 1.0
    for _ in range(max_iter):
        new = project_to_simplex(look - step * (look @ H - target))
        t_new = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        look = new + (t - 1.0) / t_new * (new - Z)
        moved, Z, t = float(np.abs(new - Z).max()), new, t_new
        if moved < 1e-9:
            break
    return np.array([_exact(z, H, t) for z, t in zip(Z, target, strict=True)])


def _exact(z: Array, H: Array, target: Array) -> Array:
    """Solve for the atoms that z uses, so that a code does not depend on how others converged."""
    used = np.flatnonzero(z > 0)
    # On the atoms in use: H z = target + μ·1 and Σ z = 1 (Karush–Kuhn–Tucker).
    system = np.ones((len(used) + 1, len(used) + 1))
    system[:-1, :-1], system[-1, -1] = H[np.ix_(used, used)], 0.0
    solution = np.linalg.solve(system, np.append(target[used], 1.0))[:-1]
    if solution.min() < 0:
        return z
    exact = np.zeros_like(z)
    exact[used] = solution
    return exact


KINDS = ("int", "relu")


class SSEClassifier(GradientClassifier):
    """Classes and samples as mixtures of seen classes (SSE).

    A class has the code z_c = argmin over the simplex of ½‖s_c − Σ_y z_y s_y‖² + (γ/2)‖z‖². A
    sample is described against each seen class y by φ_y(x) = min(x, v_y) ("int") or
    max(0, x − v_y) ("relu"), elementwise, and (Zhang and Saligrama)::

        f(x, c) = Σ_y z_cy wᵀ φ_y(x)
        min over w, v of  mean over samples of max_c [Δ(y, c) + f(x, c) − f(x, y)]₊
                          + the same for the class means,   Δ(y, c) = 1 − s_yᵀ s_c

    v starts at the class means and w at a constant; w and v are trained in turn, an epoch each,
    with early stopping on held-out classes in place of the authors' L2 penalties, and by steps of a
    mini-batch descent in place of their SVM solver and concave-convex procedure. As Σ_y z_y = 1 and
    min(x, v) = x − max(0, x − v), the two kinds are one model up to the sign of w, here with equal
    predictions; differences between them in published tables come from the solver. Made for
    non-negative features; a feature with negative values is shifted to begin at zero. One w for
    all classes can learn little: expect results about ten points below the bilinear methods on CUB
    (in the comparison of Xian et al. 43.9 against 53.9 of SJE).

    Parameters
    ----------
    kind : {"int", "relu"}, default="int"
        φ: intersection or rectified difference.
    gamma : float, default=0.1
        γ of the codes.
    learning_rate : float or "cv", default=0.01
        Step length of Adam, for features of mean squared entry one; "cv" tries 0.01 and 0.003.
    epochs : "cv" or int, default="cv"
        Passes over the data, w and v in turn; "cv" stops where held-out classes are recognized
        best.
    max_samples : int, default=3000
        Train on at most this many samples, drawn evenly from the classes: w has one number per
        feature and v one per feature and class, and a step costs samples × classes × features.

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        "w" of shape (n_features,), "v" of shape (n_seen, n_features) and "B", the seen signatures.
    feature_mean_, feature_scale_, signature_mean_, signature_scale_ : ndarray, float
        Origin and scale of normalized features and signatures, from the training data.

    References
    ----------
    Z. Zhang, V. Saligrama. Zero-shot learning via semantic similarity embedding. ICCV 2015.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import SSEClassifier
    >>> data = make_zero_shot(n_seen=40, n_dimensions=6, random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = SSEClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.6
    True
    """

    step: ClassVar[str] = "adam"
    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, deterministic=False, reference="Zhang & Saligrama, ICCV 2015"
    )
    kind: str = parameter(default="int", allowed=Either(*KINDS))
    gamma: float = parameter(default=0.1, allowed=Number(above=0))
    learning_rate: float | str = parameter(default=0.01, tried=(0.01, 0.003))
    max_epochs: int = parameter(default=12)
    max_samples: int = parameter(default=3000, allowed=Whole(1))
    cv: int = parameter(default=2)

    def _learn(self, X: NDArray, y: NDArray[np.intp], S: NDArray) -> Learned:
        rng = np.random.RandomState(self.random_state)
        rows = even_rows(y, self.max_samples, rng, fill=True)
        return super()._learn(X[rows], y[rows], S)

    def _scaling(self, X: NDArray, S: NDArray, point: Point) -> Scaling:
        """Features that begin at zero, as φ wants them, of mean squared entry one."""
        lowest = np.minimum(X.min(axis=0).astype(np.float64), 0.0)
        entry = float(np.sqrt(np.mean(np.square(X - lowest, dtype=np.float64))))
        scale = 1.0 / entry if entry > 0 else 1.0
        return Scaling(lowest, scale, np.zeros(S.shape[1]), 1.0)

    def _train(
        self,
        X: NDArray,
        y: NDArray,
        S: NDArray,
        point: Point,
        validate: Any = None,
    ) -> Any:
        self._means = np.stack([X[y == c].mean(axis=0) for c in range(len(S))])
        self._codes = simplex_codes(S, S, self.gamma).astype(X.dtype)
        unit = unit_rows(S)
        self._margins = (1.0 - unit @ unit.T).astype(X.dtype)
        self._steps = 0
        # w and v take turns of one epoch each.
        self._steps_per_turn = -(-len(y) // self._rows_per_batch(len(y)))
        try:
            return super()._train(X, y, S, point, validate)
        finally:
            del self._means, self._codes, self._margins, self._steps, self._steps_per_turn

    def _start(self, rng: np.random.RandomState, S: NDArray, n_features: int) -> Parameters:
        # A sample near its atom has a large intersection and a small remainder.
        sign = 1.0 if self.kind == "int" else -1.0
        w = np.full(n_features, sign / n_features, dtype=S.dtype)
        return {"w": w, "v": self._means.astype(S.dtype), "B": S.copy()}

    def _loss(
        self, parameters: Parameters, X: NDArray, y: NDArray, S: NDArray, point: Point
    ) -> tuple[float, Parameters]:
        turn = "w" if (self._steps // self._steps_per_turn) % 2 == 0 else "v"
        self._steps += 1
        # The second sum of the objective: the same loss of the class means.
        some = np.unique(y)
        both = np.concatenate([X, self._means[some]]), np.concatenate([y, some])
        return similarity_loss(parameters, *both, self._codes, self._margins, self.kind, turn)

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        codes = simplex_codes(S, parameters["B"], self.gamma).astype(X.dtype)
        found = responses(parameters["w"], parameters["v"], X, self.kind) @ codes.T
        # A sample below two atoms everywhere responds to both alike: keep such ties exact.
        return np.round(found, 9)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # One w for all classes is not enough to separate blobs of signed features.
        tags.classifier_tags.poor_score = True
        return tags


def responses(w: NDArray, v: NDArray, X: NDArray, kind: str) -> NDArray:
    """Return wᵀ φ_y(x) for every sample and seen class, of shape (n_samples, n_seen)."""
    found = np.empty((len(X), len(v)), dtype=X.dtype)
    for y, atom in enumerate(v):
        found[:, y] = _embedded(X, atom, kind) @ w
    return found


def similarity_loss(
    parameters: Parameters,
    X: NDArray,
    y: NDArray[np.intp],
    codes: NDArray,
    margins: NDArray,
    kind: str,
    turn: str,
) -> tuple[float, Parameters]:
    """Structured hinge of f(x, c) and its gradient in w or v, whose turn it is."""
    w, v = parameters["w"], parameters["v"]
    loss, G = structured_hinge(responses(w, v, X, kind) @ codes.T, y, margins)
    H = G @ codes  # gradient in the responses
    if turn == "w":
        parts = (H[:, c] @ _embedded(X, atom, kind) for c, atom in enumerate(v))
        return loss, {"w": np.sum(list(parts), axis=0)}
    sign = 1.0 if kind == "int" else -1.0
    # min(x, v) grows with v where v < x; max(0, x − v) falls there
    slopes = np.stack([H[:, c] @ (atom < X).astype(X.dtype) for c, atom in enumerate(v)])
    return loss, {"v": (sign * slopes * w).astype(v.dtype)}


def _embedded(X: NDArray, atom: NDArray, kind: str) -> NDArray:
    return np.minimum(X, atom) if kind == "int" else np.maximum(X - atom, 0.0)
