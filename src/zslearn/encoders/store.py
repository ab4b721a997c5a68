"""The store: a folder of ``.npy`` shards with labels and a description."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from zslearn._files import first_line, read_json_object, read_names, replacing
from zslearn.core.moment_pass import checked_batch
from zslearn.encoders.base import EncoderIdentity
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures.files import ARRAY_DAMAGE

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class NpyFile:
    """A matrix in a ``.npy`` file, read by ranges of rows.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shape, self.dtype, self._offset, self._by_columns = _header(path)
        if len(self.shape) != 2 or min(self.shape) < 0:
            raise InvalidInputError(
                f"{path} must hold a matrix, one row per sample; got the shape {self.shape}."
            )
        needed = self._offset + self.shape[0] * self._row_bytes
        if path.stat().st_size < needed:
            raise InvalidInputError(
                f"{path} is cut short: it claims {self.shape[0]} rows and holds "
                f"{max(0, path.stat().st_size - self._offset) // max(1, self._row_bytes)}. "
                "Write it again."
            )

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return a new array with these rows."""
        if self._by_columns:
            return np.array(np.load(self.path, mmap_mode="r", allow_pickle=False)[start:stop])
        block = np.empty((stop - start, self.shape[1]), dtype=self.dtype)
        try:
            with self.path.open("rb", buffering=0) as file:
                file.seek(self._offset + start * self._row_bytes)
                got = _fill(file, block.reshape(-1).view(np.uint8).data)
        except FileNotFoundError as error:
            raise _vanished(self.path) from error
        if got < block.nbytes:
            raise InvalidInputError(
                f"{self.path} is cut short: it ended in row {start + got // self._row_bytes}, of "
                f"{self.shape[0]} expected. Write it again; a checkpoint lets the pass continue."
            )
        return block

    @property
    def _row_bytes(self) -> int:
        return self.shape[1] * self.dtype.itemsize if len(self.shape) == 2 else 0


def _fill(file: Any, view: memoryview) -> int:
    """Read until the view is full or the file ends; return the bytes read."""
    done = 0
    while done < len(view):
        got = file.readinto(view[done:])
        if not got:
            break
        done += got
    return done


def _header(path: Path) -> tuple[tuple[int, ...], np.dtype[Any], int, bool]:
    try:
        with path.open("rb") as file:
            shape, by_columns, dtype = _HEADERS[npy.read_magic(file)](file)
            offset = file.tell()
    except FileNotFoundError as error:
        raise _vanished(path) from error
    except ARRAY_DAMAGE as error:
        raise InvalidInputError(
            f"{path} is not a readable .npy file ({first_line(error)})."
        ) from error
    if dtype.hasobject or dtype.kind not in "fiu":
        raise InvalidInputError(f"{path} must hold numbers; got type {dtype}.")
    return shape, dtype, offset, by_columns and len(shape) > 1


def _vanished(path: Path) -> MissingFileError:
    return MissingFileError(
        f"There is no file {str(path)!r}. If it was there before, put it back; a checkpoint lets "
        "the pass continue."
    )


META = "meta.json"
VERSION = 1
KIND = "zslearn feature store"


class FeatureStore:
    """Features in a folder: ``X.npy`` or ``X-00000.npy`` and so on, with ``y.npy`` or ``y-*.npy``.

    This is what `write_store` writes, and what `zslearn.datasets.load_imagenet` reads: with
    ``seen.txt`` and ``unseen.txt`` the labels count through both, and training is on rows of the
    seen classes alone.

    Parameters
    ----------
    folder : path-like
        The store.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from zslearn.encoders import FeatureStore, write_store
    >>> batches = [(np.ones((3, 2)), ["cat", "dog", "cat"]), (np.zeros((1, 2)), ["dog"])]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = FeatureStore(write_store(folder + "/s", batches))
    ...     store.n_rows, store.n_features, store.names[store.labels()].tolist()
    (4, 2, ['cat', 'dog', 'cat', 'dog'])
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        _check_complete(self.folder)
        self._shards = [NpyFile(path) for path in _parts(self.folder, "X")]
        self._label_files = _parts(self.folder, "y")
        widths = {shard.shape[1] for shard in self._shards}
        if len(widths) > 1:
            raise InvalidInputError(
                f"the shards of {folder} have {sorted(widths)} features; a store needs one number."
            )
        self.n_features = widths.pop()
        self._starts = np.cumsum([0, *(shard.shape[0] for shard in self._shards)])
        self.n_rows = int(self._starts[-1])
        self.names, self.seen = _class_names(self.folder)
        said = read_description(self.folder).get("encoder")
        self.encoder = None if said is None else EncoderIdentity.from_dict(said)
        self._y: NDArray[Any] | None = None

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the features of these rows, also across shards."""
        pieces = []
        for shard, first in zip(self._shards, self._starts, strict=False):
            low, high = max(start - first, 0), min(stop - first, shard.shape[0])
            if low < high:
                pieces.append(shard.read(int(low), int(high)))
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def labels(self) -> NDArray[Any]:
        """Return the labels of all rows: class numbers if the store names its classes."""
        if self._y is None:
            self._y = self._read_labels()
        return self._y

    def shards(self) -> list[list[Any]]:
        """Return name, shape and type of every file of features."""
        return [[shard.path.name, *shard.shape, str(shard.dtype)] for shard in self._shards]

    def files(self) -> list[Path]:
        """Return the files of features."""
        return [shard.path for shard in self._shards]

    def _read_labels(self) -> NDArray[Any]:
        try:
            y = np.concatenate([np.load(path, allow_pickle=False) for path in self._label_files])
        except ARRAY_DAMAGE as error:
            raise InvalidInputError(
                f"the labels of {self.folder} are damaged ({first_line(error)})."
            ) from error
        if y.shape != (self.n_rows,):
            raise InvalidInputError(
                f"{self.folder} holds {self.n_rows} rows of features and labels of shape {y.shape}."
            )
        if self.names is not None and len(y) and not 0 <= y.min() <= y.max() < len(self.names):
            raise InvalidInputError(
                f"{self.folder} names {len(self.names)} classes; its labels run from {y.min()} to "
                f"{y.max()}."
            )
        return y


def write_store(
    folder: str | os.PathLike[str],
    batches: Iterable[tuple[Any, Any]],
    *,
    dtype: str = "float32",
    shard_rows: int = 65536,
) -> Path:
    """Write labeled features as a store.

    Files are written under temporary names. The description, ``meta.json``, says from the first
    moment that the store is not complete and is replaced last; a store whose writing was broken
    off is not read, and writing it again starts over. Text labels are stored as numbers, their
    names in the description.

    Parameters
    ----------
    folder : path-like
        Where to; made if it is not there. It must not hold a store.
    batches : iterable of (X, y)
        Features of shape (n, n_features) and n labels.
    dtype : {"float32", "float16", "float64"}, default="float32"
        Numbers on disk.
    shard_rows : int, default=65536
        Rows of a shard.

    Returns
    -------
    Path
        The folder.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from zslearn.encoders import write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_store(folder + "/s", [(np.eye(3), [0, 1, 1])], shard_rows=2)
    ...     sorted(file.name for file in path.iterdir())
    ['X-00000.npy', 'X-00001.npy', 'meta.json', 'y.npy']
    """
    if dtype not in ("float16", "float32", "float64"):
        raise InvalidInputError(f"dtype must be float16, float32 or float64; got {dtype!r}.")
    root = Path(folder)
    _start(root)
    labels: list[NDArray[Any]] = []
    waiting: list[NDArray[Any]] = []
    sizes: list[int] = []
    n_features = None
    for number, batch in enumerate(batches):
        X, y = checked_batch(batch, number, n_features)
        n_features = X.shape[1]
        waiting.append(X.astype(dtype))
        labels.append(y)
        while sum(map(len, waiting)) >= shard_rows:
            rows = np.concatenate(waiting)
            sizes.append(_write_shard(root, len(sizes), rows[:shard_rows]))
            waiting = [rows[shard_rows:]]
    if n_features is None:
        raise InvalidInputError("there is no batch to write.")
    rest = np.concatenate(waiting)
    if len(rest) or not sizes:
        sizes.append(_write_shard(root, len(sizes), rest))
    _write_description(root, np.concatenate(labels), n_features, dtype, sizes)
    return root


def _start(root: Path) -> None:
    """Make the folder, without what a killed process left, and mark it as not complete."""
    found = sorted(root.glob("X*.npy"))
    if found and read_description(root).get("complete", True):
        raise InvalidInputError(f"{root} holds features already; choose an empty folder.")
    root.mkdir(parents=True, exist_ok=True)
    _write_json(root / META, {"kind": KIND, "version": VERSION, "complete": False})
    for path in (*found, root / "y.npy"):
        path.unlink(missing_ok=True)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with replacing(path) as file:
        file.write(json.dumps(content, indent=1).encode())


def _write_shard(root: Path, number: int, rows: NDArray[Any]) -> int:
    with replacing(root / f"X-{number:05d}.npy") as file:
        np.save(file, rows, allow_pickle=False)
    return len(rows)


def _write_description(
    root: Path, y: NDArray[Any], n_features: int, dtype: str, sizes: list[int]
) -> None:
    meta: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "n_features": n_features,
        "dtype": dtype,
        "rows": sizes,
    }
    if y.dtype.kind not in "iu":
        names, y = np.unique(y.astype(str), return_inverse=True)
        meta["classes"] = names.tolist()
    with replacing(root / "y.npy") as file:
        np.save(file, y, allow_pickle=False)
    _write_json(root / META, meta)


def _parts(folder: Path, letter: str) -> list[Path]:
    """Return ``X.npy`` or ``X-00000.npy`` and so on, as the description lists them if it does."""
    single = folder / f"{letter}.npy"
    if single.is_file():
        return [single]
    shards = sorted(folder.glob(f"{letter}-*.npy"))
    listed = read_description(folder).get("rows")
    if letter == "X" and isinstance(listed, list):
        shards = [folder / f"X-{number:05d}.npy" for number in range(len(listed))]
    if not shards:
        raise MissingFileError(
            f"{folder} is no feature store: it has neither {letter}.npy nor {letter}-00000.npy."
        )
    return shards


def read_description(folder: Path) -> dict[str, Any]:
    """Return what ``meta.json`` says of a store; nothing where there is none."""
    path = folder / META
    meta = read_json_object(path)
    if meta.get("kind", KIND) != KIND or meta.get("version", VERSION) != VERSION:
        raise InvalidInputError(f"{path} describes something else than a feature store.")
    classes = meta.get("classes")
    if classes is not None and not are_texts(classes):
        raise InvalidInputError(f"{path} must list the names of classes as texts.")
    return meta


def are_texts(values: Any) -> bool:
    """Say whether a value of a description is a list of texts."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _check_complete(folder: Path) -> None:
    """Refuse a folder whose writer was broken off: of shards without a description, or marked."""
    whole = any((folder / name).is_file() for name in (META, "X.npy", "seen.txt"))
    shards = any(folder.glob("X-*.npy"))
    if (shards and not whole) or not read_description(folder).get("complete", True):
        raise InvalidInputError(
            f"{folder} is not complete: its writing was broken off. Write it again by write_store, "
            "which starts over."
        )


def _class_names(folder: Path) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Return the names the labels count, and the seen ones if they are told apart."""
    listed = read_description(folder).get("classes")
    if isinstance(listed, list):
        return np.array(listed), None

    files = [folder / "seen.txt", folder / "unseen.txt"]
    if not all(path.is_file() for path in files):
        return None, None
    seen, unseen = (read_names(path) for path in files)
    return np.array([*seen, *unseen]), np.array(seen)
