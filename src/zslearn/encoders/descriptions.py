"""Files of class names and descriptions."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from zslearn._files import PathLike, check_is_file, naming, read_names
from zslearn.exceptions import InvalidInputError


def read_descriptions(path: PathLike) -> dict[str, list[str]]:
    r"""Read class names, with descriptions if there are any.

    Parameters
    ----------
    path : path-like
        A ``.csv`` file with a header line, the class in the first column and texts in the others;
        lines of the same class add texts. Any other file holds one class name per line.

    Returns
    -------
    dict of str to list of str
        The texts of each class; without a description the name itself, ``+`` and ``_`` as spaces.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "classes.csv")
    ...     _ = path.write_text("class,text\nzebra,a striped horse\npolar+bear,\n")
    ...     read_descriptions(path)
    {'zebra': ['a striped horse'], 'polar+bear': ['polar bear']}
    """
    check_is_file(path, "it must hold class names")
    if Path(path).suffix.lower() != ".csv":
        texts: dict[str, list[str]] = {name: [] for name in read_names(path)}
    else:
        with naming(path):
            texts = _read_csv(Path(path))
    return {name: given or [spell_out(name)] for name, given in texts.items()}


def spell_out(name: str) -> str:
    """Return a class name as one would say it: "polar bear" for "polar+bear"."""
    return " ".join(re.split(r"[+_\s]+", name)).strip() or name


def _read_csv(path: Path) -> dict[str, list[str]]:
    """Collect the texts of each class."""
    texts: dict[str, list[str]] = {}
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = next(reader, [])
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    _check_row(cells, header, reader.line_num)
                    group = texts.setdefault(cells[0].strip(), [])
                    group += [cell.strip() for cell in cells[1:] if cell.strip()]
        except csv.Error as error:
            raise InvalidInputError(f"line {reader.line_num} is not CSV: {error}.") from error
    if not texts:
        raise InvalidInputError("there is no class below the header line.")
    return texts


def _check_row(cells: list[str], header: list[str], line: int) -> None:
    """Refuse a line without a class, or with more cells than the header: an unquoted comma."""
    if not cells[0].strip():
        raise InvalidInputError(f"line {line} has no class name in its first column.")
    if len(cells) > len(header):
        raise InvalidInputError(
            f"line {line} has {len(cells)} cells; the header has {len(header)}. Put a text that "
            "holds commas in double quotes."
        )
