"""Joint latent similarity embedding."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, softmax

from zslearn._parameters import Either, Number, Whole
from zslearn.core.matching import logistic_pairs
from zslearn.core.simplex import project_to_simplex, simplex_codes
from zslearn.zero_shot.base import Features, ZeroShotClassifier, dense
from zslearn.zero_shot.search import (
    Fold,
    choose_parameters,
    even_rows,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

# Factors of the seen-class scores in their softmax, tried on held-out classes.
TEMPERATURES = (10.0, 5.0, 20.0, 40.0)


class JLSEClassifier(ZeroShotClassifier):
    """Matching of latent codes of classes and samples (JLSE), in a simplified form.

    A class has the simplex code z_s of its signature over the seen signatures (as in SSE), a
    sample the code z_t near its seen-class posterior π(x), and (Zhang and Saligrama, CVPR 2016)::

        p(match | z_s, z_t) = σ(z_sᵀ W z_t)
        score(x, c) = max over z_t in the simplex of  log σ(z_sᵀ W z_t) − (ρ/2)‖z_t − π(x)‖²

    Fitting alternates: W by L-BFGS on the logistic loss of matching and mismatching pairs
    (balanced) plus (λ/2)‖W‖², then every sample's z_t is inferred again for its own class by
    projected gradient steps. Simpler than the published model: the dictionaries of both sides are
    the seen classes themselves and are not learned, and π(x) is the softmax of one-versus-rest
    ridge scores.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    gamma : float, default=0.01
        Weight of ‖z‖² in the codes of the classes.
    temperature : "cv" or float, default="cv"
        Factor of the ridge scores in the softmax; "cv" chooses 5, 10, 20 or 40 on held-out classes.
    lam : float, default=0.001
        λ.
    rho : float, default=100.0
        ρ, how strongly z_t is held to the posterior.
    rounds : int, default=2
        Alternations of W and the codes.
    max_samples : int, default=3000
        Learn W on at most this many samples, drawn evenly from the classes.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length, at fit and at prediction.
    cv : int, default=3
        Number of folds over classes.
    random_state : int, default=0
        Order in which classes are dealt to folds.
    verbose : int, default=0
        1 reports each fold on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (n_seen, n_seen)
        W.
    ridge_coef_ : ndarray of shape (n_seen, n_features)
        The seen-class scores, for features minus `feature_mean_`.
    feature_mean_ : ndarray of shape (n_features,)
        Mean of the training features.
    temperature_ : float
        What was used.
    cv_results_ : dict or None
        Held-out accuracy of every temperature, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".

    References
    ----------
    Z. Zhang, V. Saligrama. Zero-shot learning via joint latent similarity embedding. CVPR 2016.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import JLSEClassifier
    >>> data = make_zero_shot(n_seen=40, n_dimensions=6, random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = JLSEClassifier(data.signatures, temperature=10.0)
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.6
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, reference="Zhang & Saligrama, CVPR 2016"
    )
    parameter_constraints: ClassVar = {
        "gamma": Number(above=0),
        "temperature": Either("cv", Number(above=0)),
        "lam": Number(above=0),
        "rho": Number(above=0),
        "rounds": Whole(1),
        "max_samples": Whole(1),
    }
    learned_shapes: ClassVar = {"ridge_coef_": "c d", "feature_mean_": "d", "coef_": "c c"}

    def __init__(
        self,
        signatures: Any = None,
        *,
        gamma: float = 0.01,
        temperature: float | str = "cv",
        lam: float = 1e-3,
        rho: float = 100.0,
        rounds: int = 2,
        max_samples: int = 3000,
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        cv: int = 3,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.signatures = signatures
        self.gamma = gamma
        self.temperature = temperature
        self.lam = lam
        self.rho = rho
        self.rounds = rounds
        self.max_samples = max_samples
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X, S = dense(X), self.seen_signatures_
        self.temperature_ = self._chosen(X, y, S)
        self.ridge_coef_, self.feature_mean_ = ridge_scores(X, y)
        rows = self._some(y)
        F = (X[rows] - self.feature_mean_) @ self.ridge_coef_.T
        self.coef_ = self._match(softmax(self.temperature_ * F, axis=1), y[rows], S)

    def _prepare(self, S: NDArray) -> NDArray:
        return simplex_codes(S, self.seen_signatures_, self.gamma) @ self.coef_

    def _score(self, X: Features, prepared: NDArray) -> NDArray:
        offset = self.ridge_coef_ @ self.feature_mean_
        F = np.asarray(X @ self.ridge_coef_.T) - offset
        return posterior_scores(softmax(self.temperature_ * F, axis=1), prepared, self.rho)

    def _chosen(self, X: NDArray, y: NDArray[np.intp], S: NDArray) -> float:
        """Choose the temperature on held-out classes."""
        points = grid_points(self, {"temperature": TEMPERATURES})

        def judge(fold: Fold) -> list[float]:
            R, mean = ridge_scores(X[fold.train], fold.y_train)
            codes = simplex_codes(S[fold.new], S[fold.known], self.gamma)
            some = self._some(fold.y_train)
            y_some, S_known = fold.y_train[some], S[fold.known]
            F_known = (X[fold.train][some] - mean) @ R.T
            F_new = (X[fold.held_out] - mean) @ R.T

            def accuracy(temperature: float) -> float:
                W = self._match(softmax(temperature * F_known, axis=1), y_some, S_known)
                posterior = softmax(temperature * F_new, axis=1)
                found = posterior_scores(posterior, codes @ W, self.rho)
                return held_out_accuracy(found, fold.y_held_out)

            return [accuracy(point["temperature"]) for point in points]

        chosen = choose_parameters(self, points, unseen_class_folds(self, y), judge)
        return float(chosen["temperature"])

    def _some(self, y: NDArray[np.intp]) -> NDArray[np.intp]:
        """Rows that W is learned on."""
        rng = np.random.RandomState(self.random_state)
        return even_rows(y, self.max_samples, rng, fill=True)

    def _match(self, posterior: NDArray, y: NDArray, S: NDArray) -> NDArray:
        """W, alternating with the codes of the samples."""
        codes = simplex_codes(S, S, self.gamma)
        W, Z = np.zeros((len(S), len(S))), posterior
        for _ in range(self.rounds):
            W = match_matrix(W, Z, y, codes, float(self.lam))
            Z = inferred_codes(posterior, (codes @ W)[y], self.rho)
        return W


def ridge_scores(X: NDArray, y: NDArray[np.intp], ridge: float = 0.1) -> tuple[NDArray, NDArray]:
    """One-versus-rest ridge on targets 0 and 1, (n_classes, n_features), and the feature mean."""
    mean = X.mean(axis=0, dtype=np.float64)
    A = (X - mean).astype(np.float64)
    gram = A.T @ A / len(A)
    gram[np.diag_indices_from(gram)] += ridge * max(float(np.trace(gram)) / len(gram), 1e-12)
    targets = np.eye(int(y.max()) + 1)[y]
    return np.linalg.solve(gram, A.T @ (targets - targets.mean(axis=0)) / len(A)).T, mean


def match_matrix(
    start: NDArray, Z: NDArray, y: NDArray[np.intp], codes: NDArray, lam: float
) -> NDArray:
    """W of least logistic loss over all (sample, class) pairs plus (λ/2)‖W‖²."""

    def objective(flat: NDArray) -> tuple[float, NDArray]:
        W = flat.reshape(start.shape)
        loss, G = logistic_pairs(Z @ W.T @ codes.T, y)
        gradient = (G @ codes).T @ Z + lam * W
        return loss + lam / 2.0 * float(np.vdot(W, W)), gradient.ravel()

    options = {"maxiter": 25, "gtol": 1e-7}
    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x).reshape(start.shape)


def inferred_codes(posterior: NDArray, directions: NDArray, rho: float, steps: int = 3) -> NDArray:
    """z_t of each row: projected gradient steps of log σ(d·z) − (ρ/2)‖z − π‖² from z = π."""
    Z = posterior
    for _ in range(steps):
        pull = expit(-np.einsum("ij,ij->i", Z, directions))[:, None] * directions
        # With step 1/ρ the quadratic part lands on π, moved by the pull.
        Z = project_to_simplex(posterior + pull / rho)
    return Z


def posterior_scores(posterior: NDArray, directions: NDArray, rho: float) -> NDArray:
    """Return log σ(d_c·z) − (ρ/2)‖z − π‖² at the inferred z, (n_samples, n_candidates)."""
    found = np.empty((len(posterior), len(directions)))
    for c, direction in enumerate(directions):
        Z = inferred_codes(posterior, np.broadcast_to(direction, posterior.shape), rho)
        gap = Z - posterior
        found[:, c] = log_expit(Z @ direction) - rho / 2.0 * np.einsum("ij,ij->i", gap, gap)
    return found
