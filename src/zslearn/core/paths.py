"""Zero-shot accuracy along a path of linear models, without ever forming a model.

For every linear method the score of class c is ``scale_c · x·p_c + offset_c`` with the class
vector p_c in feature space, up to terms that are the same for all classes. The semantic
autoencoder's two directions share the products x·p_c and differ in scale and offset alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from zslearn.core.learner import FoldedMoments
from zslearn.core.moments import Moments
from zslearn.core.nearest import Comparison, Direction, Metric, row_blocks, row_norms

# Moments, signatures of their classes and of the candidates -> class vectors in feature space, of
# shape (n_models, n_candidates, n_features).
Decoder = Callable[[Moments, NDArray, NDArray], NDArray]


def fold_accuracy(
    folded: FoldedMoments,
    fold: int,
    signatures: NDArray,
    decode: Decoder,
    rules: Sequence[tuple[Direction, Metric]],
) -> NDArray[np.float64]:
    """Per-class accuracy on the rows one fold holds out, for every model of a path.

    Parameters
    ----------
    folded : FoldedMoments
        Moments by fold and rows, classes numbered.
    fold : int
        Which fold; candidates are the classes of its part.
    signatures : ndarray of shape (n_classes, n_dimensions)
        Signature of each class.
    decode : callable
        Makes the class vectors of every model, see `Decoder`.
    rules : list of (direction, metric)
        Scoring rules to judge.

    Returns
    -------
    ndarray of shape (n_rules, n_models)
    """
    part = folded.fold(fold)
    candidates = signatures[part.classes]
    prototypes = decode(part.train, signatures[part.train.classes], candidates)
    scored = [scoring_rule(prototypes, candidates, *rule) for rule in rules]
    accuracy = path_accuracy(part.X, part.truth, prototypes, scored, part.rows, part.weights)
    return accuracy.mean(axis=2)


def scoring_rule(
    prototypes: NDArray, signatures: NDArray, direction: Direction, metric: Metric
) -> tuple[NDArray, NDArray]:
    """Return (scale, offset) of each class such that the ranking equals that of the metric.

    Parameters
    ----------
    prototypes : ndarray of shape (..., n_classes, n_features)
        Signatures decoded to the feature space.
    signatures : ndarray of shape (n_classes, n_dimensions)
        The signatures themselves.
    direction : {"encode", "decode"}
        Compare in the semantic space or in the feature space.
    metric : {"cosine", "dot", "euclidean"}
        How to compare.

    Returns
    -------
    scale, offset : ndarrays of shape (..., n_classes)
    """
    if direction == "decode":
        norms = np.sqrt(np.einsum("...j,...j->...", prototypes, prototypes))
    else:
        norms = np.broadcast_to(row_norms(signatures), prototypes.shape[:-1])
    return Comparison.of(metric).rule(norms)


def path_accuracy(
    X: NDArray | sparse.sparray,
    y: NDArray[np.intp],
    prototypes: NDArray,
    rules: list[tuple[NDArray, NDArray]],
    rows: NDArray[np.intp] | None = None,
    weights: NDArray | None = None,
) -> NDArray[np.float64]:
    """Accuracy of each class for every model of a path and every scoring rule.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Held-out samples.
    y : ndarray of shape (n_samples,)
        Index of the true class among the candidates.
    prototypes : ndarray of shape (n_models, n_classes, n_features)
        Class vectors of each model.
    rules : list of (scale, offset), each of shape (n_models, n_classes)
        From `scoring_rule`.
    rows : ndarray of shape (n_samples,), optional
        Rows of X that are the held-out samples, if X holds others too.
    weights : ndarray of shape (n_samples,), optional
        Weight of each held-out sample; by default all count the same.

    Returns
    -------
    ndarray of shape (n_rules, n_models, n_classes)
        NaN for candidates without samples.
    """
    n_models, n_classes, n_features = prototypes.shape
    hits = np.zeros((len(rules), n_models, n_classes))
    # The class vectors of all models side by side: one product serves every model and rule.
    flat = prototypes.reshape(-1, n_features).astype(X.dtype, copy=False).T
    for block in row_blocks(len(y), flat.shape[1] * X.dtype.itemsize):
        held_out = X[block if rows is None else rows[block]]
        products = np.asarray(held_out @ flat).reshape(-1, n_models, n_classes)
        truth = y[block]
        for r, (scale, offset) in enumerate(rules):
            # scale · x·p + offset, of shape (n_rows, n_models, n_classes)
            ranked = products * scale.astype(products.dtype)
            ranked += offset.astype(products.dtype)
            correct = ranked.argmax(axis=2) == truth[:, None]
            for c in np.unique(truth):
                here = truth == c
                hits[r, :, c] += (
                    correct[here].sum(axis=0)
                    if weights is None
                    else weights[block][here] @ correct[here]
                )
    counts = np.bincount(y, weights, minlength=n_classes).astype(float)
    counts[counts == 0] = np.nan
    return hits / counts


def mean_recall(correct: NDArray, truth: NDArray[np.intp], weights: NDArray | None = None) -> float:
    """Return the mean over classes of the share, by weight, of correct samples."""
    right = correct if weights is None else correct * weights
    return float(np.mean(np.bincount(truth, weights=right) / np.bincount(truth, weights)))
