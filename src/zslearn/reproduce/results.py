"""The results file: one JSON object per line, written by one run at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zslearn._files import append_whole, json_ready, locked
from zslearn.exceptions import InvalidInputError, WriteError

Row = dict[str, Any]


class ResultsFile:
    """Rows of finished runs on disk.

    Each row reaches the disk whole before the next run starts. Readers ignore a last line without
    its end and change nothing; a line cut off by a power failure is removed by the next run that
    writes, and its run is repeated. One run writes at a time, see `held`.

    Parameters
    ----------
    path : path-like
        The file, made when the first row is added; its folder must exist.

    Examples
    --------
    >>> import tempfile
    >>> from zslearn.reproduce import ResultsFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = ResultsFile(f"{folder}/results.jsonl")
    ...     results.add({"key": "a", "status": "ok", "accuracy": 0.5})
    ...     ResultsFile(results.path).rows()
    [{'key': 'a', 'status': 'ok', 'accuracy': 0.5}]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._descriptor: int | None = None
        self._rows = self._read() if self.path.exists() else {}

    def rows(self) -> list[Row]:
        """Return the rows, of those with the same key the last."""
        return list(self._rows.values())

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row; one with the same key is superseded.

        Parameters
        ----------
        row : mapping
            Plain values, numpy scalars and lists; "key" is a text. NaN and infinity become null.
        """
        if self._descriptor is None:
            with self.held():
                return self.add(row)
        plain = json_ready(row)
        line = json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n"
        try:
            append_whole(self._descriptor, line.encode())
        except OSError as error:
            raise WriteError(self.path, error) from error
        self._rows.pop(plain["key"], None)
        self._rows[plain["key"]] = plain
        return None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other runs from writing to the file; what they wrote before is read again.

        The hold ends with the process, however it ends.

        Raises
        ------
        InvalidInputError
            If another run holds the file.
        """
        with locked(self.path) as descriptor:
            if descriptor is None:
                raise InvalidInputError(
                    f"another run is writing to {self.path}. Wait until it has ended, or give "
                    "another folder by --out."
                )
            os.ftruncate(descriptor, self.path.read_bytes().rfind(b"\n") + 1)
            self._rows, self._descriptor = self._read(), descriptor
            try:
                yield
            finally:
                self._descriptor = None

    def find(self, key: str) -> Row | None:
        """Return the row of a run, None if it has not finished."""
        return self._rows.get(key)

    def _read(self) -> dict[str, Row]:
        # Behind the last end of a line is one being written, or cut off.
        whole = self.path.read_bytes().rpartition(b"\n")[0]
        rows: dict[str, Row] = {}
        for number, line in enumerate(whole.splitlines(), 1):
            row = self._parsed(line, number)
            rows.pop(row["key"], None)
            rows[row["key"]] = row
        return rows

    def _parsed(self, line: bytes, number: int) -> Row:
        try:
            row = json.loads(line)
            if not isinstance(row, dict) or not isinstance(row.get("key"), str):
                raise ValueError("no object with a key")
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(
                f"{self.path}, line {number} is not a result ({error}). Remove the line, or give "
                "another folder by --out."
            ) from error
        return row
