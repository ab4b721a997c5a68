"""MATLAB files as plain arrays: versions 5 to 7 by our own reader, version 7.3 through h5py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import check_is_file, damaged, naming
from zslearn.datasets import hdf5
from zslearn.datasets.mat5 import read_variables, variable_names
from zslearn.exceptions import InvalidInputError

_AGAIN = "It may be an interrupted download: fetch it again."
_MAX_DEPTH = 8


def read_matlab(path: Path, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return the variables of a ``.mat`` file that it contains.

    Arrays come in MATLAB's shape, cell arrays of text as lists of str and a struct as a dict.
    """
    check_is_file(path)
    with damaged(path, "MATLAB file", _AGAIN), naming(path):
        if not _is_v73(path):
            found = read_variables(path, names)
            return {name: _plain(value) for name, value in found.items()}
        with hdf5.open_file(path) as file:
            listed = [name for name in file if not name.startswith("#")]
            wanted = [name for name in listed if names is None or name in names]
            reader = _Reader(file)
            return {name: reader.plain(hdf5.member(file, name)) for name in wanted}


def read_matrix(stored: dict[str, Any], name: str, path: Path) -> NDArray[Any]:
    """Return a variable that must be a matrix of numbers."""
    value = stored[name]
    if not isinstance(value, np.ndarray) or value.ndim != 2 or value.dtype.kind not in "fiub":
        got = f"shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise InvalidInputError(f"{path}: {name!r} must be a matrix of numbers; got {got}.")
    return value


def read_indices(stored: dict[str, Any], name: str, path: Path) -> NDArray[np.intp]:
    """Return a variable that must hold whole numbers, as a vector."""
    values = read_matrix(stored, name, path).ravel()
    if values.size and not (np.isfinite(values).all() and np.abs(values).max() < 2**53):
        raise InvalidInputError(f"{path}: {name!r} must hold whole numbers.")
    return values.astype(np.intp)


def matlab_names(path: Path) -> list[str]:
    """Return the names of the variables in a ``.mat`` file without reading them."""
    check_is_file(path)
    with damaged(path, "MATLAB file", _AGAIN), naming(path):
        if not _is_v73(path):
            return variable_names(path)
        with hdf5.open_file(path) as file:
            return [name for name in file if not name.startswith("#")]


def _is_v73(path: Path) -> bool:
    """Recognize an HDF5 file, with or without MATLAB's 512 bytes of text before it."""
    signature = b"\x89HDF\r\n\x1a\n"
    with path.open("rb") as file:
        start = file.read(512 + len(signature))
    return start.startswith(signature) or start[512:] == signature


def _plain(value: Any) -> Any:
    """Turn cells into a list of str, also inside structs."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        records = value and isinstance(value[0], dict)
        return [_plain(part) if records else _cell_text(part) for part in value]
    return value


def _cell_text(cell: Any) -> str:
    """Return the text in a cell, which may be nested in further cells."""
    if isinstance(cell, list):
        return "".join(map(_cell_text, cell))
    if isinstance(cell, np.ndarray):
        return "".join(str(value) for value in cell.ravel(order="F"))
    raise ValueError("a cell that holds a struct")


class _Reader:
    """Reads an open file of version 7.3, in which many places may name one and the same part."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._texts: dict[int, str] = {}  # of cells, by their address in the file
        # Each part takes more bytes than this in its file, unless it is read again and again.
        self._parts_left = max(1000, file.id.get_filesize() // 64)

    def plain(self, item: Any, depth: int = 0) -> Any:
        """Read a data set in MATLAB's shape, a group as a dict and references as text."""
        self._parts_left -= 1
        if self._parts_left < 0:
            raise ValueError("structs within structs without end")
        if hasattr(item, "keys"):
            if depth > _MAX_DEPTH:
                raise ValueError("structs within structs without end")
            return {
                name: self.plain(hdf5.member(item, name), depth + 1)
                for name in item
                if isinstance(name, str)
            }
        if item.dtype.kind == "O":
            return [self._text(reference) for reference in hdf5.read_whole(item).T.ravel()]
        # HDF5 stores rows first, MATLAB columns first: the axes come reversed.
        return hdf5.read_whole(item).T

    def _text(self, reference: Any) -> str:
        """Return the text of a cell; a cell that is named again takes no more memory."""
        cell = self._file[reference]
        address = hdf5.address(cell)
        if address not in self._texts:
            self._texts[address] = _letters(cell)
        return self._texts[address]


def _letters(item: Any) -> str:
    """Turn MATLAB's character codes into text."""
    hdf5.check_self_contained(item, "a cell")
    return "".join(chr(code) for code in hdf5.read_whole(item).T.ravel())
