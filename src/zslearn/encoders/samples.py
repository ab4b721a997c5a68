"""Samples before they are encoded: pictures of a folder, texts of a table; and classes in words."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from zslearn._cells import is_number, is_row_title
from zslearn._files import PathLike, check_is_file, naming, read_names
from zslearn._tables import (
    ENDINGS,
    Table,
    check_spelled_once,
    first_row,
    is_missing,
    read_table,
)
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures.new_classes import spell_out

# More classes than this, and than half of the rows, are no labels.
_MOST_CLASSES = 100
# How programs write a text that is missing, in letters without capitals.
_NO_TEXT = frozenset(["nan", "null", "nat", "<na>", "n/a", "#n/a"])
# Names of classes of more words than this are texts.
_MOST_WORDS = 4
# Titles of columns, in letters without capitals: of classes, of those in a table of samples, and
# of the samples.
_CLASS_TITLES = frozenset(
    "class classes name names category label intent topic kind tag species".split()
)
_LABEL_TITLES = frozenset("class category label intent".split())
_TEXT_TITLES = frozenset(
    "text texts sentence message ticket question query utterance request review comment content "
    "body subject document example".split()
)


class Sample(NamedTuple):
    """A picture or a text that is to be encoded.

    Attributes
    ----------
    name : str
        Path of a picture inside its folder, with forward slashes; or what tells a text from the
        others of its table.
    content : Path or str
        The file of a picture, or the text itself.
    label : str or None
        Its class, if that is known.
    """

    name: str
    content: Path | str
    label: str | None = None


def find_pictures(folder: str | Path, labels: str | Path | None = None) -> list[Sample]:
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
    list of Sample

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
        links = any(entry.is_symlink() and entry.is_dir() for entry in root.iterdir())
        what = ", only links to folders, which are not followed: link the files" if links else ""
        raise InvalidInputError(f"{root} holds no files{what}.")
    loose = [name for name in names if "/" not in name]
    if loose and len(loose) < len(names):
        raise InvalidInputError(
            f"{root} holds folders, which are taken for classes, and the file {loose[0]!r} beside "
            "them. Move it, or give the classes by a list of labels."
        )
    if not loose:
        _check_depth(root, names)
    return [Sample(name, root / name, None if loose else name.partition("/")[0]) for name in names]


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


def _listed(root: Path, labels: Path) -> list[Sample]:
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
    return sorted(Sample(name, root / name, kind) for name, kind in zip(files, kinds, strict=True))


def read_texts(
    source: Any, *, text: str | None = None, labels: str | None = None, name: str | None = None
) -> list[Sample]:
    r"""List the texts of a table.

    Parameters
    ----------
    source : path-like or DataFrame
        CSV, TSV, JSON lines, Parquet, Arrow or Excel; or a frame.
    text : str, optional
        The column of the texts; may be left out if only one column holds text, `labels` and `name`
        aside.
    labels : str, optional
        The column of the classes; without it the texts have none.
    name : str, optional
        The column that names the rows. By default they are named by the table's index, or counted
        from 0.

    Returns
    -------
    list of Sample
        One per row; texts may be empty, which `build_store` finds out. A cell that says nan, null
        or n/a is empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from zslearn.encoders import read_texts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tickets.csv")
    ...     _ = path.write_text("text,category\nWhere is my card?,card\n")
    ...     read_texts(path, labels="category")
    [Sample(name='0', content='Where is my card?', label='card')]
    """
    table = read_table(source, text=[column for column in (text, labels, name) if column])
    at = _text_column(table, {labels, name}) if text is None else table.position(text)
    contents = _texts_in(table, at)
    kinds: Sequence[str | None] = [None] * len(contents)
    if labels is not None:
        kinds = _labels_in(table, labels)
    names = _names_of(table, name)
    return [Sample(*row) for row in zip(names, contents, kinds, strict=True)]


def text_problem(text: str) -> str | None:
    """Say why a text cannot be encoded; None if it can."""
    if not text.strip():
        return "the text is empty"
    if text != text.encode(errors="ignore").decode():
        return "the text holds half a character"
    return None


def _text_column(table: Table, others: set[str | None]) -> int:
    """Find the one column of text that has no other part."""
    names: Sequence[str | None] = table.names or [None] * len(table.columns)
    found = [
        column
        for column, name in enumerate(names)
        if (name is None or name not in others) and table.is_text(column)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise table.refusal("no column holds texts; give one that does, by --text COLUMN.")
    listed = ", ".join(table.title(column) for column in found)
    raise table.refusal(
        f"several columns hold text: {listed}. Say which are the texts, by --text COLUMN."
    )


def _texts_in(table: Table, column: int) -> list[str]:
    """Return the texts of a column; refuse one that holds numbers, or other things."""
    for row, value in enumerate(table.columns[column].tolist() if table.is_text(column) else ()):
        if not isinstance(value, str) and not is_missing(value):
            raise table.refusal(
                f"{table.place(row)}, column {table.title(column)} holds a "
                f"{type(value).__name__}, {value!r:.40}; every text must be text."
            )
    texts = ["" if text.casefold() in _NO_TEXT else text for text in table.texts(column)]
    filled = [text for text in texts if text and not text.isspace()]
    if not filled:
        raise table.refusal(
            f"column {table.title(column)} holds no text in its {len(texts)} rows; give a column "
            "of texts."
        )
    wordless = [row for row, text in enumerate(texts) if text and not any(map(str.isalpha, text))]
    if len(wordless) > len(filled) / 2:
        raise table.refusal(
            f"column {table.title(column)} holds no word in {len(wordless)} of {len(texts)} rows, "
            f"the first is {texts[wordless[0]]!r:.40} in {table.place(wordless[0]).lower()}; give "
            "a column of texts."
        )
    return texts


def _labels_in(table: Table, column: str) -> list[str]:
    """Return the classes of the rows; refuse a column that tells the rows apart instead."""
    kinds = [str(label) for label in table.take(column).tolist()]
    distinct = Counter(kinds)
    if len(distinct) > max(_MOST_CLASSES, len(kinds) / 2):
        raise table.refusal(
            f"column {column!r} has {len(distinct)} different values in {len(kinds)} rows, such as "
            f"{kinds[0]!r:.60}; labels come again and again. Give the column of the classes."
        )
    with naming(table.source) if table.source else nullcontext():
        check_spelled_once(distinct)
    return kinds


def _names_of(table: Table, column: str | None) -> list[str]:
    """Return what tells the rows apart."""
    if column is not None:
        names = [str(name) for name in table.take(column).tolist()]
    elif table.index is not None:
        names = [str(name) for name in table.index]
    else:
        names = [str(row) for row in range(table.n_rows)]
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1 and column is None:
        return [str(row) for row in range(table.n_rows)]
    if times > 1:
        raise table.refusal(f"column {column!r} names {times} rows {name!r}; names must differ.")
    return names


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
            if _words(list(texts)) > _MOST_WORDS:
                raise InvalidInputError(_question(list(texts)))
            check_spelled_once(texts)
    return {name: given or [spell_out(name)] for name, given in texts.items()}


def _described(path: PathLike) -> dict[str, list[str]]:
    """Collect the texts of each class from a table."""
    table = read_table(path, header=_has_titles(path), text=[0])
    names = table.texts(0)
    texts = [table.texts(column) for column in range(1, len(table.columns))]
    for row, name in enumerate(names):
        if not name:
            raise table.refusal(f"{table.place(row)} has no class name in its first column.")
    _check_are_texts(table, names, texts)
    check_spelled_once(names)
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
    rather = _class_column(table, names, texts)
    if rather is not None:
        titles = [table.title(at) for at in (0, rather)]
        raise table.refusal(_question(names, titles if rather else ()))


def _question(names: list[str], titles: Sequence[str] = ()) -> str:
    """Ask whether texts are meant as names of classes, or which of two columns holds the names."""
    remedy = "to name a class by a text, write a .csv file with 'class' above the names."
    if titles:
        remedy = (
            f"if {titles[1]} names the classes, put it first; if {titles[0]} does, call it 'class'."
        )
    longest = max(names, key=len)
    return (
        f"each of the {len(names)} rows would be a class, such as {longest[:40]!r}. If these are "
        f"texts to learn from, use zslearn features; {remedy}"
    )


def _class_column(table: Table, names: list[str], texts: list[list[str]]) -> int | None:
    """Return the column that rather names the classes than the first one; 0 if none does.

    A title decides where it speaks. Else names are shorter than what is said of them, and differ.
    """
    titles = [name.casefold() for name in table.names] or [""]
    if titles[0] in _CLASS_TITLES:
        return None
    told = [column for column, title in enumerate(titles) if title in _LABEL_TITLES]
    if told:
        return told[0]
    if not texts:
        return 0 if titles[0] in _TEXT_TITLES or _words(names) > _MOST_WORDS else None
    shortest = 1 + min(range(len(texts)), key=lambda column: sum(map(len, texts[column])))
    numbers = len(texts) > 1 and all(map(is_number, names))
    if titles[0] in _TEXT_TITLES or (numbers and is_row_title(titles[0])):
        return shortest
    filled = [text for text in texts[shortest - 1] if text]
    if len(filled) < len(names) or len(set(names)) < len(names):
        return None
    again = len(names) > 3 and len(set(filled)) <= len(names) / 2
    longer = sum(map(len, names)) > sum(map(len, filled))
    sentences = _words(names) > 3 or any(name.endswith("?") for name in names)
    short = _words(filled) < 3 or 2 * _words(filled) <= _words(names)
    return shortest if longer and (again or (sentences and short)) else None


def _words(texts: list[str]) -> float:
    """Return the median number of words; one with ``+`` or ``_`` for blanks is one word."""
    return median(len(text.split()) for text in texts)
