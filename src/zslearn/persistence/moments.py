"""What was gathered from a part of the data, as one file; files add up."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.learner import FoldedMoments, MomentPlan
from zslearn.core.moments import Moments
from zslearn.exceptions import InvalidInputError, ModelFileError, ZslearnError
from zslearn.persistence.container import MOMENTS, Tensors, read, write

PathLike = str | os.PathLike[str]
_ARRAYS = ("counts", "sums", "gram", "origin")


def save_moments(moments: FoldedMoments, path: PathLike) -> None:
    """Write what was gathered from a part of the data to one file, without pickle.

    Parameters
    ----------
    moments : FoldedMoments
        From `zslearn.scale.gather`.
    path : path-like
        Where to write; an existing file is replaced, whole or not at all.

    Examples
    --------
    >>> import os, tempfile
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.persistence import merge_moments, save_moments
    >>> from zslearn.scale import gather
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> clf, folder = SAEClassifier(data.signatures, lam=1.0), tempfile.mkdtemp()
    >>> paths = [os.path.join(folder, f"part-{i}") for i in range(2)]
    >>> for i, path in enumerate(paths):
    ...     save_moments(gather(clf, data.X[i::2], data.y[i::2]), path)
    >>> len(clf.learn(merge_moments(paths)).seen_classes_)
    25
    """
    if moments.plan is None:
        raise InvalidInputError(
            "only results of zslearn.scale.gather can be saved: they say what they were "
            "gathered for."
        )
    classes = _all_classes(moments)
    tensors: Tensors = {}
    for number, part in enumerate(moments.parts):
        tensors |= {f"{name}_{number}": getattr(part, name) for name in _ARRAYS}
        tensors[f"classes_{number}"] = np.searchsorted(classes, part.classes)
    if moments.X is not None and moments.y is not None and moments.keys is not None:
        kept = {"X": moments.X, "y": np.searchsorted(classes, moments.y), "keys": moments.keys}
        tensors |= kept
    document = {
        "plan": moments.plan.facts(),
        "classes": classes.tolist(),
        "n_parts": len(moments.parts),
    }
    contiguous = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    write(path, document, contiguous, MOMENTS)


def load_moments(path: PathLike) -> FoldedMoments:
    """Read what `save_moments` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    FoldedMoments
        For ``estimator.learn``, or to be added to another part.

    Raises
    ------
    ModelFileError
        If the file is damaged, altered, from another program or in a newer format.
    MissingFileError
        If there is no such file.
    """
    document, tensors = read(path, MOMENTS)
    try:
        return _decoded(document, tensors)
    except (ZslearnError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(path, f"its content is not moments: {error}", MOMENTS) from error


def merge_moments(paths: Iterable[PathLike]) -> FoldedMoments:
    """Read files of `save_moments` and add them up, one after the other.

    Parameters
    ----------
    paths : iterable of path-like
        Files of parts of the data, gathered by the same plan.

    Returns
    -------
    FoldedMoments
        The result for all parts together.
    """
    files = list(paths)
    if not files:
        raise InvalidInputError("there are no files of moments to add up.")
    return reduce(add, map(load_moments, files))


def _all_classes(folded: FoldedMoments) -> NDArray[Any]:
    """Sorted labels of all classes; folds without samples have none."""
    present = [part.classes for part in folded.parts if len(part.classes)]
    return np.unique(np.concatenate(present)) if present else np.empty(0, dtype=str)


def _decoded(document: Any, tensors: Tensors) -> FoldedMoments:
    plan = MomentPlan.of_facts(document["plan"])
    classes = np.array(document["classes"])
    parts = tuple(_part(tensors, i, classes, plan.centered) for i in range(document["n_parts"]))
    if len({part.n_features for part in parts}) > 1:
        raise ValueError("the parts have different numbers of features")
    if "X" not in tensors:
        return FoldedMoments(parts, plan=plan)
    X, y, keys = tensors["X"], classes[tensors["y"]], tensors["keys"]
    if X.ndim != 2 or not len(X) == len(y) == len(keys) or X.shape[1] != parts[0].n_features:
        raise ValueError("the rows kept do not fit the moments")
    return FoldedMoments(parts, X, y, keys, plan=plan)


def _part(tensors: Tensors, number: int, classes: NDArray[Any], centered: bool) -> Moments:
    counts, sums, gram, origin = (tensors[f"{name}_{number}"] for name in _ARRAYS)
    labels = classes[tensors[f"classes_{number}"]] if len(counts) else classes[:0]
    d = len(origin)
    if sums.shape != (len(labels), d) or gram.shape != (d, d) or counts.shape != labels.shape:
        raise ValueError(f"the arrays of part {number} do not fit together")
    return Moments(labels, counts, sums, gram, origin, centered)
