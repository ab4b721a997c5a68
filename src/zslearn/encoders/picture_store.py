"""Vectors of pictures on disk: a store that knows its samples and its encoder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line, naming, replacing
from zslearn.encoders.base import EncoderIdentity
from zslearn.encoders.store import META, are_texts, read_description
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures.files import ARRAY_DAMAGE

_IN_MEMORY = 2**30  # bytes of features that are read; more are mapped


@dataclass(frozen=True, eq=False)
class PictureStore:
    """Features of pictures, as `extract_features` wrote them.

    Attributes
    ----------
    folder : Path
        Where they are.
    X : ndarray of shape (n_samples, n_features), float32
        The vectors; a memory map above 1 GB.
    y : ndarray of str of shape (n_samples,), or None
        Classes; None for pictures without.
    samples : tuple of str
        Names of the pictures inside their folder.
    sha256 : tuple of str
        SHA-256 of their files.
    encoder : EncoderIdentity
        What made the vectors.
    refused : dict of str to str
        Pictures that could not be read, and why.
    duplicates : tuple of tuple of str
        Pictures that are the same file, byte for byte.
    """

    folder: Path
    X: NDArray[np.float32]
    y: NDArray[np.str_] | None
    samples: tuple[str, ...]
    sha256: tuple[str, ...]
    encoder: EncoderIdentity
    refused: dict[str, str]
    duplicates: tuple[tuple[str, ...], ...]

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> PictureStore:
        """Open a complete store.

        Parameters
        ----------
        folder : path-like
            The store.

        Returns
        -------
        PictureStore

        Raises
        ------
        MissingFileError
            If it is no store, or not complete.
        InvalidInputError
            If it is damaged.
        """
        root = Path(folder)
        meta = read_meta(root)
        with naming(root):
            try:
                X = np.load(root / "X.npy", mmap_mode="r", allow_pickle=False)
                y = _labels(root, meta)
                stored = json.loads((root / "samples.json").read_text("utf-8"))
                samples, sha256 = (_texts(stored[key]) for key in ("names", "sha256"))
                encoder = EncoderIdentity.from_dict(meta["encoder"])
                refused, duplicates = dict(meta["refused"]), tuple(map(tuple, meta["duplicates"]))
            except FileNotFoundError:
                raise
            except ARRAY_DAMAGE as error:
                raise InvalidInputError(
                    f"the store is damaged ({first_line(error)}). Make it again."
                ) from error
            lengths = {len(samples), len(sha256), *(y.shape if y is not None else ())}
            if X.ndim != 2 or X.dtype != np.float32 or lengths != {len(X)}:
                raise InvalidInputError("the store is damaged: its files do not fit together.")
        X = X if X.nbytes > _IN_MEMORY else np.array(X)
        return cls(root, X, y, samples, sha256, encoder, refused, duplicates)


def is_picture_store(folder: str | os.PathLike[str]) -> bool:
    """Say whether a folder is a complete store of vectors of pictures."""
    root = Path(folder)
    return (root / META).is_file() and (root / "samples.json").is_file()


def read_meta(root: Path) -> dict[str, Any]:
    """Read the description of a complete store of pictures."""
    meta = read_description(root)
    if not meta:
        raise MissingFileError(
            f"{root} is no complete store of pictures: it has no {META}. Make it by zslearn "
            "features."
        )
    if "encoder" not in meta:
        raise InvalidInputError(f"the store {root} was not made from pictures by an encoder.")
    return meta


def publish(root: Path) -> None:
    """Move a store that is ready in the folder ``parts`` to its place; the description comes last.

    Broken off, it is done again by the next run: there is no moment at which files of an old and a
    new store pass for one.
    """
    parts = root / "parts"
    labeled = read_description(parts).get("classes") is not None
    (root / META).unlink(missing_ok=True)
    for name in ("X.npy", "y.npy", "samples.json"):
        if (parts / name).exists():
            os.replace(parts / name, root / name)
    if not labeled:
        (root / "y.npy").unlink(missing_ok=True)
    os.replace(parts / META, root / META)
    shutil.rmtree(parts)


def write_vectors(path: Path, rows: Iterator[NDArray[np.float32]], n: int) -> tuple[int, int]:
    """Write vectors of float32 as a matrix, one of them in memory at a time; return its shape."""
    first = next(rows)
    shape = n, len(first)
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    with replacing(path) as file:
        np.lib.format.write_array_header_1_0(file, header)
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


def _texts(values: Any) -> tuple[str, ...]:
    if not are_texts(values):
        raise ValueError("a list of texts is something else")
    return tuple(values)


def _labels(root: Path, meta: dict[str, Any]) -> NDArray[np.str_] | None:
    if meta.get("classes") is None:
        return None
    numbers = np.load(root / "y.npy", allow_pickle=False)
    if numbers.size and numbers.min() < 0:
        raise ValueError("a class has a negative number")
    labels: NDArray[np.str_] = np.array(meta["classes"], dtype=str)[numbers]
    return labels
