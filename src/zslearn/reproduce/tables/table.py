"""A table of text cells, and the forms it is written in."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

from zslearn._files import guarded_cell

_NUMBER = re.compile(r"^-?[\d.,]+( ± [\d.]+)?( s| MB)?$")
_LATEX = {
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "$": r"\$",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "λ": r"$\lambda$",
    "×": r"$\times$",
    "–": "--",
    "−": "$-$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


@dataclass(frozen=True)
class Table:
    """Rows of text cells under titles.

    Attributes
    ----------
    name : str
        Name of its files.
    title : str
        Heading.
    columns : tuple of str
        Titles of the columns.
    rows : tuple of tuple of str
        Cells.
    notes : tuple of str
        What to know about it.
    best : frozenset of (int, int)
        Cells that are the best of their column.

    Examples
    --------
    >>> from zslearn.reproduce import Table
    >>> print(Table("t", "A table", ("method", "acc."), (("SAE", "61.4"),)).markdown())
    ### A table
    <BLANKLINE>
    | method | acc. |
    |---|---:|
    | SAE | 61.4 |
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)

    def text(self) -> str:
        """Return the table as aligned plain text; the best of a column carries a star."""
        starred = {j for _, j in self.best}
        body = [
            [
                cell + ("*" if (i, j) in self.best else " " if j in starred else "")
                for j, cell in enumerate(row)
            ]
            for i, row in enumerate(self.rows)
        ]
        widths = [max(map(len, cells)) for cells in zip(self.columns, *body, strict=True)]
        right = self._right()
        lines = [list(self.columns), ["-" * width for width in widths], *body]
        told = [_aligned(line, widths, right) for line in lines]
        return "\n".join([self.title, "", *told, *(f"  {note}" for note in self.notes)])

    def markdown(self) -> str:
        """Return the table in Markdown."""
        rules = ["---:" if right else "---" for right in self._right()]
        body = self._marked(lambda cell: f"**{cell}**", lambda cell: cell.replace("|", "\\|"))
        lines = [_piped(self.columns), "|" + "|".join(rules) + "|", *map(_piped, body)]
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join([f"### {self.title}", "", *lines, *notes])

    def latex(self) -> str:
        """Return the table in LaTeX, for the package booktabs."""
        form = "".join("r" if right else "l" for right in self._right())
        body = self._marked(lambda cell: f"\\textbf{{{cell}}}", _latex)
        notes = " ".join(_latex(note) for note in self.notes)
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\begin{{tabular}}{{{form}}}",
                r"\toprule",
                " & ".join(map(_latex, self.columns)) + r" \\",
                r"\midrule",
                *(" & ".join(row) + r" \\" for row in body),
                r"\bottomrule",
                r"\end{tabular}",
                rf"\caption{{{_latex(self.title)}. {notes}}}",
                rf"\label{{tab:{self.name}}}",
                r"\end{table}",
            ]
        )

    def csv(self) -> str:
        """Return the cells as CSV; none is a formula to a spreadsheet."""
        text = io.StringIO(newline="")
        rows = ([guarded_cell(cell) for cell in row] for row in (self.columns, *self.rows))
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()

    def html(self) -> str:
        """Return the table as an element of a page."""
        classes = [' class="number"' if right else "" for right in self._right()]
        body = self._marked(lambda cell: f"<strong>{cell}</strong>", escape)
        head = "".join(
            f'<th scope="col"{kind}>{escape(title)}</th>'
            for title, kind in zip(self.columns, classes, strict=True)
        )
        lines = [
            "<tr>"
            + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, classes, strict=True))
            + "</tr>"
            for row in body
        ]
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f"<figure><figcaption>{escape(self.title)}</figcaption>\n"
            f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>\n'
            + "\n".join(lines)
            + "\n</tbody></table></div>\n"
            + (f'<ul class="notes">{notes}</ul>' if notes else "")
            + "</figure>"
        )

    def _right(self) -> list[bool]:
        """Say which columns hold numbers."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return [_is_numeric([cell for cell in column if cell]) for column in columns]

    def _marked(
        self, mark: Callable[[str], str], quote: Callable[[str], str]
    ) -> list[tuple[str, ...]]:
        return [
            tuple(
                mark(quote(cell)) if (i, j) in self.best else quote(cell)
                for j, cell in enumerate(row)
            )
            for i, row in enumerate(self.rows)
        ]


def best_cells(
    rows: Sequence[Sequence[str]], columns: Sequence[int], *, lowest: bool = False
) -> frozenset[tuple[int, int]]:
    """Return the cells with the largest (or lowest) number of each of the columns."""
    found = set()
    for j in columns:
        cells = {i: cell_value(row[j]) for i, row in enumerate(rows)}
        values = {i: value for i, value in cells.items() if value is not None}
        if len(values) > 1:
            target = (min if lowest else max)(values.values())
            found |= {(i, j) for i, value in values.items() if value == target}
    return frozenset(found)


def cell_value(cell: str) -> float | None:
    """Return the number a cell begins with; None where it holds none to compare."""
    return float(cell.split(" ")[0]) if _NUMBER.match(cell) and "," not in cell else None


def _is_numeric(cells: Sequence[str]) -> bool:
    return bool(cells) and all(_NUMBER.match(cell) or cell in ("failed", "-") for cell in cells)


def _aligned(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        cell.rjust(width) if numeric else cell.ljust(width)
        for cell, width, numeric in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _piped(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
