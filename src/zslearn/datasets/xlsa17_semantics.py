"""The split files of an xlsa17 folder: signatures of the classes and 0-based rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets.awa_names import attribute_names
from zslearn.datasets.matlab import read_indices, read_matlab, read_matrix
from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures

ROWS = ("trainval_loc", "test_seen_loc", "test_unseen_loc", "train_loc", "val_loc")
_NAMED = {
    "att_splits": "attributes",
    "binaryAtt_splits": "binary attributes",
    "sent_splits": "sentences",
}


@dataclass(frozen=True)
class SplitFile:
    """What a split file says: semantic spaces, and rows under their names without ``_loc``.

    `raw` holds the attributes as they were collected, if `spaces` holds them normalized.
    """

    path: Path
    classes: list[str]
    spaces: dict[str, Signatures]
    raw: dict[str, Signatures]
    rows: dict[str, NDArray[np.intp]]


def read_split_file(path: Path, attributes: str) -> SplitFile:
    """Read one split file; `attributes` is "normalized" or "original"."""
    stored = read_matlab(path, ("att", "original_att", "wv", "allclasses_names", *ROWS))
    if "att" not in stored:
        raise InvalidInputError(f"{path} has no matrix 'att', so it is not an xlsa17 split file.")
    for name in ("att", "original_att", "wv"):
        if name in stored:
            read_matrix(stored, name, path)
    classes = _class_names(stored, path)
    dimensions = _dimensions(path.parent, stored["att"].shape[0])
    title = _space_name(path.stem)
    spaces = {title: _signatures(classes, _att(stored, path, attributes), dimensions)}
    raw = {}
    if attributes == "normalized" and "original_att" in stored:
        raw = {title: _signatures(classes, _att(stored, path, "original"), dimensions)}
    if "wv" in stored:
        spaces["word vectors"] = _signatures(classes, stored["wv"], None)
    rows = {name[:-4]: _rows(stored, name, path) for name in ROWS if name in stored}
    return SplitFile(path, classes, spaces, raw, rows)


def other_spaces(folder: Path, first: SplitFile, attributes: str) -> dict[str, Signatures]:
    """Return the spaces of the folder's other split files, without those `first` has."""
    spaces: dict[str, Signatures] = {}
    for path in sorted(folder.glob("*_splits*.mat")):
        if path != first.path:
            found = read_split_file(path, _possible(path, attributes))
            for name, space in found.spaces.items():
                if name not in first.spaces and name not in spaces:
                    spaces[name] = _same_classes(space, first, path)
    return spaces


def _possible(path: Path, attributes: str) -> str:
    """Ask for original attributes only of the file that must have them."""
    return attributes if path.stem == "att_splits" else "normalized"


def _same_classes(space: Signatures, first: SplitFile, path: Path) -> Signatures:
    if set(space) != set(first.classes):
        raise InvalidInputError(
            f"{path.name} and {first.path.name} in {path.parent} name different classes, so they "
            "do not belong to one data set. Take one of them out of the folder."
        )
    return space.subset(first.classes)


def _space_name(stem: str) -> str:
    """Name the space of `att`: its known name, or else the file name without its ending."""
    if stem.startswith("att_splits"):
        return "attributes"
    return _NAMED.get(stem, stem.removesuffix("_splits"))


def _class_names(stored: dict[str, Any], path: Path) -> list[str]:
    """Return the class of each column of `att`."""
    n_classes = stored["att"].shape[1]
    names = stored.get("allclasses_names")
    if names is None:
        return [f"class{number}" for number in range(1, n_classes + 1)]
    if not isinstance(names, list) or len(names) != n_classes:
        raise InvalidInputError(
            f"{path}: allclasses_names must hold one name for each of the {n_classes} columns of "
            f"att; got {len(names) if isinstance(names, list) else type(names).__name__}."
        )
    return [name.strip() for name in names]


def _dimensions(folder: Path, n_dimensions: int) -> list[str] | None:
    """Return the names of AwA's attributes; other folders do not name theirs."""
    if folder.name.upper().startswith("AWA") and n_dimensions == 85:
        return attribute_names()
    return None


def _att(stored: dict[str, Any], path: Path, attributes: str) -> NDArray[np.float64]:
    """Return `att` or `original_att` with missing entries at 0."""
    att = np.array(stored["att"], np.float64)
    original = stored.get("original_att")
    if original is not None and original.shape != att.shape:
        raise InvalidInputError(
            f"{path}: att has the shape {att.shape} and original_att {original.shape}."
        )
    missing = _missing(att if original is None else np.asarray(original, np.float64))
    if attributes == "original":
        if original is None:
            raise InvalidInputError(
                f"{path} has no original_att. Use attributes='normalized', or a split file that "
                "has the original values."
            )
        att = np.array(original, np.float64)
    affected = missing.any(axis=0)
    with np.errstate(all="ignore"):  # a table refuses what is not finite
        length = np.linalg.norm(att[:, affected], axis=0)
        att[missing] = 0
        if attributes == "normalized":
            att[:, affected] *= length / np.linalg.norm(att[:, affected], axis=0)
    return att


def _missing(att: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Find the entries marked −1, which normalization has turned into one value per class.

    Columns whose negative entries differ are embeddings, in which nothing is missing.
    """
    negative = att < 0
    lowest, highest = (
        pick(np.where(negative, att, fill), axis=0)
        for pick, fill in ((np.min, np.inf), (np.max, -np.inf))
    )
    uniform = not negative.any() or np.allclose(
        lowest[negative.any(axis=0)], highest[negative.any(axis=0)], rtol=1e-9, atol=0
    )
    return negative if uniform else np.zeros_like(negative)


def _signatures(
    classes: list[str], columns: NDArray[Any], dimensions: list[str] | None
) -> Signatures:
    return Signatures(classes, np.asarray(columns, np.float64).T, dimensions)


def _rows(stored: dict[str, Any], name: str, path: Path) -> NDArray[np.intp]:
    """Turn MATLAB's 1-based indices into rows."""
    rows = read_indices(stored, name, path) - 1
    if rows.size and rows.min() < 0:
        raise InvalidInputError(
            f"{path}: {name} holds {rows.min() + 1}; xlsa17 files count from 1. "
            "Was it written from Python without adding 1?"
        )
    return rows
