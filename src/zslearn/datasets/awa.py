"""Animals with Attributes as its authors released it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import read_names
from zslearn.datasets.awa_features import feature_folders, read_awa_features
from zslearn.datasets.awa_names import PROPOSED_UNSEEN, STANDARD_UNSEEN
from zslearn.datasets.citations import AWA, XLSA17
from zslearn.datasets.class_split import ClassSplit
from zslearn.datasets.dataset import ZeroShotDataset
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures import Signatures

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
