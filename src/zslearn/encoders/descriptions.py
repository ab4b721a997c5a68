"""Files of class names and descriptions."""

from __future__ import annotations

import re
from pathlib import Path

from zslearn._cells import is_row_title
from zslearn._files import PathLike, check_is_file, naming, read_names
from zslearn._tables import ENDINGS, Table, check_spelled_once, first_row, read_table
from zslearn.exceptions import InvalidInputError


def read_descriptions(path: PathLike) -> dict[str, list[str]]:
    r"""Read class names, with descriptions if there are any.

    Parameters
    ----------
    path : path-like
        A table with a header line, as CSV, Excel or another kind that `zslearn` reads, the class
        in the first column and texts in the others; lines of the same class add texts. Any other
        file, and a table of one column, holds one class name per line.

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
    with naming(path):
        if Path(path).suffix.lower() in ENDINGS:
            texts = _described(path)
        else:
            texts = {name: [] for name in read_names(path)}
            check_spelled_once(texts)
    return {name: given or [spell_out(name)] for name, given in texts.items()}


def spell_out(name: str) -> str:
    """Return a class name as one would say it: "polar bear" for "polar+bear"."""
    return " ".join(re.split(r"[+_\s]+", name)).strip() or name


def _described(path: PathLike) -> dict[str, list[str]]:
    """Collect the texts of each class from a table."""
    table = read_table(path, header=_has_titles(path), text=[0])
    names = table.texts(0)
    texts = [table.texts(column) for column in range(1, len(table.columns))]
    for row, name in enumerate(names):
        if not name:
            raise table.refusal(f"{table.place(row)} has no class name in its first column.")
    check_spelled_once(names)
    _check_are_texts(table, names, texts)
    found: dict[str, list[str]] = {name: [] for name in names}
    for name, *cells in zip(names, *texts, strict=True):
        found[name] += filter(None, cells)
    return found


def _has_titles(path: PathLike) -> bool:
    """Say whether the first line names the columns; refuse one that looks like a description."""
    titles = first_row(path)
    if len(titles) == 1 or is_row_title(titles[0]):
        return is_row_title(titles[0])
    if any(len(title.split()) > 2 for title in titles):
        raise InvalidInputError(
            f"the first line reads {', '.join(titles)!r:.80}; put a line above it that names the "
            "columns, such as class,text."
        )
    return True


def _check_are_texts(table: Table, names: list[str], texts: list[list[str]]) -> None:
    """Refuse numbers, and a table of samples, each of which would become a class."""
    for column in range(1, len(table.columns)):
        if not table.is_text(column):
            raise table.refusal(
                f"column {table.title(column)} holds numbers, not texts. Is this a table of "
                "signatures? Then give it as it is, by --signatures."
            )
    if texts and len(names) > 3 and len(set(names)) == len(names):
        kinds = set(texts[0])
        longer = sum(map(len, names)) > sum(map(len, texts[0]))
        if longer and len(kinds) <= len(names) / 2 and "" not in kinds:
            raise table.refusal(
                f"each of the {len(names)} rows would be a class. Is {table.title(1)} the class? "
                "Then put it first; a class may have several rows."
            )
