"""Scores that are products of a projected sample and a signature: rescored anywhere at once."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.core.nearest import Comparison, row_norms, unit_rows
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot import ZeroShotClassifier

FloatArray = NDArray[np.float64]


class LinearBranch(NamedTuple):
    """One comparison of samples with classes.

    A sample q is compared with the class vector p = s·M of a signature s. All that is needed of
    the sample is z = M·q, with one number per dimension, and ‖q‖; of the class s and ‖p‖² =
    s·(M·Mᵀ)·s.

    Attributes
    ----------
    coef : ndarray of shape (m, n_features) or None
        q = coef·x; None for q = x.
    M : ndarray of shape (n_dimensions, m)
        Class vectors of the unit signatures.
    gram : ndarray of shape (n_dimensions, n_dimensions)
        M·Mᵀ.
    """

    coef: FloatArray | None
    M: FloatArray
    gram: FloatArray


class Projected(NamedTuple):
    """Samples as one branch needs them.

    Attributes
    ----------
    z : ndarray of shape (n_samples, n_dimensions)
        Projections on the dimensions.
    lengths : ndarray of shape (n_samples,)
        ‖q‖.
    """

    z: FloatArray
    lengths: FloatArray


class LinearScores(NamedTuple):
    """The scores of a linear method.

    Attributes
    ----------
    branches : tuple of LinearBranch
        What is averaged.
    metric : {"cosine", "dot", "euclidean"}
        How samples and classes are compared.
    feature_norm, signature_norm : {"l2", None}
        How samples and signatures are scaled first.
    """

    branches: tuple[LinearBranch, ...]
    metric: str
    feature_norm: str | None
    signature_norm: str | None

    def project(self, X: Any) -> list[Projected]:
        """Return raw samples as the branches need them."""
        rows = np.asarray(X, dtype=np.float64)
        rows = unit_rows(rows) if self.feature_norm == "l2" else rows
        found = []
        for branch in self.branches:
            q = rows if branch.coef is None else rows @ branch.coef.T
            found.append(Projected(q @ branch.M.T, row_norms(q)))
        return found

    def moved(self, samples: list[Projected], changes: dict[int, float]) -> list[Projected]:
        """Return samples in which the first branch's projections have other values.

        Every branch moves by the same amounts. Where samples are compared in the semantic space,
        their length changes with them.
        """
        index = np.array(list(changes), np.intp)
        step = np.array(list(changes.values())) - samples[0].z[:, index]
        found = []
        for branch, (z, lengths) in zip(self.branches, samples, strict=True):
            new = z.copy()
            new[:, index] += step
            found.append(Projected(new, lengths if branch.coef is None else row_norms(new)))
        return found

    def scores(self, samples: list[Projected], signatures: FloatArray) -> FloatArray:
        """Return scores of shape (n_samples, n_classes) for raw signatures."""
        S = unit_rows(signatures) if self.signature_norm == "l2" else signatures
        rule = Comparison.of(self.metric)
        parts = []
        for branch, (z, lengths) in zip(self.branches, samples, strict=True):
            squares = np.maximum(np.einsum("ij,jk,ik->i", S, branch.gram, S), 0)
            scale, offset = rule.rule(np.sqrt(squares))
            part = (z @ S.T) * scale + offset
            if rule.unit:
                part /= np.where(lengths > 0, lengths, 1)[:, None]
            if rule.distance:
                part -= (lengths**2)[:, None]
            parts.append(part)
        mean: FloatArray = np.mean(parts, axis=0)
        return mean


def linear_scores(classifier: ZeroShotClassifier) -> LinearScores | None:
    """Return the scores of a classifier as products with signatures; None if they are not.

    Parameters
    ----------
    classifier : ZeroShotClassifier
        Fitted.

    Returns
    -------
    LinearScores or None
    """
    metric = getattr(classifier, "metric", None)
    if not isinstance(metric, str) or getattr(classifier, "signatures", None) is None:
        return None
    plain: Any = copy.copy(classifier)
    plain.metric, plain.signature_norm = "dot", None
    k = classifier.signatures_.n_dimensions
    # The sum of two signatures must have the sum of their class vectors.
    probes = np.vstack([np.eye(k), np.ones(k)])
    try:
        form = _with_rows(plain, probes).form()
    except InvalidInputError:
        return None
    if form.power != 1.0 or form.steps:
        return None
    branches = []
    for coef, targets in form.branches:
        M, total = np.asarray(targets.vectors[:k]), targets.vectors[k]
        if targets.offsets is not None or not np.allclose(M.sum(axis=0), total):
            return None
        branches.append(LinearBranch(coef, M, M @ M.T))
    return LinearScores(tuple(branches), metric, form.feature_norm, classifier.signature_norm)


def _with_rows(classifier: Any, rows: FloatArray) -> Any:
    """Return a recognizer whose classes have the given signatures."""
    table = classifier.signatures_
    whole = table.names.dtype.kind in "iu"
    names = [10**9 + i if whole else f"probe {i}" for i in range(len(rows))]
    recognizer = classifier.recognizer(table.names[:1])
    for name, row in zip(names, rows, strict=True):
        recognizer = recognizer.replace(name, row)
    return recognizer.among(names)
