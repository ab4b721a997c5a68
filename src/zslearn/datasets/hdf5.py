"""HDF5 files read without opening anything outside the file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import require
from zslearn.exceptions import InvalidInputError

# Compression makes data at most about a thousand times smaller; more is a false claim.
_MAX_RATIO = 1100
_SMALL = 2**20


def open_file(path: Path) -> Any:
    """Open an HDF5 file for reading."""
    h5py = require("h5py", extra="data", purpose=f"Reading {path.name}")
    return h5py.File(path, "r")


def member(file: Any, name: str) -> Any:
    """Return a group or data set, refusing what lies in another file or leads elsewhere."""
    h5py = require("h5py", extra="data", purpose="Reading HDF5")
    parts = [part for part in name.split("/") if part]
    for depth in range(1, len(parts) + 1):
        link = file.get("/".join(parts[:depth]), getlink=True)
        if link is not None and not isinstance(link, h5py.HardLink):
            raise InvalidInputError(
                f"{name!r} is a link to another place; copy the data into the file."
            )
    item = file[name]
    check_self_contained(item, name)
    return item


def check_self_contained(item: Any, name: str) -> None:
    """Refuse a data set whose numbers are in other files, or that claims too many of them."""
    if not hasattr(item, "shape"):
        return
    if item.external or item.is_virtual:
        raise InvalidInputError(
            f"{name!r} keeps its data in another file; copy the data into the file."
        )
    stored = int(item.id.get_storage_size())
    largest = max(_SMALL, _MAX_RATIO * stored)
    if item.shape is None or item.nbytes > largest or (stored and _chunk_bytes(item) > largest):
        raise InvalidInputError(
            f"{name!r} claims the shape {item.shape} but holds {stored} bytes; write it again."
        )
    if item.chunks is not None and len(item.chunks) != len(item.shape):
        # The library takes memory without end, or crashes.
        raise InvalidInputError(
            f"{name!r} has the shape {item.shape} in chunks of {item.chunks}; write it again."
        )


def _chunk_bytes(item: Any) -> int:
    """Return what one chunk takes in memory, which may be more than the data set has."""
    return math.prod(item.chunks) * item.dtype.itemsize if item.chunks else 0


def read_whole(item: Any) -> NDArray[Any]:
    """Return all values of a data set."""
    return np.asarray(item[()])


def address(item: Any) -> int:
    """Return where in its file an item is; two names of one item have the same address."""
    h5py = require("h5py", extra="data", purpose="Reading HDF5")
    return int(h5py.h5o.get_info(item.id).addr)
