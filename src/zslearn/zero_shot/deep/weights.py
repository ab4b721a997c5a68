"""Weights between PyTorch, where they are trained, and numpy, where they are kept."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

Arrays = dict[str, NDArray]


def to_arrays(tensors: Mapping[str, torch.Tensor]) -> Arrays:
    """Return copies of named tensors (such as a `state_dict`) as numpy arrays.

    Examples
    --------
    >>> to_arrays({"w": torch.ones(2)})
    {'w': array([1., 1.], dtype=float32)}
    """
    return {
        name: np.ascontiguousarray(one.detach().cpu().numpy().copy())
        for name, one in tensors.items()
    }


def to_tensors(
    arrays: Mapping[str, NDArray],
    device: torch.device | None = None,
    dtype: torch.dtype | None = None,
    *,
    trained: bool = False,
) -> dict[str, torch.Tensor]:
    """Return copies of named arrays as tensors.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Weights.
    device : torch.device, optional
        Where to put them.
    dtype : torch.dtype, optional
        Precision; by default that of the arrays.
    trained : bool, default=False
        Whether they are leaves that gather gradients.

    Returns
    -------
    dict of str to Tensor
    """
    made = {name: torch.tensor(one, dtype=dtype, device=device) for name, one in arrays.items()}
    for one in made.values():
        one.requires_grad_(trained)
    return made
