"""Weights of a network from a PyTorch file, without PyTorch and without running anything.

The files are state dicts in PyTorch's layout before version 1.6: five pickles (a magic number, the
version, facts of the machine, the tensors, the keys of their storages), then for each storage the
number of its elements as int64 and the elements.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import ModelFileError

_MAGIC = 0x1950A86A20F9469CFC6C
_STORAGES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
}


class _Storage(NamedTuple):
    """A run of numbers further down in the file."""

    key: str
    dtype: str
    length: int


class _Tensor(NamedTuple):
    """Where the elements of a tensor are in its storage."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_state_dict(content: bytes, path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a state dict by name.

    Parameters
    ----------
    content : bytes
        The file, in the layout of PyTorch before 1.6.
    path : Path
        Its name, for error messages.

    Returns
    -------
    dict of str to ndarray
        Read-only arrays over `content`, each in the shape and type the file names.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another layout, or asks for anything but arrays of numbers.
    """
    stream = io.BytesIO(content)
    try:
        magic, _, machine = (_ArrayUnpickler(stream).load() for _ in range(3))
        if magic != _MAGIC or machine.get("little_endian") is not True:
            reason = "it is not a little-endian state dict of PyTorch before 1.6"
            raise ModelFileError(path, reason, "network")
        tensors = _ArrayUnpickler(stream).load()
        keys = _ArrayUnpickler(stream).load()
        storages = _read_storages(stream, tensors, keys)
        return {name: _view(tensor, storages) for name, tensor in tensors.items()}
    except ModelFileError:
        raise
    except Exception as error:
        # A damaged pickle may raise nearly anything; nothing has been run by then.
        reason = " ".join(str(error).split()) or type(error).__name__
        reason = f"it is damaged or not a state dict ({reason})"
        raise ModelFileError(path, reason, "network") from error


class _ArrayUnpickler(pickle.Unpickler):
    """An unpickler that accepts dictionaries and tensors and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _note_tensor
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not allowed")

    def persistent_load(self, pid: Any) -> _Storage:
        kind, dtype, key, _, length, view = pid
        if kind != "storage" or view is not None or dtype not in _STORAGES.values():
            raise pickle.UnpicklingError("it describes a storage in an unknown way")
        return _Storage(str(key), dtype, int(length))


def _note_tensor(storage: _Storage, offset: int, shape: Any, strides: Any, *_: Any) -> _Tensor:
    """Stand in for the function that rebuilds a tensor."""
    return _Tensor(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def _read_storages(
    stream: io.BytesIO, tensors: dict[str, _Tensor], keys: list[str]
) -> dict[str, NDArray[Any]]:
    """Return the numbers of every storage, in the order of the keys."""
    described = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
    buffer = stream.getbuffer().toreadonly()
    position = stream.tell()
    storages = {}
    for key in keys:
        storage = described[key]
        (length,) = np.frombuffer(buffer, "<i8", 1, position)
        if length != storage.length:
            raise ValueError(f"storage {key} has {length} numbers instead of {storage.length}")
        storages[key] = np.frombuffer(buffer, storage.dtype, storage.length, position + 8)
        position += 8 + storages[key].nbytes
    return storages


def _view(tensor: _Tensor, storages: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Return the part of a storage that a tensor shows, never reaching outside the storage."""
    storage = storages[tensor.storage.key]
    if (
        len(tensor.shape) != len(tensor.strides)
        or min((tensor.offset, *tensor.shape, *tensor.strides)) < 0
    ):
        raise ValueError("a tensor has a negative or incomplete shape")
    steps = zip(tensor.shape, tensor.strides, strict=True)
    last = tensor.offset + sum((length - 1) * step for length, step in steps)
    if 0 not in tensor.shape and last >= len(storage):
        raise ValueError("a tensor reaches beyond its storage")
    return np.lib.stride_tricks.as_strided(
        storage[tensor.offset :],
        tensor.shape,
        [step * storage.itemsize for step in tensor.strides],
        writeable=False,
    )
