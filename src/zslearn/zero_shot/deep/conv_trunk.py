"""A network that is given, frozen: its identity, and the feature maps it makes of pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from zslearn.encoders.hub_models import hash_weights
from zslearn.exceptions import InvalidInputError

# Pictures worked on at once.
_AT_ONCE = 64
# What a trunk was when it was hashed, and its SHA-256.
_KNOWN: WeakKeyDictionary[nn.Module, tuple[tuple[object, ...], str]] = WeakKeyDictionary()


def identity_of(trunk: nn.Module) -> str:
    """Return the SHA-256 of a network's weights; it is computed again where one has changed.

    Examples
    --------
    >>> import torch
    >>> trunk = torch.nn.Conv2d(3, 4, 1)
    >>> before = identity_of(trunk)
    >>> _ = torch.nn.init.zeros_(trunk.bias)
    >>> identity_of(trunk) == before
    False
    """
    # PyTorch counts the changes of a tensor.
    now = tuple((name, id(one), one._version) for name, one in _tensors(trunk))
    if trunk not in _KNOWN or _KNOWN[trunk][0] != now:
        _KNOWN[trunk] = now, hash_weights(trunk)
    return _KNOWN[trunk][1]


def check_identity(trunk: nn.Module, sha256: str | None) -> None:
    """Refuse a network whose weights have another SHA-256."""
    given = identity_of(trunk)
    if given != sha256:
        raise InvalidInputError(
            f"this model was trained with another trunk: the SHA-256 of its weights was {sha256}, "
            f"that of the given one is {given}."
        )


def maps_of(
    trunk: nn.Module, pictures: NDArray, shape: tuple[int, ...] | None = None
) -> NDArray[np.float32]:
    """Return the feature maps of pictures; the network is left as it was.

    Parameters
    ----------
    trunk : Module
        From (n, 3, height, width) to (n, channels, height, width).
    pictures : ndarray of shape (n, height, width, 3)
        Values between 0 and 1.
    shape : tuple of int, optional
        Height, width and channels that the maps must have.

    Returns
    -------
    ndarray of shape (n, height, width, channels)
    """
    place = next((one for _, one in _tensors(trunk) if one.is_floating_point()), torch.zeros(0))
    made = []
    with _evaluated(trunk), torch.no_grad():
        for start in range(0, len(pictures), _AT_ONCE):
            part = np.moveaxis(pictures[start : start + _AT_ONCE], 3, 1)
            given = torch.tensor(part).to(device=place.device, dtype=place.dtype)
            made.append(_map_in_numpy(trunk(given), len(part)))
            if shape is not None and made[-1].shape[1:] != shape:
                raise InvalidInputError(
                    f"the trunk makes maps of shape {made[-1].shape[1:]}; in training they had "
                    f"the shape {shape}."
                )
    return np.concatenate(made)


def _map_in_numpy(found: object, n: int) -> NDArray[np.float32]:
    if not isinstance(found, torch.Tensor) or found.ndim != 4 or len(found) != n:
        what = f"shape {tuple(found.shape)}" if isinstance(found, torch.Tensor) else type(found)
        raise InvalidInputError(
            "a trunk must turn pictures of shape (n, 3, height, width) into one tensor of shape "
            f"(n, channels, height, width); got {what} for {n} pictures."
        )
    values: NDArray[np.float32] = found.float().cpu().numpy()
    return np.ascontiguousarray(np.moveaxis(values, 1, 3))


def _tensors(trunk: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    return chain(trunk.named_parameters(), trunk.named_buffers())


@contextmanager
def _evaluated(trunk: nn.Module) -> Iterator[None]:
    """Put a network into the mode of evaluation for as long as the block runs."""
    learning = [one for one in trunk.modules() if one.training]
    for one in learning:
        one.training = False
    try:
        yield
    finally:
        for one in learning:
            one.training = True
