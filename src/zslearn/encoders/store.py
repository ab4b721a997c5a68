"""The store: vectors in a folder, with labels, names or texts of the samples, and their encoder.

::

    tickets.store/
      meta.json        what it is: version, classes, encoder, which samples were refused
      X.npy            the vectors; or shards X-00000.npy, X-00001.npy, ...
      y.npy            class numbers, if there are classes
      samples.jsonl    name, SHA-256 and text of each sample; absent for plain features

Stores of version 1 are read: those of pictures have names and SHA-256 in ``samples.json``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from zslearn._files import damaged, read_json_object, read_names, replacing
from zslearn.core.moment_pass import checked_batch
from zslearn.encoders.base import EncoderIdentity
from zslearn.exceptions import InvalidInputError, MissingFileError

META = "meta.json"
VERSION = 2
KIND = "zslearn feature store"
_IN_MEMORY = 2**30  # bytes of features that are read; more are mapped
_AGAIN = "Make the store again."
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


@dataclass(frozen=True)
class Samples(Sequence[str]):
    """The samples of a store: a sequence of their names, with what else is known of each.

    Attributes
    ----------
    names : tuple of str
        Names of pictures inside their folder, or of the rows of a table of texts.
    sha256 : tuple of str
        SHA-256 of the files, or of the texts in UTF-8.
    texts : tuple of str or None
        The texts; None for pictures.
    cut : frozenset of int
        Rows of texts that are longer than the encoder reads.
    """

    names: tuple[str, ...]
    sha256: tuple[str, ...]
    texts: tuple[str, ...] | None = None
    cut: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[str, ...]: ...
    def __getitem__(self, row: int | slice) -> str | tuple[str, ...]:
        return self.names[row]


class Store:
    """Vectors in a folder: of pictures or texts by an encoder, or plain features.

    `build_store` makes one from samples, `write_store` from batches of features. A folder in the
    layout of `zslearn.datasets.load_imagenet` is read too: with ``seen.txt`` and ``unseen.txt``
    the labels count through both, and training is on rows of the seen classes alone.

    Parameters
    ----------
    folder : path-like
        The store.

    Attributes
    ----------
    folder : Path
        Where it is.
    n_rows, n_features : int
        Number and length of the vectors.
    classes : ndarray of str or None
        Class names, which the labels count.
    seen : ndarray of str or None
        The classes to train on, if they are told apart.
    encoder : EncoderIdentity or None
        What made the vectors; None for plain features.
    refused : dict of str to str
        Samples that could not be read, and why.
    duplicates : tuple of tuple of str
        Samples that are the same, byte for byte.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from zslearn.encoders import Store, write_store
    >>> batches = [(np.ones((3, 2)), ["cat", "dog", "cat"]), (np.zeros((1, 2)), ["dog"])]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store.open(write_store(folder + "/s", batches))
    ...     store.X.shape, store.y.tolist()
    ((4, 2), ['cat', 'dog', 'cat', 'dog'])
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._meta = meta = read_description(self.folder)
        self._check_complete()
        self._shards = [NpyFile(path) for path in self._vector_files()]
        widths = {shard.shape[1] for shard in self._shards}
        if len(widths) > 1:
            raise InvalidInputError(
                f"the shards of {folder} have {sorted(widths)} features; a store needs one number."
            )
        self.n_features = widths.pop()
        self._starts = np.cumsum([0, *(shard.shape[0] for shard in self._shards)])
        self.n_rows = int(self._starts[-1])
        self.classes, self.seen = _class_names(self.folder, meta)
        said = meta.get("encoder")
        self.encoder = None if said is None else EncoderIdentity.from_dict(said)
        with damaged(self.folder / META, "description of a store", _AGAIN):
            self.refused: dict[str, str] = dict(meta.get("refused", {}))
            self.duplicates = tuple(map(tuple, meta.get("duplicates", ())))
        if self.encoder is not None and self.is_labeled:
            self.labels()  # what was made by an encoder is small enough to be checked at once

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Store:
        """Open a complete store.

        Parameters
        ----------
        folder : path-like
            The store.

        Returns
        -------
        Store

        Raises
        ------
        MissingFileError
            If it is no store, or not complete.
        InvalidInputError
            If it is damaged.
        """
        return cls(folder)

    @property
    def X(self) -> NDArray[Any]:
        """All vectors; a memory map above 1 GB, if they are in one file."""
        size = sum(shard.shape[0] * shard.shape[1] * shard.dtype.itemsize for shard in self._shards)
        if len(self._shards) == 1 and size > _IN_MEMORY:
            mapped: NDArray[Any] = np.load(self._shards[0].path, mmap_mode="r", allow_pickle=False)
            return mapped
        return self._in_memory

    @property
    def y(self) -> NDArray[Any] | None:
        """Class names of all rows, or numbers where the classes have no names; None without."""
        if not self.is_labeled:
            return None
        return self.labels() if self.classes is None else self.classes[self.labels()]

    @property
    def is_labeled(self) -> bool:
        """Whether the rows have classes."""
        if self.encoder is not None and self.classes is None:
            return False
        return bool(self._label_files())

    @cached_property
    def samples(self) -> Samples:
        """Names, SHA-256 and texts of the samples; plain features have none."""
        if self.encoder is None:
            raise InvalidInputError(f"{self.folder} holds plain features, not samples.")
        old = self._meta.get("version", VERSION) == 1
        path = self.folder / ("samples.json" if old else "samples.jsonl")
        found = _read_samples(path)
        if len(found) != self.n_rows:
            raise InvalidInputError(
                f"{self.folder} is damaged: it holds {self.n_rows} vectors of {len(found)} samples."
                f" {_AGAIN}"
            )
        return found

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the vectors of these rows, also across shards."""
        pieces = []
        for shard, first in zip(self._shards, self._starts, strict=False):
            low, high = max(start - first, 0), min(stop - first, shard.shape[0])
            if low < high:
                pieces.append(shard.read(int(low), int(high)))
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def labels(self) -> NDArray[Any]:
        """Return the labels of all rows: class numbers if the store names its classes."""
        return self._labels

    def shards(self) -> list[list[Any]]:
        """Return name, shape and type of every file of vectors."""
        return [[shard.path.name, *shard.shape, str(shard.dtype)] for shard in self._shards]

    def files(self) -> list[Path]:
        """Return the files of vectors."""
        return [shard.path for shard in self._shards]

    @cached_property
    def _in_memory(self) -> NDArray[Any]:
        return self.read(0, self.n_rows)

    @cached_property
    def _labels(self) -> NDArray[Any]:
        files = self._label_files()
        if not files:
            raise MissingFileError(
                f"{self.folder} has no labels: neither y.npy nor y-00000.npy is there."
            )
        with damaged(self.folder, "file of labels", _AGAIN):
            y = np.concatenate([np.load(path, allow_pickle=False) for path in files])
        if y.shape != (self.n_rows,) or y.dtype.names is not None:
            raise InvalidInputError(
                f"{self.folder} is damaged: it holds {self.n_rows} rows of features and labels of "
                f"shape {y.shape} and type {y.dtype}."
            )
        names = self.classes
        if names is not None and y.dtype.kind not in "iu":
            raise InvalidInputError(
                f"{self.folder} is damaged: its labels are numbers of classes, not {y.dtype}."
            )
        if names is not None and len(y) and not 0 <= y.min() <= y.max() < len(names):
            raise InvalidInputError(
                f"{self.folder} names {len(names)} classes; its labels run from {y.min()} to "
                f"{y.max()}."
            )
        return y

    def _check_complete(self) -> None:
        """Refuse a folder whose writer was broken off, or is still at work."""
        root = self.folder
        whole = any((root / name).is_file() for name in (META, "X.npy", "seen.txt"))
        shards = any(root.glob("X-*.npy"))
        if (root / "parts").is_dir() and not (root / META).is_file():
            raise MissingFileError(
                f"{root} is no complete store: it has no {META}. Run zslearn features again, which "
                "continues."
            )
        if (shards and not whole) or not self._meta.get("complete", True):
            raise InvalidInputError(
                f"{root} is not complete: its writing was broken off. Write it again by "
                "write_store, which starts over."
            )

    def _vector_files(self) -> list[Path]:
        """Return ``X.npy`` or ``X-00000.npy`` and so on, as the description lists them."""
        root = self.folder
        listed = self._meta.get("rows")
        if (root / "X.npy").is_file():
            return [root / "X.npy"]
        if isinstance(listed, list) and listed:
            return [root / f"X-{number:05d}.npy" for number in range(len(listed))]
        shards = sorted(root.glob("X-*.npy"))
        if not shards:
            raise MissingFileError(
                f"{root} is no complete store: it has neither X.npy nor X-00000.npy. Make it by "
                "zslearn features or write_store."
            )
        return shards

    def _label_files(self) -> list[Path]:
        single = self.folder / "y.npy"
        return [single] if single.is_file() else sorted(self.folder.glob("y-*.npy"))


def is_store(folder: str | os.PathLike[str]) -> bool:
    """Say whether a folder is a complete store of vectors that an encoder made."""
    root = Path(folder)
    samples = ("samples.jsonl", "samples.json")
    return (root / META).is_file() and any((root / name).is_file() for name in samples)


def read_description(folder: Path) -> dict[str, Any]:
    """Return what ``meta.json`` says of a store; nothing where there is none."""
    path = folder / META
    meta = read_json_object(path)
    if meta.get("kind", KIND) != KIND or meta.get("version", VERSION) not in (1, VERSION):
        raise InvalidInputError(f"{path} describes something else than a feature store.")
    classes = meta.get("classes")
    if classes is not None and not _are_texts(classes):
        raise InvalidInputError(f"{path} must list the names of classes as texts.")
    return meta


def _class_names(
    folder: Path, meta: dict[str, Any]
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Return the names the labels count, and the seen ones if they are told apart."""
    listed = meta.get("classes")
    if isinstance(listed, list):
        return np.array(listed, dtype=str), None
    files = [folder / "seen.txt", folder / "unseen.txt"]
    if not all(path.is_file() for path in files):
        return None, None
    seen, unseen = (read_names(path) for path in files)
    return np.array([*seen, *unseen]), np.array(seen)


def _read_samples(path: Path) -> Samples:
    """Read the list of samples, of either version."""
    if not path.is_file():
        raise InvalidInputError(f"{path.parent} is damaged: {path.name} is missing. {_AGAIN}")
    with damaged(path, "list of samples", _AGAIN):
        content = path.read_text("utf-8")
        if path.suffix == ".json":
            pairs = zip(*(json.loads(content)[key] for key in ("names", "sha256")), strict=True)
            rows = [{"name": name, "sha256": sha256} for name, sha256 in pairs]
        else:
            rows = [json.loads(line) for line in content.splitlines()]
        names, sha256 = [row["name"] for row in rows], [row["sha256"] for row in rows]
        texts = [row["text"] for row in rows if "text" in row]
        if not _are_texts([*names, *sha256, *texts]):
            raise ValueError("a name, a checksum or a text is something else")
        if texts and len(texts) != len(names):
            raise ValueError("some samples have texts and some have none")
        cut = frozenset(row for row, one in enumerate(rows) if one.get("cut"))
    return Samples(tuple(names), tuple(sha256), tuple(texts) or None, cut)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def write_samples(path: Path, samples: Samples) -> None:
    """Write the list of samples, one per line: whole or not at all."""
    with replacing(path) as file:
        for row, (name, sha256) in enumerate(zip(samples.names, samples.sha256, strict=True)):
            facts: dict[str, Any] = {"name": name, "sha256": sha256}
            if samples.texts is not None:
                facts["text"] = samples.texts[row]
            if row in samples.cut:
                facts["cut"] = True
            file.write(json.dumps(facts).encode("ascii") + b"\n")


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
    write_json(root / META, {"kind": KIND, "version": VERSION, "complete": False})
    for path in (*found, root / "y.npy"):
        path.unlink(missing_ok=True)


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
        "classes": None,
        "encoder": None,
    }
    if y.dtype.kind not in "iu":
        names, y = np.unique(y.astype(str), return_inverse=True)
        meta["classes"] = names.tolist()
    with replacing(root / "y.npy") as file:
        np.save(file, y, allow_pickle=False)
    write_json(root / META, meta)


def publish(root: Path) -> None:
    """Move a store that is ready in the folder ``parts`` to its place; the description comes last.

    Broken off, it is done again by the next run: there is no moment at which files of an old and a
    new store pass for one.
    """
    parts = root / "parts"
    labeled = read_description(parts).get("classes") is not None
    (root / META).unlink(missing_ok=True)
    for name in ("X.npy", "y.npy", "samples.jsonl"):
        if (parts / name).exists():
            os.replace(parts / name, root / name)
    if not labeled:
        (root / "y.npy").unlink(missing_ok=True)
    (root / "samples.json").unlink(missing_ok=True)  # of version 1
    os.replace(parts / META, root / META)
    shutil.rmtree(parts)


def write_vectors(path: Path, rows: Iterator[NDArray[np.float32]], n: int) -> tuple[int, int]:
    """Write vectors of float32 as a matrix, one of them in memory at a time; return its shape."""
    first = next(rows)
    shape = n, len(first)
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    with replacing(path) as file:
        npy.write_array_header_1_0(file, header)
        for row in chain([first], rows):
            if row.shape != first.shape:
                raise ValueError(f"vectors of the shapes {first.shape} and {row.shape}")
            file.write(np.ascontiguousarray(row, "<f4").tobytes())
    return shape


def write_labels(root: Path, labels: Sequence[str | None]) -> list[str] | None:
    """Write labels as numbers and return the class names; None where there are no labels."""
    if any(label is None for label in labels):
        return None
    names, y = np.unique(np.array(labels, dtype=str), return_inverse=True)
    with replacing(root / "y.npy") as file:
        np.save(file, y, allow_pickle=False)
    classes: list[str] = names.tolist()
    return classes


def write_json(path: Path, value: Any) -> None:
    """Write JSON: whole or not at all."""
    with replacing(path) as file:
        file.write(json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8"))


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
        with path.open("rb") as file, damaged(path, ".npy file"):
            shape, by_columns, dtype = _HEADERS[npy.read_magic(file)](file)
            offset = file.tell()
    except FileNotFoundError as error:
        raise _vanished(path) from error
    if dtype.hasobject or dtype.kind not in "fiu":
        raise InvalidInputError(f"{path} must hold numbers; got type {dtype}.")
    return shape, dtype, offset, by_columns and len(shape) > 1


def _vanished(path: Path) -> MissingFileError:
    return MissingFileError(
        f"There is no file {str(path)!r}. If it was there before, put it back; a checkpoint lets "
        "the pass continue."
    )
