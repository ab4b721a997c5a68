"""Acknowledged edits in SQLite: on disk before they are answered, readable by several processes.

Server and studio keep what people change in such a file, as JSON, one row per edit. SQLite makes a
change whole or nothing, whenever the program is killed and wherever the disk is full. What it does
not notice are bits that change on the disk: every row has a checksum, and the head of the log says
which rows there must be.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._files import first_line, locked
from zslearn.exceptions import InvalidInputError, MissingFileError, WriteError
from zslearn.signatures.phrases import Phrases

VERSION = 2
UNREAD = -1
# Seconds that a change waits for one that another process is writing.
PATIENCE = 5.0
_TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE edits (number INTEGER PRIMARY KEY AUTOINCREMENT, edit TEXT NOT NULL, "
    "undone INTEGER NOT NULL DEFAULT 0, crc INTEGER NOT NULL DEFAULT 0)",
)
Edit = dict[str, Any]


class BusyError(WriteError):
    """Another program is writing."""


class DamagedError(InvalidInputError):
    """A file that is no log of this kind, or does not hold what was written."""


class NoDatabaseError(DamagedError):
    """A file that is not of SQLite."""


class Edits(NamedTuple):
    """The edits in force, and those that were undone and can be done again."""

    done: list[Edit]
    undone: list[Edit]


class Kind(NamedTuple):
    """What a log holds.

    Attributes
    ----------
    application : int
        How SQLite files of this kind are told from others.
    noun : str
        What the file is called in messages.
    remedy : str
        What to do about a file that cannot be used.
    """

    application: int
    noun: str
    remedy: str


class _Row(NamedTuple):
    number: int
    edit: str
    undone: int
    crc: int


class _Head(NamedTuple):
    """What the rows must be: those of one epoch, the last, how many, and the sum of checksums."""

    epoch: int = 0
    last: int = 0
    n_rows: int = 0
    total: int = 0

    def with_row(self, row: _Row, sign: int = 1) -> _Head:
        total = (self.total + sign * row.crc) % 2**32
        return _Head(self.epoch, max(self.last, row.number), self.n_rows + sign, total)


class EditLog:
    """An open log of edits; its owner lets one thread at a time use it, but for `is_behind`.

    Parameters
    ----------
    path : Path
        The file; made if it is not there.
    kind : Kind
        What it holds.
    facts : mapping
        What the edits belong to; a new file keeps it, `facts` of an old one are read.
    exclusive : bool
        Whether no other program may open the file meanwhile.
    read_only : bool
        Whether nothing is ever written.

    Attributes
    ----------
    facts : dict
        As they were when the file was made.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "shapes.project")
    >>> log = EditLog(path, Kind(1, "the project", "choose another"), {"data": "shapes"})
    >>> log.add({"op": "add"})
    >>> log.undo(), log.edits()
    (True, Edits(done=[], undone=[{'op': 'add'}]))
    >>> log.close()
    """

    def __init__(
        self,
        path: Path,
        kind: Kind,
        facts: Mapping[str, Any],
        *,
        exclusive: bool = False,
        read_only: bool = False,
    ) -> None:
        self.path, self._kind, self._exclusive = Path(path), kind, exclusive
        self._place = _Head(-1)  # what was read so far
        self._version = UNREAD
        self._edits: Edits | None = None
        self._watch: sqlite3.Connection | None = None
        if not self.path.parent.is_dir():
            raise MissingFileError(f"There is no folder {str(self.path.parent)!r}; create it.")
        with self._told():
            self._base = self._connect(read_only, 0.5 if exclusive else PATIENCE)
            try:
                self._open(facts, read_only)
                if not exclusive:
                    # Another connection looks for changes: it never waits for one that writes.
                    self._watch = self._connect(read_only, 0.0)
                self.facts: dict[str, Any] = self._facts()["data"]
            except BaseException:
                self.close()
                raise

    # ---- for one program: undo and redo

    def edits(self) -> Edits:
        """Return all edits in the order they were made."""
        if self._edits is None:
            with self._told():
                rows = self._checked(self._head(), self._rows(0), 0)
                done = [json.loads(row.edit) for row in rows if not row.undone]
                self._edits = Edits(done, [json.loads(row.edit) for row in rows if row.undone])
        return self._edits

    def add(self, edit: Edit) -> None:
        """Keep an edit; what was undone can no longer be done again."""
        done = self.edits().done
        with self.writing():
            for row in self._rows(0, "WHERE undone"):
                self._base.execute("DELETE FROM edits WHERE number = ?", (row.number,))
                self._set_head(self._head().with_row(row, -1))
            self.append(edit)
        # Every answer of the studio says what undo would do: the file is not read for that.
        self._edits = Edits([*done, edit], [])

    def undo(self) -> bool:
        """Undo the last edit; False if there is none."""
        return self._mark("WHERE NOT undone ORDER BY number DESC", 1)

    def redo(self) -> bool:
        """Do the edit again that was undone last; False if there is none."""
        return self._mark("WHERE undone ORDER BY number", 0)

    # ---- for several programs: read on, and write behind what was read

    def is_behind(self) -> bool:
        """Say whether the file may hold what was not read yet; this never waits."""
        found = self._data_version()
        return found is None or found != self._version

    def read_on(self) -> tuple[bool, list[Edit]]:
        """Return whether all edits were read anew, and the edits that were not read before."""
        # First the version: what comes while the rows are read makes this log behind again.
        version = self._data_version()
        with self._told(), self._transaction("BEGIN"):
            head = self._head()
            again = head.epoch != self._place.epoch or head.last < self._place.last
            start = 0 if again else self._place.last
            rows = self._checked(head, self._rows(start), start)
        self._place, self._version = head, UNREAD if version is None else version
        return again, [json.loads(row.edit) for row in rows]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Change the file alone: all that happens inside is on the disk afterwards, or nothing."""
        self._edits = None
        with self._told(writing=True):
            with self._transaction("BEGIN IMMEDIATE"):
                yield
            # Nothing that was acknowledged is left in the write-ahead log, whose damaged end
            # would be taken for an unfinished change. A reader may hold this up; no harm is done.
            with suppress(sqlite3.Error):
                self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def append(self, edit: Edit) -> None:
        """Add an edit, while `writing`."""
        text = json.dumps(edit, allow_nan=False)
        number = self._base.execute("INSERT INTO edits (edit) VALUES (?)", (text,)).lastrowid
        self._set_head(self._head().with_row(self._with_crc(_Row(int(number or 0), text, 0, 0))))

    def rewrite(self, edits: Sequence[Edit]) -> None:
        """Put fewer edits that lead to the same in the place of all; others read them anew."""
        with self.writing():
            self._base.execute("DELETE FROM edits")
            self._set_head(_Head(self._head().epoch + 1))
            for edit in edits:
                self.append(edit)
            head = self._head()
        self._place = head

    def is_file(self) -> bool:
        """Say whether the open file is still the one of that name."""
        try:
            return self._inode == _inode(self.path)
        except OSError:
            return False

    def close(self) -> None:
        """Close the file."""
        if self._watch is not None:
            self._watch.close()
        self._base.close()

    # ---- behind

    def _connect(self, read_only: bool, patience: float) -> sqlite3.Connection:
        settings: dict[str, Any] = {"timeout": patience, "isolation_level": None}
        settings["check_same_thread"] = False  # the owner lets threads take turns
        if not read_only:
            return sqlite3.connect(self.path, **settings)
        name = self.path.absolute().as_uri()
        base = sqlite3.connect(f"{name}?mode=rw", uri=True, **settings)
        try:
            base.execute("PRAGMA query_only = ON")
            base.execute("SELECT * FROM sqlite_master").fetchall()
            return base
        except sqlite3.OperationalError:  # in a folder where nothing can be written
            base.close()
            return sqlite3.connect(f"{name}?immutable=1", uri=True, **settings)

    def _open(self, facts: Mapping[str, Any], read_only: bool) -> None:
        """Check that the file is one of this kind before anything in it is changed."""
        # In this order: whoever makes the tables sets the kind in the same transaction.
        has_tables = self._base.execute("SELECT * FROM sqlite_master").fetchall()
        kind = self._base.execute("PRAGMA application_id").fetchone()[0]
        if kind != self._kind.application and (kind or has_tables):
            raise DamagedError(
                f"{self.path} is an SQLite file of another program; {self._kind.remedy}."
            )
        if not read_only:
            if self._exclusive:
                self._base.execute("PRAGMA locking_mode = EXCLUSIVE")
            # A commit is on the disk before it is acknowledged.
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
        self._inode = _inode(self.path)
        with self._transaction("BEGIN" if read_only else "BEGIN IMMEDIATE"):
            if not self._base.execute("SELECT * FROM sqlite_master").fetchall():
                self._make(facts)
            version = self._facts().get("version")
            if version == 1 and not read_only:
                self._take_over()
            elif version != VERSION:
                raise DamagedError(
                    f"{self.path} was written by another version of zslearn; {self._kind.remedy}."
                )
            self._checked(self._head(), self._rows(0), 0)

    def _make(self, facts: Mapping[str, Any]) -> None:
        for table in _TABLES:
            self._base.execute(table)
        self._set_facts(version=VERSION, data=dict(facts), head=_Head())
        self._base.execute(f"PRAGMA application_id = {self._kind.application}")

    def _take_over(self) -> None:
        """Give the rows of a file of version 1 their checksums."""
        self._base.execute("ALTER TABLE edits ADD COLUMN crc INTEGER NOT NULL DEFAULT 0")
        head = _Head()
        for row in self._rows(0):
            head = head.with_row(self._with_crc(row))
        self._set_facts(version=VERSION, head=head)

    def _facts(self) -> dict[str, Any]:
        found = self._base.execute("SELECT * FROM facts").fetchall()
        try:
            return {name: json.loads(value) for name, value in found}
        except (ValueError, TypeError) as error:
            raise self._damaged() from error

    def _set_facts(self, **facts: Any) -> None:
        rows = [(name, json.dumps(value)) for name, value in facts.items()]
        self._base.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)

    def _head(self) -> _Head:
        try:
            return _Head(*self._facts()["head"])
        except (KeyError, TypeError) as error:
            raise self._damaged() from error

    def _set_head(self, head: _Head) -> None:
        self._set_facts(head=head)

    def _rows(self, after: int, which: str = "WHERE number > ? ORDER BY number") -> list[_Row]:
        values = (after,) if "?" in which else ()
        found = self._base.execute(f"SELECT number, edit, undone, crc FROM edits {which}", values)
        return [_Row(*row) for row in found]

    def _with_crc(self, row: _Row) -> _Row:
        """Write the checksum of a row."""
        row = row._replace(crc=_crc(row))
        self._base.execute("UPDATE edits SET crc = ? WHERE number = ?", (row.crc, row.number))
        return row

    def _checked(self, head: _Head, rows: list[_Row], start: int) -> list[_Row]:
        """Return rows after refusing those that are not what was written."""
        right = all(row.crc == _crc(row) for row in rows)
        if head.last > start:
            right = right and bool(rows) and rows[-1].number == head.last
        if start == 0:
            total = sum(row.crc for row in rows) % 2**32
            right = right and (len(rows), total) == (head.n_rows, head.total)
        if not right:
            raise self._damaged()
        return rows

    def _damaged(self) -> DamagedError:
        return DamagedError(
            f"{self.path} is damaged: it does not hold the edits that were written. Restore it, or "
            f"{self._kind.remedy}."
        )

    def _mark(self, which: str, undone: int) -> bool:
        with self.writing():
            rows = self._rows(0, f"{which} LIMIT 1")
            for row in rows:
                new = row._replace(undone=undone)
                self._base.execute(
                    "UPDATE edits SET undone = ? WHERE number = ?", (undone, row.number)
                )
                head = self._head().with_row(row, -1)
                self._set_head(head.with_row(self._with_crc(new)))
        return bool(rows)

    def _data_version(self) -> int | None:
        """Return a number that changes with every commit of another connection."""
        try:
            found = None if self._watch is None else self._watch.execute("PRAGMA data_version")
            return None if found is None else int(found.fetchone()[0])
        except sqlite3.Error:
            return None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        if self._base.in_transaction:
            yield
            return
        self._base.execute(begin)
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                with suppress(sqlite3.Error):
                    self._base.execute("ROLLBACK")
            raise

    @contextmanager
    def _told(self, *, writing: bool = False) -> Iterator[None]:
        """Turn what SQLite says into one line that names the file."""
        kind, path = self._kind, self.path
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) and self._exclusive:
                raise InvalidInputError(
                    f"another program has {kind.noun} {path} open; close it, or {kind.remedy}."
                ) from error
            if "locked" in str(error):
                raise BusyError(path, OSError("another program is writing")) from error
            # SQLite has to write when it opens a file: on a full disk that is no fault of the file.
            if writing or "disk" in str(error):
                raise WriteError(path, OSError(first_line(error))) from error
            raise DamagedError(
                f"{kind.noun} {path} cannot be used ({first_line(error)}); {kind.remedy}."
            ) from error
        except (sqlite3.Error, UnicodeDecodeError) as error:
            wrong = NoDatabaseError if "not a database" in str(error) else DamagedError
            raise wrong(
                f"{path} is no file of edits, or damaged ({first_line(error)}); {kind.remedy}."
            ) from error


def packed(rows: ArrayLike) -> str:
    """Return vectors as text, for an edit."""
    return base64.b64encode(np.ascontiguousarray(rows, "<f4").tobytes()).decode()


def unpacked(text: str, width: int) -> NDArray[np.float32]:
    """Return vectors of a width from the text of an edit, shape (n_vectors, width)."""
    try:
        found = np.frombuffer(base64.b64decode(text, validate=True), "<f4").reshape(-1, width)
    except (ValueError, TypeError, binascii.Error) as error:
        raise InvalidInputError(f"an edit holds no vectors of length {width}.") from error
    if not np.isfinite(found).all():
        raise InvalidInputError("an edit holds vectors that are not finite.")
    return found


def packed_phrases(told: Phrases) -> Edit:
    """Return what can be left out of the texts of a class as a part of an edit."""
    return {"words": list(told.words), "vectors": packed(told.vectors)}


def unpacked_phrases(part: Edit, width: int) -> Phrases:
    """Return what can be left out of the texts of a class from a part of an edit."""
    words, vectors = part.get("words"), unpacked(part.get("vectors", ""), width)
    if not isinstance(words, list) or len(words) != len(vectors):
        raise InvalidInputError("an edit holds phrases without their vectors.")
    return Phrases(tuple(map(str, words)), vectors)


def take_over_journal(path: Path, kind: Kind, facts: Mapping[str, Any]) -> None:
    """Put a log in the place of the text file of a server before this one; it stays as ``.old``."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with locked(path) as descriptor:
            if descriptor is not None and os.path.samestat(os.fstat(descriptor), path.stat()):
                edits = read_journal(path, facts)
                new = path.with_name(f"{path.name}.{os.getpid()}.new")
                new.unlink(missing_ok=True)
                log = EditLog(new, kind, facts)
                try:
                    log.rewrite(edits)
                finally:
                    log.close()
                kept = path.with_name(f"{path.name}.old")
                kept.unlink(missing_ok=True)
                os.link(path, kept)
                os.replace(new, path)
                return
        time.sleep(0.01)
    raise BusyError(path, OSError("another program is writing"))


def read_journal(path: Path, facts: Mapping[str, Any]) -> list[Edit]:
    """Return the changes of classes in a text file, as servers before this one wrote them.

    Every line begins with a checksum; the first holds the facts. What follows the last line end is
    what a crash left of a change that was never acknowledged.
    """
    *lines, _ = path.read_bytes().split(b"\n")
    values = []
    for number, line in enumerate(lines, 1):
        if line[:8] != b"%08x" % zlib.crc32(line[9:]):
            raise DamagedError(
                f"{path} is damaged at line {number}. Move it away to serve the classes of the "
                "model file, or restore it."
            )
        values.append(json.loads(line[9:]))
    if values and values[0] != {"zslearn_classes": 1, **facts}:
        raise InvalidInputError(
            f"{path} holds classes with other dimensions than those of the model. Move it away, or "
            "serve the model that it belongs to."
        )
    return values[1:]


def _crc(row: _Row) -> int:
    return zlib.crc32(f"{row.number} {row.undone} {row.edit}".encode())


def _inode(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_dev, facts.st_ino
