"""Unpacking archives from elsewhere: all or nothing, and nothing outside the folder."""

from __future__ import annotations

import os
import shutil
import tarfile
import uuid
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from zslearn.exceptions import InvalidInputError

_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError)


def unpack(archive: Path, target: Path) -> Path:
    """Unpack a zip or tar file into the folder `target`, which appears when it is complete."""
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    temporary.mkdir(parents=True)
    try:
        if zipfile.is_zipfile(archive):
            _unzip(archive, temporary)
        elif tarfile.is_tarfile(archive):
            _untar(archive, temporary)
        else:
            raise InvalidInputError(f"{archive} is neither a zip nor a tar file.")
        os.replace(temporary, target)
    except _DAMAGE as error:
        raise InvalidInputError(f"{archive} cannot be unpacked ({error}).") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _unzip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        for name in file.namelist():
            _check_name(name, archive)
        file.extractall(folder)


def _untar(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as file:
        for member in file:
            _check_name(member.name, archive)
            if not (member.isfile() or member.isdir()):
                raise InvalidInputError(
                    f"{archive} holds {member.name!r}, which is neither a file nor a folder; it "
                    "is not unpacked."
                )
            # Files alone are written, by their content: no owners, modes or links are taken over.
            source = file.extractfile(member)
            if source is not None:
                path = folder / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as target:
                    shutil.copyfileobj(source, target)


def _check_name(name: str, archive: Path) -> None:
    """Refuse a member that would be written outside the folder."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0:1]:
        raise InvalidInputError(
            f"{archive} holds {name!r}, which points outside its folder; it is not unpacked."
        )
