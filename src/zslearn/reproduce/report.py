"""Files made from the results file: tables, plots, and the report, one Markdown page."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from zslearn._files import replacing
from zslearn.reproduce.plots import Plot
from zslearn.reproduce.specification import load_experiments
from zslearn.reproduce.tables import PAPER, Row, Table, latest

TERMS = {
    "seen, unseen class": "a class with, or without, training samples",
    "signature": "the vector that describes a class: attributes, a word vector, a text embedding",
    "semantic space": "where signatures live; results for different spaces do not compare",
    "split": "which classes are seen and which are unseen; in a proposed split no unseen class is "
    "one of those the features were trained on",
    "conventional setting (zsl)": "test samples come from unseen classes, and only those may be "
    "answered",
    "generalized setting (gzsl)": "test samples come from seen and unseen classes, and all may be "
    "answered",
    "accuracy": "per class: the mean of the accuracies of all classes, unless a table says "
    "per sample",
    "H": "the harmonic mean of the accuracies on seen and on unseen classes",
    "AUSUC": "the area under the curve of seen against unseen accuracy",
    "hit@k": "the share of samples whose class is among the k best answers",
    "λ": "the weight of the encoder's error against the decoder's in the semantic autoencoder",
    "encoder, decoder": "compare in the semantic space, or in the feature space",
    "transductive": "a method that uses the test samples, without their labels",
    "loss": "of a clustering: 0 for the true partition, growing with every difference from it",
}
TOP_VERSIONS = {
    "version_zslearn": "zslearn",
    "version_python": "Python",
    "version_numpy": "NumPy",
    "version_scipy": "SciPy",
    "version_scikit-learn": "scikit-learn",
}
INTRO = (
    "Everything below was measured here, by the runs whose rows are in the results file. "
    "Published values stand beside ours in the tables of the paper, with what differs. Bold marks "
    "the best of a column."
)


def write_files(
    tables: Mapping[str, Sequence[Table]],
    plots: Sequence[Plot],
    rows: Iterable[Row],
    folder: str | os.PathLike[str],
) -> None:
    """Write every table as CSV and LaTeX, every plot as PNG, and the report.

    Parameters
    ----------
    tables : mapping of str to sequence of Table
        What `make_tables` returned.
    plots : sequence of Plot
        What `make_plots` yielded.
    rows : iterable of dict
        What both were made of.
    folder : path-like
        Target folder; created if missing.
    """
    place = Path(folder)
    for name in ("tables", *(["plots"] if plots else [])):
        (place / name).mkdir(parents=True, exist_ok=True)
    for table in (table for some in tables.values() for table in some):
        _write(place / "tables" / f"{table.name}.csv", table.csv().encode())
        _write(place / "tables" / f"{table.name}.tex", f"{table.latex()}\n".encode())
    for plot in plots:
        _write(place / "plots" / f"{plot.name}.png", plot.png())
    _write(place / "report.md", render_report(rows, tables, plots).encode())


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as file:
        file.write(content)


def render_report(
    rows: Iterable[Row], tables: Mapping[str, Sequence[Table]], plots: Sequence[Plot] = ()
) -> str:
    """Return the report.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a results file.
    tables : mapping of str to sequence of Table
        What `make_tables` made of these rows.
    plots : sequence of Plot, optional
        Pictures, linked from the folder ``plots``.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> from zslearn.reproduce.report import render_report
    >>> render_report([], {}).splitlines()[0]
    "# The semantic autoencoder: the paper's experiments, run here"
    """
    current = latest(rows)
    titles = {PAPER: ("The tables of the paper", "")}
    titles |= {name: (one.title, one.paper) for name, one in load_experiments().items()}
    sections = [
        _section(f"{title} ({paper})" if paper else title, tables.get(name, ()), plots, name)
        for name, (title, paper) in titles.items()
    ]
    terms = "\n".join(f"- **{word}**: {TERMS[word]}" for word in TERMS)
    parts = [
        "# The semantic autoencoder: the paper's experiments, run here",
        _when(current),
        INTRO,
        f"## Terms\n\n{terms}",
        *sections,
        _failures(current),
        _machine(current),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(title: str, tables: Sequence[Table], plots: Sequence[Plot], name: str) -> str:
    parts = [table.markdown() for table in tables]
    parts += [
        f"![{plot.caption}](plots/{plot.name}.png)\n\n{plot.caption}"
        for plot in plots
        if plot.experiment == name
    ]
    return "\n\n".join([f"## {title}", *parts]) if parts else ""


def _when(rows: Sequence[Row]) -> str:
    """Say when the runs were made, and with which version."""
    days = sorted({str(row["finished"])[:10] for row in rows if row.get("finished")})
    if not days:
        return ""
    packages = {
        title: ", ".join(sorted({str(row[key]) for row in rows if row.get(key)}))
        for key, title in TOP_VERSIONS.items()
    }
    versions = ", ".join(f"{title} {found}" for title, found in packages.items() if found)
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    took = sum(row.get("seconds") or 0 for row in rows) / 60
    return f"{len(rows)} runs, {took:.0f} minutes of work in all, {span}. {versions}."


def _failures(rows: Sequence[Row]) -> str:
    failed = [row for row in rows if row["status"] == "failed"]
    keys = ("kind", "dataset", "split", "semantics", "protocol", "method")
    items = [
        f"- {' '.join(row[key] for key in keys if row.get(key))}: {row['error']}" for row in failed
    ]
    return "\n".join(["## Runs that failed", "", *items]) if items else ""


def _machine(rows: Sequence[Row]) -> str:
    """Show versions, machines and settings of all rows."""
    facts: dict[str, dict[str, None]] = {}
    for row in rows:
        for key, value in row.items():
            if key.startswith(("version_", "machine_")) and key != "machine_load":
                facts.setdefault(key.partition("_")[2], {})[str(value)] = None
    lines = [f"| {key} | {', '.join(values)} |" for key, values in facts.items()]
    head = ["## Configuration and versions", "", "| | |", "|---|---|"]
    return "\n".join([*head, *lines]) if lines else ""
