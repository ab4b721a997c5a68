"""Mappings learned from moments alone: class counts, class sums and Gram matrices.

From no learning at all (`EuclideanMapping`, the yardstick) over whitening (`RCA`), discriminants
(`LDAProjection`), likelihood ratios of pairs (`KISSME`) and least squares to the labels (`MLCA`,
`RVML`) to a large-margin metric (`LajugieSpectral`, which iterates, but on moments). Powers and
factors of symmetric matrices are at the end.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from zslearn._declared import fitted, parameter
from zslearn._parameters import Either, Flag, Number, Whole
from zslearn.cluster.base import MappingTags, MomentMapping, Statistics
from zslearn.exceptions import InvalidInputError


class EuclideanMapping(MomentMapping):
    """The identity: codes are the features, distance is Euclidean, labels are ignored.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_features)
        The identity matrix.

    Examples
    --------
    >>> from zslearn.cluster import EuclideanMapping
    >>> EuclideanMapping().fit([[0.0, 1.0], [2.0, 3.0]], [0, 1]).transform([[4.0, 5.0]])
    array([[4., 5.]])
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(reference="plain k-means")

    def _coef(self, statistics: Statistics) -> NDArray:
        return np.eye(statistics.total.n_features)


class RCA(MomentMapping):
    """Relevant component analysis with the classes as chunklets: ``Σ_w^(-1/2)``.

    Directions in which samples of one class differ count little, the others count much.

    Parameters
    ----------
    ridge : float, default=1e-9
        Added to the within-class covariance, as a share of its mean variance.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_features)
        The whitening map.

    References
    ----------
    A. Bar-Hillel, T. Hertz, N. Shental and D. Weinshall, "Learning distance functions using
    equivalence relations", ICML 2003.

    Examples
    --------
    >>> from zslearn.cluster import RCA
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> RCA().fit(data.X_train, data.y_train).coef_.shape
    (3, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="A. Bar-Hillel et al., Learning distance functions using equivalence relations, "
        "ICML 2003"
    )
    ridge: float = parameter(default=1e-9, allowed=Number(least=0), kw_only=False)

    def _coef(self, statistics: Statistics) -> NDArray:
        covariance = statistics.within / statistics.total.n_samples
        return symmetric_power(ridged(covariance, self.ridge), -0.5)


class LDAProjection(MomentMapping):
    """Directions in which classes lie far apart relative to their spread.

    Solves ``S_b v = e S_w v`` and scales the directions to unit variance within classes, so codes
    equal those of scikit-learn's ``LinearDiscriminantAnalysis`` up to sign and shift. Cheap, and
    hard to beat when each class is one cloud.

    Parameters
    ----------
    n_components : int, optional
        Number of directions; by default and at most ``min(n_classes - 1, n_features)``.
    ridge : float, default=1e-9
        Added to the within-class covariance, as a share of its mean variance.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features)
        The directions, most discriminating first.

    Examples
    --------
    >>> from zslearn.cluster import LDAProjection
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> LDAProjection().fit(data.X_train, data.y_train).coef_.shape
    (2, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="R. A. Fisher, The use of multiple measurements in taxonomic problems, 1936; "
        "C. R. Rao, 1948"
    )
    n_components: int | None = parameter(
        default=None, allowed=Either(None, Whole(1)), kw_only=False
    )
    ridge: float = parameter(default=1e-9, allowed=Number(least=0))

    def _coef(self, statistics: Statistics) -> NDArray:
        kept = self._n_kept(len(statistics.classes), statistics.total.n_features)
        N = statistics.total.n_samples
        within = statistics.within / N
        if np.trace(within) <= 0:  # every row equals the mean of its class
            within = np.eye(len(within))
        # What is not within classes is between them.
        between = statistics.total.gram / N - statistics.within / N
        try:
            _, vectors = linalg.eigh(between, ridged(within, self.ridge))
        except np.linalg.LinAlgError as error:
            raise InvalidInputError(
                "the within-class covariance is singular (fewer samples than features, or "
                f"features that repeat each other); raise ridge, which is {self.ridge:g}."
            ) from error
        return vectors[:, ::-1][:, :kept].T

    def _n_kept(self, n_classes: int, n_features: int) -> int:
        most = min(n_classes - 1, n_features)
        if self.n_components is None:
            return most
        if not 1 <= self.n_components <= most:
            raise InvalidInputError(
                f"n_components must be between 1 and min(n_classes - 1, n_features) = {most}; "
                f"got {self.n_components}."
            )
        return int(self.n_components)


class KISSME(MomentMapping):
    """Likelihood-ratio metric ``M = [Σ_S⁻¹ - Σ_D⁻¹]₊`` over all pairs of samples.

    Σ_S and Σ_D are the mean outer products of differences over pairs of the same and of different
    classes. No pair is enumerated: the sum over the pairs of class c is n_c times its scatter, and
    the sum over all pairs is N times the total scatter.

    Parameters
    ----------
    ridge : float, default=1e-6
        Added to both covariances, as a share of their mean variance. The default only keeps them
        invertible (on iris it changes M by 0.01 %); more helps where features are many and noisy.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features)
        L with ``LᵀL = M``; directions in which M is not positive are dropped.

    References
    ----------
    M. Köstinger, M. Hirzer, P. Wohlhart, P. M. Roth and H. Bischof, "Large scale metric learning
    from equivalence constraints", CVPR 2012.

    Examples
    --------
    >>> from zslearn.cluster import KISSME
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> KISSME().fit(data.X_train, data.y_train).coef_.shape
    (2, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="M. Köstinger et al., Large scale metric learning from equivalence constraints, "
        "CVPR 2012"
    )
    ridge: float = parameter(default=1e-6, allowed=Number(least=0), kw_only=False)

    def _needs_class_grams(self) -> bool:
        return True

    def _coef(self, statistics: Statistics) -> NDArray:
        same, other = (ridged(one, self.ridge) for one in pair_covariances(statistics))
        M = np.linalg.inv(same) - np.linalg.inv(other)
        return metric_factor((M + M.T) / 2)


def pair_covariances(statistics: Statistics) -> tuple[NDArray, NDArray]:
    """Mean of ``(x - z)(x - z)ᵀ`` over all unordered pairs of the same and of different classes."""
    n, N = statistics.counts, statistics.total.n_samples
    same_pairs = float(np.sum(n * (n - 1)) / 2)
    other_pairs = N * (N - 1) / 2 - same_pairs
    if same_pairs == 0:
        raise InvalidInputError(
            "KISSME needs pairs of the same class, but every class has a single sample."
        )
    # Σ_{i<j} (x_i − x_j)(x_i − x_j)ᵀ = n Σ (x_i − mean)(x_i − mean)ᵀ, for a class and for all rows.
    same = sum(
        (count * part.gram for count, part in zip(n, statistics.by_class, strict=True)),
        np.zeros_like(statistics.total.gram),
    )
    return same / same_pairs, (N * statistics.total.gram - same) / other_pairs


class MLCA(MomentMapping):
    """Least squares to the cluster indicators, each divided by the root of the cluster's size.

    With Y the one-hot labels and ``J = Y (YᵀY)^(-1/2)``, so that ``JJᵀ`` is the clustering matrix,
    the map is ``L = X⁺ J = G⁺ XᵀJ``; codes are ``X L``. It needs only class counts, class sums
    and ``G = XᵀX``.

    Parameters
    ----------
    svd : bool, default=False
        Replace the codes of a batch by the left singular vectors of their matrix, as the authors'
        program also does. This is **transductive**: a code then depends on all rows of the batch.
        Where there are as many classes as features it whitens the batch and ignores the labels.
    center : bool, default=False
        Subtract the mean of the training rows first; the original does not. Rows that are already
        standardized, as in :class:`SupervisedKMeans`, are centered anyway.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        ``Lᵀ``.
    mean_ : ndarray of shape (n_features,)
        What is subtracted before mapping; zero unless `center`.

    References
    ----------
    M. T. Law, Y. Yu, M. Cord and E. P. Xing, "Closed-form training of Mahalanobis distance for
    supervised clustering", CVPR 2016.

    Examples
    --------
    >>> from zslearn.cluster import MLCA
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> MLCA().fit(data.X_train, data.y_train).transform(data.X_test).shape
    (3000, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="M. T. Law, Y. Yu, M. Cord and E. P. Xing, Closed-form training of Mahalanobis "
        "distance for supervised clustering, CVPR 2016"
    )
    svd: bool = parameter(default=False, allowed=Flag(), kw_only=False)
    center: bool = parameter(default=False, allowed=Flag())
    mean_: NDArray = fitted("d")

    @property
    def is_transductive(self) -> bool:
        """Whether the code of a sample depends on the other samples of the batch."""
        return bool(self.svd)

    def _codes(self, X: NDArray) -> NDArray:
        codes = super()._codes(X)
        codes -= (self.coef_ @ self.mean_).astype(codes.dtype)
        return _left_singular_vectors(codes) if self.svd else codes

    def _coef(self, statistics: Statistics) -> NDArray:
        self.mean_ = statistics.total.mean if self.center else np.zeros(statistics.total.n_features)
        moments = statistics.total.about(self.mean_)
        # JᵀX: the sum of each class divided by the root of its size.
        J_X = moments.sums / np.sqrt(moments.counts)[:, None]
        return J_X @ symmetric_power(moments.gram, -1.0)


def _left_singular_vectors(codes: NDArray) -> NDArray:
    """U of the thin SVD, without directions in which the codes do not vary."""
    U, sigma, _ = np.linalg.svd(codes, full_matrices=False)
    # Moments are products, so the null space of the map is known up to the root of the precision.
    return U[:, sigma > 1e-6 * sigma[0]]


class RVML(MomentMapping):
    """Regressive virtual metric learning with one virtual point per class.

    Every row is drawn to the unit vector of its class by ridge regression:
    ``L = (XᵀX + λ n I)⁻¹ XᵀY``, codes ``X L``. When all K classes have the same size this is the
    semantic autoencoder with ``λ_SAE = 1 / (K λ)`` up to a common factor, which k-means cannot see.

    Parameters
    ----------
    lam : float, default=0.5
        Ridge per sample; on standardized features about 0.1 to 1 is a good range.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        ``Lᵀ``.

    References
    ----------
    M. Perrot and A. Habrard, "Regressive virtual metric learning", NIPS 2015.

    Examples
    --------
    >>> from zslearn.cluster import RVML
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> RVML(0.5).fit(data.X_train, data.y_train).coef_.shape
    (3, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="M. Perrot and A. Habrard, Regressive virtual metric learning, NIPS 2015"
    )
    lam: float = parameter(default=0.5, allowed=Number(above=0), kw_only=False)

    def _coef(self, statistics: Statistics) -> NDArray:
        moments = statistics.raw
        ridge = self.lam * moments.n_samples * np.eye(moments.n_features)
        return np.linalg.solve(moments.gram + ridge, moments.sums.T).T


class LajugieSpectral(MomentMapping):
    """Structured large-margin metric in the spectral relaxation, after Lajugie et al.

    Minimizes over metrics B the regularized structured hinge loss
    ``μ/2 ‖B‖² + max_P [Δ(C, P) + tr((P - C) Z B Zᵀ)]``: no partition P may look better to k-means
    than the true one C by less than its loss. Z are the centered rows divided by √N, and P runs
    over projectors of the rank of C, not over partitions: that is what *spectral* means, and this
    is therefore not a reproduction of the published method. The loss is linear in P, so the worst
    P is an eigenproblem in the span of features and class indicators, whose Gram matrix is in the
    moments: a step costs the same for a hundred rows and for a million.

    Parameters
    ----------
    mu : float, default=0.01
        Weight of the regularizer, for features of variance 1.
    max_iter : int, default=600
        Number of subgradient steps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features)
        L with ``LᵀL = B``.
    n_iter_ : int
        Number of steps.

    References
    ----------
    R. Lajugie, F. Bach and S. Arlot, "Large-margin metric learning for constrained partitioning
    problems", ICML 2014.

    Examples
    --------
    >>> from zslearn.cluster import LajugieSpectral
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> LajugieSpectral(max_iter=50).fit(data.X_train, data.y_train).transform([[0, 0, 0]]).shape[0]
    1
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        closed_form=False,
        reference="after R. Lajugie, F. Bach and S. Arlot, Large-margin metric learning for "
        "constrained partitioning problems, ICML 2014",
    )
    mu: float = parameter(default=0.01, allowed=Number(above=0), kw_only=False)
    max_iter: int = parameter(default=600, allowed=Whole(1))

    def _coef(self, statistics: Statistics) -> NDArray:
        self.n_iter_ = self.max_iter
        # The regularizer is meant for a mean variance of 1.
        d = statistics.total.n_features
        scale = np.sqrt(np.trace(statistics.total.gram) / (d * statistics.total.n_samples)) or 1.0
        R_x, R_j = span(statistics.standardized(statistics.total.mean, np.full(d, scale)))
        B = subgradient_descent(R_x, R_j, self.mu, self.max_iter, len(statistics.classes) - 1)
        return metric_factor(B) / scale


def span(statistics: Statistics) -> tuple[NDArray, NDArray]:
    """Coordinates of ``Z = X / √N`` and of the centered indicators J in an orthonormal basis."""
    moments, N = statistics.total, statistics.total.n_samples
    # Gram matrix of the columns of Z and J together, and its root: their coordinates.
    share = np.sqrt(moments.counts / N)
    cross = moments.sums.T / np.sqrt(N * moments.counts)
    gram = np.block(
        [[moments.gram / N, cross], [cross.T, np.eye(len(share)) - np.outer(share, share)]]
    )
    values, vectors = np.linalg.eigh(gram)
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    R = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    return R[:, : moments.n_features], R[:, moments.n_features :]


def subgradient_descent(R_x: NDArray, R_j: NDArray, mu: float, n_steps: int, rank: int) -> NDArray:
    """Projected subgradient steps for the strongly convex objective; returns the weighted mean."""
    d = R_x.shape[1]
    C = R_j @ R_j.T
    target = R_x.T @ C @ R_x
    B, mean = np.zeros((d, d)), np.zeros((d, d))
    for t in range(n_steps):
        worst = worst_projector(R_x @ B @ R_x.T - 2 * C, rank)
        gradient = mu * B + (R_x.T @ worst) @ (worst.T @ R_x) - target
        # Steps 2 / (μ (t + 2)) and weights t + 1: Lacoste-Julien, Schmidt and Bach, 2012.
        B = _positive_part(B - 2 / (mu * (t + 2)) * gradient)
        mean += 2 * (t + 1) / (n_steps * (n_steps + 1)) * B
    return mean


def worst_projector(M: NDArray, rank: int) -> NDArray:
    """Basis of the projector P of at most that rank with the largest ``tr(P M)``.

    Directions outside the span have the value 0, so negative ones are never taken.
    """
    values, vectors = np.linalg.eigh(M)
    best = vectors[:, -rank:]
    return best[:, values[-rank:] > 0]


def _positive_part(M: NDArray) -> NDArray:
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def symmetric_power(M: NDArray, exponent: float) -> NDArray:
    """Power of a positive semi-definite matrix; its null space stays null."""
    values, vectors = np.linalg.eigh(M)
    kept = values > len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    return (vectors[:, kept] * values[kept] ** exponent) @ vectors[:, kept].T


def metric_factor(M: NDArray) -> NDArray:
    """Return L with ``LᵀL`` the positive part of M, strongest direction first."""
    values, vectors = np.linalg.eigh(M)
    kept = np.flatnonzero(values > len(values) * np.finfo(float).eps * np.abs(values).max())[::-1]
    if len(kept) == 0:
        return np.zeros((1, len(M)))
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T


def ridged(M: NDArray, amount: float) -> NDArray:
    """Add `amount` times the mean of the diagonal to the diagonal."""
    return M + amount * np.trace(M) / len(M) * np.eye(len(M))
