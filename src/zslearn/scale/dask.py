"""The same fit on a Dask cluster; everything that uses Dask is in this file."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.core.learner import FoldedMoments, MomentPlan
from zslearn.core.moment_pass import Block, MomentPass
from zslearn.core.threads import limit_blas
from zslearn.encoders import remember_encoder
from zslearn.encoders.base import EncoderIdentity
from zslearn.exceptions import EngineError, InvalidInputError, ZslearnError
from zslearn.scale.fitting import checked_block_rows, plan_for
from zslearn.scale.opening import open_source
from zslearn.scale.source import ArraySource, ChainSource, Source
from zslearn.zero_shot import Recognizer

_PIECE_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Piece:
    """Part of the data that one task reads: an array with labels, or a path."""

    first: int
    X: Any
    y: Any = None

    def opened(self) -> Source:
        """Open the data where the task runs."""
        if self.y is None:
            return ChainSource([open_source(self.X)])
        return ArraySource(np.asarray(self.X), self.y)


@dataclass(frozen=True)
class RowsOfFile:
    """Rows of a ``.npy`` file that the task reads, in place of the rows themselves."""

    path: str
    rows: NDArray[np.intp]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        mapped = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return np.asarray(mapped[self.rows], dtype=dtype)


class Outline(Source):
    """What planning needs to know about data that is read elsewhere."""

    def __init__(
        self,
        n_features: int,
        present: NDArray,
        seen: NDArray | None = None,
        encoder: EncoderIdentity | None = None,
    ) -> None:
        self.n_rows, self.n_features, self._present = None, n_features, present
        self.seen, self.encoder = seen, encoder

    def blocks(self, block_rows: int, skip: int = 0) -> Iterator[Block]:
        """Yield nothing: the tasks read."""
        return iter(())

    def labels(self) -> NDArray:
        """Return one label of each class."""
        return self._present

    def identity(self) -> list[Any]:
        """Return nothing: there is no checkpoint."""
        return []


def pieces_of_array(source: ArraySource) -> tuple[Outline, list[Piece]]:
    """Cut an array into pieces; for a mapped file only the row numbers are sent."""
    step = max(1024, _PIECE_BYTES // (4 * source.n_features))
    pieces = []
    for start in range(0, source.n_rows, step):
        rows = source.numbers(start, min(start + step, source.n_rows))
        X: Any = RowsOfFile(source.file, rows) if source.file else source.array[rows]
        pieces.append(Piece(start, X, source.labels()[start : start + len(rows)]))
    return Outline(source.n_features, np.unique(source.labels())), pieces


def pieces_of_files(paths: Sequence[Any]) -> tuple[Outline, list[Piece]]:
    """Make a piece of each file."""
    sources = [open_source(path) for path in paths]
    chain = ChainSource(sources)
    labels = chain.labels()
    firsts = np.cumsum([0, *(source.n_rows or 0 for source in sources)])
    pieces = [Piece(int(first), path) for first, path in zip(firsts, paths, strict=False)]
    present = np.empty(0) if labels is None else np.unique(labels)
    return Outline(chain.n_features, present, chain.seen, chain.encoder), pieces


def gather_piece(piece: Piece, plan: MomentPlan) -> FoldedMoments:
    """Sum up one piece of the data, in one thread."""
    source = piece.opened()
    under_way = MomentPass(plan, source.n_features)
    size = checked_block_rows(None, source.n_features, plan)
    with limit_blas(1):
        for block in source.blocks(size):
            under_way.set_origin(block)
            moved = Block(piece.first + block.first, block.X, block.y)
            under_way.add(under_way.contribution(moved))
    return under_way.folded()


# Partial results that are added up by one task.
_FAN_IN = 4


class Engine(ABC):
    """Something that runs functions elsewhere: threads, processes, a cluster."""

    @abstractmethod
    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task that calls a function; arguments may be tasks, and lists of them."""

    @abstractmethod
    def result(self, task: Any) -> Any:
        """Wait for a task and return what its function returned, or raise what it raised."""


def fit_pieces(
    estimator: Any,
    data: tuple[Outline, Sequence[Any]],
    engine: Engine,
    *,
    classes: Any = None,
    validation_rows: int | None = None,
) -> Any:
    """Fit an estimator to pieces that an engine sums up; the equation is solved here.

    A task keeps no state, so one that is lost with its worker is simply repeated. Partial results
    are added in the order of the data, a few at a time, so that no machine ever holds many of
    them.

    Parameters
    ----------
    estimator : MomentLearner
        It is fitted in place.
    data : tuple of Outline and sequence of Piece
        What is known about the data, and its pieces or tasks that return them.
    engine : Engine
        Where to compute.
    classes, validation_rows
        As in `fit_batches`.

    Returns
    -------
    estimator
    """
    outline, pieces = data
    plan = plan_for(estimator, outline, classes, validation_rows)
    parts = [engine.call(gather_piece, piece, plan) for piece in pieces]
    while len(parts) > 1:
        groups = [parts[start : start + _FAN_IN] for start in range(0, len(parts), _FAN_IN)]
        parts = [engine.call(add_parts, group) for group in groups]
    estimator.learn(engine.result(parts[0]))
    remember_encoder(estimator, outline.encoder)
    return estimator


def add_parts(parts: list[FoldedMoments]) -> FoldedMoments:
    """Add partial results in their order."""
    return reduce(add, parts)


Estimator = TypeVar("Estimator")
_CONNECT_SECONDS = 10
# Whoever reaches a worker can run code there, so processes started here are not reached from afar.
_LOOPBACK = "127.0.0.1"


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

    Workers compute class counts, class sums and Gram matrices of their blocks; these are added in a
    tree, and the equation is solved once, here. The result is that of `fit_batches`, even if
    workers come, go or are killed in the meantime, up to the order of the sums: for float64 the
    coefficients agree to 1e-10 of the largest, for float32 the sums to 1e-6 of the largest.

    Parameters
    ----------
    estimator : zero-shot classifier or mapping
        As for `fit_batches`; it is fitted in place.
    X : dask array of shape (n_samples, n_features), or list of paths
        Features; or files that every worker can open, each as in `open_source`, with their labels.
        An `ArraySource` works too: rows of a mapped file are read by the workers.
    y : dask or NumPy array of shape (n_samples,), optional
        Labels of a dask array. Files contain their own.
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
    EngineError
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
    >>> len(clf.seen_classes_)
    20
    """
    with connected(cluster) as client:
        engine = DaskEngine(client)
        data = _cut(X, y, engine)
        fit_pieces(estimator, data, engine, classes=classes, validation_rows=validation_rows)
    return estimator


class DaskEngine(Engine):
    """Delayed functions, computed by a client or by whatever scheduler Dask uses.

    Parameters
    ----------
    client : dask.distributed.Client or None
        Where to compute.
    """

    def __init__(self, client: Any = None) -> None:
        self.client = client
        self._dask = require("dask", extra="dask", purpose="Fitting on a Dask cluster")

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a delayed call."""
        return self._dask.delayed(function, pure=True)(*arguments)

    def result(self, task: Any) -> Any:
        """Compute a task, distinguishing a lost cluster from an error in the data."""
        try:
            if self.client is None:
                return task.compute()
            with warnings.catch_warnings():
                # Arrays in local memory have to be sent, whatever their size.
                warnings.filterwarnings("ignore", message="Sending large graph")
                return self.client.compute(task, sync=False).result()
        except ZslearnError:
            raise
        except Exception as error:
            if self.client is not None and is_loss(error):
                raise EngineError(self.client, error) from error
            raise


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
            f"predict_dask takes a two-dimensional dask array; got {type(X).__name__}."
        )
    if estimator.zero_shot_tags.transductive:
        raise InvalidInputError(
            f"{type(estimator).__name__} looks at the whole batch of samples, so its answers would "
            "depend on the chunks. Use predict on the computed array."
        )
    rows = X.rechunk({1: -1})
    recognizer = estimator.recognizer(candidates)
    dtype = recognizer.names.dtype
    if k is None:
        meta = np.empty(0, dtype)
        return rows.map_blocks(_best, recognizer, dtype=dtype, drop_axis=1, meta=meta)
    chunks, meta = (rows.chunks[0], (k,)), np.empty((0, k), dtype)
    return rows.map_blocks(_top_k, recognizer, k, dtype=dtype, chunks=chunks, meta=meta)


@contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    """Provide a client for the cluster, and close what was opened for it."""
    if cluster is None or not isinstance(cluster, str):
        yield cluster
        return
    distributed = require("distributed", extra="dask", purpose="A Dask cluster")
    address = None if cluster == "local" else cluster
    started = None
    try:
        if address is None:
            started = distributed.LocalCluster(
                threads_per_worker=1, host=_LOOPBACK, dashboard_address=f"{_LOOPBACK}:0"
            )
        client = distributed.Client(started or address, timeout=_CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise EngineError(cluster, error) from error
    try:
        yield client
    finally:
        client.close()
        if started is not None:
            started.close()


def _cut(X: Any, y: Any, engine: DaskEngine) -> tuple[Outline, list[Any]]:
    """Return the outline of the data and what each task reads."""
    if hasattr(X, "to_delayed"):
        return _chunks(X, y, engine)
    if isinstance(X, ArraySource):
        return pieces_of_array(X)
    if not isinstance(X, Sequence) or isinstance(X, str) or not X:
        raise InvalidInputError(
            f"fit_dask takes a dask array with labels, or a list of files; got {type(X).__name__}."
        )
    return pieces_of_files(X)


def _chunks(X: Any, y: Any, engine: DaskEngine) -> tuple[Outline, list[Any]]:
    """Make a piece of each chunk of a dask array."""
    array = require("dask.array", extra="dask", purpose="Fitting on a Dask cluster")
    if any(np.isnan(size) for size in X.chunks[0]):
        raise InvalidInputError(
            "the dask array has chunks of unknown size; call its compute_chunk_sizes() first."
        )
    if X.ndim != 2 or y is None or y.shape != X.shape[:1]:
        raise InvalidInputError(
            "a dask array of features needs two dimensions and one label per row; got "
            f"{X.shape} and {getattr(y, 'shape', y)}."
        )
    rows = X.rechunk({1: -1})
    labels = y if hasattr(y, "to_delayed") else array.from_array(np.asarray(y), rows.chunks[0])
    labels = labels.rechunk((rows.chunks[0],)).to_delayed().ravel()
    firsts = np.cumsum([0, *rows.chunks[0]])
    chunks = zip(firsts, rows.to_delayed().ravel(), labels, strict=False)
    pieces = [engine.call(Piece, int(first), block, label) for first, block, label in chunks]
    present = engine.result(engine.call(list, [engine.call(np.unique, part) for part in labels]))
    return Outline(int(X.shape[1]), np.unique(np.concatenate(present))), pieces


def is_loss(error: Exception) -> bool:
    """Whether an error of distributed means that the scheduler or all workers are gone."""
    names = {kind.__name__ for kind in type(error).__mro__}
    lost = {"CommClosedError", "CancelledError", "FutureCancelledError", "KilledWorker", "OSError"}
    return bool(names & lost)


def _best(block: NDArray, recognizer: Recognizer) -> NDArray:
    return recognizer.rank(block, 1).names[:, 0]


def _top_k(block: NDArray, recognizer: Recognizer, k: int) -> NDArray:
    return recognizer.rank(block, k).names


# Tasks under way for each thread of the cluster, so that none waits for the next one.
_AHEAD = 3


def map_on_cluster(
    client: Any,
) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]:
    """Return a function like `map` whose calls run on a cluster, a few ahead of the reader.

    Parameters
    ----------
    client : dask.distributed.Client
        The cluster.

    Returns
    -------
    callable
        From a function and items to the results, in the order of the items. A task that is lost
        with its worker is done again.
    """

    def spread(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        pending: deque[Any] = deque()
        most = _AHEAD * max(1, sum(client.nthreads().values()))
        try:
            for item in items:
                pending.append(client.submit(function, item, pure=False))
                if len(pending) >= most:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        except ZslearnError:
            raise
        except Exception as error:
            if is_loss(error):
                raise EngineError(client, error) from error
            raise
        finally:
            client.cancel(list(pending))

    return spread
