"""The table of what was judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zslearn._optional import require

COLUMNS = ("rank", "member", "accuracy", "error", "rows", "folds", "seconds", "note")


class Leaderboard:
    """Members in order, the best first; a table that knows a little of what a DataFrame does.

    Parameters
    ----------
    rows : sequence of dict
        With the keys `columns`.

    Examples
    --------
    >>> board = Leaderboard([dict.fromkeys(COLUMNS, 1) | {"member": "sae", "note": "taken"}])
    >>> board["member"], len(board)
    (['sae'], 1)
    """

    columns = COLUMNS

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = tuple(dict(row) for row in rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> list[Any]:
        return [row[column] for row in self.rows]

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        pandas = require("pandas", extra="table", purpose="A data frame")
        return pandas.DataFrame(list(self.rows), columns=list(self.columns))

    def __repr__(self) -> str:
        body = [[_text(row[name]) for name in self.columns] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(list(self.columns), *body, strict=True)]
        lines = [list(self.columns), *body]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
