"""Folders of the xlsa17 benchmark."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import read_names
from zslearn._parameters import Either, check_flags, check_value
from zslearn.datasets.awa import STANDARD_UNSEEN, attribute_names
from zslearn.datasets.dataset import ClassSplit, ZeroShotDataset, xlsa17_citation
from zslearn.datasets.matlab import matlab_names, read_indices, read_matlab, read_matrix
from zslearn.exceptions import InvalidInputError, MissingFileError, ZslearnError
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


Rows = dict[str, NDArray[np.intp]]


@dataclass(frozen=True)
class FoundSplits:
    """The splits to offer, those withheld with the reason, and the sizes of the leak."""

    splits: dict[str, ClassSplit]
    withheld: dict[str, str]
    leak: dict[str, int]


def find_splits(folder: Path, file: SplitFile, y: NDArray[Any], *, repair: bool) -> FoundSplits:
    """Return every split the folder defines; `y` is empty if features were not loaded."""
    labeled = len(y) > 0
    _check_rows(file, len(y))
    splits = {"proposed": _proposed(file, y) if labeled else _from_lists(folder)}
    splits |= _standard(folder, file.classes)
    splits |= _folds(folder, file, y)
    leak = _leak(file.rows)
    withheld: dict[str, str] = {}
    if sum(leak.values()) and not repair:
        withheld["validation"] = _reason(file, leak)
    elif labeled and {"train", "val"} <= set(file.rows):
        splits |= _validation(file, y)
    return FoundSplits(splits, withheld, leak)


def _check_rows(file: SplitFile, n_rows: int) -> None:
    """Refuse a split file that lacks its rows or was made for other features."""
    lacking = [f"{name}_loc" for name in ("trainval", "test_unseen") if name not in file.rows]
    if lacking:
        raise InvalidInputError(f"{file.path} has no {' and no '.join(lacking)}.")
    last = max(rows.max(initial=-1) for rows in file.rows.values()) + 1
    if n_rows and last > n_rows:
        raise InvalidInputError(
            f"{file.path} refers to image {last} but the feature file has {n_rows}: they are not "
            "from the same data set."
        )


def _classes_of(rows: NDArray[np.intp], y: NDArray[Any], classes: list[str]) -> NDArray[Any]:
    """Return the classes of some rows in the order of the class table."""
    names = np.array(classes)
    return names[np.isin(names, y[rows])]


def _proposed(file: SplitFile, y: NDArray[Any]) -> ClassSplit:
    """Derive the classes from the labels of the rows, which are used instead of the lists."""
    rows = file.rows
    return ClassSplit(
        _classes_of(rows["trainval"], y, file.classes),
        _classes_of(rows["test_unseen"], y, file.classes),
        train=rows["trainval"],
        test_seen=rows.get("test_seen"),
        test_unseen=rows["test_unseen"],
    )


def _from_lists(folder: Path) -> ClassSplit:
    """Take the classes from the lists, because there are no labels."""
    return ClassSplit(
        read_names(folder / "trainvalclasses.txt"), read_names(folder / "testclasses.txt")
    )


def _standard(folder: Path, classes: list[str]) -> dict[str, ClassSplit]:
    """Return the split of Lampert et al. for AwA; it holds back no rows of seen classes."""
    if not folder.name.upper().startswith("AWA") or not set(STANDARD_UNSEEN) <= set(classes):
        return {}
    seen = [name for name in classes if name not in STANDARD_UNSEEN]
    return {"standard": ClassSplit(seen, STANDARD_UNSEEN)}


def _folds(folder: Path, file: SplitFile, y: NDArray[Any]) -> dict[str, ClassSplit]:
    """Return the class lists for validation, on rows of trainval only."""
    folds = {}
    for number in (1, 2, 3):
        lists = [folder / f"{part}classes{number}.txt" for part in ("train", "val")]
        if all(path.is_file() for path in lists):
            seen, unseen = map(read_names, lists)
            folds[f"fold {number}"] = _class_fold(seen, unseen, file.rows["trainval"], y)
    return folds


def _class_fold(
    seen: list[str], unseen: list[str], trainval: NDArray[np.intp], y: NDArray[Any]
) -> ClassSplit:
    if not len(y):
        return ClassSplit(seen, unseen)
    train, test = (trainval[np.isin(y[trainval], side)] for side in (seen, unseen))
    return ClassSplit(seen, unseen, train=train, test_unseen=test)


def _leak(rows: Rows) -> dict[str, int]:
    """Count the test_seen images among the train and the val images."""
    test_seen = rows.get("test_seen", np.empty(0, np.intp))
    return {
        part: int(np.isin(rows[part], test_seen).sum()) for part in ("train", "val") if part in rows
    }


def _reason(file: SplitFile, leak: dict[str, int]) -> str:
    """Say how large the leak is and what to do."""
    return (
        f"The split 'validation' is withheld: of the {len(file.rows['test_seen'])} test_seen "
        f"images of {file.path.name}, {leak.get('train', 0)} are also in train_loc and "
        f"{leak.get('val', 0)} in val_loc (version 1 of the xlsa17 files), so whatever is chosen "
        "on it has seen test images. Load with repair=True to take them out, or use 'fold 1', "
        "whose rows are all of trainval_loc."
    )


def _validation(file: SplitFile, y: NDArray[Any]) -> dict[str, ClassSplit]:
    """Return the train/val rows without test_seen rows; a clean file has none of those."""
    test_seen = file.rows.get("test_seen", np.empty(0, np.intp))
    train, val = (
        file.rows[part][~np.isin(file.rows[part], test_seen)] for part in ("train", "val")
    )
    seen, unseen = (_classes_of(rows, y, file.classes) for rows in (train, val))
    # With rows of one class on both sides it would not be zero-shot validation.
    if not seen.size or not unseen.size or np.isin(seen, unseen).any():
        return {}
    return {"validation": ClassSplit(seen, unseen, train=train, test_unseen=val)}


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
    check_flags(repair=repair)
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
