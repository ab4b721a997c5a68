"""Fully connected networks as named tensors, with the names of `zslearn.core.descent`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch

Draw = Callable[[int, int], torch.Tensor]


def normal(inputs: int, outputs: int) -> torch.Tensor:
    """Draw weights N(0, 0.02²), as the adversarial methods start."""
    return 0.02 * torch.randn(inputs, outputs)


def xavier(inputs: int, outputs: int) -> torch.Tensor:
    """Draw uniform weights of Glorot and Bengio with gain ½, as CADA-VAE starts."""
    return torch.nn.init.xavier_uniform_(torch.empty(inputs, outputs), gain=0.5)


def start(
    name: str, sizes: Sequence[int], draw: Draw, device: torch.device | None = None
) -> dict[str, torch.Tensor]:
    """Return weights and zero biases of a network, ready to be trained.

    Parameters
    ----------
    name : str
        Prefix: layer i has ``name_W{i}`` and ``name_b{i}``.
    sizes : sequence of int
        Width of the input, of every hidden layer and of the output.
    draw : callable
        `normal` or `xavier`.
    device : torch.device, optional
        Where to put them.

    Returns
    -------
    dict of str to Tensor

    Examples
    --------
    >>> sorted(start("critic", (3, 2, 1), normal))
    ['critic_W0', 'critic_W1', 'critic_b0', 'critic_b1']
    """
    made = {}
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        made[f"{name}_W{i}"] = draw(inputs, outputs).to(device)
        made[f"{name}_b{i}"] = torch.zeros(outputs, device=device)
    return {key: value.requires_grad_() for key, value in made.items()}


def hidden(
    network: Mapping[str, torch.Tensor], name: str, X: torch.Tensor, slope: float
) -> torch.Tensor:
    """Return the first hidden layer."""
    Z = X @ network[f"{name}_W0"] + network[f"{name}_b0"]
    return torch.nn.functional.leaky_relu(Z, slope)


def output(network: Mapping[str, torch.Tensor], name: str, H: torch.Tensor) -> torch.Tensor:
    """Return the linear output of a network with one hidden layer, given that layer."""
    return H @ network[f"{name}_W1"] + network[f"{name}_b1"]
