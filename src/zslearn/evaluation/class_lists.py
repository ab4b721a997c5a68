"""Splits from files that list the unseen classes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from zslearn.datasets import ClassSplit
from zslearn.exceptions import InvalidInputError, MissingFileError, UnknownClassError


def read_class_splits(
    paths: Iterable[str | os.PathLike[str]], classes: ArrayLike
) -> dict[str, ClassSplit]:
    r"""Read splits from text files, one unseen class per line.

    Parameters
    ----------
    paths : iterable of path-like
        One UTF-8 file per split. Empty lines and lines that start with ``#`` are skipped.
    classes : array-like of shape (n_classes,)
        All classes of the data set; those not in a file are seen in its split.

    Returns
    -------
    dict of str to ClassSplit
        The splits by the names of their files without ending, in the order given.

    Raises
    ------
    MissingFileError
        If a file is not there.
    InvalidInputError
        If a file is empty, names a class twice, lists every class, or an unknown one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from zslearn.evaluation import read_class_splits
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "split1.txt")
    ...     _ = path.write_text("fox\n", encoding="utf-8")
    ...     read_class_splits([path], ["bat", "cow", "fox"])
    {'split1': ClassSplit(2 seen, 1 unseen)}
    """
    labels = np.asarray(classes)
    by_text = {str(label): label for label in labels.tolist()}
    splits: dict[str, ClassSplit] = {}
    for path in map(Path, paths):
        if path.stem in splits:
            raise InvalidInputError(f"two files are called {path.stem!r}; rename one.")
        splits[path.stem] = _split(path, by_text)
    if not splits:
        raise InvalidInputError("paths is empty; give at least one file of unseen classes.")
    return splits


def _split(path: Path, by_text: dict[str, object]) -> ClassSplit:
    """Read one file."""
    names = _names(path)
    unknown = [name for name in names if name not in by_text]
    if unknown:
        raise UnknownClassError(unknown, list(by_text), f"Correct the name in {path.name}.")
    unseen = [by_text[name] for name in names]
    listed = set(names)
    seen = [label for text, label in by_text.items() if text not in listed]
    if not unseen or not seen:
        raise InvalidInputError(
            f"{path.name} lists {len(unseen)} of {len(by_text)} classes; at least one must be "
            "unseen and one seen."
        )
    return ClassSplit(seen=seen, unseen=unseen)


def _names(path: Path) -> list[str]:
    """Return the lines that are class names."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no file {path}; give a list of classes.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not UTF-8 text: {error}.") from error
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
