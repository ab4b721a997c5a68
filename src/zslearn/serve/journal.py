"""The journal of changed classes: a file beside the model, to which each change adds one line.

The first line says which dimensions the signatures have. Every line begins with a checksum, so
that what a crash left of an unfinished change is recognized; it was never acknowledged, and the
next change takes its place. The model file itself is never touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from zslearn._files import append_whole, locked, replacing
from zslearn.exceptions import InvalidInputError, WriteError
from zslearn.serve.responses import RequestError

FORMAT = 1
# How long a change waits for one that another process is writing.
PATIENCE = 5.0
Name = str | int


class Change(NamedTuple):
    """A class with its new signature; None where it was removed."""

    name: Name
    vector: list[float] | None


class ClassJournal:
    """Reads and writes the changes of the classes of one model.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    dimensions : sequence of str
        Names of the dimensions of the model's signatures.
    """

    def __init__(self, path: Path, dimensions: Sequence[str]) -> None:
        self.path = path
        text = json.dumps(list(dimensions)).encode()
        self._head = {"zslearn_classes": FORMAT, "dimensions": hashlib.sha256(text).hexdigest()}
        self._file: tuple[int, int] | None = None  # device and number of the file that was read
        self._end = 0

    def is_behind(self) -> bool:
        """Say whether the file holds something that was not read yet."""
        try:
            facts = os.stat(self.path)
        except FileNotFoundError:
            return self._file is not None
        return (facts.st_dev, facts.st_ino) != self._file or facts.st_size != self._end

    def read(self) -> tuple[bool, list[Change]]:
        """Return whether the file was read from its beginning, and the changes not read before."""
        try:
            with self.path.open("rb") as file:
                return self._read(file.fileno())
        except FileNotFoundError:
            self._file, self._end = None, 0
            return True, []

    @contextmanager
    def writing(self) -> Iterator[int]:
        """Open the file for this process alone, without what a crash left of a change."""
        deadline = time.monotonic() + PATIENCE
        with _named(self.path):
            while True:
                with locked(self.path) as descriptor:
                    if descriptor is not None and _is_file(descriptor, self.path):
                        yield descriptor
                        return
                if time.monotonic() > deadline:
                    raise RequestError(503, "another change is being written.", retry_after=1)
                time.sleep(0.002)

    def append(self, descriptor: int, change: Change) -> None:
        """Add a change and bring it to the disk; everything before must have been read."""
        size = os.fstat(descriptor).st_size
        if size > self._end:
            os.ftruncate(descriptor, self._end)
        text = _line(_as_dict(change))
        if not self._end:
            text = _line(self._head) + text
        with _named(self.path):
            append_whole(descriptor, text)
            if not self._end:
                _sync_folder(self.path.parent)
        self._note(descriptor, os.fstat(descriptor).st_size)

    def rewrite(self, changes: Sequence[Change]) -> None:
        """Put a shorter file in the place of this one; the caller has it open for writing."""
        with replacing(self.path) as file:
            file.writelines([_line(self._head), *(_line(_as_dict(one)) for one in changes)])
            file.flush()
            os.fsync(file.fileno())
            self._note(file.fileno(), file.tell())
        _sync_folder(self.path.parent)

    def read_open(self, descriptor: int) -> tuple[bool, list[Change]]:
        """Read on in a file that is open for writing."""
        return self._read(descriptor)

    def _read(self, descriptor: int) -> tuple[bool, list[Change]]:
        facts = os.fstat(descriptor)
        again = (facts.st_dev, facts.st_ino) != self._file or facts.st_size < self._end
        start = 0 if again else self._end
        content = os.pread(descriptor, max(facts.st_size - start, 0), start)
        lines, length = self._lines(content, start)
        if start == 0 and lines:
            self._check_head(lines.pop(0))
        changes = [self._change(line) for line in lines]
        self._note(descriptor, start + length)
        return again, changes

    def _lines(self, content: bytes, start: int) -> tuple[list[Any], int]:
        """Return the whole lines, and where they end; only the last may be unfinished."""
        parts, position = [], 0
        while (end := content.find(b"\n", position)) >= 0:
            value = _value(content[position:end])
            if value is None:
                if content.find(b"\n", end + 1) >= 0:
                    raise InvalidInputError(
                        f"{self.path} is damaged at byte {start + position}. Move it away to "
                        "serve the classes of the model file, or restore it."
                    )
                break
            parts.append(value)
            position = end + 1
        return parts, position

    def _check_head(self, head: Any) -> None:
        if head != self._head:
            raise InvalidInputError(
                f"{self.path} holds classes with other dimensions than those of the model. Move "
                "it away, or serve the model that it belongs to."
            )

    def _change(self, line: Any) -> Change:
        if not isinstance(line, dict) or "name" not in line:
            raise InvalidInputError(f"{self.path} holds a line that is no change of a class.")
        return Change(line["name"], line.get("vector"))

    def _note(self, descriptor: int, end: int) -> None:
        facts = os.fstat(descriptor)
        self._file, self._end = (facts.st_dev, facts.st_ino), end


def _as_dict(change: Change) -> dict[str, Any]:
    return {"name": change.name, "vector": change.vector}


def _line(value: Any) -> bytes:
    text = orjson.dumps(value)
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _value(line: bytes) -> Any:
    """Return what a line holds; None if its checksum does not fit."""
    if line[:8] != b"%08x" % zlib.crc32(line[9:]):
        return None
    return orjson.loads(line[9:])


def _is_file(descriptor: int, path: Path) -> bool:
    """Say whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    """Bring the name of a new file to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except (RequestError, WriteError):
        raise
    except OSError as error:
        raise WriteError(path, error) from error
