"""The settings that prototype regression tries, and how folds of classes judge them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import search_space
from zslearn.core.confidence import LabeledScores
from zslearn.core.kernels import KernelSpectrum, SignatureDistances, SignatureKernels
from zslearn.core.learner import FoldedMoments, FoldMoments
from zslearn.core.posterior_prototypes import left_out_weights
from zslearn.core.whitening import (
    WhitenedSpace,
    WithinClassCovariance,
    class_shares,
    leaning,
    whitened_spaces,
)
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import stratified_holdout
from zslearn.zero_shot.inputs import is_cv
from zslearn.zero_shot.search import Choice, Point, choose, grid_points

# Parameters that are chosen first, and those that are chosen in the space that they make.
SPACES = ("power", "shrinkage")
KERNELS = ("n_kernels", "bandwidth", "ridge")
# Shrinkages at which powers are compared: whitened, by one Cholesky factor, and not at all.
COARSE = (0.7, 1.0)
# A ridge so large that nothing but the guess is left.
NO_KERNEL = 1e6
# Rows of a fold that the temperature is learned from.
_SURE_ROWS = 2000
# Share of the samples of the classes learned from that the generalized setting holds out.
HOLDOUT = 0.2

Array = NDArray[np.float64]
# Gathers the moments and rows of a deal of the classes to folds, for a power.
Gather = Callable[[float, int], FoldedMoments]
# Makes samples of a power of the signatures of seen classes.
Guess = Callable[[float], Array]


@dataclass(frozen=True)
class KernelSettings:
    """Kernels and ridges, one of each per setting.

    Attributes
    ----------
    n_kernels : ndarray of int of shape (n_settings,)
        1, or 2 with a kernel on the roots of the signatures.
    bandwidth, ridge, beta : ndarrays of shape (n_settings,)
        σ, γ and β.
    """

    n_kernels: NDArray[np.intp]
    bandwidth: Array
    ridge: Array
    beta: Array

    @classmethod
    def of(cls, points: Sequence[Point]) -> KernelSettings:
        """Take the settings from points of a search."""
        columns = {name: np.array([point[name] for point in points]) for name in KERNELS}
        return cls(
            columns["n_kernels"].astype(np.intp),
            columns["bandwidth"].astype(np.float64),
            columns["ridge"].astype(np.float64),
            np.array([point.get("beta", 0.0) for point in points], dtype=np.float64),
        )

    def by_kernel(self) -> Iterator[tuple[int, float, NDArray[np.intp]]]:
        """Each kernel, and which settings use it."""
        kernels = np.column_stack([self.n_kernels, self.bandwidth])
        for kernel in np.unique(kernels, axis=0):
            used = np.flatnonzero((kernels == kernel).all(axis=1))
            yield int(kernel[0]), float(kernel[1]), used

    def mean_regressions(
        self, distances: SignatureDistances, guesses: tuple[Array, Array] | None = None
    ) -> Regressions:
        """Return what each kernel is multiplied by in the mean of all settings.

        Parameters
        ----------
        distances : SignatureDistances
            Among the seen classes.
        guesses : pair of ndarrays of shape (n_seen, n_seen), optional
            Products of the seen means with guesses of them and of these with one another, if
            prototypes may lean on guesses.

        Returns
        -------
        Regressions
        """
        n, by_kernel = len(self.ridge), self.ridge < NO_KERNEL
        lean = np.zeros(n)
        kernels, values, leaned, shares, variance = [], [], [], [], 0.0
        left_out = np.zeros((2, *distances.values.shape[2:]))
        for n_kernels, bandwidth, used in self.by_kernel():
            K = distances.kernel(n_kernels, bandwidth)
            # (K + r I)⁻¹ of all ridges from one decomposition, added up to one matrix per kernel.
            spectrum, ridges = KernelSpectrum.of(K), self.ridge[used]
            inverses = spectrum.weights(np.eye(len(K)), ridges)
            if guesses is not None:
                lean[used] = self.beta[used] * spectrum.trends(*guesses, ridges)
            missed, variances = left_out_weights(inverses)
            kernels.append((n_kernels, bandwidth))
            values.append(inverses.sum(axis=0) / n)
            leaned.append(np.tensordot(lean[used], inverses, axes=1) / n)
            left_out[0] += missed.sum(axis=0) / n
            left_out[1] += np.tensordot(lean[used], missed, axes=1) / n
            shares.append(by_kernel[used].sum() / n)
            variance += float(variances[by_kernel[used]].mean(axis=1).sum())
        beyond = float((1.0 + self.ridge[by_kernel]).sum())
        return Regressions(
            np.array(kernels, dtype=np.float64),
            np.stack(values),
            np.stack(leaned),
            float(lean.mean()),
            left_out,
            np.array([variance, beyond]) / by_kernel.sum() if by_kernel.any() else np.ones(2),
            np.array(shares),
        )


class Regressions(NamedTuple):
    """The mean of the regressions of several settings, kernel by kernel.

    Attributes
    ----------
    kernels : ndarray of shape (n_kernels, 2)
        How many kernels each is the mean of, and its bandwidth.
    values : ndarray of shape (n_kernels, n_seen, n_seen)
        Sum of ``(K + γ I)⁻¹`` over the settings with that kernel, over the number of settings.
    leaning : ndarray of shape (n_kernels, n_seen, n_seen)
        The same with every setting times its β b.
    lean : float
        Mean of β b.
    left_out : ndarray of shape (2, n_seen, n_seen)
        T and T_b of :func:`zslearn.core.posterior_prototypes.left_out_weights` in the mean, T_b
        with every setting times its β b: seen means are missed by ``T M − T_b F`` if each is
        predicted from the others.
    variances : ndarray of shape (2,)
        Mean variance of these predictions, and ``1 + γ``, that of a class like no other, both in
        units of the kernel and over the settings that have one.
    shares : ndarray of shape (n_kernels,)
        Share of the settings that use each kernel.
    """

    kernels: Array
    values: Array
    leaning: Array
    lean: float
    left_out: Array
    variances: Array
    shares: Array


def kernel_points(estimator: Any, *, guesses: bool = False) -> list[Point]:
    """Return the kernels and ridges to try, or those that were given.

    Parameters
    ----------
    estimator : PrototypeRegression
        What the parameters are of.
    guesses : bool, default=False
        Whether prototypes may lean on signatures, so that points have a β.
    """
    given = {name: getattr(estimator, name) for name in (*KERNELS, *(["beta"] if guesses else []))}
    # Numbers for both others mean a plain setting: one kernel and all of the guess, unless told.
    if not (is_cv(given["bandwidth"]) or is_cv(given["ridge"])):
        plain = {"n_kernels": 1, "beta": 1.0}
        given |= {name: value for name, value in plain.items() if is_cv(given.get(name, 0))}
    sizes = {np.size(value) for value in given.values() if not isinstance(value, str | int | float)}
    chosen = any(map(is_cv, given.values()))
    if len(sizes) > 1 or (sizes and chosen):
        raise InvalidInputError(
            f"lists for {', '.join(given)} must have the same length, and none of them may be "
            f"'cv' then; got {given}."
        )
    if not chosen:
        kinds = {"n_kernels": int}
        columns = [np.atleast_1d(column) for column in np.broadcast_arrays(*given.values())]
        return [
            {name: kinds.get(name, float)(value) for name, value in zip(given, row, strict=True)}
            for row in zip(*columns, strict=True)
        ]
    points = grid_points(estimator, search_space(estimator, *given))
    if guesses and is_cv(given["ridge"]) and points[-1]["beta"] > 0:
        points.append(points[-1] | {"ridge": NO_KERNEL})
    return points


def thinned(points: Sequence[Point]) -> list[Point]:
    """Return points with every second of the bandwidths and ridges tried, and every β.

    Enough to compare spaces by where guesses make the settings three times as many.
    """
    kept = {}
    for name in ("bandwidth", "ridge"):
        values = sorted({point[name] for point in points if point[name] < NO_KERNEL})
        kept[name] = values[1::2] if len(values) > 2 else values
    return [
        point
        for point in points
        if point["ridge"] == NO_KERNEL or all(point[name] in kept[name] for name in kept)
    ]


def space_scores(accuracies: Array, n_best: int) -> Array:
    """Judge a space by the mean of its best settings, of shape (n_folds, n_spaces).

    Parameters
    ----------
    accuracies : ndarray of shape (n_folds, n_spaces, n_settings)
        Of every setting in every space.
    n_best : int
        How many settings, those of the highest mean over the folds.
    """
    # Those that would be averaged in this space, the same on all folds.
    best = np.argsort(-accuracies.mean(axis=0), axis=1, kind="stable")[:, :n_best]
    return np.take_along_axis(accuracies, best[None], axis=2).mean(axis=2)


def best_beta(
    points: Sequence[Point], accuracies: Array, n_best: Callable[[Sequence[Point]], int]
) -> float:
    """Return the β whose best settings are the most accurate.

    Parameters
    ----------
    points : sequence of dict
        Settings of every β.
    accuracies : ndarray of shape (n_points,)
        Of the points, in the mean over folds.
    n_best : callable
        How many of some points speak for them.
    """
    found: dict[float, float] = {}
    for beta in dict.fromkeys(point["beta"] for point in points):
        mine = [i for i, point in enumerate(points) if point["beta"] == beta]
        best = np.sort(accuracies[mine])[::-1][: n_best([points[i] for i in mine])]
        found[beta] = float(best.mean())
    return max(found, key=found.__getitem__)


def nearly_best(scores: Array, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return those of some points that are about as good as the best.

    Parameters
    ----------
    scores : ndarray of shape (n_folds, n_points)
        Of all points on every fold.
    order : ndarray of int
        Points to look at, the best first.

    Returns
    -------
    ndarray of int
        Points of `order` whose mean is within two standard errors of that of the best.
    """
    means, best = scores.mean(axis=0), scores[:, order[0]]
    # Standard error of the best mean; two of them are no difference.
    error = best.std(ddof=1) / np.sqrt(len(best))
    return order[means[order] >= means[order[0]] - 2 * error]


class FoldSpace(NamedTuple):
    """Held-out samples of a fold in one whitened space.

    Attributes
    ----------
    known, candidates : ndarrays of int
        Classes learned from, and the classes that prototypes are made of.
    space : WhitenedSpace
        The samples, the means of the known classes, and guesses where there are any.
    truth : ndarray of int of shape (n_samples,)
        Place of the class of each sample among the candidates.
    weights : ndarray of shape (n_samples,) or None
        Weight of each sample; None where all count the same.
    """

    known: NDArray[np.intp]
    candidates: NDArray[np.intp]
    space: WhitenedSpace
    truth: NDArray[np.intp]
    weights: NDArray | None

    def thinned(self, most: int) -> FoldSpace:
        """Return the same with every second sample, every third, … so that few are left."""
        some = slice(None, None, -(-len(self.truth) // most))
        space = WhitenedSpace(
            np.ascontiguousarray(self.space.products[some]), self.space.gram, self.space.n_classes
        )
        weights = None if self.weights is None else self.weights[some]
        return self._replace(space=space, truth=self.truth[some], weights=weights)


@dataclass(frozen=True)
class FoldJudge:
    """Judges all settings on folds of classes.

    Attributes
    ----------
    kernels : SignatureKernels
        At the scale of all seen classes.
    signatures : ndarray of shape (n_seen, n_dimensions)
        Of the seen classes.
    settings : KernelSettings
        What is judged.
    guess : callable or None
        Makes samples of the signatures, if prototypes may lean on them.
    """

    kernels: SignatureKernels
    signatures: Array
    settings: KernelSettings
    guess: Guess | None = None

    def choose_space(
        self, gather: Gather, spaces: Sequence[Point], n_best: int
    ) -> tuple[Choice, Array]:
        """Choose power and shrinkage on the first deal, each space judged by its best settings.

        The power is chosen first, at the shrinkages of `COARSE`, where several are tried.

        Parameters
        ----------
        gather : callable
            Makes the moments and rows of a power and a deal.
        spaces : sequence of dict
            Powers and shrinkages, every combination.
        n_best : int
            How many settings speak for a space.

        Returns
        -------
        choice : Choice
            Of the spaces tried last.
        accuracies : ndarray of shape (n_folds, n_spaces, n_settings)
            Of every setting in them.
        """
        powers, shrinkages = ({space[name] for space in spaces} for name in SPACES)
        known: dict[tuple[float, float], Array] = {}
        if len(powers) > 1 and len(shrinkages) > 1:
            # The power first, at two shrinkages, then the shrinkage: 8 spaces in place of 12.
            coarse = [space for space in spaces if space["shrinkage"] in COARSE]
            self._judge(gather, coarse, known)
            power = _best_space(coarse, known, n_best)[0].best_params["power"]
            spaces = [space for space in spaces if space["power"] == power]
        self._judge(gather, spaces, known)
        return _best_space(spaces, known, n_best)

    def _judge(
        self, gather: Gather, spaces: Sequence[Point], known: dict[tuple[float, float], Array]
    ) -> None:
        """Add the accuracies of spaces, by power and shrinkage, to those that are known."""
        new = [space for space in spaces if (space["power"], space["shrinkage"]) not in known]
        # The first power last: it is the likely choice, and what was folded last is at hand.
        for power in reversed(dict.fromkeys(space["power"] for space in new)):
            shrinkages = [space["shrinkage"] for space in new if space["power"] == power]
            found = self.accuracies(gather(power, 0), power, shrinkages)
            known |= {(power, shrinkage): found[:, i] for i, shrinkage in enumerate(shrinkages)}

    def accuracies(
        self,
        folded: FoldedMoments,
        power: float,
        shrinkages: Sequence[float],
        kept: list[FoldSpace] | None = None,
    ) -> Array:
        """Per-class accuracy on held-out classes, of shape (n_folds, n_shrinkages, n_settings).

        Parameters
        ----------
        folded : FoldedMoments
            Moments by fold, and rows.
        power : float
            Of the rows.
        shrinkages : sequence of float
            Spaces to judge in.
        kept : list, optional
            Where some samples of every fold are added, for `labeled_scores`; with one shrinkage.
        """
        found = []
        for fold in map(folded.fold, range(len(folded.parts))):
            spaces = self._spaces(fold, folded, power, shrinkages)
            found.append(self._accuracies(spaces))
            if kept is not None:
                kept += [space.thinned(_SURE_ROWS) for space in spaces]
        return np.stack(found)

    def harmonic_means(
        self, folded: FoldedMoments, power: float, shrinkage: float, state: int | None
    ) -> Array:
        """Harmonic mean of the accuracies on held-out classes and on held-out samples of others.

        Parameters
        ----------
        folded : FoldedMoments
            Moments by fold, and rows.
        power, shrinkage : float
            Of the space.
        state : int or None
            Seed of the draw of the samples.

        Returns
        -------
        ndarray of shape (n_folds, n_settings)
            At the best bias of each fold and setting. A fold whose classes have no sample to
            spare is judged by the accuracy on held-out classes.
        """
        labels: Any = folded.y
        _, spared = stratified_holdout(labels, share=HOLDOUT, random_state=state)
        curves = []
        for number in range(len(folded.parts)):
            fold = folded.fold(number, spared)
            if not len(fold.known_rows):
                curves.append(self._accuracies(self._spaces(fold, folded, power, [shrinkage]))[0])
                continue
            (space,) = self._spaces(fold, folded, power, [shrinkage], generalized=True)
            found = np.empty(len(self.settings.ridge))
            for _, used, prototypes in self._prototypes([space]):
                found[used] = space.space.harmonic_means(prototypes, space.truth, space.weights)
            curves.append(found)
        return np.stack(curves)

    def sample_spaces(
        self, folded: FoldedMoments, power: float, shrinkage: float
    ) -> list[FoldSpace]:
        """Return some samples of every fold, for `labeled_scores`.

        Parameters
        ----------
        folded : FoldedMoments
            Moments by fold, and rows.
        power, shrinkage : float
            Of the space.
        """
        folds = map(folded.fold, range(len(folded.parts)))
        return [
            space.thinned(_SURE_ROWS)
            for fold in folds
            for space in self._spaces(fold, folded, power, [shrinkage])
        ]

    def labeled_scores(self, spaces: Sequence[FoldSpace]) -> list[LabeledScores]:
        """Score samples of held-out classes by the mean prototypes of all settings.

        Parameters
        ----------
        spaces : sequence of FoldSpace
            One for each fold.

        Returns
        -------
        list of LabeledScores
            One for each fold with two classes or more.
        """
        parts, n = [], len(self.settings.ridge)
        for space in spaces:
            if len(space.candidates) < 2:
                continue
            mean = np.zeros((1, len(space.candidates), len(space.space.gram)))
            for _, _, prototypes in self._prototypes([space]):
                mean[..., : prototypes.shape[2]] += prototypes.sum(axis=0) / n
            scores = np.concatenate([ranked[:, 0] for _, ranked in space.space.ranked(mean)])
            shares = class_shares(space.truth, space.weights)
            parts.append(LabeledScores(scores, space.truth, shares))
        return parts

    def _accuracies(self, spaces: Sequence[FoldSpace]) -> Array:
        """Accuracy of every setting in every space of a fold."""
        found = {id(space): np.empty(len(self.settings.ridge)) for space in spaces}
        for space, used, prototypes in self._prototypes(spaces):
            accuracies = space.space.accuracies(prototypes, space.truth, space.weights)
            found[id(space)][used] = accuracies
        return np.stack(list(found.values()))

    def _spaces(
        self,
        fold: FoldMoments,
        folded: FoldedMoments,
        power: float,
        shrinkages: Sequence[float],
        *,
        generalized: bool = False,
    ) -> list[FoldSpace]:
        """Spaces of the samples of a fold; if generalized with the known classes' own."""
        known, new = fold.train.classes, fold.classes
        rows, truth, weights = fold.rows, fold.truth, fold.weights
        if generalized:
            # Candidates are the classes learned from and then the held-out ones.
            new = np.concatenate([known, new])
            rows = np.concatenate([rows, fold.known_rows])
            truth = np.concatenate([truth + len(known), fold.known_truth])
            if weights is not None and fold.known_weights is not None:
                weights = np.concatenate([weights, fold.known_weights])
        guesses = None
        if self.guess is not None:
            every = self.guess(power)
            guesses = every[known], every[new]
        covariance = WithinClassCovariance.of(fold.train, folded.n_features)
        spaces = whitened_spaces(fold.train, covariance, fold.X[rows], shrinkages, guesses)
        return [FoldSpace(known, new, space, truth, weights) for space in spaces]

    def _prototypes(
        self, spaces: Sequence[FoldSpace]
    ) -> Iterator[tuple[FoldSpace, NDArray[np.intp], Array]]:
        """Yield some settings and their prototypes in every space of a fold.

        Prototypes are weights of the means, or of all that a space holds.
        """
        known, candidates = spaces[0].known, spaces[0].candidates
        S, ridge, beta = self.signatures, self.settings.ridge, self.settings.beta
        within = self.kernels.between(S[known], S[known])
        across = self.kernels.between(S[candidates], S[known])
        for n_kernels, bandwidth, used in self.settings.by_kernel():
            spectrum = KernelSpectrum.of(within.kernel(n_kernels, bandwidth))
            k = across.kernel(n_kernels, bandwidth)
            plain, leant = used[beta[used] == 0], used[beta[used] > 0]
            if len(plain):
                weights = spectrum.weights(k, ridge[plain])
                for space in spaces:
                    yield space, plain, weights
            if len(leant):
                weights = spectrum.weights(k, ridge[leant])
                for space in spaces:
                    b = spectrum.trends(*space.space.guesses, ridge[leant])
                    yield space, leant, leaning(weights, beta[leant] * b)


def _best_space(
    spaces: Sequence[Point], known: Mapping[tuple[float, float], Array], n_best: int
) -> tuple[Choice, Array]:
    """Choose a space by its best settings."""
    accuracies = np.stack([known[s["power"], s["shrinkage"]] for s in spaces], axis=1)
    scores = space_scores(accuracies, n_best)
    return choose(spaces, range(len(scores)), scores.__getitem__), accuracies
