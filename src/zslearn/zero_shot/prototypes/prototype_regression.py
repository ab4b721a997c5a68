"""Class prototypes predicted from signatures by kernel regression in a whitened feature space."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn._parameters import Either, Number, Whole, check_parameters
from zslearn.core.folded_moments import FoldedMoments
from zslearn.core.moments import Moments
from zslearn.core.nearest import unit_rows
from zslearn.core.paths import mean_recall
from zslearn.core.row_space import reduced
from zslearn.core.signature_kernel import gaussian_kernel, median_scales, relative_distances
from zslearn.core.whitening import WithinClassSpectrum
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.base import Features, ZeroShotClassifier
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.search import folds_of_classes, parameter_folds
from zslearn.zero_shot.tags import ZeroShotTags

# What is tried where a parameter is "cv"; the first value of each is used without folds.
GRIDS: dict[str, tuple[float, ...]] = {
    "power": (0.5, 1.0),
    "shrinkage": (0.9, 0.7, 0.5, 0.3, 0.1, 1.0),
    "bandwidth": (2.0, 1.0, 0.5, 4.0, 8.0),
    "ridge": (0.03, 0.1, 0.3, 0.01, 1.0, 0.003, 3.0),
}


class Setting(NamedTuple):
    """One choice of the four parameters."""

    power: float
    shrinkage: float
    bandwidth: float
    ridge: float


class PrototypeRegression(ZeroShotClassifier):
    """Nearest predicted prototype: accurate, closed form, seconds on a CPU.

    Features are power-transformed, scaled to unit length and whitened by the within-class
    covariance, shrunk towards a multiple of the identity. In that space samples of a class scatter
    alike in all directions, so the best linear rule is the nearest class mean. The mean of a class
    without samples is predicted from its signature by kernel ridge regression on the means of the
    seen classes,

        p(s) = k(s)ᵀ (K + γ I)⁻¹ M,    k(s)_j = exp(-‖s - s_j‖² / (σ · median)),

    and the score of a sample z is ``z·p - ‖p‖² / 2``, the negative distance up to a constant. It is
    linear in the features, so prediction costs one matrix product. Seen classes are scored by the
    same formula, which keeps the generalized setting fair.

    All statistics come from class counts, class sums and the Gram matrix; every choice is made by
    holding out seen classes, for the price of one eigendecomposition a fold and power.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector a class; None means one-hot. Joined semantic spaces get a kernel each.
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
    cv_results_ : dict
        "settings" and "scores" (per-class accuracy on held-out classes, mean over folds), best
        first; empty where nothing was chosen.
    dual_coef_ : ndarray of shape (n_seen, n_features)
        What each seen class adds to the class vectors, a unit of kernel each.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import PrototypeRegression
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = PrototypeRegression(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen]) > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        several_spaces=True, reference="zslearn; see docs/prototype_regression.md"
    )
    _from_moments: ClassVar[bool] = True
    parameter_constraints: ClassVar = {
        "power": Either("cv", Number(above=0)),
        "shrinkage": Either("cv", Number(least=0, most=1)),
        "bandwidth": Either("cv", Number(above=0)),
        "ridge": Either("cv", Number(above=0)),
        "n_repeats": Whole(1),
    }

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

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        grids = {name: self._grid(name) for name in GRIDS}
        self._set_kernel_scales()
        self._choose(X, y, grids)
        Z, lift = reduced(self._powered(X, self.power_))
        self._solve(Moments.of(Z, y), lift, X.shape[1])

    def fit_moments(self, moments: Moments) -> PrototypeRegression:
        """Learn from moments of features that were power-transformed and scaled beforehand.

        Parameters
        ----------
        moments : Moments
            Raw (not centered) moments, labeled by class names, of ``sign(x)|x|^power`` scaled as
            `feature_norm` says. All four parameters must be numbers.

        Returns
        -------
        PrototypeRegression
        """
        check_parameters(self)
        choices = [self._grid(name) for name in Setting._fields]
        if any(len(grid) > 1 for grid in choices):
            raise InvalidInputError(
                "fit_moments needs numbers for power, shrinkage, bandwidth and ridge; 'cv' needs "
                "the samples, so choose them by fit on a part of the data first."
            )
        self._start(moments)
        self._use(Setting(*(grid[0] for grid in choices)))
        self.cv_results_ = {"settings": [], "scores": np.empty(0)}
        self._solve(moments, None, moments.n_features)
        return self

    def fit_folded(self, folded: FoldedMoments) -> PrototypeRegression:
        """Learn from moments of folds of classes, choosing by the rows kept of them.

        Parameters
        ----------
        folded : FoldedMoments
            Raw moments and rows, transformed as for `fit_moments`. The classes are dealt to folds
            once, and `power` is not chosen: it is the number given, or 0.5.

        Returns
        -------
        PrototypeRegression
        """
        check_parameters(self)
        grids = {name: self._grid(name) for name in GRIDS} | {"power": (self._moment_power(),)}
        self._start(folded.total)
        curve = self._parts_curve(folded.numbered(self.classes_), self.n_features_in_, grids)
        self._take_best(grids, [curve])
        self._solve(folded.total, None, self.n_features_in_)
        return self

    def _start(self, moments: Moments) -> None:
        self.n_features_in_ = moments.n_features
        self.classes_ = moments.classes
        self._set_signatures(self.classes_)
        self._set_kernel_scales()

    def _explain(self, X: Features, s: NDArray) -> Explanation:
        kernel = self._kernel(s[None])[0]
        sample = self._powered(X, self.power_)
        contributions = kernel * (np.asarray(sample @ self.dual_coef_.T)[0] - self.dual_shift_)
        offset = -0.5 * float(kernel @ self.dual_gram_ @ kernel)
        return Explanation.of([str(label) for label in self.classes_], contributions, offset)

    def _prepare(self, S: NDArray) -> tuple[NDArray, NDArray]:
        kernel = self._kernel(S)
        squared = np.sum((kernel @ self.dual_gram_) * kernel, axis=1)
        return kernel @ self.dual_coef_, -0.5 * squared - kernel @ self.dual_shift_

    def _score(self, X: Features, prepared: tuple[NDArray, NDArray]) -> NDArray:
        vectors, offsets = prepared
        Z = self._powered(X, self.power_)
        return np.asarray(Z @ vectors.T.astype(Z.dtype)) + offsets.astype(Z.dtype)

    def _solve(self, moments: Moments, lift: NDArray | None, n_features: int) -> None:
        """Set the dual coefficients for the chosen setting."""
        spectrum = WithinClassSpectrum.of(moments, n_features)
        scale = spectrum.scale(self.shrinkage_)
        means = moments.class_means
        center = means.mean(axis=0)
        whitened = (means - center) @ spectrum.V * scale
        kernel = self._kernel(self.seen_signatures_)
        inverse = np.linalg.inv(kernel + self.ridge_ * np.eye(len(kernel)))
        dual = inverse @ whitened
        self.dual_gram_ = dual @ dual.T
        coef = (dual * scale) @ spectrum.V.T
        self.dual_shift_ = coef @ center
        self.dual_coef_ = coef if lift is None else coef @ lift.T

    def _use(self, setting: Setting) -> None:
        self.power_, self.shrinkage_, self.bandwidth_, self.ridge_ = setting

    def _choose(
        self, X: Features, y: NDArray[np.intp], grids: dict[str, tuple[float, ...]]
    ) -> None:
        """Set the parameters by accuracy on held-out classes: the power first, then the others."""
        axes = [grids[name] for name in Setting._fields[1:]]
        self._use(Setting(grids["power"][0], *(axis[0] for axis in axes)))
        self.cv_results_ = {"settings": [], "scores": np.empty(0)}
        deals = list(self._deals(y))
        if not deals or all(len(grid) == 1 for grid in grids.values()):
            return
        first = {
            power: self._deal_curve(self._powered(X, power), y, deals[0], grids)
            for power in grids["power"]
        }
        power = max(first, key=lambda value: first[value].max())
        Z = self._powered(X, power)
        curves = [first[power], *(self._deal_curve(Z, y, deal, grids) for deal in deals[1:])]
        self._take_best(grids | {"power": (power,)}, curves)

    def _take_best(self, grids: dict[str, tuple[float, ...]], curves: list[NDArray]) -> None:
        """Set the setting of highest mean accuracy and what was tried."""
        mean = np.mean(curves, axis=0).ravel()
        settings = [Setting(*point) for point in product(*grids.values())]
        order = np.argsort(-mean, kind="stable")
        self._use(settings[order[0]])
        self.cv_results_ = {
            "settings": [list(settings[i]) for i in order],
            "scores": mean[order],
        }

    def _deal_curve(
        self,
        Z: Features,
        y: NDArray[np.intp],
        folds: list[NDArray[np.intp]],
        grids: dict[str, tuple[float, ...]],
    ) -> NDArray:
        """Mean accuracy over the folds of one deal of the classes."""
        n_features = Z.shape[1]
        Z, _ = reduced(Z)
        parts = tuple(Moments.of(Z[rows], y[rows]) for rows in folds)
        return self._parts_curve(FoldedMoments(parts, Z, y), n_features, grids)

    def _parts_curve(
        self, folded: FoldedMoments, n_features: int, grids: dict[str, tuple[float, ...]]
    ) -> NDArray:
        """Mean accuracy over folds given by their moments, classes numbered."""
        total, curves = folded.total, []
        for (_, rows), part in zip(folded.folds, folded.parts, strict=True):
            truth = np.searchsorted(part.classes, folded.y[rows])
            curves.append(
                self._curve(total - part, folded.X[rows], truth, part.classes, n_features, grids)
            )
        return np.mean(curves, axis=0)

    def _curve(
        self,
        train: Moments,
        Z: Features,
        truth: NDArray[np.intp],
        held_out: NDArray[np.intp],
        n_features: int,
        grids: dict[str, tuple[float, ...]],
    ) -> NDArray:
        """Per-class accuracy for every shrinkage, bandwidth and ridge on one fold."""
        spectrum = WithinClassSpectrum.of(train, n_features)
        means = train.class_means
        center = means.mean(axis=0)
        M = (means - center) @ spectrum.V
        X = np.asarray(Z @ spectrum.V) - center @ spectrum.V
        S_train, S_held_out = self.seen_signatures_[train.classes], self.seen_signatures_[held_out]
        regressions = list(self._regressions(S_train, S_held_out, grids))
        hits = np.empty((len(grids["shrinkage"]), len(regressions)))
        for i, shrinkage in enumerate(grids["shrinkage"]):
            whitened = M * spectrum.scale(shrinkage) ** 2
            products, gram = X @ whitened.T, M @ whitened.T
            for j, B in enumerate(regressions):
                squared = np.sum((B @ gram) * B, axis=1)
                guess = (products @ B.T - 0.5 * squared).argmax(axis=1)
                hits[i, j] = mean_recall(guess == truth, truth)
        return hits.reshape(-1, len(grids["bandwidth"]), len(grids["ridge"]))

    def _regressions(
        self, S_train: NDArray, S_new: NDArray, grids: dict[str, tuple[float, ...]]
    ) -> Iterator[NDArray]:
        """``k(s)ᵀ (K + γ I)⁻¹`` for every bandwidth and ridge, one decomposition a bandwidth."""
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
        return any(len(self._grid(name)) > 1 for name in Setting._fields[1:])

    def _moment_power(self) -> float:
        return self._grid("power")[0]

    def _class_folds(self, classes: NDArray) -> list[NDArray]:
        return folds_of_classes(classes, self.cv, self.random_state)

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

    def _deals(self, y: NDArray[np.intp]) -> Iterator[list[NDArray[np.intp]]]:
        """Held-out rows of each fold, for every deal of the classes; none with too few classes."""
        if self.signatures is None:
            return
        for repeat in range(self.n_repeats):
            state = None if self.random_state is None else (self.random_state + repeat) % 2**32
            folds = parameter_folds(y, y, self.cv, state)
            if folds:
                yield [held_out for _, held_out in folds]

    def _grid(self, name: str) -> tuple[float, ...]:
        """Return the values of a parameter to try: its grid, or the one number given."""
        value = getattr(self, name)
        return GRIDS[name] if value == "cv" else (float(value),)
