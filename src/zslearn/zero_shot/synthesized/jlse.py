"""Joint latent similarity embedding."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, softmax

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Flag, Number, Whole
from zslearn.core.losses import logistic_pairs
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
from zslearn.zero_shot.synthesized.sse import project_to_simplex, simplex_codes
from zslearn.zero_shot.tags import ZeroShotTags

# Factors of the seen-class scores in their softmax, tried on held-out classes.
TEMPERATURES = (10.0, 5.0, 20.0, 40.0)


class JLSEClassifier(SearchingMethod):
    """Matching of latent codes of classes and samples (JLSE).

    A class has the simplex code z_s of its signature over a dictionary B, a sample the code z_t of
    its seen-class posterior π(x) over a dictionary D, and (Zhang and Saligrama, CVPR 2016)::

        p(match | z_s, z_t) = σ(z_sᵀ W z_t)
        score(x, c) = max over z_t in the simplex of  log σ(z_sᵀ W z_t) − (ρ/2)‖π(x) − z_t D‖²

    Both dictionaries start as the seen classes: B at their signatures, D at the identity. Fitting
    alternates: W by L-BFGS on the logistic loss of matching and mismatching pairs (balanced) plus
    (λ/2)‖W‖²; every sample's z_t, inferred for its own class by projected gradient steps; then B
    and D by least squares from the codes, held near their start. Simpler than the published model:
    π(x) is the softmax of one-versus-rest ridge scores, and z_s is not inferred again per sample.

    Parameters
    ----------
    gamma : float, default=0.01
        Weight of ‖z‖² in the codes of the classes.
    temperature : "cv" or float, default="cv"
        Factor of the ridge scores in the softmax; "cv" chooses 5, 10, 20 or 40 on held-out classes.
    lam : float, default=0.001
        λ.
    rho : float, default=100.0
        ρ, how strongly z_t is held to the posterior.
    rounds : int, default=2
        Alternations of W, codes and dictionaries.
    learn_dictionaries : bool, default=True
        Whether B and D are learned; otherwise they stay the seen classes.
    max_samples : int, default=3000
        Learn W on at most this many samples, drawn evenly from the classes.
    verbose : int, default=0
        1 reports each fold on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (n_seen, n_seen)
        W.
    class_dictionary_ : ndarray of shape (n_seen, n_dimensions)
        B, one atom per row.
    sample_dictionary_ : ndarray of shape (n_seen, n_seen)
        D, one atom per row.
    ridge_coef_ : ndarray of shape (n_seen, n_features)
        The seen-class scores, for features minus `feature_mean_`.
    feature_mean_ : ndarray of shape (n_features,)
        Mean of the training features.
    temperature_ : float
        What was used.
    cv_results_ : dict or None
        Held-out accuracy of every temperature, with scikit-learn's keys.

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
    gamma: float = parameter(default=0.01, allowed=Number(above=0))
    temperature: float | str = parameter(default="cv", allowed=Number(above=0), tried=TEMPERATURES)
    lam: float = parameter(default=1e-3, allowed=Number(above=0))
    rho: float = parameter(default=100.0, allowed=Number(above=0))
    rounds: int = parameter(default=2, allowed=Whole(1))
    learn_dictionaries: bool = parameter(default=True, allowed=Flag())
    max_samples: int = parameter(default=3000, allowed=Whole(1))
    cv: int = parameter(default=3)
    verbose: int = parameter(default=0, allowed=Whole(0))
    ridge_coef_: NDArray = fitted("c d")
    feature_mean_: NDArray = fitted("d")
    coef_: NDArray = fitted("c c")
    class_dictionary_: NDArray = fitted("c k")
    sample_dictionary_: NDArray = fitted("c c")

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X, S = dense(X), self.seen_signatures_
        self.temperature_ = self._chosen(X, y, S)
        self.ridge_coef_, self.feature_mean_ = ridge_scores(X, y)
        rows = self._some(y)
        # Samples as mixtures π of seen classes: the softmax of their ridge scores.
        F = (X[rows] - self.feature_mean_) @ self.ridge_coef_.T
        found = self._match(softmax(self.temperature_ * F, axis=1), y[rows], S)
        self.coef_, self.class_dictionary_, self.sample_dictionary_ = found

    def represent(self, rows: Features) -> NDArray:
        # (x − μ)·r as x·r − μ·r, so that sparse rows stay sparse.
        offset = self.ridge_coef_ @ self.feature_mean_
        F = np.asarray(rows @ self.ridge_coef_.T) - offset
        return np.asarray(softmax(self.temperature_ * F, axis=1))

    def prepare(self, names: NDArray, vectors: NDArray) -> NDArray:
        S = self._unit_signatures(names, vectors)
        # d_c = Wᵀ z_s(c), the direction that codes of its samples should have.
        return simplex_codes(S, self.class_dictionary_, self.gamma) @ self.coef_

    def compare(self, queries: NDArray, classes: NDArray) -> NDArray:
        return posterior_scores(queries, classes, self.sample_dictionary_, self.rho)

    def _chosen(self, X: NDArray, y: NDArray[np.intp], S: NDArray) -> float:
        """Choose the temperature on held-out classes."""
        points = grid_points(self, search_space(self))

        def judge(fold: Fold) -> list[float]:
            R, mean = ridge_scores(X[fold.train], fold.y_train)
            some = self._some(fold.y_train)
            y_some, S_known = fold.y_train[some], S[fold.known]
            F_known = (X[fold.train][some] - mean) @ R.T
            F_new = (X[fold.held_out] - mean) @ R.T

            def accuracy(temperature: float) -> float:
                W, B, D = self._match(softmax(temperature * F_known, axis=1), y_some, S_known)
                codes = simplex_codes(S[fold.new], B, self.gamma)
                posterior = softmax(temperature * F_new, axis=1)
                found = posterior_scores(posterior, codes @ W, D, self.rho)
                return held_out_accuracy(found, fold.y_held_out)

            return [accuracy(point["temperature"]) for point in points]

        chosen = choose_parameters(self, points, unseen_class_folds(self, y), judge)
        return float(chosen["temperature"])

    def _some(self, y: NDArray[np.intp]) -> NDArray[np.intp]:
        """Rows that W is learned on."""
        rng = np.random.RandomState(self.random_state)
        return even_rows(y, self.max_samples, rng, fill=True)

    def _match(
        self, posterior: NDArray, y: NDArray, S: NDArray
    ) -> tuple[NDArray, NDArray, NDArray]:
        """W, B and D, alternating with the codes of the samples."""
        # Atoms begin at the seen classes themselves.
        B, D, W = S, np.eye(len(S)), np.zeros((len(S), len(S)))
        codes, Z = simplex_codes(S, B, self.gamma), posterior
        for _ in range(self.rounds):
            # In turn: W with codes fixed, codes with W fixed, then the dictionaries of both.
            W = match_matrix(W, Z, y, codes, float(self.lam))
            Z = inferred_codes(posterior, (codes @ W)[y], D, self.rho)
            if self.learn_dictionaries:
                B, D = atoms(codes, S, S), atoms(Z, posterior, np.eye(len(S)))
                codes = simplex_codes(S, B, self.gamma)
        return W, B, D


def ridge_scores(X: NDArray, y: NDArray[np.intp], ridge: float = 0.1) -> tuple[NDArray, NDArray]:
    """One-versus-rest ridge on targets 0 and 1, (n_classes, n_features), and the feature mean."""
    mean = X.mean(axis=0, dtype=np.float64)
    A = (X - mean).astype(np.float64)
    gram = A.T @ A / len(A)
    # In units of the mean eigenvalue of the covariance.
    gram[np.diag_indices_from(gram)] += ridge * max(float(np.trace(gram)) / len(gram), 1e-12)
    targets = np.eye(int(y.max()) + 1)[y]
    return np.linalg.solve(gram, A.T @ (targets - targets.mean(axis=0)) / len(A)).T, mean


def match_matrix(
    start: NDArray, Z: NDArray, y: NDArray[np.intp], codes: NDArray, lam: float
) -> NDArray:
    """W of least logistic loss over all (sample, class) pairs plus (λ/2)‖W‖²."""

    def objective(flat: NDArray) -> tuple[float, NDArray]:
        W = flat.reshape(start.shape)
        # F_tc = z_t·(Wᵀ z_c), so ∂L/∂W = (G codes)ᵀ Z.
        loss, G = logistic_pairs(Z @ W.T @ codes.T, y)
        gradient = (G @ codes).T @ Z + lam * W
        return loss + lam / 2.0 * float(np.vdot(W, W)), gradient.ravel()

    options = {"maxiter": 25, "gtol": 1e-7}
    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x).reshape(start.shape)


def atoms(Z: NDArray, targets: NDArray, start: NDArray) -> NDArray:
    """Return D of least ‖targets − Z D‖² + ε‖D − start‖², ε the mean squared use of an atom."""
    use = Z.T @ Z
    # Atoms that no code uses stay where they were.
    held = float(np.trace(use)) / len(use) * np.eye(len(use))
    return np.linalg.solve(use + held, Z.T @ targets + held @ start)


def inferred_codes(
    posterior: NDArray, directions: NDArray, D: NDArray, rho: float, steps: int = 3
) -> NDArray:
    """z_t of each row: projected gradient steps of log σ(d·z) − (ρ/2)‖π − z D‖² from z = π."""
    Z, curvature = posterior, float(np.linalg.norm(D, 2)) ** 2
    for _ in range(steps):
        # ∂/∂z log σ(d·z) = σ(−d·z) d; the step 1 / (ρ‖D‖²) is safe for the quadratic part.
        pull = expit(-np.einsum("ij,ij->i", Z, directions))[:, None] * directions
        Z = project_to_simplex(Z + (pull / rho + (posterior - Z @ D) @ D.T) / curvature)
    return Z


def posterior_scores(posterior: NDArray, directions: NDArray, D: NDArray, rho: float) -> NDArray:
    """Return log σ(d_c·z) − (ρ/2)‖π − z D‖² at the inferred z, (n_samples, n_candidates)."""
    found = np.empty((len(posterior), len(directions)))
    for c, direction in enumerate(directions):
        Z = inferred_codes(posterior, np.broadcast_to(direction, posterior.shape), D, rho)
        gap = posterior - Z @ D
        found[:, c] = log_expit(Z @ direction) - rho / 2.0 * np.einsum("ij,ij->i", gap, gap)
    return found
