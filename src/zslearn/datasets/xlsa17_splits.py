"""The named splits of an xlsa17 folder, and the leak of its version 1."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import read_names
from zslearn.datasets.awa_names import STANDARD_UNSEEN
from zslearn.datasets.class_split import ClassSplit
from zslearn.datasets.xlsa17_semantics import SplitFile
from zslearn.exceptions import InvalidInputError

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
