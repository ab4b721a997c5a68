"""The project file: every edit that was acknowledged, in SQLite, with undo and redo."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from zslearn._files import first_line
from zslearn.exceptions import InvalidInputError, MissingFileError, WriteError

# "zsls" as a number: how SQLite files of this kind are told from others.
APPLICATION = 0x7A736C73
VERSION = 1
_TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE edits (number INTEGER PRIMARY KEY AUTOINCREMENT, edit TEXT NOT NULL, "
    "undone INTEGER NOT NULL DEFAULT 0)",
)


class Edits(NamedTuple):
    """The edits in force, and those that were undone and can be done again."""

    done: list[dict[str, Any]]
    undone: list[dict[str, Any]]


class Project:
    """An open project file; no second program can open it meanwhile.

    Parameters
    ----------
    path : Path
        The file; made if it is not there.
    data : mapping
        Facts about the data, its name and a checksum; a project made for other data is refused.
    """

    def __init__(self, path: Path, data: dict[str, Any]) -> None:
        self.path = Path(path)
        self._edits: Edits | None = None
        if not self.path.parent.is_dir():
            raise MissingFileError(f"There is no folder {str(self.path.parent)!r}; create it.")
        with _told(self.path):
            # Requests take turns in one thread, which is not the one that opens the file.
            self._base = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            try:
                self._open(data)
            except BaseException:
                self._base.close()
                raise

    def edits(self) -> Edits:
        """Return the edits in the order they were made."""
        if self._edits is None:
            self._edits = self._read()
        return self._edits

    def add(self, edit: dict[str, Any]) -> None:
        """Keep an edit; what was undone can no longer be done again."""
        done = self.edits().done
        with _told(self.path, writing=True), self._transaction():
            self._base.execute("DELETE FROM edits WHERE undone")
            text = json.dumps(edit, allow_nan=False)
            self._base.execute("INSERT INTO edits (edit) VALUES (?)", (text,))
        # Every answer says what undo would do: the file is not read for that.
        self._edits = Edits([*done, json.loads(text)], [])

    def undo(self) -> bool:
        """Undo the last edit; False if there is none."""
        return self._mark("SELECT max(number) FROM edits WHERE NOT undone", 1)

    def redo(self) -> bool:
        """Do the edit again that was undone last; False if there is none."""
        return self._mark("SELECT min(number) FROM edits WHERE undone", 0)

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def _open(self, data: dict[str, Any]) -> None:
        # One program at a time; a commit is on the disk before it is acknowledged.
        self._base.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = FULL")
        with self._transaction():
            kind = self._base.execute("PRAGMA application_id").fetchone()[0]
            if kind == 0 and not self._base.execute("SELECT * FROM sqlite_master").fetchall():
                self._make(data)
            elif kind != APPLICATION:
                raise InvalidInputError(
                    f"{self.path} is an SQLite file of another program; choose another --project."
                )
        self._check(data)

    def _make(self, data: dict[str, Any]) -> None:
        for table in _TABLES:
            self._base.execute(table)
        facts = [("version", VERSION), ("data", data)]
        rows = [(name, json.dumps(value)) for name, value in facts]
        self._base.executemany("INSERT INTO facts VALUES (?, ?)", rows)
        self._base.execute(f"PRAGMA application_id = {APPLICATION}")

    def _check(self, data: dict[str, Any]) -> None:
        found = {
            name: json.loads(value) for name, value in self._base.execute("SELECT * FROM facts")
        }
        if found.get("version") != VERSION:
            raise InvalidInputError(
                f"{self.path} was written by another version of zslearn; choose another --project."
            )
        made_for = found.get("data") or {}
        if made_for != data:
            other = made_for.get("name")
            what = "other classes, attributes or features" if other == data.get("name") else other
            raise InvalidInputError(
                f"the project {self.path} was made for {what}, not for these of "
                f"{data.get('name')}; choose another --project."
            )
        self.edits()

    def _read(self) -> Edits:
        with _told(self.path):
            rows = self._base.execute("SELECT edit, undone FROM edits ORDER BY number").fetchall()
            done = [json.loads(edit) for edit, undone in rows if not undone]
            return Edits(done, [json.loads(edit) for edit, undone in rows if undone])

    def _mark(self, find: str, undone: int) -> bool:
        self._edits = None
        with _told(self.path, writing=True), self._transaction():
            number = self._base.execute(find).fetchone()[0]
            if number is None:
                return False
            self._base.execute("UPDATE edits SET undone = ? WHERE number = ?", (undone, number))
            return True

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")


@contextmanager
def _told(path: Path, *, writing: bool = False) -> Iterator[None]:
    """Turn what SQLite says into one line that names the file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise InvalidInputError(
                f"another program has the project {path} open; close it, or choose another "
                "--project."
            ) from error
        if writing:
            raise WriteError(path, OSError(first_line(error))) from error
        raise InvalidInputError(
            f"the project {path} cannot be used ({first_line(error)})."
        ) from error
    except (sqlite3.Error, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(
            f"{path} is no project of the studio, or damaged ({first_line(error)}); choose another "
            "--project."
        ) from error
