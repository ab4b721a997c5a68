"""The same fit on a Dask cluster; everything that uses Dask is in this file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.exceptions import EngineError, InvalidInputError, ZslearnError
from zslearn.scale.engine import Engine, fit_pieces
from zslearn.scale.pieces import Outline, Piece, pieces_of_array, pieces_of_files
from zslearn.scale.source import ArraySource
from zslearn.zero_shot import Recogniser

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
    recogniser = estimator.recogniser(candidates)
    dtype = recogniser.names.dtype
    if k is None:
        meta = np.empty(0, dtype)
        return rows.map_blocks(_best, recogniser, dtype=dtype, drop_axis=1, meta=meta)
    chunks, meta = (rows.chunks[0], (k,)), np.empty((0, k), dtype)
    return rows.map_blocks(_top_k, recogniser, k, dtype=dtype, chunks=chunks, meta=meta)


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


def _best(block: NDArray, recogniser: Recogniser) -> NDArray:
    return recogniser.rank(block, 1).names[:, 0]


def _top_k(block: NDArray, recogniser: Recogniser, k: int) -> NDArray:
    return recogniser.rank(block, k).names
