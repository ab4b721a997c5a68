"""The report: one self-contained HTML file."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from zslearn.reproduce.plots.style import Plot
from zslearn.reproduce.specification import load_experiments
from zslearn.reproduce.story import tell
from zslearn.reproduce.tables import Table
from zslearn.reproduce.tables.selection import Row, latest
from zslearn.reproduce.terms import TERMS

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 62rem; margin: 2rem auto;
       padding: 0 1rem; background: #fff; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem;
     border-bottom: 1px solid #ccc; }
nav ul { columns: 2; padding-left: 1.2rem; }
figure { margin: 1.5rem 0; } figcaption { font-weight: 600; margin-bottom: .4rem; }
figure img { max-width: min(100%, 48rem); }
figure.plot figcaption { font-weight: 400; color: #444; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; }
th, td { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #e4e4e4; }
thead th { border-bottom: 2px solid #444; } .number { text-align: right;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
.notes { font-size: .8rem; color: #444; padding-left: 1.1rem; margin: .4rem 0; }
.paper { color: #666; font-weight: 400; font-size: .9rem; }
.failed { color: #a33000; } .when { color: #444; }
dl { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: .2rem 1rem;
     font-size: .92rem; } dt { font-weight: 600; } dd { margin: 0; }
"""
TOP_VERSIONS = {
    "version_zslearn": "zslearn",
    "version_python": "Python",
    "version_numpy": "NumPy",
    "version_scipy": "SciPy",
    "version_scikit-learn": "scikit-learn",
}
INTRO = (
    "Everything below was measured here, by the runs whose rows are in the results file. Published "
    "values have their own columns, only where the protocol is the same, and notes say "
    "where features differ. Bold marks the best of a column."
)


def render_report(
    rows: Iterable[Row], tables: Mapping[str, Sequence[Table]], plots: Sequence[Plot] = ()
) -> str:
    """Return the page.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a results file.
    tables : mapping of str to sequence of Table
        What `make_tables` made of these rows.
    plots : sequence of Plot, optional
        Pictures, embedded as data.

    Returns
    -------
    str
        HTML without scripts and external links.

    Examples
    --------
    >>> from zslearn.reproduce.report import render_report
    >>> "<h1>" in render_report([], {})
    True
    """
    current = latest(rows)
    sections = [
        _section(name, experiment.title, experiment.paper, tables.get(name, ()), plots)
        for name, experiment in load_experiments().items()
    ]
    named = [(name, part) for name, part in zip(load_experiments(), sections, strict=True) if part]
    body = [
        "<h1>Semantic autoencoder: the paper's experiments, run here</h1>",
        _when(current),
        f"<p>{escape(INTRO)}</p>",
        _contents([name for name, _ in named]),
        _terms(),
        _story(current),
        *(part for _, part in named),
        _failures(current),
        _machine(current),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>zslearn reproduce</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body></html>\n"
    )


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
    return f'<p class="when">{len(rows)} runs, {span}. {escape(versions)}.</p>'


def _contents(names: Sequence[str]) -> str:
    """Return links to the experiments by their titles, with where the paper shows them."""
    experiments = load_experiments()
    links = "".join(
        f'<li><a href="#{name}">{escape(experiments[name].title)}</a> '
        f'<span class="paper">{escape(experiments[name].paper)}</span></li>'
        for name in names
    )
    return f'<nav aria-label="Contents"><h2>Contents</h2><ul>{links}</ul></nav>' if links else ""


def _terms() -> str:
    """Explain the words of the tables."""
    items = "".join(f"<dt>{escape(word)}</dt><dd>{escape(TERMS[word])}</dd>" for word in TERMS)
    return f'<section id="terms"><h2>Terms</h2><dl>{items}</dl></section>'


def _section(
    name: str, title: str, paper: str, tables: Sequence[Table], plots: Sequence[Plot]
) -> str:
    parts = [table.html() for table in tables]
    parts += [_picture(plot) for plot in plots if plot.experiment == name]
    if not parts:
        return ""
    head = f'<h2>{escape(title)} <span class="paper">({escape(paper)})</span></h2>'
    return f'<section id="{name}">{head}\n' + "\n".join(parts) + "</section>"


def _picture(plot: Plot) -> str:
    data = base64.b64encode(plot.png).decode()
    caption = escape(plot.caption)
    return (
        f'<figure class="plot"><img alt="{caption}" src="data:image/png;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _story(rows: Sequence[Row]) -> str:
    told = "".join(f"<li>{escape(sentence)}</li>" for sentence in tell(rows))
    if not told:
        return ""
    return f'<section id="place"><h2>The place of SAE</h2><ul>{told}</ul></section>'


def _failures(rows: Sequence[Row]) -> str:
    failed = [row for row in rows if row["status"] == "failed"]
    if not failed:
        return ""
    items = "".join(
        f"<li>{escape(' '.join(_words(row)))}: {escape(row['error'])}</li>" for row in failed
    )
    return f'<section class="failed"><h2>Runs that failed</h2><ul>{items}</ul></section>'


def _words(row: Row) -> list[str]:
    keys = ("kind", "dataset", "split", "semantics", "protocol", "method")
    return [row[key] for key in keys if row.get(key)]


def _machine(rows: Sequence[Row]) -> str:
    """Show versions, machines and settings of all rows."""
    facts: dict[str, list[str]] = {}
    for row in rows:
        for key, value in row.items():
            if key.startswith(("version_", "machine_")) and key != "machine_load":
                known = facts.setdefault(key.partition("_")[2], [])
                if str(value) not in known:
                    known.append(str(value))
    if not facts:
        return ""
    lines = "".join(
        f'<tr><th scope="row">{escape(key)}</th><td>{escape(", ".join(values))}</td></tr>'
        for key, values in facts.items()
    )
    took = sum(row.get("seconds") or 0 for row in rows)
    return (
        '<section id="machine"><h2>Configuration and versions</h2>'
        f"<p>{len(rows)} runs, {took / 60:.1f} minutes of work in all.</p>"
        f"<table>{lines}</table></section>"
    )
