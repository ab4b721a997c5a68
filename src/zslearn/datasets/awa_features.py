"""Feature folders of Animals with Attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import read_names
from zslearn.datasets.feature_files import read_array
from zslearn.exceptions import InvalidInputError

Features = tuple[NDArray[Any], NDArray[Any], list[str] | None]


def feature_folders(folder: Path) -> dict[str, Path]:
    """Return the folders of features by name."""
    top = [folder / name for name in ("Features", "features") if (folder / name).is_dir()]
    return {path.name: path for path in sorted(top[0].iterdir()) if path.is_dir()} if top else {}


def read_awa_features(folder: Path, classes: list[str]) -> Features:
    """Read one folder of features, whichever way it stores them."""
    if (folder / "AwA2-features.txt").is_file():
        return _one_file(folder, classes)
    parts = {name: _class_features(folder, name) for name in classes}
    found = {name: part for name, part in parts.items() if part is not None}
    if not found:
        raise InvalidInputError(
            f"{folder} holds no features: neither AwA2-features.txt, nor {classes[0]}.npy, nor "
            f"{classes[0]}/{classes[0]}_0001.txt and the like."
        )
    widths = {name: X.shape[1] for name, (X, _) in found.items()}
    if len(set(widths.values())) > 1:
        raise InvalidInputError(f"{folder}: classes differ in the number of features: {widths}.")
    y = np.repeat(list(found), [len(X) for X, _ in found.values()])
    files = [file for _, names in found.values() for file in names]
    return np.concatenate([X for X, _ in found.values()]), y, files


def _class_features(folder: Path, name: str) -> tuple[NDArray[Any], list[str]] | None:
    """Read the features of one class with the names of their samples; None if there are none."""
    if (folder / f"{name}.npy").is_file():
        X = read_array(folder / f"{name}.npy", "X")
        if X.ndim != 2:
            raise InvalidInputError(f"{folder / name}.npy must be a matrix; got shape {X.shape}.")
        return X, [f"{name}/{row}" for row in range(len(X))]
    paths = sorted((folder / name).glob("*.txt"))
    if not paths:
        return None
    vectors = [_vector(path) for path in paths]
    odd = [path for path, v in zip(paths, vectors, strict=True) if len(v) != len(vectors[0])]
    if odd:
        raise InvalidInputError(
            f"{odd[0]} has a different number of features than {paths[0].name}, {len(vectors[0])}."
        )
    return np.stack(vectors), [f"{name}/{path.stem}" for path in paths]


def _vector(path: Path) -> NDArray[np.float32]:
    try:
        return np.array(path.read_text("ascii").split(), np.float32)
    except ValueError as error:
        raise InvalidInputError(f"{path} does not hold one vector of numbers ({error}).") from error


def _one_file(folder: Path, classes: list[str]) -> Features:
    """Read the second edition's files: one sample per line, labels counted from 1."""
    try:
        X = np.loadtxt(folder / "AwA2-features.txt", dtype=np.float32, ndmin=2)
        labels = np.loadtxt(folder / "AwA2-labels.txt", ndmin=1).astype(np.intp)
    except (ValueError, OSError) as error:
        raise InvalidInputError(f"{folder}: {error}") from error
    if labels.min() < 1 or labels.max() > len(classes):
        raise InvalidInputError(
            f"{folder}: labels run from {labels.min()} to {labels.max()}; classes.txt has "
            f"{len(classes)}, counted from 1."
        )
    names = folder / "AwA2-filenames.txt"
    return X, np.array(classes)[labels - 1], read_names(names) if names.is_file() else None
