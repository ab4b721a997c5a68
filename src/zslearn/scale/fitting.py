"""Fit from data larger than memory, in one pass."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from zslearn.scale.block_pass import run_pass
from zslearn.scale.checkpoint import Checkpoint
from zslearn.scale.opening import open_source
from zslearn.scale.plan import learn, plan_for

Estimator = TypeVar("Estimator")


def fit_batches(
    estimator: Estimator,
    data: Any,
    y: Any = None,
    *,
    classes: Any = None,
    block_rows: int | None = None,
    validation_rows: int | None = None,
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Estimator:
    """Fit an estimator by one pass over data that may be far larger than memory.

    Class counts, class sums and Gram matrices of blocks are added up in float64, in the order of
    the blocks, by as many threads as `zslearn.scale.threads` says; reading overlaps with computing.
    Memory is a few blocks and one Gram matrix, however many rows there are.

    Parameters left to "cv" are chosen in the same pass: one Gram matrix for each fold of classes,
    and a random sample of the rows of each class by which held-out folds are judged. Where the
    sample is the whole class, the choice is that of `fit`; only the power of PrototypeRegression,
    which acts on the rows themselves, is 0.5 unless it is given.

    Parameters
    ----------
    estimator : zero-shot classifier with `fit_moments`, or mapping with `fit_statistics`
        For example SAEClassifier, RidgeClassifierFS, RRZSLClassifier, ESZSLClassifier,
        PrototypeRegression, SAEMapping, LDAProjection. It is fitted in place.
    data : path, list of paths, array, iterable of (X, y) or Source
        See `open_source`. float16 and float32 are worked on in float32, added up in float64.
    y : array-like of shape (n_samples,) or path, optional
        Labels, where they do not come with the data.
    classes : sequence of class names, optional
        Train on rows of these classes only; by default on all, or on the seen ones if the store
        tells them apart. Needed with an iterator if parameters are to be chosen.
    block_rows : int, optional
        Rows of a block; by default 8,192, or 16,384 with folds, 128 MB at most.
    validation_rows : int, optional
        Rows kept for choosing parameters, all classes together; by default 20,000.
    checkpoint : Checkpoint or path, optional
        Note the state in this file every 64 blocks and whenever the pass is interrupted, and
        continue from it if it is there. The result has the same bits as that of a pass without a
        break. An iterator must start from its beginning again.
    progress : bool, default=False
        Show a bar with rate and time left on standard error, where tqdm is installed.

    Returns
    -------
    estimator
        The fitted estimator.

    Raises
    ------
    InvalidInputError
        If the estimator cannot learn from moments, or a row holds NaN (its number is named), or a
        file is damaged.
    MissingFileError
        If a file is not there, or vanishes.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.scale import fit_batches
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> clf = SAEClassifier(data.signatures)
    >>> clf = fit_batches(clf, data.X, data.y, classes=split.seen, block_rows=100)
    >>> unseen = data.rows(split.unseen)
    >>> clf.score(data.X[unseen], data.y[unseen]) > 0.9
    True
    """
    source = open_source(data, y)
    noted = checkpoint if isinstance(checkpoint, Checkpoint | None) else Checkpoint(checkpoint)
    plan = plan_for(estimator, source, classes, validation_rows)
    outcome = run_pass(plan, source, block_rows=block_rows, checkpoint=noted, progress=progress)
    learn(estimator, plan, outcome, source.names)
    if noted is not None:
        noted.remove()
    return estimator
