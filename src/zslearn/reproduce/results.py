"""The results file: one JSON object a line, only ever complete lines."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zslearn._files import json_ready, replacing
from zslearn.exceptions import InvalidInputError

Row = dict[str, Any]


class ResultsFile:
    """Rows of finished runs on disk.

    Each row is written by a single call and reaches the disk before the next run starts. A line
    cut off by a power failure is dropped when the file is opened again, and its run is repeated.

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
        self._rows = self._read() if self.path.exists() else {}

    def rows(self) -> list[Row]:
        """Return the rows, of those with the same key the last."""
        return list(self._rows.values())

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row; one with the same key is superseded.

        Parameters
        ----------
        row : mapping
            Plain values, numpy scalars and lists; it must have "key". NaN and infinity become
            null.
        """
        plain = json_ready(row)
        line = json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._rows.pop(plain["key"], None)
        self._rows[plain["key"]] = plain

    def find(self, key: str) -> Row | None:
        """Return the row of a run, None if it has not finished."""
        return self._rows.get(key)

    def _read(self) -> dict[str, Row]:
        content = self.path.read_bytes()
        whole, newline, rest = content.rpartition(b"\n")
        if rest:
            # The end of a write that was cut off.
            with replacing(self.path) as file:
                file.write(whole + newline)
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
