"""Class prototypes predicted from signatures by kernel regression in a whitened feature space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._declared import fallbacks, parameter, search_space
from zslearn._parameters import Either, Number, Numbers, Whole
from zslearn.core.confidence import fit_temperature
from zslearn.core.fitting import all_or_nothing
from zslearn.core.kernels import (
    SignatureKernels,
)
from zslearn.core.learner import FoldedMoments, gather_rows
from zslearn.core.moments import Moments, class_sums
from zslearn.core.nearest import Targets
from zslearn.core.posterior_prototypes import (
    Novelty,
    PrototypeSpace,
    are_matched,
    miscount,
    squared_error,
)
from zslearn.core.row_space import RowBasis, reduced
from zslearn.core.rows import RowTransform
from zslearn.core.whitening import WithinClassCovariance
from zslearn.exceptions import (
    InvalidInputError,
)
from zslearn.zero_shot.base import Features
from zslearn.zero_shot.inputs import is_cv
from zslearn.zero_shot.prototypes.prototype_beliefs import LEANING, PrototypeBeliefs
from zslearn.zero_shot.prototypes.prototype_settings import (
    KERNELS,
    SPACES,
    FoldJudge,
    FoldSpace,
    Gather,
    Guess,
    KernelSettings,
    best_beta,
    kernel_points,
    nearly_best,
    thinned,
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
from zslearn.zero_shot.teaching import Evidence

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
POSITIVE = Either(Number(above=0), Numbers(Number(above=0)))


class PrototypeRegression(PrototypeBeliefs):
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

    Where signatures are vectors of the same encoder as the samples, as the names of text classes
    are, a signature is itself a guess f of the class mean: prototypes are then ``β b f(s) + k(s)ᵀ
    (K + γ I)⁻¹ (M - β b F)``, which may leave the span of the seen means. b is the trend that the
    kernel leaves in them, as in universal kriging: ``tr(Mᵀ (K + γ I)⁻¹ F) / tr(Fᵀ (K + γ I)⁻¹ F)``.

    A description is a prior: it is worth `kappa_` samples. `partial_fit` adds samples of any class
    after the fit, `adapt` moves a copy to a batch without labels, `novelty` compares an answer with
    a class that nobody described, and `suggest` names the samples to label next.

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
    prior : {"auto", "signature", None}, default="auto"
        Whether signatures may guess class means. "auto" lets them where they have as many numbers
        as samples, and those of the seen classes point to the means of their own classes.
    beta : "cv", float or list, default="cv"
        How much prototypes lean on these guesses, from 0 (not at all) to 1. With numbers for
        `bandwidth` and `ridge`, "cv" means 1.
    seen_prototypes : {"auto", "predicted", "posterior"}, default="auto"
        How seen classes are represented: as they are predicted, or by the mean of that, which
        counts as `kappa_` samples, and of their samples. "auto" predicts them, unless
        `CalibratedStacking` around it finds the other better on folds.
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
    n_kernels_, bandwidth_, ridge_, beta_ : ndarrays of shape (n_averaged,)
        The settings that are averaged, the best first.
    kappa_ : float
        How many samples a description is worth: the variance of samples about the mean of their
        class over the squared error with which seen means are predicted from the other classes.
    adaptation_ : Adaptation
        Of a classifier that `adapt` returned: how far it moved.
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
    # What a file stands for that was written before these parameters came.
    newer_parameters: ClassVar[Mapping[str, Any]] = {
        "prior": None,
        "beta": 0.0,
        "seen_prototypes": "predicted",
    }
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
    prior: str | None = parameter(default="auto", allowed=Either("auto", "signature", None))
    beta: float | str | ArrayLike = parameter(
        default="cv",
        allowed=Either(Number(least=0), Numbers(Number(least=0))),
        tried=(0.0, 1.0),
    )
    seen_prototypes: str = parameter(
        default="auto", allowed=Either("auto", "predicted", "posterior")
    )
    n_average: int = parameter(default=20, allowed=Whole(1))
    setting: str = parameter(default="conventional", allowed=Either("conventional", "generalized"))
    n_repeats: int = parameter(default=3, allowed=Whole(1))

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
        guess = self._guess_of(X, y, 1.0)

        # Neighboring calls ask for the same rows and the same moments; more is not kept.
        @lru_cache(maxsize=1)
        def powered(power: float) -> tuple[Any, RowBasis | None]:
            rows = self._powered(X, power)
            # Guesses do not lie in the span of few samples.
            return reduced(rows) if guess is None else (rows, None)

        @lru_cache(maxsize=1)
        def gather(power: float, deal: int | None) -> FoldedMoments:
            rows, basis = powered(power)
            folds = () if deal is None else deals[deal]
            whole = guess is not None
            return gather_rows(rows, y, folds, weights, basis=basis, whole_space=whole)

        spaces = grid_points(self, search_space(self, *SPACES))
        judge, samples = self._choose(gather, spaces, len(deals), guess)
        last = len(deals) - 1 if deals and self._chooses_kernels() else None
        self._solve(gather(self.power_, last), judge, samples)

    def _learn(self, folded: FoldedMoments) -> None:
        power = self._moment_transform().power
        spaces = [s for s in grid_points(self, search_space(self, *SPACES)) if s["power"] == power]
        places = np.arange(len(self.seen_classes_))
        guess = self._guess_of(folded.total.class_means, places, power)
        judge, samples = self._choose(lambda *_: folded, spaces, int(folded.has_folds), guess)
        self._solve(folded, judge, samples)

    def _guess_of(self, X: Features, y: NDArray[np.intp], power: float) -> Guess | None:
        """Return how signatures guess the means of seen classes, if they live among the samples."""
        unwanted = not is_cv(self.beta) and not np.any(self.beta)
        if self.signatures is None or self.prior is None or unwanted:
            return None
        raw = self._raw_signatures(self.seen_classes_)
        if raw.shape[1] != X.shape[1] or len(self.signatures_.blocks) > 1:
            if self.prior == "auto":
                return None
            raise InvalidInputError(
                'prior="signature" takes signatures for samples, so both must come from one '
                f"encoder; signatures have {raw.shape[1]} numbers, samples have {X.shape[1]}."
            )
        if self.prior == "auto":
            _, counts, sums = class_sums(X[:], y)
            if not are_matched(sums / counts[:, None], self._guesses(raw, power)):
                return None
        return lru_cache(maxsize=2)(lambda power: self._guesses(raw, power))

    def prepare(self, names: NDArray, vectors: NDArray) -> Targets:
        if self._moved():
            known = self._known(np.asarray(names), vectors)
            coef = self.space_.whitening.pulled_back(known.points)
            squared = np.einsum("cd,cd->c", known.points, known.points)
            offsets = known.offsets - 0.5 * squared - coef @ self.space_.center
            return Targets.of(coef, "dot", offsets)
        # With the prototype p_c = Σ_i m_ci μ_i: x·Σ⁻¹p_c − ½ p_c·Σ⁻¹p_c, all in terms of the means.
        mixtures = self._mixtures(self._unit_signatures(names, vectors))
        squared = np.sum((mixtures @ self.dual_gram_) * mixtures, axis=1)
        offsets = -0.5 * squared - mixtures @ self.dual_shift_
        return Targets.of(mixtures @ self.dual_coef_, "dot", offsets)

    def compare(self, queries: Features, classes: Targets) -> NDArray:
        return classes.scores(queries)

    def linear_form(self, classes: Targets) -> LinearForm:
        return LinearForm((Branch(None, classes),), self.feature_norm, self.power_)

    def _solve(self, folded: FoldedMoments, judge: FoldJudge, samples: list[FoldSpace]) -> None:
        """Set the class means, and the regressions of all settings with the same kernel as one."""
        covariance = WithinClassCovariance.of(folded.total, folded.n_features)
        means = folded.total.class_means
        center = means.mean(axis=0)
        # Σ⁻¹(μ_i − μ̄) for all seen classes, Σ the shrunk covariance within classes. Distances are
        # measured from μ̄, where products keep their digits.
        (whitened,) = covariance.solved(means - center, [self.shrinkage_])
        self.dual_gram_ = whitened @ (means - center).T
        self.dual_shift_ = whitened @ center
        self.dual_coef_ = folded.lifted(whitened)
        self.space_ = self._space_of(folded, covariance, judge, samples)
        self.seen_prototypes_ = "posterior" if self.seen_prototypes == "posterior" else "predicted"
        self.evidence_ = self.adapted_ = Evidence.none(self.seen_classes_, self.n_features_in_)
        self.undescribed_ = self.evidence_.names
        self.__dict__.pop("adaptation_", None)

    def _space_of(
        self,
        folded: FoldedMoments,
        covariance: WithinClassCovariance,
        judge: FoldJudge,
        samples: list[FoldSpace],
    ) -> PrototypeSpace:
        """Set the regressions, and return what samples after the fit need."""
        whitening = covariance.whitening(self.shrinkage_, folded.basis)
        spread = covariance.spread(whitening, self.shrinkage_)
        counts, raw = folded.total.counts, folded.lifted(folded.total.class_means)
        center = raw.mean(axis=0)
        means = whitening.applied(raw - center)
        products = None
        for name in LEANING:
            self.__dict__.pop(name, None)
        if judge.guess is not None and judge.settings.beta.any():
            guesses = judge.guess(self.power_)
            self.guess_center_ = guesses.mean(axis=0)
            self.guesses_ = F = whitening.applied(guesses - self.guess_center_)
            products = means @ F.T, F @ F.T
        S = self.seen_signatures_
        found = judge.settings.mean_regressions(judge.kernels.between(S, S), products)
        self.kernels_, self.regression_, self.lean_ = found.kernels, found.values, found.lean
        residuals = found.left_out[0] @ means
        if products is not None:
            self.leaning_ = found.leaning
            residuals -= found.left_out[1] @ self.guesses_
        parts = judge.labeled_scores(samples)
        temperature = fit_temperature(parts) if parts else None
        # As precise as the samples were: the map is by far the largest part of a model.
        kind = np.float32 if getattr(folded.X, "dtype", None) == np.float32 else np.float64
        return PrototypeSpace(
            whitening=whitening.astype(kind),
            center=center,
            means=means,
            counts=counts,
            spread=spread,
            error=squared_error(residuals, counts, spread),
            between=squared_error(means, counts, spread),
            variances=found.variances,
            kernel_shares=found.shares,
            novelty=Novelty.of(residuals, means, counts, spread).astype(kind),
            temperature=temperature,
            miscount=miscount(parts, temperature) if temperature is not None else 0.0,
        )

    def _choose(
        self, gather: Gather, spaces: list[Point], n_deals: int, guess: Guess | None
    ) -> tuple[FoldJudge, list[FoldSpace]]:
        """Set power and shrinkage, then β, then the kernels and ridges to average.

        Returns the judge with the settings in use, and samples of the folds of the last deal.
        """
        kernels = SignatureKernels.of(self.seen_signatures_, self._blocks_of())
        self.kernel_scales_ = kernels.scales
        points = kernel_points(self, guesses=guess is not None)
        judge = FoldJudge(kernels, self.seen_signatures_, KernelSettings.of(points), guess)
        self.cv_results_, space = None, spaces[0]
        curves: list[NDArray] = []
        leans = guess is not None and is_cv(self.beta) and self._chooses_kernels()
        if n_deals and (len(spaces) > 1 or leans):
            few = thinned(points) if leans else points
            coarse = replace(judge, settings=KernelSettings.of(few))
            choice, accuracies = coarse.choose_space(gather, spaces, self._n_best(few))
            space, self.cv_results_ = choice.best_params, choice.cv_results
            if leans:
                found = accuracies[:, choice.best_index].mean(axis=0)
                beta = best_beta(few, found, self._n_best)
                points = [point for point in points if point["beta"] == beta]
                judge = replace(judge, settings=KernelSettings.of(points))
            elif self.setting == "conventional":
                # The first deal has judged all kernels in this space already.
                curves = list(accuracies[:, choice.best_index])
        self.power_, self.shrinkage_ = float(space["power"]), float(space["shrinkage"])
        self.best_params_ = left_open(self, space)
        samples: list[FoldSpace] = []
        if not self._chooses_kernels():
            return self._keep(judge, points), samples
        for deal in range(1 if curves else 0, n_deals):
            samples = []
            curves += self._curves(gather(self.power_, deal), deal, judge, samples)
        if not curves:  # nothing to choose by: where signatures can guess, they do
            first = points[0] | ({"beta": 1.0} if guess and is_cv(self.beta) else {})
            return self._keep(judge, [first]), samples
        if not samples:
            folded = gather(self.power_, n_deals - 1)
            samples = judge.sample_spaces(folded, self.power_, self.shrinkage_)
        choice = choose([space | p for p in points], range(len(curves)), curves.__getitem__)
        self.cv_results_ = choice.cv_results
        # Their prototypes are averaged; docs/prototype_regression.md has what that brings.
        ranks = choice.cv_results["rank_test_score"]
        best = np.argsort(ranks, kind="stable")[: self._n_best(points)]
        return self._keep(judge, [points[i] for i in nearly_best(np.array(curves), best)]), samples

    def _n_best(self, points: Sequence[Point]) -> int:
        """How many of some settings are averaged at most; all where none are chosen."""
        # At most a third of the settings, so that not all of a small grid is averaged.
        n = len(points)
        return min(self.n_average, -(-n // 3)) if self._chooses_kernels() else n

    def _keep(self, judge: FoldJudge, points: list[Point]) -> FoldJudge:
        """Set the settings in use, and return the judge of these."""
        settings = KernelSettings.of(points)
        for name in (*KERNELS, "beta"):
            values = getattr(settings, name)
            setattr(self, f"{name}_", values)
            if is_cv(getattr(self, name)) and (name != "beta" or judge.guess is not None):
                listed = values.tolist()
                self.best_params_[name] = listed if len(listed) > 1 else listed[0]
        return replace(judge, settings=settings)

    def _curves(
        self, folded: FoldedMoments, deal: int, judge: FoldJudge, samples: list[FoldSpace]
    ) -> list[NDArray]:
        """Judge every kernel and ridge on each fold of a deal, and add samples of the folds."""
        if self.setting == "generalized":
            seed = deal_seed(self.random_state, deal)
            return list(judge.harmonic_means(folded, self.power_, self.shrinkage_, seed))
        return list(judge.accuracies(folded, self.power_, [self.shrinkage_], samples)[:, 0])

    def _chooses_kernels(self) -> bool:
        return is_cv(self.bandwidth) or is_cv(self.ridge)

    def _chooses(self) -> bool:
        # The power acts on the rows themselves, so a pass over moments cannot choose it.
        return is_cv(self.shrinkage) or self._chooses_kernels()

    def _moment_transform(self) -> RowTransform:
        power = fallbacks(self)["power"] if is_cv(self.power) else self.power
        return replace(self._row_transform(), power=float(power))

    def _deals(self, y: NDArray[np.intp]) -> Iterator[Folds]:
        """Folds of every deal of the classes; none with too few classes."""
        if self.signatures is None:
            return
        for repeat in range(self.n_repeats):
            folds = parameter_folds(y, self.cv, deal_seed(self.random_state, repeat))
            if folds:
                yield folds
