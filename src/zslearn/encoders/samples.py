"""Which pictures a folder holds, and the class of each."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from zslearn._files import check_is_file, naming
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
        A CSV file with the name of a file inside `folder` and its class on each line, below a
        title if there is one. Only these files are taken.

    Returns
    -------
    list of Picture

    Raises
    ------
    MissingFileError
        If there is no such folder, or a listed file is not there.
    InvalidInputError
        If there are no files, files lie next to folders of classes, or the list is malformed.

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
    return [Picture(root / name, name, None if loose else name.partition("/")[0]) for name in names]


def _files(root: Path) -> Iterator[str]:
    """Yield the files below a folder; hidden ones and links to folders are left out."""
    for folder, inner, files in os.walk(root):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                yield (Path(folder) / name).relative_to(root).as_posix()


def _listed(root: Path, labels: Path) -> list[Picture]:
    check_is_file(labels)
    with naming(labels):
        rows = [row for row in csv.reader(labels.read_text("utf-8-sig").splitlines()) if row]
        if rows and not (root / rows[0][0]).is_file():
            rows = rows[1:]  # a title
        for number, row in enumerate(rows, 1):
            if len(row) != 2 or not all(cell.strip() for cell in row):
                raise InvalidInputError(
                    f"entry {number} must be a file and its class, with a comma between; got "
                    f"{','.join(row)!r}."
                )
            if not (root / row[0].strip()).is_file():
                raise InvalidInputError(f"there is no file {row[0].strip()!r} in {root}.")
        if not rows:
            raise InvalidInputError("it lists no pictures.")
        names = [row[0].strip() for row in rows]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidInputError(f"it lists {twice!r} twice.")
    return sorted(Picture(root / row[0].strip(), row[0].strip(), row[1].strip()) for row in rows)
