"""The settings that prototype regression tries, and how folds of classes judge them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import search_space
from zslearn.core.kernels import SignatureDistances, SignatureKernels, ridge_weights
from zslearn.core.learner import FoldedMoments, FoldMoments
from zslearn.core.whitening import WhitenedSpace, WithinClassCovariance, whitened_spaces
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import stratified_holdout
from zslearn.zero_shot.inputs import is_cv
from zslearn.zero_shot.search import Choice, Point, choose, grid_points

# Parameters that are chosen first, and those that are chosen in the space that they make.
SPACES = ("power", "shrinkage")
KERNELS = ("n_kernels", "bandwidth", "ridge")
# Shrinkages at which powers are compared: whitened, by one Cholesky factor, and not at all.
COARSE = (0.7, 1.0)
# Share of the samples of the classes learned from that the generalized setting holds out.
HOLDOUT = 0.2

Array = NDArray[np.float64]
# Gathers the moments and rows of a deal of the classes to folds, for a power.
Gather = Callable[[float, int], FoldedMoments]


@dataclass(frozen=True)
class KernelSettings:
    """Kernels and ridges, one of each per setting.

    Attributes
    ----------
    n_kernels : ndarray of int of shape (n_settings,)
        1, or 2 with a kernel on the roots of the signatures.
    bandwidth, ridge : ndarrays of shape (n_settings,)
        σ and γ.
    """

    n_kernels: NDArray[np.intp]
    bandwidth: Array
    ridge: Array

    @classmethod
    def of(cls, points: Sequence[Point]) -> KernelSettings:
        """Take the settings from points of a search."""
        columns = {name: np.array([point[name] for point in points]) for name in KERNELS}
        return cls(
            columns["n_kernels"].astype(np.intp),
            columns["bandwidth"].astype(np.float64),
            columns["ridge"].astype(np.float64),
        )

    def by_kernel(self) -> Iterator[tuple[int, float, NDArray[np.intp]]]:
        """Each kernel, and which settings use it."""
        kernels = np.column_stack([self.n_kernels, self.bandwidth])
        for kernel in np.unique(kernels, axis=0):
            used = np.flatnonzero((kernels == kernel).all(axis=1))
            yield int(kernel[0]), float(kernel[1]), used

    def mean_regressions(self, distances: SignatureDistances) -> tuple[Array, Array]:
        """Return the kernels in use and what each is multiplied by in the mean of all settings.

        Parameters
        ----------
        distances : SignatureDistances
            Among the seen classes.

        Returns
        -------
        kernels : ndarray of shape (n_distinct, 2)
            Number of kernels and bandwidth.
        regressions : ndarray of shape (n_distinct, n_seen, n_seen)
            Sum of ``(K + γ I)⁻¹`` over the settings with that kernel, over the number of settings.
        """
        kernels, regressions = [], []
        for n_kernels, bandwidth, used in self.by_kernel():
            K = distances.kernel(n_kernels, bandwidth)
            kernels.append((n_kernels, bandwidth))
            inverses = ridge_weights(K, np.eye(len(K)), self.ridge[used])
            regressions.append(inverses.sum(axis=0) / len(self.ridge))
        return np.array(kernels, dtype=np.float64), np.stack(regressions)


def kernel_points(estimator: Any) -> list[Point]:
    """Return the kernels and ridges to try, or those that were given."""
    given = {name: getattr(estimator, name) for name in KERNELS}
    if not (is_cv(given["bandwidth"]) or is_cv(given["ridge"])) and is_cv(given["n_kernels"]):
        given["n_kernels"] = 1
    sizes = {np.size(value) for value in given.values() if not isinstance(value, str | int | float)}
    chosen = any(map(is_cv, given.values()))
    if len(sizes) > 1 or (sizes and chosen):
        raise InvalidInputError(
            "lists for n_kernels, bandwidth and ridge must have the same length, and none of the "
            f"three may be 'cv' then; got {given}."
        )
    if chosen:
        return grid_points(estimator, search_space(estimator, *KERNELS))
    columns = np.broadcast_arrays(*given.values())
    return [
        dict(zip(given, (int(k), float(b), float(r)), strict=True))
        for k, b, r in zip(*(np.atleast_1d(column) for column in columns), strict=True)
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
    best = np.argsort(-accuracies.mean(axis=0), axis=1, kind="stable")[:, :n_best]
    return np.take_along_axis(accuracies, best[None], axis=2).mean(axis=2)


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
    error = best.std(ddof=1) / np.sqrt(len(best))
    return order[means[order] >= means[order[0]] - 2 * error]


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
    """

    kernels: SignatureKernels
    signatures: Array
    settings: KernelSettings

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
        # The first power last: it is the likely choice, and what was gathered last is at hand.
        for power in reversed(dict.fromkeys(space["power"] for space in new)):
            shrinkages = [space["shrinkage"] for space in new if space["power"] == power]
            found = self.accuracies(gather(power, 0), shrinkages)
            known |= {(power, shrinkage): found[:, i] for i, shrinkage in enumerate(shrinkages)}

    def accuracies(self, folded: FoldedMoments, shrinkages: Sequence[float]) -> Array:
        """Per-class accuracy on held-out classes, of shape (n_folds, n_shrinkages, n_settings)."""
        folds = map(folded.fold, range(len(folded.parts)))
        return np.stack([self._accuracies(fold, folded, shrinkages) for fold in folds])

    def harmonic_means(self, folded: FoldedMoments, shrinkage: float, state: int | None) -> Array:
        """Harmonic mean of the accuracies on held-out classes and on held-out samples of others.

        Parameters
        ----------
        folded : FoldedMoments
            Moments by fold, and rows.
        shrinkage : float
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
            if len(fold.known_rows):
                curves.append(self._harmonic_means(fold, folded, shrinkage))
            else:
                curves.append(self._accuracies(fold, folded, [shrinkage])[0])
        return np.stack(curves)

    def _accuracies(
        self, fold: FoldMoments, folded: FoldedMoments, shrinkages: Sequence[float]
    ) -> Array:
        spaces = _spaces(fold, folded, fold.rows, shrinkages)
        found = np.empty((len(spaces), len(self.settings.ridge)))
        for used, prototypes in self._prototypes(fold.train.classes, fold.classes):
            for i, space in enumerate(spaces):
                found[i, used] = space.accuracies(prototypes, fold.truth, fold.weights)
        return found

    def _harmonic_means(self, fold: FoldMoments, folded: FoldedMoments, shrinkage: float) -> Array:
        known = fold.train.classes
        (space,) = _spaces(fold, folded, np.concatenate([fold.rows, fold.known_rows]), [shrinkage])
        truth = np.concatenate([fold.truth + len(known), fold.known_truth])
        weights = None
        if fold.weights is not None and fold.known_weights is not None:
            weights = np.concatenate([fold.weights, fold.known_weights])
        found = np.empty(len(self.settings.ridge))
        candidates = np.concatenate([known, fold.classes])
        for used, prototypes in self._prototypes(known, candidates):
            found[used] = space.harmonic_means(prototypes, truth, weights)
        return found

    def _prototypes(
        self, known: NDArray[np.intp], new: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """For each kernel its settings, and the weights of the known means in new prototypes."""
        S = self.signatures
        within = self.kernels.between(S[known], S[known])
        across = self.kernels.between(S[new], S[known])
        for n_kernels, bandwidth, used in self.settings.by_kernel():
            K, k = within.kernel(n_kernels, bandwidth), across.kernel(n_kernels, bandwidth)
            yield used, ridge_weights(K, k, self.settings.ridge[used])


def _best_space(
    spaces: Sequence[Point], known: Mapping[tuple[float, float], Array], n_best: int
) -> tuple[Choice, Array]:
    """Choose a space by its best settings."""
    accuracies = np.stack([known[s["power"], s["shrinkage"]] for s in spaces], axis=1)
    scores = space_scores(accuracies, n_best)
    return choose(spaces, range(len(scores)), scores.__getitem__), accuracies


def _spaces(
    fold: FoldMoments, folded: FoldedMoments, rows: NDArray[np.intp], shrinkages: Sequence[float]
) -> list[WhitenedSpace]:
    """Spaces of some rows of a fold."""
    covariance = WithinClassCovariance.of(fold.train, folded.n_features)
    return whitened_spaces(fold.train, covariance, fold.X[rows], shrinkages)
