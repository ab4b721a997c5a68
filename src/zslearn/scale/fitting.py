"""Fit from data larger than memory, in one pass."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from zslearn.core.learner import Gathered
from zslearn.features import remember_encoder
from zslearn.scale.block_pass import run_pass
from zslearn.scale.checkpoint import Checkpoint
from zslearn.scale.opening import open_source
from zslearn.scale.planning import plan_for

Estimator = TypeVar("Estimator", bound=Any)
CheckpointLike = Checkpoint | str | os.PathLike[str] | None


def fit_batches(
    estimator: Estimator,
    data: Any,
    y: Any = None,
    *,
    classes: Any = None,
    block_rows: int | None = None,
    validation_rows: int | None = None,
    checkpoint: CheckpointLike = None,
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
    estimator : MomentLearner
        For example SAEClassifier, RidgeClassifierFS, RRZSLClassifier, ESZSLClassifier,
        PrototypeRegression, SAEMapping, LDAProjection. It is fitted in place.
    data : path, list of paths, array, iterable of (X, y) or Source
        See `open_source`. float16 and float32 are worked on in float32, added up in float64.
    y : array-like of shape (n_samples,) or path, optional
        Labels, where they do not come with the data.
    classes : sequence of class names, optional
        Train on rows of these classes only; by default on all, or on the seen ones if the store
        lists them. Needed with an iterator if parameters are to be chosen.
    block_rows : int, optional
        Rows of a block; by default 8,192, or 16,384 with folds, 128 MB at most.
    validation_rows : int, optional
        Rows kept for choosing parameters, all classes together; by default 20,000.
    checkpoint : Checkpoint or path, optional
        Save the state to this file every 64 blocks and whenever the pass is interrupted, and
        continue from it if it exists. The result is bit for bit that of an uninterrupted pass. An
        iterator must start from its beginning again.
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
        If a file is missing, or disappears during the pass.

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
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """
    noted = _as_checkpoint(checkpoint)
    source = open_source(data, y)
    gathered = gather(
        estimator,
        source,
        classes=classes,
        block_rows=block_rows,
        validation_rows=validation_rows,
        checkpoint=noted,
        progress=progress,
    )
    estimator.learn(gathered)
    remember_encoder(estimator, source.encoder)
    if noted is not None:
        noted.remove()
    return estimator


def gather(
    estimator: Any,
    data: Any,
    y: Any = None,
    *,
    classes: Any = None,
    block_rows: int | None = None,
    validation_rows: int | None = None,
    checkpoint: CheckpointLike = None,
    progress: bool = False,
) -> Gathered:
    """Gather what an estimator learns from, from all or a part of the data.

    Results gathered from several parts add up: ``estimator.learn(a + b)`` is the model of both.
    `zslearn.persistence.save_moments` writes it to a file, so that parts can be gathered on
    different machines.

    Parameters
    ----------
    estimator : MomentLearner
        As for `fit_batches`; it is not changed.
    data, y, block_rows, checkpoint, progress
        As for `fit_batches`. A checkpoint is kept when the pass is complete.
    classes : sequence of class names, optional
        Train on rows of these classes only. If parameters are to be chosen, every part needs the
        same list, of all training classes.
    validation_rows : int, optional
        Rows kept for choosing parameters, in this part and in the sum of all; by default 20,000.

    Returns
    -------
    Gathered

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.scale import gather
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.split("standard").seen
    >>> clf = SAEClassifier(data.signatures)
    >>> a = gather(clf, data.X[::2], data.y[::2], classes=seen)
    >>> b = gather(clf, data.X[1::2], data.y[1::2], classes=seen)
    >>> len(clf.learn(a + b).seen_classes_)
    20
    """
    source = open_source(data, y)
    plan = plan_for(estimator, source, classes, validation_rows)
    noted = _as_checkpoint(checkpoint)
    return run_pass(plan, source, block_rows=block_rows, checkpoint=noted, progress=progress)


def _as_checkpoint(checkpoint: CheckpointLike) -> Checkpoint | None:
    return checkpoint if isinstance(checkpoint, Checkpoint | None) else Checkpoint(checkpoint)
