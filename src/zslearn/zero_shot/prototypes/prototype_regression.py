"""Class prototypes predicted from signatures by kernel regression in a whitened feature space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._declared import fallbacks, fitted, parameter, search_space
from zslearn._parameters import Either, Number, Numbers, Whole
from zslearn.core.fitting import all_or_nothing
from zslearn.core.kernels import (
    SignatureKernel,
    SignatureKernels,
    deviations_from_mean,
    mixture_contributions,
    terms_with_roots,
)
from zslearn.core.learner import FoldedMoments, gather_rows
from zslearn.core.moments import Moments
from zslearn.core.nearest import Targets, unit_rows
from zslearn.core.row_space import RowBasis, reduced
from zslearn.core.rows import RowTransform, signed_power
from zslearn.core.whitening import WithinClassCovariance
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.base import Features
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import is_cv, one_row
from zslearn.zero_shot.moment_classifier import MomentClassifier
from zslearn.zero_shot.prototypes.prototype_settings import (
    KERNELS,
    SPACES,
    FoldJudge,
    Gather,
    KernelSettings,
    kernel_points,
    nearly_best,
)
from zslearn.zero_shot.scoring import Branch, LinearForm
from zslearn.zero_shot.search import (
    Point,
    choose,
    deal_seed,
    grid_points,
    left_open,
    parameter_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
POSITIVE = Either(Number(above=0), Numbers(Number(above=0)))


class PrototypeRegression(MomentClassifier):
    """Nearest predicted prototype: accurate, closed form, seconds on a CPU.

    Features are power-transformed, scaled to unit length and whitened by the within-class
    covariance, shrunk towards a multiple of the identity. In that space samples of a class scatter
    equally in all directions, so the best linear rule is the nearest class mean. The mean of a
    class without samples is predicted from its signature by kernel ridge regression on the means of
    the seen classes,

        p(s) = k(s)ᵀ (K + γ I)⁻¹ M,    k(s)_j = exp(-‖s - s_j‖² / (σ · median)),

    or with the mean of that kernel and of the same on the signed square roots of the signatures.
    The prototypes of the best settings, about equally good on folds, are averaged. The score of a
    sample z is ``z·p - ‖p‖² / 2``, the negative distance up to a constant. It is linear in the
    features, so prediction costs one matrix product. Seen classes are scored by the same formula,
    which keeps the generalized setting fair.

    All statistics come from class counts, class sums and the Gram matrix; every choice is made by
    holding out seen classes. Power and shrinkage are chosen on the first deal of the classes to
    folds, for one tridiagonal reduction per fold; every other deal costs one Cholesky factor per
    fold.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class; None means one-hot. Joined semantic spaces get kernels of their own.
    power : "cv" or float, default="cv"
        Exponent of ``sign(x)|x|^power``; 0.5 tames bursty non-negative features.
    shrinkage : "cv" or float, default="cv"
        From 0 (the covariance as it is) to 1 (no whitening).
    n_kernels : "cv", 1, 2 or list, default="cv"
        1 takes the kernel on signatures, 2 the mean of it and of that on their signed square roots.
        With numbers for `bandwidth` and `ridge`, "cv" means 1.
    bandwidth : "cv", float or list, default="cv"
        σ of the kernel, in units of the median squared distance between seen signatures.
    ridge : "cv", float or list, default="cv"
        γ, the trust in the kernel against the seen means. Lists of the same length for these three
        name several settings, whose prototypes are averaged.
    n_average : int, default=20
        How many of the best settings are averaged at most: those whose held-out score is within two
        standard errors of the best, and never more than a third of those tried. 1 takes the best
        alone.
    setting : {"conventional", "generalized"}, default="conventional"
        What kernels and ridges are judged by: the accuracy on held-out classes, or its harmonic
        mean with that on held-out samples of the others, all classes being candidates. Choose the
        second for use with seen classes among the candidates, inside `CalibratedStacking`.
    n_repeats : int, default=3
        How often the classes are dealt to folds anew; a single deal is a noisy judge.

    Attributes
    ----------
    power_, shrinkage_ : float
        The space in use.
    n_kernels_, bandwidth_, ridge_ : ndarrays of shape (n_averaged,)
        The settings that are averaged, the best first.
    cv_results_ : dict or None
        What each kernel and ridge was judged by, with the chosen power and shrinkage, over the
        folds of all deals, with scikit-learn's keys; that of each power and shrinkage if nothing
        else was chosen, and None where nothing was.
    best_params_ : dict
        What was taken for the parameters left to "cv", in lists where several settings are
        averaged.
    dual_coef_ : ndarray of shape (n_seen, n_features)
        What each seen class adds to a class vector per unit of its weight in the prototype.

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
    power: float | str = parameter(default="cv", allowed=Number(above=0), tried=(0.5, 1.0))
    shrinkage: float | str = parameter(
        default="cv", allowed=Number(least=0, most=1), tried=(0.9, 0.7, 0.5, 0.3, 0.1, 1.0)
    )
    n_kernels: int | str | ArrayLike = parameter(
        default="cv", allowed=Either(Whole(1, 2), Numbers(Whole(1, 2))), tried=(1, 2)
    )
    bandwidth: float | str | ArrayLike = parameter(
        default="cv", allowed=POSITIVE, tried=(2.0, 1.0, 0.5, 4.0, 8.0)
    )
    ridge: float | str | ArrayLike = parameter(
        default="cv", allowed=POSITIVE, tried=(0.03, 0.1, 0.3, 0.01, 1.0, 0.003, 3.0)
    )
    n_average: int = parameter(default=20, allowed=Whole(1))
    setting: str = parameter(default="conventional", allowed=Either("conventional", "generalized"))
    n_repeats: int = parameter(default=3, allowed=Whole(1))
    dual_gram_: NDArray = fitted("c c")
    dual_shift_: NDArray = fitted("c")
    dual_coef_: NDArray = fitted("c d")
    kernels_: NDArray = fitted("b 2")
    regression_: NDArray = fitted("b c c")
    kernel_scales_: NDArray = fitted("2 s")

    @all_or_nothing
    def learn(self, moments: FoldedMoments | Moments) -> Self:
        """Learn from moments, choosing all parameters but `power` by folds if there are any.

        Parameters
        ----------
        moments : FoldedMoments or Moments
            What a pass by `moment_plan` found: of ``sign(x)|x|^power`` scaled as `feature_norm`
            says, with the classes dealt to folds once and 0.5 for ``power="cv"``. Or raw moments of
            rows transformed in the same way; power, shrinkage, bandwidth and ridge must then be
            numbers.

        Returns
        -------
        self
        """
        needed = ("power", "shrinkage", "bandwidth", "ridge")
        if isinstance(moments, Moments) and any(is_cv(getattr(self, name)) for name in needed):
            raise InvalidInputError(
                "plain moments need numbers for power, shrinkage, bandwidth and ridge; 'cv' needs "
                "samples, so choose them by fit on a part of the data first."
            )
        return super().learn(moments)

    def _fit(self, X: Features, y: NDArray[np.intp], weights: NDArray | None = None) -> None:
        deals = list(self._deals(y))

        # Neighboring calls ask for the same rows and the same moments; more is not kept.
        @lru_cache(maxsize=1)
        def powered(power: float) -> tuple[Any, RowBasis | None]:
            return reduced(self._powered(X, power))

        @lru_cache(maxsize=1)
        def gather(power: float, deal: int | None) -> FoldedMoments:
            rows, basis = powered(power)
            folds = () if deal is None else deals[deal]
            return gather_rows(rows, y, folds, weights, basis=basis)

        settings = self._choose(gather, grid_points(self, search_space(self, *SPACES)), len(deals))
        last = len(deals) - 1 if deals and self._chooses_kernels() else None
        self._solve(gather(self.power_, last), settings)

    def _learn(self, folded: FoldedMoments) -> None:
        power = self._moment_transform().power
        spaces = [s for s in grid_points(self, search_space(self, *SPACES)) if s["power"] == power]
        settings = self._choose(lambda *_: folded, spaces, int(folded.has_folds))
        self._solve(folded, settings)

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        s = self._unit_signatures([name], vector[None])[0]
        mixture, answers = self._mixtures(s[None])[0], self._answers_of_seen(rows)
        score = mixture @ answers - 0.5 * (mixture @ self.dual_gram_ @ mixture)
        terms = terms_with_roots(
            self.seen_signatures_, self._blocks_of(), self.kernel_scales_, self.kernels_
        )
        both = mixture_contributions(
            np.append(s, signed_power(s, 0.5)),
            list(zip(terms, self.regression_, strict=True)),
            answers,
            self.dual_gram_,
        )
        parts = both[: len(s)] + both[len(s) :]  # a dimension and its root belong together
        # The offset is the score of the mean of the seen signatures and their roots.
        offset = float(score - parts.sum())
        plain = SignatureKernel(self.seen_signatures_, self._blocks_of(), (), 1.0)
        deviations = deviations_from_mean(s, plain)
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
        S = self._unit_signatures(names, self._raw_signatures(names))
        mixture = self._mixtures(S)[0]
        contributions = mixture * self._answers_of_seen(self.check_rows(one_row(x)))
        offset = -0.5 * float(mixture @ self.dual_gram_ @ mixture)
        return Explanation.of([str(label) for label in self.seen_classes_], contributions, offset)

    def _answers_of_seen(self, X: Features) -> NDArray:
        """Return what each seen class says about one sample, per unit of kernel."""
        sample = self._powered(X, self.power_)
        return np.asarray(sample @ self.dual_coef_.T)[0] - self.dual_shift_

    def represent(self, rows: Features) -> Features:
        return self._powered(rows, self.power_)

    def prepare(self, names: NDArray, vectors: NDArray) -> Targets:
        # With the prototype p_c = Σ_i m_ci μ_i: x·Σ⁻¹p_c − ½ p_c·Σ⁻¹p_c, all in terms of the means.
        mixtures = self._mixtures(self._unit_signatures(names, vectors))
        squared = np.sum((mixtures @ self.dual_gram_) * mixtures, axis=1)
        offsets = -0.5 * squared - mixtures @ self.dual_shift_
        return Targets.of(mixtures @ self.dual_coef_, "dot", offsets)

    def compare(self, queries: Features, classes: Targets) -> NDArray:
        return classes.scores(queries)

    def linear_form(self, classes: Targets) -> LinearForm:
        return LinearForm((Branch(None, classes),), self.feature_norm, self.power_)

    def _mixtures(self, S: NDArray) -> NDArray:
        """Weights of the seen means in the prototypes of signatures, one row for each."""
        distances = self._signature_kernels().between(S, self.seen_signatures_)
        mixed: NDArray = sum(
            distances.kernel(int(n_kernels), float(bandwidth)) @ regression
            for (n_kernels, bandwidth), regression in zip(
                self.kernels_, self.regression_, strict=True
            )
        )
        return mixed

    def _solve(self, folded: FoldedMoments, settings: KernelSettings) -> None:
        """Set the class means, and the regressions of all settings with the same kernel as one."""
        covariance = WithinClassCovariance.of(folded.total, folded.n_features)
        means = folded.total.class_means
        center = means.mean(axis=0)
        (whitened,) = covariance.solved(means - center, [self.shrinkage_])
        self.dual_gram_ = whitened @ (means - center).T
        self.dual_shift_ = whitened @ center
        self.dual_coef_ = folded.lifted(whitened)
        S, kernels = self.seen_signatures_, self._signature_kernels()
        self.kernels_, self.regression_ = settings.mean_regressions(kernels.between(S, S))

    def _choose(self, gather: Gather, spaces: list[Point], n_deals: int) -> KernelSettings:
        """Set power and shrinkage, then the kernels and ridges to average, and return these."""
        kernels = SignatureKernels.of(self.seen_signatures_, self._blocks_of())
        self.kernel_scales_ = kernels.scales
        points = kernel_points(self)
        n_best = len(points)
        if self._chooses_kernels():
            n_best = min(self.n_average, -(-len(points) // 3))
        judge = FoldJudge(kernels, self.seen_signatures_, KernelSettings.of(points))
        self.cv_results_, space = None, spaces[0]
        curves: list[NDArray] = []
        if n_deals and len(spaces) > 1:
            choice, accuracies = judge.choose_space(gather, spaces, n_best)
            space, self.cv_results_ = choice.best_params, choice.cv_results
            if self.setting == "conventional":
                curves = list(accuracies[:, choice.best_index])
        self.power_, self.shrinkage_ = float(space["power"]), float(space["shrinkage"])
        self.best_params_ = left_open(self, space)
        if not self._chooses_kernels():
            return self._keep(points)
        for deal in range(1 if curves else 0, n_deals):
            curves += self._curves(gather(self.power_, deal), deal, judge)
        if not curves:
            return self._keep(points[:1])
        choice = choose([space | p for p in points], range(len(curves)), curves.__getitem__)
        self.cv_results_ = choice.cv_results
        best = np.argsort(choice.cv_results["rank_test_score"], kind="stable")[:n_best]
        return self._keep([points[i] for i in nearly_best(np.array(curves), best)])

    def _keep(self, points: list[Point]) -> KernelSettings:
        """Set the settings in use."""
        settings = KernelSettings.of(points)
        for name in KERNELS:
            values = getattr(settings, name)
            setattr(self, f"{name}_", values)
            if is_cv(getattr(self, name)):
                listed = values.tolist()
                self.best_params_[name] = listed if len(listed) > 1 else listed[0]
        return settings

    def _curves(self, folded: FoldedMoments, deal: int, judge: FoldJudge) -> list[NDArray]:
        """Judge every kernel and ridge on each fold of a deal."""
        if self.setting == "generalized":
            return list(
                judge.harmonic_means(folded, self.shrinkage_, deal_seed(self.random_state, deal))
            )
        return list(judge.accuracies(folded, [self.shrinkage_])[:, 0])

    def _signature_kernels(self) -> SignatureKernels:
        return SignatureKernels(self._blocks_of(), self.kernel_scales_)

    def _blocks_of(self) -> list[slice]:
        if self.signatures is None:
            return [slice(None)]
        return list(self.signatures_.blocks.values())

    def _chooses_kernels(self) -> bool:
        return is_cv(self.bandwidth) or is_cv(self.ridge)

    def _chooses(self) -> bool:
        # The power acts on the rows themselves, so a pass over moments cannot choose it.
        return is_cv(self.shrinkage) or self._chooses_kernels()

    def _moment_transform(self) -> RowTransform:
        power = fallbacks(self)["power"] if is_cv(self.power) else self.power
        return replace(self._row_transform(), power=float(power))

    def _powered(self, X: Features, power: float) -> Features:
        """``sign(x)|x|^power``, scaled again as `feature_norm` says."""
        if power == 1.0:
            return X
        Z = signed_power(X, power)
        return unit_rows(Z) if self.feature_norm == "l2" else Z

    def _deals(self, y: NDArray[np.intp]) -> Iterator[Folds]:
        """Folds of every deal of the classes; none with too few classes."""
        if self.signatures is None:
            return
        for repeat in range(self.n_repeats):
            folds = parameter_folds(y, self.cv, deal_seed(self.random_state, repeat))
            if folds:
                yield folds
