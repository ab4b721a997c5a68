"""Class prototypes predicted from signatures by kernel regression in a whitened feature space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from zslearn._parameters import Either, Number, Whole
from zslearn.core.all_or_nothing import all_or_nothing
from zslearn.core.gathered import Gathered, gather_rows
from zslearn.core.kernel_attribution import (
    SignatureKernel,
    deviations_from_mean,
    dimension_contributions,
)
from zslearn.core.moments import Moments
from zslearn.core.nearest import Targets, unit_rows
from zslearn.core.prototype_paths import prototype_accuracy
from zslearn.core.rows import RowTransform
from zslearn.core.signature_kernel import gaussian_kernel, median_scales, relative_distances
from zslearn.core.whitening import WithinClassCovariance
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.base import Features
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import is_cv, one_row
from zslearn.zero_shot.moment_classifier import MomentClassifier
from zslearn.zero_shot.score_form import Branch, ScoreForm
from zslearn.zero_shot.search import choose, choose_parameters, grid_points, parameter_folds
from zslearn.zero_shot.tags import ZeroShotTags

# What is tried where a parameter is "cv"; the first value of each is used without folds.
GRIDS: dict[str, tuple[float, ...]] = {
    "power": (0.5, 1.0),
    "shrinkage": (0.9, 0.7, 0.5, 0.3, 0.1, 1.0),
    "bandwidth": (2.0, 1.0, 0.5, 4.0, 8.0),
    "ridge": (0.03, 0.1, 0.3, 0.01, 1.0, 0.003, 3.0),
}

Grids = dict[str, Sequence[float]]
Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
Samples = tuple[Features, NDArray[np.intp], NDArray | None]


class PrototypeRegression(MomentClassifier):
    """Nearest predicted prototype: accurate, closed form, seconds on a CPU.

    Features are power-transformed, scaled to unit length and whitened by the within-class
    covariance, shrunk towards a multiple of the identity. In that space samples of a class scatter
    equally in all directions, so the best linear rule is the nearest class mean. The mean of a
    class without samples is predicted from its signature by kernel ridge regression on the means of
    the seen classes,

        p(s) = k(s)ᵀ (K + γ I)⁻¹ M,    k(s)_j = exp(-‖s - s_j‖² / (σ · median)),

    and the score of a sample z is ``z·p - ‖p‖² / 2``, the negative distance up to a constant. It is
    linear in the features, so prediction costs one matrix product. Seen classes are scored by the
    same formula, which keeps the generalized setting fair.

    All statistics come from class counts, class sums and the Gram matrix; every choice is made by
    holding out seen classes, for the price of one tridiagonal reduction per fold and power.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class; None means one-hot. Joined semantic spaces get one kernel each.
    power : "cv" or float, default="cv"
        Exponent of ``sign(x)|x|^power``; 0.5 tames bursty non-negative features.
    shrinkage : "cv" or float, default="cv"
        From 0 (the covariance as it is) to 1 (no whitening).
    bandwidth : "cv" or float, default="cv"
        σ of the kernel, in units of the median squared distance between seen signatures.
    ridge : "cv" or float, default="cv"
        γ, the trust in the kernel against the seen means.
    cv : int, default=5
        Number of folds over classes.
    n_repeats : int, default=3
        How often the classes are dealt to folds anew; a single deal is a noisy judge. `power` is
        chosen on the first deal.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length.
    random_state : int, default=0
        Order in which classes are dealt to folds.

    Attributes
    ----------
    power_, shrinkage_, bandwidth_, ridge_ : float
        The four parameters in use.
    cv_results_ : dict or None
        Per-class accuracy of every setting with the chosen power on held-out classes, over the
        folds of all deals, with scikit-learn's keys; None where nothing was chosen.
    best_params_ : dict
        What was taken for the parameters left to "cv".
    dual_coef_ : ndarray of shape (n_seen, n_features)
        What each seen class adds to the class vectors per unit of kernel.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import PrototypeRegression
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = PrototypeRegression(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        several_spaces=True, reference="zslearn; see docs/prototype_regression.md"
    )
    parameter_constraints: ClassVar = {
        "power": Either("cv", Number(above=0)),
        "shrinkage": Either("cv", Number(least=0, most=1)),
        "bandwidth": Either("cv", Number(above=0)),
        "ridge": Either("cv", Number(above=0)),
        "n_repeats": Whole(1),
    }
    learned_shapes: ClassVar = {"dual_gram_": "c c", "dual_shift_": "c", "dual_coef_": "c d"}

    def __init__(
        self,
        signatures: Any = None,
        *,
        power: float | str = "cv",
        shrinkage: float | str = "cv",
        bandwidth: float | str = "cv",
        ridge: float | str = "cv",
        cv: int = 5,
        n_repeats: int = 3,
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        random_state: int | None = 0,
    ) -> None:
        self.signatures = signatures
        self.power = power
        self.shrinkage = shrinkage
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.cv = cv
        self.n_repeats = n_repeats
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.random_state = random_state

    @all_or_nothing
    def learn(self, gathered: Gathered | Moments) -> Self:
        """Learn from moments, choosing all parameters but `power` by folds if there are any.

        Parameters
        ----------
        gathered : Gathered or Moments
            What a pass by `moment_plan` found: of ``sign(x)|x|^power`` scaled as `feature_norm`
            says, with the classes dealt to folds once and 0.5 for ``power="cv"``. Or raw moments of
            rows transformed in the same way; all four parameters must then be numbers.

        Returns
        -------
        self
        """
        if isinstance(gathered, Moments) and any(is_cv(getattr(self, name)) for name in GRIDS):
            raise InvalidInputError(
                "plain moments need numbers for power, shrinkage, bandwidth and ridge; 'cv' needs "
                "samples, so choose them by fit on a part of the data first."
            )
        return super().learn(gathered)

    def _fit(self, X: Features, y: NDArray[np.intp], weights: NDArray | None = None) -> None:
        self._set_kernel_scales()
        grids = self._grids()
        deals = list(self._deals(y))
        power: float = grids["power"][0]
        curves: list[NDArray] = []
        if deals and any(len(grid) > 1 for grid in grids.values()):
            power, curves = self._chosen_power((X, y, weights), deals[0], grids)
        Z = self._powered(X, power)
        for deal in deals[1:] if curves else []:
            curves += self._curves(gather_rows(Z, y, deal, weights), grids)
        self._choose(grids | {"power": (power,)}, curves)
        self._solve(gather_rows(Z, y, weights=weights))

    def _learn(self, gathered: Gathered) -> None:
        self._set_kernel_scales()
        grids = self._grids() | {"power": (self._moment_transform().power,)}
        self._choose(grids, self._curves(gathered, grids) if gathered.has_folds else [])
        self._solve(gathered)

    def _explain(self, X: Features, s: NDArray) -> Explanation:
        kernel, answers = self._kernel(s[None])[0], self._answers_of_seen(X)
        score = kernel @ answers - 0.5 * (kernel @ self.dual_gram_ @ kernel)
        space = self._signature_kernel()
        parts = dimension_contributions(s, space, answers, self.dual_gram_)
        # The offset is the score of the mean seen signature.
        offset = float(score - parts.sum())
        deviations = deviations_from_mean(s, space)
        return Explanation.of(self.signatures_.dimensions, parts, offset, deviations)

    def explain_by_class(self, x: ArrayLike, name: Any) -> Explanation:
        """Return which seen classes speak for a class: what each adds to the score of a sample.

        Easier to read than `explain` where dimensions have no meaning of their own, as those of
        word vectors and text encoders.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            One sample.
        name : class name
            The class whose score is explained.

        Returns
        -------
        Explanation
            Contributions of the seen classes that sum, with the offset, to the score.
        """
        names = self.candidate_names([name])
        kernel = self._kernel(self._normalized(names))[0]
        contributions = kernel * self._answers_of_seen(self._ready_rows(one_row(x)))
        offset = -0.5 * float(kernel @ self.dual_gram_ @ kernel)
        return Explanation.of([str(label) for label in self.seen_classes_], contributions, offset)

    def _answers_of_seen(self, X: Features) -> NDArray:
        """Return what each seen class says about one sample, per unit of kernel."""
        sample = self._powered(X, self.power_)
        return np.asarray(sample @ self.dual_coef_.T)[0] - self.dual_shift_

    def _signature_kernel(self) -> SignatureKernel:
        return SignatureKernel(
            self.seen_signatures_, self._blocks_of(), self.kernel_scales_, self.bandwidth_
        )

    def _prepare(self, S: NDArray) -> Targets:
        kernel = self._kernel(S)
        squared = np.sum((kernel @ self.dual_gram_) * kernel, axis=1)
        offsets = -0.5 * squared - kernel @ self.dual_shift_
        return Targets.of(kernel @ self.dual_coef_, "dot", offsets)

    def _score(self, X: Features, prepared: Targets) -> NDArray:
        return prepared.scores(self._powered(X, self.power_))

    def _form(self, prepared: Targets) -> ScoreForm:
        return ScoreForm((Branch(None, prepared),), self.feature_norm, self.power_)

    def _solve(self, gathered: Gathered) -> None:
        """Set the dual coefficients for the chosen setting."""
        covariance = WithinClassCovariance.of(gathered.total, gathered.n_features)
        means = gathered.total.class_means
        center = means.mean(axis=0)
        (whitened,) = covariance.solved(means - center, [self.shrinkage_])
        kernel = self._kernel(self.seen_signatures_)
        inverse = np.linalg.inv(kernel + self.ridge_ * np.eye(len(kernel)))
        coef = inverse @ whitened
        self.dual_gram_ = coef @ (means - center).T @ inverse.T
        self.dual_shift_ = coef @ center
        self.dual_coef_ = gathered.lifted(coef)

    def _choose(self, grids: Grids, curves: list[NDArray]) -> None:
        """Set the four parameters by accuracies on folds, each of shape (n_settings,)."""
        points = grid_points(self, {name: grids[name] for name in GRIDS})
        best = choose_parameters(self, points, range(len(curves)), curves.__getitem__)
        for name, value in best.items():
            setattr(self, f"{name}_", float(value))

    def _chosen_power(
        self, samples: Samples, deal: Folds, grids: Grids
    ) -> tuple[float, list[NDArray]]:
        """Choose the power on the first deal; return it with the accuracies of its settings."""
        X, y, weights = samples
        curves = {
            power: self._curves(gather_rows(self._powered(X, power), y, deal, weights), grids)
            for power in grids["power"]
        }
        points = grid_points(self, {name: grids[name] for name in GRIDS})
        choice = choose(
            points,
            range(len(deal)),
            lambda fold: np.concatenate([curve[fold] for curve in curves.values()]),
        )
        power = choice.best_params["power"]
        return power, curves[power]

    def _curves(self, gathered: Gathered, grids: Grids) -> list[NDArray]:
        """Accuracy of every shrinkage, bandwidth and ridge on each fold, classes numbered."""
        S = self.seen_signatures_
        curves = []
        for fold in map(gathered.fold, range(len(gathered.parts))):
            covariance = WithinClassCovariance.of(fold.train, gathered.n_features)
            held_out = fold.X[fold.rows], fold.truth, fold.weights
            regressions = list(self._regressions(S[fold.train.classes], S[fold.classes], grids))
            accuracy = prototype_accuracy(
                fold.train, covariance, held_out, grids["shrinkage"], regressions
            )
            curves.append(accuracy.ravel())
        return curves

    def _regressions(self, S_train: NDArray, S_new: NDArray, grids: Grids) -> Iterator[NDArray]:
        """``k(s)ᵀ (K + γ I)⁻¹`` for every bandwidth and ridge, one decomposition per bandwidth."""
        blocks = self._blocks_of()
        within = relative_distances(S_train, S_train, blocks, self.kernel_scales_)
        across = relative_distances(S_new, S_train, blocks, self.kernel_scales_)
        for bandwidth in grids["bandwidth"]:
            e, U = np.linalg.eigh(gaussian_kernel(within, bandwidth))
            rotated = gaussian_kernel(across, bandwidth) @ U
            for ridge in grids["ridge"]:
                yield (rotated / (np.maximum(e, 0.0) + ridge)) @ U.T

    def _kernel(self, S: NDArray) -> NDArray:
        """Kernel of the given signatures against the seen ones."""
        distances = relative_distances(
            S, self.seen_signatures_, self._blocks_of(), self.kernel_scales_
        )
        return gaussian_kernel(distances, self.bandwidth_)

    def _set_kernel_scales(self) -> None:
        self.kernel_scales_ = median_scales(self.seen_signatures_, self._blocks_of())

    def _blocks_of(self) -> list[slice]:
        if self.signatures is None:
            return [slice(None)]
        return list(self.signatures_.blocks.values())

    def _chooses(self) -> bool:
        # The power acts on the rows themselves, so a pass over moments cannot choose it.
        return any(is_cv(getattr(self, name)) for name in GRIDS if name != "power")

    def _moment_transform(self) -> RowTransform:
        return replace(self._row_transform(), power=float(self._grids()["power"][0]))

    def _powered(self, X: Features, power: float) -> Features:
        """``sign(x)|x|^power``, scaled again as `feature_norm` says."""
        if power == 1.0:
            return X
        if sparse.issparse(X):
            Z = X.copy()
            Z.data = np.sign(X.data) * np.abs(X.data) ** power
        else:
            Z = np.sign(X) * np.abs(X) ** power
        return unit_rows(Z) if self.feature_norm == "l2" else Z

    def _deals(self, y: NDArray[np.intp]) -> Iterator[Folds]:
        """Folds of every deal of the classes; none with too few classes."""
        if self.signatures is None:
            return
        for repeat in range(self.n_repeats):
            state = None if self.random_state is None else (self.random_state + repeat) % 2**32
            folds = parameter_folds(y, self.cv, state)
            if folds:
                yield folds

    def _grids(self) -> Grids:
        """Values of each parameter to try: its grid, or the one number given."""
        given = {name: getattr(self, name) for name in GRIDS}
        return {name: GRIDS[name] if is_cv(v) else (float(v),) for name, v in given.items()}
