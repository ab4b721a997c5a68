"""Files as every room writes and reads them: replaced whole, one name per line, values for JSON."""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from zslearn.exceptions import InvalidInputError, MissingFileError

PathLike = str | os.PathLike[str]


@contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Put the name of the file in front of whatever is wrong with its content."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no file {os.fspath(path)!r}; check the path.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{os.fspath(path)}: not UTF-8 text ({error}).") from error
    except InvalidInputError as error:
        raise InvalidInputError(f"{os.fspath(path)}: {error}") from error


@contextmanager
def replacing(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that takes its place when all went well."""
    target = Path(path)
    if not target.parent.is_dir():
        raise MissingFileError(f"There is no folder {str(target.parent)!r}; create it first.")
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def read_names(path: PathLike) -> list[str]:
    """Return the names, one per line, without blanks around them; a number before is dropped.

    Both ``antelope`` and AwA's ``1<tab>antelope`` are read as "antelope".
    """
    place = Path(path)
    if not place.is_file():
        raise MissingFileError(
            f"There is no file {str(place)!r}; it must hold one class name per line."
        )
    try:
        lines = place.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{place}: not UTF-8 text ({error}).") from error
    names = [_without_number(line.strip()) for line in lines if line.strip()]
    if not names:
        raise InvalidInputError(f"{place} is empty; it must hold one class name per line.")
    return names


def json_ready(value: Any) -> Any:
    """Turn numpy values, tuples and non-finite numbers into what JSON knows."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_ready(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _without_number(line: str) -> str:
    number, _, name = line.partition("\t")
    return name.strip() if name and number.strip().isdigit() else line
