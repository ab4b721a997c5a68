"""Folders of the xlsa17 benchmark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, check_value
from zslearn.datasets.citations import xlsa17_citation
from zslearn.datasets.dataset import ZeroShotDataset
from zslearn.datasets.matlab import matlab_names, read_indices, read_matlab, read_matrix
from zslearn.datasets.xlsa17_semantics import other_spaces, read_split_file
from zslearn.datasets.xlsa17_splits import find_splits
from zslearn.exceptions import InvalidInputError, MissingFileError, ZslearnError


def load_xlsa17(
    folder: str | os.PathLike[str],
    features: str | None = "res101",
    semantics: str = "att_splits",
    *,
    attributes: str = "normalized",
    repair: bool = False,
) -> ZeroShotDataset:
    """Load AWA1, AWA2, CUB, SUN, APY or FLO from a folder of the xlsa17 benchmark.

    MATLAB files of version 5 and 7.3 are read (the latter need ``pip install 'zslearn[data]'``).
    Indices become 0-based and labels become class names. Entries of the attributes that are
    missing at the source (marked −1, as in AwA) become 0.

    Parameters
    ----------
    folder : path-like
        Folder of one data set, for example ``xlsa17/data/CUB``.
    features : str or None, default="res101"
        Name of the feature file without ``.mat``; it holds ``features`` (n_features × n_samples)
        and ``labels``. None loads semantics and splits only: `X` is then of shape (0, 0).
    semantics : str, default="att_splits"
        Name of the split file without ``.mat``: it gives the rows of the splits and the first
        semantic space. The spaces of the folder's other split files come after it:
        "attributes", "word vectors" (matrix ``wv``), "sentences" (``sent_splits.mat``), "binary
        attributes" (``binaryAtt_splits.mat``).
    attributes : {"normalized", "original"}, default="normalized"
        Attributes of unit length per class (``att``) or as they were collected
        (``original_att``). Other spaces come as they are stored. Normalized ones come with the
        original ones as `raw`.
    repair : bool, default=False
        What to do where ``train_loc`` and ``val_loc`` hold test_seen images, as in version 1 of
        the files: False withholds the split "validation", so that asking for it raises with the
        numbers; True takes these images out of it. Every other split is free of this leak.

    Returns
    -------
    ZeroShotDataset
        Its splits, as far as the folder has them:

        - "proposed": trains on ``trainval_loc``, tests on ``test_seen_loc`` and
          ``test_unseen_loc``; classes are those of the rows.
        - "standard": AwA only, the ten test classes of Lampert et al.; no seen rows are held back.
        - "fold 1" to "fold 3": the class lists ``trainclasses1.txt``/``valclasses1.txt`` and so
          on, for choosing parameters, on rows of ``trainval_loc`` only.
        - "validation": the rows of ``train_loc`` and ``val_loc``.

        `extra` holds "leak", the number of test_seen images in ``train_loc`` and ``val_loc``, and
        "rows", the rows of the split file, 0-based.

    Raises
    ------
    MissingFileError
        If the folder or a file is missing; the message says which feature files are there.
    InvalidInputError
        If a file is damaged or the files do not belong to one data set.

    References
    ----------
    Y. Xian, C. H. Lampert, B. Schiele, Z. Akata. Zero-shot learning: a comprehensive evaluation of
    the good, the bad and the ugly. IEEE TPAMI 41(9), 2019.

    Examples
    --------
    >>> from zslearn.datasets import load_xlsa17
    >>> cub = load_xlsa17("xlsa17/data/CUB")  # doctest: +SKIP
    >>> cub.split("proposed")  # doctest: +SKIP
    ClassSplit(150 seen, 50 unseen, 7057 train rows, 1764 test_seen rows)
    """
    path = Path(folder)
    if not path.is_dir():
        raise MissingFileError(f"There is no folder {str(path)!r}; check the path.")
    check_value("attributes", attributes, Either("normalized", "original"))
    file = read_split_file(_split_path(path, semantics), attributes)
    spaces = file.spaces | other_spaces(path, file, attributes)
    X, y, images = _read_features(path, features, file.classes)
    found = find_splits(path, file, y, repair=repair)
    return ZeroShotDataset(
        name=path.resolve().name,
        X=X,
        y=y,
        semantics=spaces,
        splits=found.splits,
        image_files=images,
        features="not loaded" if features is None else f"{features}, {X.shape[1]} dimensions",
        source=f"xlsa17 folder, splits of {file.path.name}",
        citation=xlsa17_citation(path.resolve().name),
        withheld=found.withheld,
        raw=file.raw,
        extra={"leak": found.leak, "rows": file.rows},
    )


def feature_files(folder: Path) -> list[str]:
    """Return the names, without ending, of the files in `folder` that hold features."""
    found = []
    for path in sorted(folder.glob("*.mat")):
        if "splits" not in path.stem:
            try:
                names = matlab_names(path)
            except ZslearnError:
                continue
            found += [path.stem] if {"features", "labels"} <= set(names) else []
    return found


def _split_path(folder: Path, semantics: str) -> Path:
    path = folder / f"{semantics.removesuffix('.mat')}.mat"
    if path.is_file():
        return path
    present = [other.stem for other in sorted(folder.glob("*_splits*.mat"))]
    raise MissingFileError(
        f"There is no {path.name} in {folder}; split files there: {', '.join(present) or 'none'}. "
        + ("Pass one of them as semantics=." if present else "Is this an xlsa17 folder?")
    )


def _feature_path(folder: Path, features: str) -> Path:
    path = folder / f"{features.removesuffix('.mat')}.mat"
    if path.is_file():
        return path
    present = feature_files(folder)
    raise MissingFileError(
        f"There is no {path.name} in {folder}; feature files there: "
        f"{', '.join(present) or 'none'}. "
        + (f"Pass features={present[0]!r}, or " if present else "Put one there, or pass ")
        + "features=None for semantics and splits only."
    )


def _read_features(
    folder: Path, features: str | None, classes: list[str]
) -> tuple[NDArray[Any], NDArray[Any], list[str] | None]:
    """Return features with rows as samples, class names and image files."""
    if features is None:
        return np.empty((0, 0)), np.empty(0, "U1"), None
    path = _feature_path(folder, features)
    stored = read_matlab(path, ("features", "labels", "image_files"))
    lacking = [name for name in ("features", "labels") if name not in stored]
    if lacking:
        raise InvalidInputError(f"{path} has no {' and no '.join(lacking)}.")
    X = read_matrix(stored, "features", path).T
    labels = read_indices(stored, "labels", path)
    if len(X) != len(labels):
        raise InvalidInputError(
            f"{path}: features must be n_features × n_samples with one label per sample; got "
            f"{stored['features'].shape} and {len(labels)} labels."
        )
    return X, _label_names(labels, classes, path), stored.get("image_files")


def _label_names(numbers: NDArray[np.intp], classes: list[str], path: Path) -> NDArray[Any]:
    """Turn 1-based positions in the class table into class names."""
    if not numbers.size:
        return np.empty(0, "U1")
    if numbers.min() < 1 or numbers.max() > len(classes):
        raise InvalidInputError(
            f"{path}: labels run from {numbers.min()} to {numbers.max()}; the split file has "
            f"{len(classes)} classes, counted from 1."
        )
    return np.array(classes)[numbers - 1]
