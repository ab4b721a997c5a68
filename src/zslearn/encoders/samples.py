"""Which pictures a folder holds, and the class of each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from zslearn._files import naming
from zslearn._tables import check_spelled_once, first_row, read_table
from zslearn.exceptions import InvalidInputError, MissingFileError


class Picture(NamedTuple):
    """A file that should hold a picture.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        Its path inside the collection, with forward slashes.
    label : str or None
        Its class, if that is known.
    """

    path: Path
    name: str
    label: str | None = None


def find_pictures(folder: str | Path, labels: str | Path | None = None) -> list[Picture]:
    """List the files of a folder of pictures, in the order of their names.

    Every file is listed, whatever its ending, except hidden ones: what is no picture is found out
    when it is read.

    Parameters
    ----------
    folder : path-like
        With one folder per class, or with files only, which then have no class.
    labels : path-like, optional
        A table with the name of a file inside `folder` and its class in each row, below titles if
        there are any. Only these files are taken.

    Returns
    -------
    list of Picture

    Raises
    ------
    MissingFileError
        If there is no such folder, or a listed file is not there.
    InvalidInputError
        If there are no files, files lie next to folders of classes, the classes lie one level
        below, or the list is malformed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from zslearn.encoders import find_pictures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("cat/1.jpg", "dog/old/2.jpg"):
    ...         file = pathlib.Path(folder, name)
    ...         file.parent.mkdir(parents=True)
    ...         file.touch()
    ...     [(picture.name, picture.label) for picture in find_pictures(folder)]
    [('cat/1.jpg', 'cat'), ('dog/old/2.jpg', 'dog')]
    """
    root = Path(folder)
    if root.is_file():
        raise InvalidInputError(f"{root} is a file; give the folder that holds the pictures.")
    if not root.is_dir():
        raise MissingFileError(f"There is no folder {str(root)!r}; check the path.")
    if labels is not None:
        return _listed(root, Path(labels))
    names = sorted(_files(root))
    if not names:
        raise InvalidInputError(f"{root} holds no files.")
    loose = [name for name in names if "/" not in name]
    if loose and len(loose) < len(names):
        raise InvalidInputError(
            f"{root} holds folders, which are taken for classes, and the file {loose[0]!r} beside "
            "them. Move it, or give the classes by a list of labels."
        )
    if not loose:
        _check_depth(root, names)
    return [Picture(root / name, name, None if loose else name.partition("/")[0]) for name in names]


def _files(root: Path) -> Iterator[str]:
    """Yield the files below a folder; hidden ones and links to folders are left out."""
    for folder, inner, files in os.walk(root):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                yield (Path(folder) / name).relative_to(root).as_posix()


def _check_depth(root: Path, names: list[str]) -> None:
    """Refuse a folder whose folders hold those of the classes, one level below."""
    below: dict[str, set[str]] = {}
    for name in names:
        first, *inner, _ = name.split("/")
        if not inner:
            return
        below.setdefault(first, set()).add(inner[0])
    first, *others = below
    if not others and len(below[first]) > 1:
        raise InvalidInputError(
            f"{root} holds one folder, {first!r}, and in it the folders {_spelled(below[first])}. "
            f"Are these the classes? Then give {root / first}."
        )
    shared = below[first].intersection(*(below[other] for other in others))
    if others and shared:
        raise InvalidInputError(
            f"{first!r} and {others[0]!r} in {root} both hold the folders {_spelled(shared)}. Are "
            f"these the classes? Then give {root / first} or {root / others[0]}."
        )


def _spelled(names: set[str]) -> str:
    return ", ".join(sorted(names)[:4]) + (", ..." if len(names) > 4 else "")


def _listed(root: Path, labels: Path) -> list[Picture]:
    """Read a table with a file and its class in each row, below titles if there are any."""
    titled = not (root / first_row(labels)[0]).is_file()
    table = read_table(labels, header=titled, text=[0, 1])
    if len(table.columns) != 2:
        raise table.refusal(
            f"each row must hold a file and its class; got {len(table.columns)} columns."
        )
    files, kinds = table.take(0).tolist(), table.take(1).tolist()
    for row, name in enumerate(files):
        if not (root / name).is_file():
            raise table.refusal(f"{table.place(row)}: there is no file {name!r} in {root}.")
    if len(set(files)) < len(files):
        twice = next(name for name in files if files.count(name) > 1)
        raise table.refusal(f"it lists {twice!r} twice.")
    with naming(labels):
        check_spelled_once(kinds)
    return sorted(Picture(root / name, name, kind) for name, kind in zip(files, kinds, strict=True))
