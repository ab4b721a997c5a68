"""Unpacking archives from elsewhere: all or nothing, and nothing outside the folder."""

from __future__ import annotations

import errno
import lzma
import shutil
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

from zslearn._files import first_line, inside, replacing_folder
from zslearn.exceptions import InvalidInputError

# What the standard library raises, depending on where an archive is cut or damaged; a
# RuntimeError asks for a password, NotImplementedError is an unknown compression.
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    struct.error,
)


def unpack(archive: Path, target: Path) -> Path:
    """Unpack a zip or tar file into the folder `target`, which appears when it is complete."""
    with replacing_folder(target) as folder:
        try:
            if zipfile.is_zipfile(archive):
                _unzip(archive, folder)
            elif tarfile.is_tarfile(archive):
                _untar(archive, folder)
            else:
                raise InvalidInputError(f"{archive} is neither a zip nor a tar file.")
        except InvalidInputError:
            raise
        except _DAMAGE as error:
            if getattr(error, "errno", None) == errno.ENOSPC:
                raise
            raise InvalidInputError(
                f"{archive} cannot be unpacked ({first_line(error)})."
            ) from error
    return target


def _unzip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        for member in file.infolist():
            path = _path_of(member.filename, archive, folder)
            if not member.is_dir():
                with file.open(member) as source:
                    _write(path, source)


def _untar(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as file:
        for member in file:
            path = _path_of(member.name, archive, folder)
            if not (member.isfile() or member.isdir()):
                raise InvalidInputError(
                    f"{archive} holds {member.name!r}, which is neither a file nor a folder; it "
                    "was not unpacked."
                )
            # Only the content of files is written: no owners, modes or links are kept.
            source = file.extractfile(member)
            if source is not None:
                _write(path, source)


def _write(path: Path, source: IO[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        shutil.copyfileobj(source, target)


def _path_of(name: str, archive: Path, folder: Path) -> Path:
    """Return where a member is written, refusing one outside the folder."""
    try:
        return inside(folder, name)
    except InvalidInputError as error:
        raise InvalidInputError(f"{archive}: {error} It was not unpacked.") from error
