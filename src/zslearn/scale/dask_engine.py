"""The same fit on a Dask cluster: sums of blocks by the workers, one solution here.

Everything that knows of Dask is in this file. A worker's task gives the sums of one piece of the
data and keeps nothing, so a task that is lost with its worker is simply done again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.core.moments import Moments
from zslearn.core.reservoir import Reservoir
from zslearn.core.threads import one_blas_thread
from zslearn.exceptions import ClusterError, InvalidInputError, ZslearnError
from zslearn.scale.block_pass import Pass, checked_block_rows
from zslearn.scale.opening import open_source
from zslearn.scale.plan import Outcome, Plan, learn, plan_for
from zslearn.scale.source import ArraySource, Block, ChainSource, Source

Estimator = TypeVar("Estimator")
# Partial results that are added up by one task.
_FAN_IN = 4
_CONNECT_SECONDS = 10
_PIECE_BYTES = 256 * 2**20


def fit_dask(
    estimator: Estimator,
    X: Any,
    y: Any = None,
    *,
    cluster: Any = None,
    classes: Any = None,
    validation_rows: int | None = None,
) -> Estimator:
    """Fit an estimator to data that a Dask cluster reads.

    Workers compute class counts, class sums and Gram matrices of their blocks; these are added in
    a tree, and the equation is solved once, here. The result is that of `fit_batches`, whichever
    workers come, go or are killed meanwhile.

    Parameters
    ----------
    estimator : zero-shot classifier or mapping
        As for `fit_batches`; it is fitted in place.
    X : dask array of shape (n_samples, n_features), or list of paths
        Features; or files that every worker can open, each as in `open_source`, with their labels.
        An `ArraySource` does as well: rows of a mapped file are read by the workers.
    y : dask or NumPy array of shape (n_samples,), optional
        Labels of a dask array. Files bring their own.
    cluster : "local", address of a scheduler, dask.distributed.Client, or None
        Where to compute: on processes started for this call, on a running cluster
        (``"tcp://host:8786"``), or by whatever scheduler Dask uses at the moment.
    classes : sequence of class names, optional
        Train on rows of these classes only.
    validation_rows : int, optional
        Rows kept for choosing parameters; by default 20,000.

    Returns
    -------
    estimator
        The fitted estimator.

    Raises
    ------
    ClusterError
        If the scheduler cannot be reached or is lost.
    InvalidInputError
        If the data or the estimator cannot be used.

    Examples
    --------
    >>> import dask.array as da
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.scale import fit_dask
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> X = da.from_array(data.X[seen], chunks=(200, -1))
    >>> clf = fit_dask(SAEClassifier(data.signatures, lam=1.0), X, data.y[seen])
    >>> len(clf.classes_)
    20
    """
    dask = require("dask", extra="dask", purpose="Fitting on a Dask cluster")
    with connected(cluster) as client:
        outline, pieces = _outlined(X, y, client)
        plan = plan_for(estimator, outline, classes, validation_rows)
        partial = dask.delayed(_partial, pure=True)
        parts = [partial(piece, plan) for piece in pieces]
        total = _computed(_tree(dask, parts), client)
    moments = {group: total.moments[group] for group in sorted(total.moments)}
    kept = total.kept
    outcome = Outcome(moments) if kept is None else Outcome(moments, kept.X, kept.y)
    learn(estimator, plan, outcome, outline.names)
    return estimator


def predict_dask(
    estimator: Any, X: Any, k: int | None = None, candidates: Sequence[Any] | None = None
) -> Any:
    """Predict the rows of a dask array, lazily.

    Parameters
    ----------
    estimator : zero-shot classifier
        Fitted.
    X : dask array of shape (n_samples, n_features)
        Features.
    k : int, optional
        Return the k best classes of each row instead of the best.
    candidates : sequence of class names, optional
        Classes allowed as answers; by default every class with a signature.

    Returns
    -------
    dask array of shape (n_samples,) or (n_samples, k)
        Class names, computed when Dask is asked to.

    Examples
    --------
    >>> import dask.array as da
    >>> from zslearn.datasets import load_animals
    >>> from zslearn.scale import predict_dask
    >>> from zslearn.zero_shot import SAEClassifier
    >>> animals = load_animals()
    >>> clf = SAEClassifier(animals.signatures, lam=1.0).fit(animals.X, animals.y)
    >>> X = da.from_array(animals.X, chunks=(500, -1))
    >>> answer = predict_dask(clf, X)
    >>> answer.shape == animals.y.shape, bool((answer.compute() == clf.predict(animals.X)).all())
    (True, True)
    """
    require("dask.array", extra="dask", purpose="Predicting a dask array")
    if getattr(X, "ndim", None) != 2 or not hasattr(X, "map_blocks"):
        raise InvalidInputError(
            f"predict_dask takes a dask array of two dimensions; got {type(X).__name__}."
        )
    if estimator.zero_shot_tags.transductive:
        raise InvalidInputError(
            f"{type(estimator).__name__} looks at the whole batch of samples, so its answers would "
            "depend on the chunks. Use predict on the computed array."
        )
    rows = X.rechunk({1: -1})
    dtype = estimator.candidate_names(candidates).dtype
    if k is None:
        meta = np.empty(0, dtype)
        return rows.map_blocks(_best, estimator, candidates, dtype=dtype, drop_axis=1, meta=meta)
    chunks, meta = (rows.chunks[0], (k,)), np.empty((0, k), dtype)
    return rows.map_blocks(_top_k, estimator, k, candidates, dtype=dtype, chunks=chunks, meta=meta)


@contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    """Give a client for the cluster, and close what was opened for it."""
    if cluster is None or not isinstance(cluster, str):
        yield cluster
        return
    distributed = require("distributed", extra="dask", purpose="A Dask cluster")
    address = None if cluster == "local" else cluster
    started = None
    try:
        if address is None:
            started = distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0")
        client = distributed.Client(started or address, timeout=_CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(cluster, error) from error
    try:
        yield client
    finally:
        client.close()
        if started is not None:
            started.close()


@dataclass(frozen=True)
class Piece:
    """Part of the data that one task reads: an array with labels, or a path."""

    first: int
    X: Any
    y: Any = None

    def opened(self) -> Source:
        """Open the data on the worker."""
        if self.y is None:
            return ChainSource([open_source(self.X)])
        return ArraySource(np.asarray(self.X), self.y)


@dataclass
class Partial:
    """Moments by group and rows kept, of some of the pieces."""

    moments: dict[Any, Moments]
    kept: Reservoir | None


class _Outline(Source):
    """What planning needs to know of the data."""

    def __init__(self, n_features: int, present: NDArray, chain: Source | None = None) -> None:
        self.n_rows, self.n_features, self._present = None, n_features, present
        if chain is not None:
            self.names, self.seen = chain.names, chain.seen

    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield nothing: the workers read."""
        return iter(())

    def labels(self) -> NDArray:
        """Return one label of each class."""
        return self._present

    def identity(self) -> list[Any]:
        """Return nothing: there is no checkpoint."""
        return []


def _outlined(X: Any, y: Any, client: Any) -> tuple[_Outline, list[Any]]:
    """Return the outline of the data and what each task reads."""
    if hasattr(X, "to_delayed"):
        return _outlined_array(X, y, client)
    if isinstance(X, ArraySource):
        return _Outline(X.n_features, np.unique(X.labels())), list(_pieces(X))
    if not isinstance(X, Sequence) or isinstance(X, str) or not X:
        raise InvalidInputError(
            f"fit_dask takes a dask array with labels, or a list of files; got {type(X).__name__}."
        )
    sources = [open_source(path) for path in X]
    chain = ChainSource(sources)
    labels = chain.labels()
    firsts = np.cumsum([0, *(source.n_rows or 0 for source in sources)])
    pieces = [Piece(int(first), path) for first, path in zip(firsts, X, strict=False)]
    present = np.empty(0) if labels is None else np.unique(labels)
    return _Outline(chain.n_features, present, chain), pieces


def _outlined_array(X: Any, y: Any, client: Any) -> tuple[_Outline, list[Any]]:
    dask = require("dask", extra="dask", purpose="Fitting on a Dask cluster")
    array = require("dask.array", extra="dask", purpose="Fitting on a Dask cluster")
    if any(np.isnan(size) for size in X.chunks[0]):
        raise InvalidInputError(
            "the dask array has chunks of unknown size; call its compute_chunk_sizes() first."
        )
    if X.ndim != 2 or y is None or y.shape != X.shape[:1]:
        raise InvalidInputError(
            f"a dask array of features needs two dimensions and one label a row; got {X.shape} and "
            f"{getattr(y, 'shape', y)}."
        )
    rows = X.rechunk({1: -1})
    labels = y if hasattr(y, "to_delayed") else array.from_array(np.asarray(y), rows.chunks[0])
    labels = labels.rechunk((rows.chunks[0],))
    firsts = np.cumsum([0, *rows.chunks[0]])
    piece = dask.delayed(Piece, pure=True)
    pieces = [
        piece(int(first), block, label)
        for first, block, label in zip(
            firsts, rows.to_delayed().ravel(), labels.to_delayed().ravel(), strict=False
        )
    ]
    present = [dask.delayed(np.unique)(label) for label in labels.to_delayed().ravel()]
    found = np.unique(np.concatenate(_computed(dask.delayed(list)(present), client)))
    return _Outline(int(X.shape[1]), found), pieces


@dataclass(frozen=True)
class RowsOfFile:
    """Rows of a ``.npy`` file that the worker reads, in place of the rows themselves."""

    path: str
    rows: NDArray[np.intp]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        mapped = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return np.asarray(mapped[self.rows], dtype=dtype)


def _pieces(source: ArraySource) -> Iterator[Piece]:
    """Cut an array in pieces; of a mapped file only the numbers of the rows are sent."""
    step = max(1024, _PIECE_BYTES // (4 * source.n_features))
    for start in range(0, source.n_rows, step):
        rows = source.numbers(start, min(start + step, source.n_rows))
        X: Any = RowsOfFile(source.file, rows) if source.file else source.array[rows]
        yield Piece(start, X, source.labels()[start : start + len(rows)])


def _partial(piece: Piece, plan: Plan) -> Partial:
    """Sum up one piece of the data, on a worker."""
    source = piece.opened()
    under_way = Pass(plan, source.n_features)
    size = checked_block_rows(None, source.n_features, plan)
    with one_blas_thread():
        for block in source.blocks(size):
            under_way.set_origin(block)
            under_way.add(
                under_way.contribution(Block(piece.first + block.first, block.X, block.y))
            )
    if under_way.total.classes is None:
        return Partial({}, under_way.kept)
    return Partial(under_way.total.moments(plan.grouping), under_way.kept)


def _added(parts: list[Partial]) -> Partial:
    """Add partial results, always in the order of the data."""
    total = Partial(dict(parts[0].moments), parts[0].kept)
    for part in parts[1:]:
        for group, moments in part.moments.items():
            known = total.moments.get(group)
            total.moments[group] = moments if known is None else known + moments
        if total.kept is not None and part.kept is not None:
            merged = Reservoir(total.kept.per_class, total.kept.seed)
            merged.merge(total.kept)
            merged.merge(part.kept)
            total.kept = merged
    return total


def _tree(dask: Any, parts: list[Any]) -> Any:
    """Add partial results a few at a time, so that no machine ever holds many of them."""
    add = dask.delayed(_added, pure=True)
    while len(parts) > 1:
        parts = [add(parts[start : start + _FAN_IN]) for start in range(0, len(parts), _FAN_IN)]
    return parts[0]


def _computed(task: Any, client: Any) -> Any:
    """Compute a task, telling a lost cluster from an error in the data."""
    try:
        if client is None:
            return task.compute()
        with warnings.catch_warnings():
            # Arrays that are in memory here have to be sent, whatever their size.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return client.compute(task, sync=False).result()
    except ZslearnError:
        raise
    except Exception as error:
        if client is not None and _is_loss(error):
            raise ClusterError(client, error) from error
        raise


def _is_loss(error: Exception) -> bool:
    """Whether an error of distributed means that the scheduler or all workers are gone."""
    names = {kind.__name__ for kind in type(error).__mro__}
    lost = {"CommClosedError", "CancelledError", "FutureCancelledError", "KilledWorker", "OSError"}
    return bool(names & lost)


def _best(block: NDArray, estimator: Any, candidates: Sequence[Any] | None) -> NDArray:
    return estimator.predict(block, candidates)


def _top_k(block: NDArray, estimator: Any, k: int, candidates: Sequence[Any] | None) -> NDArray:
    return estimator.predict_top_k(block, k, candidates)
