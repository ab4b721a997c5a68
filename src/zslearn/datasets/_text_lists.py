"""Text files with one name a line."""

from __future__ import annotations

from pathlib import Path

from zslearn.exceptions import InvalidInputError, MissingFileError


def read_names(path: Path) -> list[str]:
    """Return the names, one a line, without blanks around them; a number before is dropped.

    Both ``antelope`` and AwA's ``1<tab>antelope`` are read as "antelope".
    """
    if not path.is_file():
        raise MissingFileError(f"There is no file {str(path)!r}; it must name one class a line.")
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path}: not UTF-8 text ({error}).") from error
    names = [_without_number(line.strip()) for line in lines if line.strip()]
    if not names:
        raise InvalidInputError(f"{path} is empty; it must name one class a line.")
    return names


def _without_number(line: str) -> str:
    number, _, name = line.partition("\t")
    return name.strip() if name and number.strip().isdigit() else line
