"""Descent over shuffled mini-batches, and small networks to descend with, in plain numpy.

A method brings its parameters as a dict of arrays and a loss with its gradient; `descend` shuffles,
steps (`Stepper`), judges after each epoch and returns the best it met. Layers with rectified units
give outputs and gradients (`forward`, `backward`); distances between rows have theirs below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, Flag, Number, Whole, check_parameters

Array = NDArray[Any]
Parameters = dict[str, Array]
Loss = Callable[[Parameters, NDArray[np.intp]], tuple[float, Parameters]]
STEPS = ("sgd", "adagrad", "adam")


@dataclass(frozen=True)
class Descent:
    """How to descend.

    Attributes
    ----------
    step : {"sgd", "adagrad", "adam"}
        Rule that turns gradients into steps.
    learning_rate : float
        Length of the steps.
    momentum : float
        Share of the last step that is kept ("sgd"), or decay of the mean gradient ("adam").
    weight_decay : float
        Shrinks every parameter by ``learning_rate · weight_decay`` of itself at each step.
    batch_size : int
        Rows in a batch.
    epochs : int
        Passes over the rows.
    patience : int or None
        Stop after this many epochs without a better value of `validate`.
    average : bool
        After each epoch, return the mean of the parameters over its steps instead of the last.
    """

    parameter_constraints: ClassVar = {
        "step": Either(*STEPS),
        "learning_rate": Number(above=0),
        "momentum": Number(least=0, below=1),
        "weight_decay": Number(least=0),
        "batch_size": Whole(1),
        "epochs": Whole(1),
        "patience": Either(None, Whole(1)),
        "average": Flag(),
    }
    step: str = "sgd"
    learning_rate: float = 1.0
    momentum: float = 0.9
    weight_decay: float = 0.0
    batch_size: int = 256
    epochs: int = 20
    patience: int | None = None
    average: bool = False

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True)
class Trace:
    """Where a descent ended and how it got there.

    Attributes
    ----------
    parameters : dict of str to ndarray
        The last parameters, or the best ones if a validation function was given.
    losses : list of float
        Mean loss over the batches of each epoch.
    values : list of float
        What `validate` returned after each epoch.
    best_epoch : int
        Number of epochs after which the parameters were taken.
    """

    parameters: Parameters
    losses: list[float]
    values: list[float]
    best_epoch: int


def descend(
    start: Parameters,
    loss: Loss,
    n_rows: int,
    how: Descent,
    rng: np.random.RandomState,
    *,
    validate: Callable[[Parameters], float] | None = None,
    progress: Callable[[int, float, float | None], None] | None = None,
) -> Trace:
    """Minimize a loss over shuffled mini-batches.

    Nothing outside is changed, so an interruption leaves no half-made state behind.

    Parameters
    ----------
    start : dict of str to ndarray
        Where to begin; copied.
    loss : callable
        ``loss(parameters, rows)`` returns the mean loss of those rows and its gradient, with the
        keys of `start` (a parameter left out is not moved).
    n_rows : int
        Number of rows to shuffle.
    how : Descent
        Step rule, sizes and number of epochs.
    rng : RandomState
        Shuffles the rows.
    validate : callable, optional
        ``validate(parameters)`` after each epoch; larger is better.
    progress : callable, optional
        ``progress(epoch, loss, value)`` after each epoch.

    Returns
    -------
    Trace

    Examples
    --------
    >>> import numpy as np
    >>> data = np.array([1.0, 2.0, 6.0])
    >>> def squares(parameters, rows):
    ...     gap = parameters["m"] - data[rows]
    ...     return float((gap**2).mean()), {"m": 2 * gap.mean(keepdims=True)}
    >>> how = Descent(learning_rate=0.1, momentum=0.0, batch_size=3, epochs=60)
    >>> trace = descend({"m": np.zeros(1)}, squares, 3, how, np.random.RandomState(0))
    >>> trace.parameters["m"].round(3)
    array([3.])
    """
    parameters = {name: np.array(value) for name, value in start.items()}
    stepper = Stepper(how, parameters)
    losses: list[float] = []
    values: list[float] = []
    best, best_epoch = parameters, 0
    for epoch in range(1, how.epochs + 1):
        mean_loss, reached = _epoch(parameters, loss, n_rows, stepper, rng)
        losses.append(mean_loss)
        if validate is None:
            best, best_epoch = reached, epoch
        else:
            values.append(float(validate(reached)))
            if values[-1] > max(values[:-1], default=-np.inf):  # the first of equally good ones
                best, best_epoch = _copied(reached), epoch
        if progress is not None:
            progress(epoch, mean_loss, values[-1] if values else None)
        if how.patience is not None and validate and epoch - best_epoch >= how.patience:
            break
    return Trace(_copied(best), losses, values, best_epoch)


def _epoch(
    parameters: Parameters, loss: Loss, n_rows: int, stepper: Stepper, rng: np.random.RandomState
) -> tuple[float, Parameters]:
    """Run one pass and return its mean loss and the parameters it reached."""
    # Their mean over the steps (Polyak and Juditsky 1992), or the last ones.
    order = rng.permutation(n_rows)
    starts = range(0, n_rows, int(stepper.how.batch_size))
    total = 0.0
    sums = {name: np.zeros_like(value) for name, value in parameters.items()}
    for start in starts:
        rows = order[start : start + int(stepper.how.batch_size)]
        value, gradients = loss(parameters, rows)
        stepper.move(parameters, gradients)
        total += value * len(rows)
        if stepper.how.average:
            for name in sums:
                sums[name] += parameters[name]
    if not stepper.how.average:
        return total / n_rows, parameters
    return total / n_rows, {name: value / len(starts) for name, value in sums.items()}


def _copied(parameters: Parameters) -> Parameters:
    return {name: value.copy() for name, value in parameters.items()}


def batch_size_for(n_rows: int) -> int:
    """Return a batch size that gives small data at least about 32 steps per epoch."""
    return int(np.clip(n_rows // 32, 16, 256))


class Stepper:
    """State of one step rule; `move` changes the parameters in place."""

    def __init__(self, how: Descent, parameters: Parameters) -> None:
        self.how = how
        self.count = 0
        # Mean gradient ("adam") or last step ("sgd"), and sum or mean of squared gradients.
        self.first = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.second = {name: np.zeros_like(value) for name, value in parameters.items()}

    def move(self, parameters: Parameters, gradients: Parameters) -> None:
        """Take one step down; parameters without a gradient stay."""
        self.count += 1
        rule = {"sgd": self._sgd, "adagrad": self._adagrad, "adam": self._adam}[self.how.step]
        for name, gradient in gradients.items():
            value = parameters[name]
            if self.how.weight_decay:  # decoupled from the gradient (Loshchilov and Hutter 2019)
                value *= 1.0 - min(1.0, self.how.learning_rate * self.how.weight_decay)
            value -= self.how.learning_rate * rule(name, gradient)

    def _sgd(self, name: str, gradient: Array) -> Array:
        """Heavy-ball momentum (Polyak 1964)."""
        self.first[name] *= self.how.momentum
        self.first[name] += gradient
        return self.first[name]

    def _adagrad(self, name: str, gradient: Array) -> Array:
        """Duchi, Hazan and Singer, JMLR 2011."""
        self.second[name] += gradient * gradient
        return gradient / (np.sqrt(self.second[name]) + 1e-8)

    def _adam(self, name: str, gradient: Array) -> Array:
        """Kingma and Ba, ICLR 2015, with β₂ = 0.999."""
        first, second = self.first[name], self.second[name]
        first *= self.how.momentum
        first += (1.0 - self.how.momentum) * gradient
        second *= 0.999
        second += 0.001 * gradient * gradient
        # Both means begin at zero, which the divisions undo.
        mean = first / (1.0 - self.how.momentum**self.count)
        return mean / (np.sqrt(second / (1.0 - 0.999**self.count)) + 1e-8)


def start_layers(
    rng: np.random.RandomState, name: str, sizes: Sequence[int], dtype: Any = np.float32
) -> Parameters:
    """Return weights N(0, 2 / fan-in) (He et al. 2015) and zero biases for each layer.

    Parameters
    ----------
    rng : RandomState
        Draws the weights.
    name : str
        Prefix of the keys: layer i has ``name_W{i}`` and ``name_b{i}``.
    sizes : sequence of int
        Width of the input, of every hidden layer and of the output.
    dtype : dtype
        Precision of the parameters.

    Returns
    -------
    dict of str to ndarray
    """
    layers: Parameters = {}
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        weights = rng.standard_normal((inputs, outputs)) * np.sqrt(2.0 / inputs)
        layers[f"{name}_W{i}"] = weights.astype(dtype)
        layers[f"{name}_b{i}"] = np.zeros(outputs, dtype=dtype)
    return layers


def forward(
    parameters: Parameters, name: str, X: Array, *, relu_last: bool = False, slope: float = 0.0
) -> list[Array]:
    """Return the input and the output of every layer; hidden layers are rectified.

    Parameters
    ----------
    parameters : dict of str to ndarray
        Layers as `start_layers` names them.
    name : str
        Prefix of the keys.
    X : ndarray of shape (n_samples, n_inputs)
        Input.
    relu_last : bool, default=False
        Whether the last layer is rectified too.
    slope : float, default=0.0
        Factor of negative values in hidden layers, below 1: 0.2 makes them leaky.

    Returns
    -------
    list of ndarray
        The last is the output of the network.
    """
    n_layers = sum(key.startswith(f"{name}_W") for key in parameters)
    outputs = [X]
    for i in range(n_layers):
        Z = outputs[-1] @ parameters[f"{name}_W{i}"] + parameters[f"{name}_b{i}"]
        if i < n_layers - 1:
            Z = np.maximum(Z, slope * Z)  # rectified, or leaky; holds for slopes below 1
        outputs.append(np.maximum(Z, 0.0) if relu_last and i == n_layers - 1 else Z)
    return outputs


def backward(
    parameters: Parameters,
    name: str,
    outputs: list[Array],
    gradient: Array,
    *,
    relu_last: bool = False,
) -> Parameters:
    """Return the gradient of the layers from the gradient of the network's output.

    Parameters are those of `forward`, with its result in `outputs`.
    """
    found: Parameters = {}
    last = len(outputs) - 2
    G = gradient
    for i in range(last, -1, -1):
        # Of Z = X W + b: ∂/∂W = Xᵀ G, ∂/∂b = Σ G and ∂/∂X = G Wᵀ. A unit at 0 passes nothing on.
        if relu_last or i < last:
            G = G * (outputs[i + 1] > 0)
        found[f"{name}_W{i}"] = outputs[i].T @ G
        found[f"{name}_b{i}"] = G.sum(axis=0)
        if i:
            G = G @ parameters[f"{name}_W{i}"].T
    return found


def squared_distances(P: Array, Q: Array) -> Array:
    """Return ‖p_i − q_j‖² of every pair of rows."""
    # ‖p‖² + ‖q‖² − 2 p·q, which rounding can leave below zero.
    squares = np.einsum("ij,ij->i", P, P)[:, None] + np.einsum("ij,ij->i", Q, Q)
    return np.maximum(squares - 2.0 * P @ Q.T, 0.0)


def distance_gradients(P: Array, Q: Array, G: Array) -> tuple[Array, Array]:
    """Return the gradients in P and Q of a loss whose gradient in ‖p_i − q_j‖² is G."""
    # ∂‖p_i − q_j‖² / ∂p_i = 2 (p_i − q_j)
    dP = 2.0 * (P * G.sum(axis=1)[:, None] - G @ Q)
    dQ = 2.0 * (Q * G.sum(axis=0)[:, None] - G.T @ P)
    return dP, dQ
