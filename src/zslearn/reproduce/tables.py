"""Tables made only from the rows of a results file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zslearn._files import guarded_cell
from zslearn._parameters import check_flags
from zslearn.cluster import MAPPINGS
from zslearn.reproduce.specification import load_experiments
from zslearn.zero_shot import METHODS
from zslearn.zero_shot.registry import DEEP

_NUMBER = re.compile(r"^-?[\d.,]*\d( ± [\d.]+)?( s| MB)?$")
_BETWEEN = re.compile(r" ?[/|] ?")
_NO_NUMBER = ("failed", "-", "–", "NT")
_MARKS = str.maketrans("", "", "⁰¹²³⁴⁵⁶⁷⁸⁹")
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

    def markdown(self, *, bare: bool = False) -> str:
        """Return the table in Markdown; bare, without its title and notes."""
        check_flags(bare=bare)
        rules = ["---:" if right else "---" for right in self._right()]
        body = self._marked(lambda cell: f"**{cell}**", lambda cell: cell.replace("|", "\\|"))
        lines = [_piped(self.columns), "|" + "|".join(rules) + "|", *map(_piped, body)]
        if bare:
            return "\n".join(lines)
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join([f"### {self.title}", "", *lines, *notes])

    def cell(self, row: str, column: str) -> str:
        """Return the cell of the row that begins with a text, in the column of that title.

        Examples
        --------
        >>> Table("t", "A table", ("method", "acc."), (("SAE", "61.4"),)).cell("SAE", "acc.")
        '61.4'
        """
        return next(line for line in self.rows if line[0] == row)[self.columns.index(column)]

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
    """Say whether all hold numbers alone, some perhaps none; marks of notes do not count."""
    parts = [part for cell in cells for part in _BETWEEN.split(cell.translate(_MARKS))]
    return bool(cells) and all(_NUMBER.match(part) or part in _NO_NUMBER for part in parts)


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


Row = dict[str, Any]
_TITLES = {
    "legacy_cub": "SAE (encoder), authors' CUB demo",
    "legacy_cub-decode": "SAE (decoder), authors' CUB demo",
}
_STEPS = {"projection": "supervised pre-projection", "zscore": "test-batch z-score"}
# The first space of a data set: the one of the main tables.
MAIN_SPACES = ("attributes", "signatures", "")


def latest(rows: Iterable[Row]) -> list[Row]:
    """Return one row for each configuration, the last one measured."""
    named = ("kind", "method", "split", "semantics", "protocol", "seed", "dataset", "features")
    found: dict[str, Row] = {}
    for row in rows:
        options = sorted((k, str(v)) for k, v in row.items() if k.startswith("parameter_"))
        found[str([[row.get(name) for name in named], options])] = row
    return list(found.values())


def select(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Return the rows whose entries equal those wanted; a tuple allows several values."""
    return [
        row
        for row in rows
        if all(
            row.get(key) in value if isinstance(value, tuple) else row.get(key) == value
            for key, value in wanted.items()
        )
    ]


def grouped(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return rows by the values of some entries, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(key) for key in keys), []).append(row)
    return groups


def by_method(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return rows by method, in the order of the registries."""
    order = [*METHODS, *DEEP, *MAPPINGS]
    groups = grouped(rows, "method")
    place = {name: order.index(name) if name in order else len(order) for (name,) in groups}
    return {name: groups[(name,)] for name in sorted(place, key=lambda name: place[name])}


def over_seeds(rows: Iterable[Row]) -> list[Row]:
    """Return one row for runs that differ in their seed alone: numbers become their means."""
    keys = ("kind", "method", "dataset", "features", "split", "semantics", "protocol")
    return [_mean_row(group) for group in grouped(rows, *keys).values()]


def _mean_row(group: Sequence[Row]) -> Row:
    done = [row for row in group if row["status"] == "ok"] or group
    first = done[0]
    numbers = [
        key for key, value in first.items() if isinstance(value, float) and key != "machine_load"
    ]
    means = {
        key: float(np.mean([row[key] for row in done]))
        for key in numbers
        if all(isinstance(row.get(key), float) for row in done)
    }
    return first | means


def method_title(name: str) -> str:
    """Return what tables call a method."""
    base, *steps = name.split("+")
    if name in _TITLES:
        return _TITLES[name]
    known = METHODS | DEEP
    title = known[base].title if base in known else base
    return ", ".join([title, *(f"+ {_STEPS.get(step, step)}" for step in steps)])


def cell(rows: Sequence[Row], key: str, form: Callable[[float], str]) -> str:
    """Return the value of the rows of one method: the mean with its deviation if several."""
    values = [row[key] for row in rows if row["status"] == "ok" and row.get(key) is not None]
    if not values:
        failed = rows and all(row["status"] == "failed" for row in rows)
        return "failed" if failed else ""
    if len(values) == 1:
        return form(values[0])
    return f"{form(float(np.mean(values)))} ± {form(float(np.std(values, ddof=1)))}"


def spread(losses: Sequence[float]) -> str:
    """Return a mean with the deviation of a sample of this size; nothing of nothing."""
    if not losses:
        return ""
    deviation = f" ± {np.std(losses, ddof=1):.3f}" if len(losses) > 1 else ""
    return f"{np.mean(losses):.3f}{deviation}"


def short(share: float | None) -> str:
    """Return a share with three digits and no zero in front, a dash for none."""
    return "–" if share is None else f"{share:.3f}".removeprefix("0")


def percent(value: float) -> str:
    """Return a share in percent."""
    return f"{100 * value:.1f}"


def seconds(value: float) -> str:
    """Return a time with two significant digits."""
    return f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def megabytes(value: float) -> str:
    """Return a size in MB."""
    return f"{value:.0f}"


def failures(rows: Iterable[Row]) -> list[str]:
    """Return a note for each run that failed."""
    return [f"failed: {r['method']}: {r['error']}" for r in rows if r["status"] == "failed"]


def where(row: Row) -> str:
    """Return the data set, features and split of a row in words."""
    parts = [row["dataset"], row.get("feature_title") or row["features"]]
    return ", ".join(part for part in (*parts, f"{row['split']} split") if part)


def file_name(*parts: str) -> str:
    """Return a file name made from words."""
    words = "-".join(parts).lower()
    return "".join(letter if letter.isalnum() else "-" for letter in words).strip("-")


# What its own tables, with published values beside ours, are found under.
PAPER = "paper"


def make_tables(rows: Iterable[Row], experiments: Sequence[str] = ()) -> dict[str, list[Table]]:
    """Return the tables of experiments.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a results file.
    experiments : sequence of str, optional
        Names of experiments, or "paper" for the tables of the paper with their values beside
        ours; all by default.

    Returns
    -------
    dict of str to list of Table
        Tables by experiment, for those that have rows.

    Examples
    --------
    >>> from zslearn.reproduce import make_tables
    >>> make_tables([])
    {}
    """
    from zslearn.reproduce.experiments import KINDS, program
    from zslearn.reproduce.paper import paper_tables

    current = latest(rows)
    modules = dict.fromkeys(map(program, KINDS))
    makers = {name: make for module in modules for name, make in module.TABLES.items()}
    wanted = [name for name in load_experiments() if not experiments or name in experiments]
    made = {name: makers[name](current) for name in wanted if name in makers}
    if not experiments or PAPER in experiments:
        made[PAPER] = paper_tables(current)
    return {name: tables for name, tables in made.items() if tables}
