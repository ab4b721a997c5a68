"""λ grids and class-wise curves: accuracy of a path of linear models on held-out classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import Number, Numbers, check_value
from zslearn.core import sylvester
from zslearn.core.moments import Moments
from zslearn.core.nearest import Metric
from zslearn.core.paths import Direction, path_accuracy, scoring_rule
from zslearn.core.products import product

# Scale-free values λ tr(G) / tr(A) that a search covers.
RELATIVE_LAMS = np.logspace(-4, 4, 30)

_ROWS_AT_ONCE = 65536

Decoder = Callable[[Moments, NDArray, NDArray], NDArray]
Folds = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]


def lam_grid(lams: ArrayLike | None, moments: Moments, signatures: NDArray) -> NDArray:
    """Return the λ values to try, in the paper's units.

    Parameters
    ----------
    lams : array-like of shape (n_lams,) or None
        Values given by the user; None lays `RELATIVE_LAMS` over the scale of the data.
    moments : Moments
        Of the training data.
    signatures : ndarray of shape (n_classes, n_dimensions)
        Signature of each class of the moments.

    Returns
    -------
    ndarray of shape (n_lams,)
    """
    if lams is None:
        return RELATIVE_LAMS * unit_lam(moments, signatures)
    return checked_lams(lams)


def checked_lams(lams: ArrayLike) -> NDArray:
    """Return values of λ as an array, or say why they cannot be tried."""
    check_value("lams", lams, Numbers(Number(above=0)))
    return np.asarray(lams, dtype=np.float64)


def unit_lam(moments: Moments, signatures: NDArray) -> float:
    """Return the λ whose scale-free value is one for these moments."""
    A_trace = float(moments.counts @ np.einsum("ij,ij->i", signatures, signatures))
    return sylvester.relative_lam(A_trace, float(np.trace(moments.gram)))


def decode_path(lams: NDArray, method: sylvester.Method = "auto") -> Decoder:
    """Return the function that decodes signatures with W(λ) for every λ."""

    def decode(moments: Moments, seen: NDArray, candidates: NDArray) -> NDArray:
        return prepared(moments, seen, float(lams.max()), method).prototypes(candidates, lams)

    return decode


def prepared(
    moments: Moments, signatures: NDArray, lam_max: float, method: sylvester.Method = "auto"
) -> sylvester.Sylvester:
    """Do what all λ share, given one signature for each class of the moments."""
    spectrum = sylvester.class_spectrum(moments.counts, signatures)
    return sylvester.prepare(
        spectrum, moments.gram, product(signatures.T, moments.sums), lam_max, method
    )


def fold_moments(X: NDArray, y: NDArray[np.intp], folds: Folds) -> list[Moments]:
    """Moments of the held-out rows of each fold: together one pass over the data."""
    return [_moments_of_rows(X, y, held_out) for _, held_out in folds]


def _moments_of_rows(X: NDArray, y: NDArray[np.intp], rows: NDArray[np.intp]) -> Moments:
    """Moments of some rows, copied a bounded number at a time."""
    starts = range(_ROWS_AT_ONCE, len(rows), _ROWS_AT_ONCE)
    first, *rest = np.split(rows, starts)
    total = Moments.of(X[first], y[first])
    for part in rest:
        total += Moments.of(X[part], y[part])
    return total


def held_out_curve(
    X: NDArray,
    y: NDArray[np.intp],
    signatures: NDArray,
    folds: Folds,
    parts: Sequence[Moments],
    decode: Decoder,
    rules: Sequence[tuple[Direction, Metric]],
) -> NDArray[np.float64]:
    """Per-class accuracy on the held-out rows of each fold, for every model of a path.

    The moments a fold trains on are the total less the fold's own, so no data is read again.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Class index of each sample.
    signatures : ndarray of shape (n_classes, n_dimensions)
        Signature of each class index.
    folds : list of (train rows, held-out rows)
        Folds; candidates are the classes among the held-out rows.
    parts : list of Moments
        From `fold_moments`.
    decode : callable (moments, seen signatures, candidate signatures) -> prototypes
        Class vectors in feature space, of shape (n_models, n_candidates, n_features).
    rules : list of (direction, metric)
        Scoring rules to judge.

    Returns
    -------
    ndarray of shape (n_rules, n_models, n_folds)
    """
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    curves = []
    for (_, held_out), part in zip(folds, parts, strict=True):
        train = total - part
        candidates = signatures[part.classes]
        prototypes = decode(train, signatures[train.classes], candidates)
        scored = [scoring_rule(prototypes, candidates, *rule) for rule in rules]
        truth = np.searchsorted(part.classes, y[held_out])
        curves.append(path_accuracy(X, truth, prototypes, scored, held_out).mean(axis=2))
    return np.stack(curves, axis=2)
