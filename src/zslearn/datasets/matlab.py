"""MATLAB files of both kinds as plain arrays: version 5 through scipy, version 7.3 through h5py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat, whosmat
from scipy.io.matlab import MatReadError

from zslearn._optional import require
from zslearn.exceptions import InvalidInputError, MissingFileError

# What scipy raises, depending on where a file is cut or damaged.
_DAMAGE = (MatReadError, ValueError, TypeError, OSError, KeyError, IndexError, OverflowError)


def read_matlab(path: Path, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return the variables of a ``.mat`` file; those not in it are left out.

    Arrays come in MATLAB's shape, cell arrays of text as lists of str and a struct as a dict.
    """
    _check_is_file(path)
    return _read_v73(path, names) if _is_v73(path) else _read_v5(path, names)


def matlab_names(path: Path) -> list[str]:
    """Return the names of the variables in a ``.mat`` file without reading them."""
    _check_is_file(path)
    if _is_v73(path):
        with _open_v73(path) as file:
            return [name for name in file if not name.startswith("#")]
    try:
        return [name for name, _, _ in whosmat(path)]
    except _DAMAGE as error:
        raise _damaged(path, error) from error


def _check_is_file(path: Path) -> None:
    if not path.is_file():
        raise MissingFileError(f"There is no file {str(path)!r}; check the path.")


def _is_v73(path: Path) -> bool:
    """Tell an HDF5 file, with or without MATLAB's text of 512 bytes before it."""
    signature = b"\x89HDF\r\n\x1a\n"
    with path.open("rb") as file:
        start = file.read(512 + len(signature))
    return start.startswith(signature) or start[512:] == signature


def _damaged(path: Path, error: Exception) -> InvalidInputError:
    return InvalidInputError(
        f"{path} is not a readable MATLAB file ({error}). It may be an interrupted download: "
        "fetch it again."
    )


def _read_v5(path: Path, names: tuple[str, ...] | None) -> dict[str, Any]:
    try:
        stored = loadmat(path, variable_names=names, simplify_cells=False)
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    return {name: _plain_v5(value) for name, value in stored.items() if name[:2] != "__"}


def _plain_v5(value: NDArray[Any]) -> Any:
    """Turn a struct into a dict and cells of text into a list of str."""
    if value.dtype.names and value.size == 1:
        record = value.ravel()[0]
        return {name: _plain_v5(np.asarray(record[name])) for name in value.dtype.names}
    if value.dtype == object:
        return [_cell_text(cell) for cell in value.ravel()]
    return value


def _cell_text(cell: Any) -> str:
    """Return the text in a cell, which may lie in cells of its own."""
    while isinstance(cell, np.ndarray) and cell.size == 1:
        cell = cell.ravel()[0]
    return str(cell) if not isinstance(cell, np.ndarray) else "".join(map(str, cell.ravel()))


def _open_v73(path: Path) -> Any:
    h5py = require("h5py", extra="data", purpose=f"Reading {path.name}, a MATLAB 7.3 file,")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise _damaged(path, error) from error


def _read_v73(path: Path, names: tuple[str, ...] | None) -> dict[str, Any]:
    with _open_v73(path) as file:
        wanted = [name for name in file if not name.startswith("#")]
        wanted = [name for name in wanted if names is None or name in names]
        try:
            return {name: _plain_v73(file[name], file) for name in wanted}
        except _DAMAGE as error:
            raise _damaged(path, error) from error


def _plain_v73(item: Any, file: Any) -> Any:
    """Read a data set in MATLAB's shape, a group as a dict and references as text."""
    if hasattr(item, "keys"):
        return {name: _plain_v73(item[name], file) for name in item}
    if item.dtype.kind == "O":
        return [_letters(file[reference][()]) for reference in item[()].T.ravel()]
    # HDF5 stores rows first, MATLAB columns first: the axes come reversed.
    return item[()].T


def _letters(codes: NDArray[Any]) -> str:
    """Turn MATLAB's character codes into text."""
    return "".join(chr(code) for code in np.asarray(codes).T.ravel())
