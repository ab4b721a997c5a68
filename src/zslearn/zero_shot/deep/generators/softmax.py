"""The last step of every generative method: a softmax over real and synthesized samples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.core.descent import Descent, Parameters, descend
from zslearn.core.logistic import Axes, fit_logistic, softmax_loss

# The papers train by Adam for 20 to 50 epochs without a penalty and so stop early. L-BFGS with a
# penalty has neither seed nor learning rate, but the penalty has to be chosen.
MAX_ITER = 40
# By steps of Adam.
BATCH, MIN_STEPS = 32, 2000


class Softmax(NamedTuple):
    """Linear scores of classes.

    Attributes
    ----------
    coef : ndarray of shape (n_classes, n_features)
        Weights.
    intercept : ndarray of shape (n_classes,)
        Offsets.
    """

    coef: NDArray
    intercept: NDArray

    def scores(self, X: NDArray) -> NDArray:
        """Return logits of shape (n_samples, n_classes), in the precision of X."""
        scores: NDArray = X @ self.coef.T.astype(X.dtype) + self.intercept.astype(X.dtype)
        return scores


def fit_softmax(samples: Sequence[NDArray], penalty: float) -> Softmax:
    """Fit a multinomial logistic regression.

    Parameters
    ----------
    samples : sequence of ndarrays of shape (n_samples, n_features)
        The samples of each class, real or synthesized; none of them empty.
    penalty : float
        Weight of ``½ ‖W‖²`` in units of the mean squared length of a sample.

    Returns
    -------
    Softmax

    Examples
    --------
    >>> import numpy as np
    >>> low, high = np.array([[0.0], [1.0]]), np.array([[3.0], [4.0]])
    >>> fit_softmax([low, high], 1e-3).scores(np.array([[0.5], [3.5]])).argmax(axis=1)
    array([0, 1])
    """
    X, y = _stacked(samples)
    axes = Axes.of(X)
    found = fit_logistic(
        axes.coordinates(X), y, "softmax", axes, penalty=penalty, max_iter=MAX_ITER
    ).in_features(axes)
    return Softmax(np.ascontiguousarray(found.coef.T), found.intercept)


def fit_softmax_by_steps(samples: Sequence[NDArray], epochs: int) -> Softmax:
    """Fit a softmax by Adam, without a penalty, as released programs do.

    Batches of 32 in an order that is the same every time, a learning rate of 1e-3 and β₁ = 0.5.

    Parameters
    ----------
    samples : sequence of ndarrays of shape (n_samples, n_features)
        The samples of each class, real or synthesized; none of them empty.
    epochs : int
        Passes over all samples; more where that is less than 2,000 steps, which leaves a softmax
        hardly trained.

    Returns
    -------
    Softmax

    Examples
    --------
    >>> import numpy as np
    >>> low, high = np.full((400, 1), -1.0), np.full((400, 1), 1.0)
    >>> fit_softmax_by_steps([low, high], 25).scores(np.array([[-1.0], [1.0]])).argmax(axis=1)
    array([0, 1])
    """
    return fit_softmaxes_by_steps(samples, [epochs])[0]


def fit_softmaxes_by_steps(samples: Sequence[NDArray], epochs: Sequence[int]) -> list[Softmax]:
    """Return `fit_softmax_by_steps` of each number of epochs, all by the longest of these fits.

    Parameters
    ----------
    samples : sequence of ndarrays of shape (n_samples, n_features)
        The samples of each class, real or synthesized; none of them empty.
    epochs : sequence of int
        Passes over all samples.

    Returns
    -------
    list of Softmax
    """
    X, y = _stacked(samples)

    def loss(at: Parameters, rows: NDArray[np.intp]) -> tuple[float, Parameters]:
        value, slopes = softmax_loss(y[rows])(X[rows] @ at["coef"] + at["intercept"])
        return value, {"coef": X[rows].T @ slopes, "intercept": slopes.sum(axis=0)}

    wanted = [max(n, round(MIN_STEPS * BATCH / len(X))) for n in epochs]
    reached: dict[int, Softmax] = {}
    passes = count(1)

    def keep(at: Parameters) -> float:
        n = next(passes)
        if n in wanted:
            reached[n] = Softmax(at["coef"].T.copy(), at["intercept"].copy())
        return n

    n = len(samples)
    start = {"coef": np.zeros((X.shape[1], n), X.dtype), "intercept": np.zeros(n, X.dtype)}
    how = Descent("adam", learning_rate=1e-3, momentum=0.5, batch_size=BATCH, epochs=max(wanted))
    descend(start, loss, len(X), how, np.random.RandomState(0), validate=keep)
    return [reached[n] for n in wanted]


def _stacked(samples: Sequence[NDArray]) -> tuple[NDArray, NDArray[np.intp]]:
    """Return all samples and the positions of their classes."""
    return np.concatenate(samples), np.repeat(np.arange(len(samples)), [*map(len, samples)])
