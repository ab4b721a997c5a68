"""Animals with Attributes as its authors released it."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import read_names
from zslearn.datasets.dataset import AWA, XLSA17, ClassSplit, ZeroShotDataset
from zslearn.datasets.table import read_array
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures import Signatures

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


# The ten test classes of Lampert et al. (2009).
STANDARD_UNSEEN = (
    "chimpanzee",
    "giant+panda",
    "leopard",
    "persian+cat",
    "pig",
    "hippopotamus",
    "humpback+whale",
    "raccoon",
    "rat",
    "seal",
)

# The ten test classes of Xian et al. (2019), none of them in ImageNet.
PROPOSED_UNSEEN = (
    "sheep",
    "dolphin",
    "bat",
    "seal",
    "blue+whale",
    "rat",
    "horse",
    "walrus",
    "giraffe",
    "bobcat",
)


def attribute_names() -> list[str]:
    """Return the 85 attributes in the order of ``predicates.txt``."""
    with (files("zslearn.datasets") / "data" / "animals28.npz").open("rb") as file:
        with np.load(file, allow_pickle=False) as archive:
            names: list[str] = archive["attribute_names"].tolist()
            return names


_MATRICES = {
    "attributes": "predicate-matrix-continuous.txt",
    "binary attributes": "predicate-matrix-binary.txt",
}


def load_awa(
    folder: str | os.PathLike[str],
    features: str | None = None,
    *,
    feature_home: str | os.PathLike[str] | None = None,
) -> ZeroShotDataset:
    """Load Animals with Attributes, first or second edition, from its own text files.

    Parameters
    ----------
    folder : path-like
        Folder with ``classes.txt``, ``predicates.txt``, ``predicate-matrix-continuous.txt`` or
        ``predicate-matrix-binary.txt`` or both, and if present ``testclasses.txt``.
    features : str or None, default=None
        Name of a folder in ``Features``; None loads attributes and splits only: `X` is then of
        shape (0, 0). In ``Features/<name>`` are accepted:

        - ``<class>/<class>_0001.txt`` and so on, one vector per file (first edition),
        - ``<class>.npy``, one matrix (n_samples, n_features) per class,
        - ``AwA2-features.txt``, ``AwA2-labels.txt`` and if present ``AwA2-filenames.txt``, one
          sample a line (second edition).
    feature_home : path-like, default=None
        Folder with ``Features``, where it is not `folder`.

    Returns
    -------
    ZeroShotDataset
        With the semantic spaces "attributes" (0 to 100; values missing at the source, marked −1,
        are 0) and "binary attributes", and the splits "standard" (Lampert et al.), "proposed"
        (Xian et al., classes only) and, where ``testclasses.txt`` names other classes, "listed".
        No split holds back rows of seen classes.

    Raises
    ------
    MissingFileError
        If a file is missing.
    InvalidInputError
        If the files do not fit together.

    References
    ----------
    C. H. Lampert, H. Nickisch, S. Harmeling. Learning to detect unseen object classes by
    between-class attribute transfer. CVPR 2009.

    Examples
    --------
    >>> from zslearn.datasets import load_awa
    >>> load_awa("Animals_with_Attributes2", "ResNet101").X.shape  # doctest: +SKIP
    (37322, 2048)
    """
    path = Path(folder)
    if not path.is_dir():
        raise MissingFileError(f"There is no folder {str(path)!r}; check the path.")
    classes, dimensions = read_names(path / "classes.txt"), read_names(path / "predicates.txt")
    X, y, files = _features(Path(feature_home or path), features, classes)
    return ZeroShotDataset(
        name=path.resolve().name,
        X=X,
        y=y,
        semantics=_semantics(path, classes, dimensions),
        splits=_splits(path, classes),
        image_files=files,
        features="not loaded" if features is None else f"{features}, {X.shape[1]} dimensions",
        source="Animals with Attributes, text files of the release",
        citation=f"{AWA}\n{XLSA17}",
    )


def _features(
    folder: Path, features: str | None, classes: list[str]
) -> tuple[NDArray[Any], NDArray[Any], list[str] | None]:
    if features is None:
        return np.empty((0, 0)), np.empty(0, "U1"), None
    present = feature_folders(folder)
    if features not in present:
        raise MissingFileError(
            f"There are no features {features!r} in {folder / 'Features'}; features there: "
            f"{', '.join(present) or 'none'}. features=None loads attributes and splits only."
        )
    return read_awa_features(present[features], classes)


def _semantics(folder: Path, classes: list[str], dimensions: list[str]) -> dict[str, Signatures]:
    """Read the attribute tables that are there."""
    spaces = {
        name: Signatures(classes, _matrix(folder / file, classes, dimensions), dimensions)
        for name, file in _MATRICES.items()
        if (folder / file).is_file()
    }
    if not spaces:
        raise MissingFileError(f"{folder} has neither {' nor '.join(_MATRICES.values())}.")
    return spaces


def _matrix(path: Path, classes: list[str], dimensions: list[str]) -> NDArray[np.float64]:
    """Read a table of classes × attributes, missing values as 0."""
    try:
        table = np.loadtxt(path, ndmin=2)
    except ValueError as error:
        raise InvalidInputError(f"{path}: {error}") from error
    if table.shape != (len(classes), len(dimensions)):
        raise InvalidInputError(
            f"{path} is a table of {table.shape[0]} × {table.shape[1]} numbers; classes.txt and "
            f"predicates.txt name {len(classes)} classes and {len(dimensions)} attributes."
        )
    return np.where(table == -1, 0.0, table)


def _splits(folder: Path, classes: list[str]) -> dict[str, ClassSplit]:
    """Return the published splits that fit the classes, and the listed one if it is another."""
    unseen = {"standard": list(STANDARD_UNSEEN), "proposed": list(PROPOSED_UNSEEN)}
    if (folder / "testclasses.txt").is_file():
        listed = read_names(folder / "testclasses.txt")
        if set(listed) not in [set(names) for names in unseen.values()]:
            unseen["listed"] = listed
    return {
        name: ClassSplit([label for label in classes if label not in held_out], held_out)
        for name, held_out in unseen.items()
        if set(held_out) < set(classes)
    }
