"""Fit from data larger than memory, in one pass."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zslearn._files import damaged, replacing
from zslearn._parameters import Whole, check_flags, check_value
from zslearn._progress import progress_bar
from zslearn.core.learner import FoldedMoments, MomentLearner, MomentPlan
from zslearn.core.moment_pass import Block, MomentPass
from zslearn.core.moments import PIECE_ROWS
from zslearn.core.threads import map_in_order, n_threads
from zslearn.encoders import remember_encoder
from zslearn.exceptions import InvalidInputError, ZslearnWarning
from zslearn.scale.opening import open_source
from zslearn.scale.source import Source


def plan_for(
    estimator: Any, source: Source, classes: Any = None, validation_rows: int | None = None
) -> MomentPlan:
    """Return the pass an estimator needs, refusing what cannot learn from moments.

    Parameters
    ----------
    estimator : MomentLearner
        Not fitted.
    source : Source
        The data.
    classes : sequence of class names, optional
        Use rows of these classes only.
    validation_rows : int, optional
        Rows to keep for choosing parameters.
    """
    if not isinstance(estimator, MomentLearner):
        raise InvalidInputError(
            f"{type(estimator).__name__} learns from the rows themselves, so it cannot be fitted "
            "block by block. Estimators with a method learn can be, such as SAEClassifier, "
            "ESZSLClassifier, RRZSLClassifier, PrototypeRegression and LDAProjection. Use fit on a "
            "part of the data instead."
        )
    wanted = source.seen if classes is None else np.asarray(classes)
    plan = estimator.moment_plan(wanted)
    if plan.chooses and wanted is None:
        plan = estimator.moment_plan(_present(source))
    if validation_rows is None:
        return plan
    check_value("validation_rows", validation_rows, Whole(1))
    return replace(plan, validation_rows=int(validation_rows))


def stored_plan(plan: MomentPlan, source: Source) -> MomentPlan:
    """Return the plan with classes labeled as the source has them."""
    return plan.relabeled(lambda classes: _stored_labels(classes, source))


def _present(source: Source) -> NDArray:
    """Return the classes of all rows."""
    labels = source.labels()
    if labels is None:
        raise InvalidInputError(
            "choosing parameters by folds of classes needs to know the classes before the pass, "
            "which an iterator does not give. Pass classes=, or give the parameters as numbers."
        )
    present = np.unique(labels)
    return present if source.names is None else source.names[present]


def _stored_labels(classes: NDArray, source: Source) -> NDArray:
    """Turn class names into labels as the source has them, sorted."""
    if source.names is None:
        return np.unique(classes)
    order = np.argsort(source.names)
    place = np.searchsorted(source.names, classes, sorter=order)
    found = order[np.minimum(place, len(order) - 1)]
    unknown = np.flatnonzero(source.names[found] != classes)
    if len(unknown):
        raise InvalidInputError(f"the data has no class {classes[unknown[0]]!s}.")
    return np.unique(found)


State = Mapping[str, NDArray]


@dataclass(frozen=True)
class Checkpoint:
    """File in which a pass notes what it has added up so far.

    Parameters
    ----------
    path : path-like
        The file. It is written whole or not at all, and removed when the pass is complete.
    every : int, default=64
        Blocks between two notes.
    """

    path: str | os.PathLike[str]
    every: int = 64

    def __post_init__(self) -> None:
        check_value("every", self.every, Whole(1))

    def read(self, identity: str) -> dict[str, NDArray] | None:
        """Return the state noted for the pass of this identity, or None if there is none."""
        path = Path(self.path)
        if not path.exists():
            return None
        with damaged(path, "checkpoint", "Remove it to start over."):
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                state = {key: archive[key] for key in archive.files}
            noted = str(state.pop("identity"))
        if noted != identity:
            raise InvalidInputError(
                f"{path} was written by a pass over other data, with other blocks or for another "
                "method, or the data changed since. Remove it to start over, or name another file."
            )
        return state

    def write(self, identity: str, state: State) -> None:
        """Note a state; a disk that is full costs a warning and leaves the last note in place."""
        try:
            with replacing(self.path) as file:
                np.savez(file, allow_pickle=False, identity=np.array(identity), **state)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            warnings.warn(
                f"the checkpoint {os.fspath(self.path)} could not be written ({error}); the pass "
                "goes on without it.",
                ZslearnWarning,
                stacklevel=3,
            )

    def remove(self) -> None:
        """Remove the file of a complete pass."""
        Path(self.path).unlink(missing_ok=True)


# A block of rows as read; each thread holds one and its transformed copy, which bounds memory.
_BLOCK_BYTES = 128 * 2**20


def run_pass(
    plan: MomentPlan,
    source: Source,
    *,
    block_rows: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool = False,
) -> FoldedMoments:
    """Read all blocks of a source and return what they add up to, labeled by class names."""
    size = checked_block_rows(block_rows, source.n_features, plan)
    under_way = MomentPass(stored_plan(plan, source), source.n_features)
    identity = "" if checkpoint is None else _identity(plan, source, size)
    state = checkpoint.read(identity) if checkpoint is not None else None
    if state is not None:
        under_way.restore(state)
    blocks = _with_origin(source.blocks(size, under_way.n_blocks), under_way)
    with progress_bar(source.n_rows, "moments", " rows", show=progress) as bar:
        bar.update(under_way.n_rows)
        try:
            for contribution in map_in_order(under_way.contribution, blocks, n_threads()):
                under_way.add(contribution)
                bar.update(contribution.n_rows)
                if checkpoint is not None and under_way.n_blocks % checkpoint.every == 0:
                    checkpoint.write(identity, under_way.state())
        except BaseException:
            if checkpoint is not None and under_way.n_blocks:
                checkpoint.write(identity, under_way.state())
            raise
    return named(under_way.folded(), plan, source)


def named(folded: FoldedMoments, plan: MomentPlan, source: Source) -> FoldedMoments:
    """Put class names in place of the labels of a source that numbers its classes."""
    return folded if source.names is None else folded.named(source.names, plan)


def checked_block_rows(block_rows: int | None, n_features: int, plan: MomentPlan) -> int:
    """Return the rows of a block: as given, or a number that suits caches, folds and memory."""
    if block_rows is None:
        # With folds a block is split by fold, and pieces of few rows multiply slowly.
        wanted = PIECE_ROWS if plan.grouping is None else 2 * PIECE_ROWS
        return max(256, min(wanted, _BLOCK_BYTES // (4 * n_features)))
    check_value("block_rows", block_rows, Whole(1))
    return int(block_rows)


def _with_origin(blocks: Iterator[Block], under_way: MomentPass) -> Iterator[Block]:
    first = next(blocks, None)
    if first is None:
        return iter(())
    under_way.set_origin(first)
    return chain([first], blocks)


def _identity(plan: MomentPlan, source: Source, block_rows: int) -> str:
    """Identify this pass, so that its sums are never mixed with those of another."""
    data = {"source": source.identity(), "content": source.content()}
    return json.dumps({**data, "block_rows": block_rows, **plan.facts()})


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
    check_flags(progress=progress)
    noted = _as_checkpoint(checkpoint)
    source = open_source(data, y)
    folded = gather(
        estimator,
        source,
        classes=classes,
        block_rows=block_rows,
        validation_rows=validation_rows,
        checkpoint=noted,
        progress=progress,
    )
    estimator.learn(folded)
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
) -> FoldedMoments:
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
    FoldedMoments

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
    check_flags(progress=progress)
    source = open_source(data, y)
    plan = plan_for(estimator, source, classes, validation_rows)
    noted = _as_checkpoint(checkpoint)
    return run_pass(plan, source, block_rows=block_rows, checkpoint=noted, progress=progress)


def _as_checkpoint(checkpoint: CheckpointLike) -> Checkpoint | None:
    return checkpoint if isinstance(checkpoint, Checkpoint | None) else Checkpoint(checkpoint)
