"""MATLAB files as plain arrays: versions 5 to 7 by our own reader, version 7.3 through h5py.

The format up to version 7 is MathWorks' "MAT-File Format". scipy.io reads it too, but a flipped
byte can crash the interpreter there; here every size is checked before it is used.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import check_is_file, damaged, naming
from zslearn.datasets import hdf5
from zslearn.exceptions import InvalidInputError

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_NUMBERS |= {12: "i8", 13: "u8"}
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _CHAR = 1, 2, 4
_NUMERIC = range(6, 16)
_COMPLEX = 0x0800
_HEADER = 128
_PIECE = 2**20
_MAX_DEPTH, _MAX_DIMENSIONS = 8, 32
_MAX_RATIO = 1100  # zlib packs at most 1,032 bytes into one


class DamageError(ValueError):
    """A file that does not match the sizes and kinds it declares."""


@dataclass(frozen=True)
class _Head:
    """What a matrix is before its values: class, flags, shape and name; and where those begin."""

    kind: int
    is_complex: bool
    shape: tuple[int, ...]
    name: str
    values: int


class _Reader:
    """Elements of a piece of memory, none of which may reach beyond its end."""

    def __init__(self, data: memoryview, order: str, start: int = 0) -> None:
        self.data, self.order, self.at = data, order, start

    def element(self) -> tuple[int, memoryview]:
        """Return kind and content of the next element, and move past it."""
        kind, size, start = _tag(bytes(self.data[self.at : self.at + 8]), self.order)
        begin = self.at + start
        if begin + size > len(self.data):
            raise DamageError("an element reaches beyond the end")
        # Only the last element may lack the bytes that fill it up to a multiple of eight.
        self.at = min(len(self.data), self.at + 8 if start == 4 else begin + size + -size % 8)
        return kind, self.data[begin : begin + size]

    def numbers(self) -> NDArray[Any]:
        """Return the next element as numbers in the type they are stored in."""
        kind, content = self.element()
        if kind not in _NUMBERS:
            raise DamageError(f"numbers of the unknown kind {kind}")
        dtype = np.dtype(self.order + _NUMBERS[kind])
        if len(content) % dtype.itemsize:
            raise DamageError("an element ends within a number")
        return np.frombuffer(content, dtype).astype(dtype.newbyteorder("="), copy=False)

    def text(self) -> str:
        """Return the next element as text."""
        kind, content = self.element()
        if kind not in _TEXTS:
            raise DamageError(f"text of the unknown kind {kind}")
        code = _TEXTS[kind]
        if code in ("utf-16", "utf-32"):
            code += "-le" if self.order == "<" else "-be"
        return bytes(content).decode(code, "replace")

    def head(self) -> _Head:
        """Return what a matrix is, and stop before its values."""
        flags = self.numbers()
        shape = self.numbers()
        name = self.text()
        if flags.dtype.kind != "u" or len(flags) != 2 or shape.dtype.kind not in "iu":
            raise DamageError("a matrix without flags and shape")
        sizes = tuple(int(size) for size in shape)
        if not 2 <= len(sizes) <= _MAX_DIMENSIONS or min(sizes) < 0:
            raise DamageError(f"a matrix of the shape {sizes}")
        word = int(flags[0])
        return _Head(word & 0xFF, bool(word & _COMPLEX), sizes, name, self.at)


def read_variables(path: Path, names: tuple[str, ...] | None) -> dict[str, Any]:
    """Return numeric arrays, cells as lists of text or arrays, and structs as dicts.

    Variables of other classes, such as functions, are left out unless they are asked for.
    """
    found = {}
    with path.open("rb") as file:
        for head, content in _variables(file):
            if head.name and (names is None or head.name in names):
                readable = head.kind in (_CELL, _STRUCT, _CHAR, *_NUMERIC)
                if readable or names is not None:
                    reader = _Reader(memoryview(content.whole()), content.order)
                    found[head.name] = _value(reader, 0)
    return found


def variable_names(path: Path) -> list[str]:
    """Return the names of the variables without reading them."""
    with path.open("rb") as file:
        return [head.name for head, _ in _variables(file) if head.name]


class _Content:
    """The bytes of one variable, unpacked as far as they are wanted."""

    def __init__(self, file: IO[bytes], start: int, size: int, order: str, packed: bool) -> None:
        self._file, self._start, self._size, self._packed = file, start, size, packed
        self.order = order

    def first(self, count: int) -> bytes:
        """Return at most `count` bytes of the matrix."""
        self._file.seek(self._start)
        if not self._packed:
            return self._file.read(min(count, self._size))
        unpacked = zlib.decompressobj().decompress(self._file.read(self._size), count + 8)
        self._matrix_size(unpacked)
        return unpacked[8:]

    def whole(self) -> bytearray:
        """Return all bytes of the matrix."""
        self._file.seek(self._start)
        if not self._packed:
            content = bytearray(self._size)
            if self._file.readinto(content) != self._size:  # type: ignore[attr-defined]
                raise DamageError("the file ends within a variable")
            return content
        packed = self._file.read(self._size)
        unpacking = zlib.decompressobj()
        size = self._matrix_size(unpacking.decompress(packed, 8))
        content = bytearray(size)
        done, rest = 0, unpacking.unconsumed_tail
        while done < size:
            piece = unpacking.decompress(rest, min(_PIECE, size - done))
            if not piece:
                raise DamageError("a compressed variable ends too early")
            content[done : done + len(piece)] = piece
            done, rest = done + len(piece), unpacking.unconsumed_tail
        return content

    def _matrix_size(self, unpacked: bytes) -> int:
        kind, size, start = _tag(unpacked, self.order)
        if kind != _MATRIX or start != 8 or size > _MAX_RATIO * self._size:
            raise DamageError("a compressed variable that is not a matrix")
        return size


def _variables(file: IO[bytes]) -> Iterator[tuple[_Head, _Content]]:
    """Yield what every variable is, with its content."""
    end = file.seek(0, 2)
    order = _byte_order(file)
    start = _HEADER
    while start < end:
        file.seek(start)
        kind, size, offset = _tag(file.read(8), order)
        if offset != 8 or kind not in (_MATRIX, _COMPRESSED) or start + 8 + size > end:
            raise DamageError(f"no variable at byte {start}")
        content = _Content(file, start + 8, size, order, kind == _COMPRESSED)
        if size:
            yield _Reader(memoryview(content.first(2048)), order).head(), content
        start += 8 + size + (-size % 8 if kind == _MATRIX else 0)


def _byte_order(file: IO[bytes]) -> str:
    file.seek(124)
    mark = file.read(4)
    order = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}.get(mark)
    if order is None:
        raise DamageError("its version is not one from 5 to 7.3")
    return order


def _tag(raw: bytes, order: str) -> tuple[int, int, int]:
    """Return kind and size of an element, and where its content begins."""
    if len(raw) < 8:
        raise DamageError("an element without a beginning")
    first, second = (int(word) for word in np.frombuffer(raw[:8], order + "u4"))
    if first >> 16:  # at most four bytes, in the tag itself
        if first >> 16 > 4:
            raise DamageError("a small element of more than four bytes")
        return first & 0xFFFF, first >> 16, 4
    return first, second, 8


def _value(reader: _Reader, depth: int) -> Any:
    """Return the value of a matrix whose content the reader holds."""
    if depth > _MAX_DEPTH:
        raise DamageError("cells within cells without end")
    head = reader.head()
    count = math.prod(head.shape)
    if head.kind in _NUMERIC and not head.is_complex:
        values = reader.numbers()
        if len(values) != count:
            raise DamageError(f"{len(values)} values for the shape {head.shape}")
        return values.reshape(head.shape, order="F")
    if head.kind == _CHAR:
        return _characters(reader, head, count)
    if head.kind == _CELL:
        return [_nested(reader, depth) for _ in range(_checked(count, reader))]
    if head.kind == _STRUCT:
        return _struct(reader, count, depth)
    raise DamageError(f"{head.name!r} is of an unsupported kind ({head.kind})")


def _characters(reader: _Reader, head: _Head, count: int) -> NDArray[np.str_]:
    """Return the lines of a matrix of characters."""
    text = reader.text() if count else ""
    if head.shape[0] == 1 and len(head.shape) == 2:
        return np.array([text] if text else [], dtype=str)
    if len(text) != count:
        raise DamageError(f"{len(text)} letters for the shape {head.shape}")
    lines = np.array(list(text), dtype="U1").reshape(head.shape, order="F")
    return np.array(["".join(line) for line in lines.reshape(-1, head.shape[-1])], dtype=str)


def _struct(reader: _Reader, count: int, depth: int) -> Any:
    """Return a struct as a dict, several as a list of dicts."""
    length = reader.numbers()
    names = reader.text()
    if length.size != 1 or not 0 < int(length[0]) <= 64 or len(names) % int(length[0]):
        raise DamageError("a struct without names")
    size = int(length[0])
    fields = [names[i : i + size].split("\0")[0] for i in range(0, len(names), size)]
    records = [
        {field: _nested(reader, depth) for field in fields}
        for _ in range(_checked(count if fields else 0, reader))
    ]
    return records[0] if len(records) == 1 else records


def _nested(reader: _Reader, depth: int) -> Any:
    kind, content = reader.element()
    if kind != _MATRIX:
        raise DamageError("a cell that does not hold a matrix")
    if not content:
        return np.empty((0, 0))
    return _value(_Reader(content, reader.order), depth + 1)


def _checked(count: int, reader: _Reader) -> int:
    """Refuse more cells than there are bytes for."""
    if 8 * count > len(reader.data) - reader.at:
        raise DamageError(f"{count} cells in {len(reader.data) - reader.at} bytes")
    return count


_AGAIN = "It may be an interrupted download: fetch it again."
_MAX_STRUCTS = 8


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
            reader = _Hdf5Reader(file)
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


class _Hdf5Reader:
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
            if depth > _MAX_STRUCTS:
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
