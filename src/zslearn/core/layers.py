"""Small fully connected networks with hand-written gradients."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Parameters = dict[str, Array]


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
            Z = np.maximum(Z, slope * Z)
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
        if relu_last or i < last:
            G = G * (outputs[i + 1] > 0)
        found[f"{name}_W{i}"] = outputs[i].T @ G
        found[f"{name}_b{i}"] = G.sum(axis=0)
        if i:
            G = G @ parameters[f"{name}_W{i}"].T
    return found


def squared_distances(P: Array, Q: Array) -> Array:
    """Return ‖p_i − q_j‖² of every pair of rows."""
    squares = np.einsum("ij,ij->i", P, P)[:, None] + np.einsum("ij,ij->i", Q, Q)
    return np.maximum(squares - 2.0 * P @ Q.T, 0.0)


def distance_gradients(P: Array, Q: Array, G: Array) -> tuple[Array, Array]:
    """Return the gradients in P and Q of a loss whose gradient in ‖p_i − q_j‖² is G."""
    dP = 2.0 * (P * G.sum(axis=1)[:, None] - G @ Q)
    dQ = 2.0 * (Q * G.sum(axis=0)[:, None] - G.T @ P)
    return dP, dQ
