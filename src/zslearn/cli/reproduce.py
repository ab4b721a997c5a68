"""`zslearn reproduce`: the tables and figures of the paper, measured here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.output import echo_json, names_in
from zslearn.exceptions import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from zslearn.reproduce import DataSource, Experiment, Missing, ResultsFile, Run, Table
    from zslearn.reproduce.plots import Plot

RESULTS = "results.jsonl"
ENCODED = "encoded"  # vectors of texts and pictures, which may be deleted
MOST_JOBS = 4  # each process holds a data set
EPILOG = """\b
Examples:
  zslearn reproduce --quick
  zslearn reproduce zsl ablation --data DIR --methods sae,eszsl
  zslearn reproduce --data DIR --out results
  zslearn reproduce --list
"""


@click.command(epilog=EPILOG)
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT ...]")
@click.option(
    "--data",
    metavar="DIR",
    help="Folder with more data: xlsa17 folders, the authors' demo files, AwA with features, "
    "flowers17. Default: $ZSLEARN_DATA, else the bundled animals alone.",
)
@click.option(
    "--out",
    default="reproduced",
    show_default=True,
    metavar="FOLDER",
    help="Where the results file, the tables, the plots and the report go.",
)
@click.option(
    "--jobs", type=click.IntRange(1), help="Processes; by default one for each core, 4 at most."
)
@click.option("--methods", metavar="NAME[,NAME]", help="Methods in place of the experiments' own.")
@click.option(
    "--scale",
    type=click.FloatRange(0, 1, min_open=True),
    help="Size of imnet-like; 1, the default, is full: 20 GB of temporary files.",
)
@click.option("--quick", is_flag=True, help="A short form: bundled data, few methods, small sizes.")
@click.option("--repeat-failed", is_flag=True, help="Run again what has failed.")
@click.option("--no-plots", is_flag=True, help="Leave out the plots (no matplotlib needed).")
@click.option("--list", "only_list", is_flag=True, help="List experiments and data, run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def reproduce(
    experiments: tuple[str, ...], out: str, only_list: bool, as_json: bool, **options: Any
) -> None:
    """Run the experiments of the paper on the data that is there.

    Without an EXPERIMENT all of them run. Each run is a row of results.jsonl in FOLDER; a run that
    has its row is not repeated, so a stopped run goes on where it was. Tables (Markdown, LaTeX,
    CSV), plots and the report, one Markdown page, are made from that file alone; its first section
    has the tables of the paper, published values beside ours. A run that fails is a row with its
    reason, and the exit code is 1.
    """
    from zslearn.reproduce import find_data

    chosen = _chosen(experiments, options)
    sources, missing = find_data(options["data"])
    _tell_data(sources, missing, chosen)
    if only_list:
        _list(chosen, sources)
        return
    folder = _folder(out)
    from zslearn.core.threads import cores
    from zslearn.reproduce import ResultsFile, plan, run_experiments

    results = ResultsFile(folder / RESULTS)
    runs = plan(chosen, [replace(source, kept=str(folder / ENCODED)) for source in sources])
    if not runs:
        raise click.ClickException("nothing to run: what was asked for needs data, see above.")
    done = sum(results.find(run.key) is not None for run in runs)
    click.echo(f"{len(runs)} runs, {done} of them done already.", err=True)
    jobs = options["jobs"] or min(cores(), MOST_JOBS)
    run_experiments(runs, results, jobs=jobs, repeat_failed=options["repeat_failed"], report=_tell)
    tables = _write(results, runs, folder, plots=not options["no_plots"])
    rows = [results.find(run.key) or {} for run in runs]
    if as_json:
        echo_json(rows)
    else:
        _print([table for e in chosen for table in tables.get(e.name, ())], folder)
    failed = sum(row.get("status") == "failed" for row in rows)
    if failed:
        raise click.ClickException(f"{failed} of {len(rows)} runs failed; their rows say why.")


def _chosen(names: tuple[str, ...], options: dict[str, Any]) -> list[Experiment]:
    from zslearn.reproduce import choose_experiments

    chosen = choose_experiments(names, names_in(options["methods"]), quick=options["quick"])
    scale = options["scale"]
    if scale is None:
        return chosen
    if not scale > 0:  # not a number
        raise InvalidInputError(f"--scale must be a number above 0 and at most 1; got {scale}.")
    return [replace(e, scale=scale) if e.scale is not None else e for e in chosen]


def _folder(out: str) -> Path:
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"{out} is a file; --out names a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _tell_data(sources: list[DataSource], missing: list[Missing], chosen: list[Experiment]) -> None:
    """Say which data was found, and how to get what was not."""
    if not any(experiment.data for experiment in chosen):
        return
    for source in sources:
        if source.group != "described":
            features = f" ({source.features})" if source.features else ""
            click.echo(f"Found {source.dataset}{features}.", err=True)
    reasons: dict[str, list[str]] = {}
    for item in missing:
        reasons.setdefault(item.reason, []).append(item.dataset)
    for reason, names in reasons.items():
        click.echo(f"Without {', '.join(names)}: {reason}", err=True)


def _list(chosen: list[Experiment], sources: list[DataSource]) -> None:
    from zslearn.cli.output import format_table
    from zslearn.reproduce import plan

    rows = [
        {"name": e.name, "paper": e.paper, "title": e.title, "runs": len(plan([e], sources))}
        for e in chosen
    ]
    titles = {"name": "experiment", "paper": "paper", "title": "what", "runs": "runs"}
    click.echo(format_table(rows, titles))


def _tell(number: int, total: int, run: Run, row: dict[str, Any]) -> None:
    """Report one run on standard error."""
    shown = ("per_class_accuracy", "harmonic_mean", "ausuc", "clustering_loss", "hit_at_5")
    found = ", ".join(f"{key} {row[key]:.4f}" for key in shown if row.get(key) is not None)
    outcome = f"failed: {row['error']}" if row["status"] == "failed" else found or "done"
    took = f" ({row['seconds']:.1f} s)" if "seconds" in row else ""
    click.echo(f"[{number}/{total}] {run}: {outcome}{took}", err=True)


def _write(
    results: ResultsFile, runs: list[Run], folder: Path, *, plots: bool
) -> dict[str, list[Table]]:
    """Make every file from the results file alone; return the tables by experiment.

    Runs finish in any order; their rows are shown in that of the plan.
    """
    from zslearn.reproduce import make_tables
    from zslearn.reproduce.report import write_files

    place = {run.key: number for number, run in enumerate(runs)}
    rows = sorted(results.rows(), key=lambda row: place.get(row["key"], len(place)))
    tables = make_tables(rows)
    try:
        write_files(tables, _pictures(rows) if plots else [], rows, folder)
    except MissingExtraError as error:
        click.echo(f"No plots: {error}", err=True)
        write_files(tables, [], rows, folder)
    return tables


def _pictures(rows: list[dict[str, Any]]) -> list[Plot]:
    from zslearn.reproduce.plots import make_plots

    return list(make_plots(rows))


def _print(tables: list[Table], folder: Path) -> None:
    for table in tables:
        click.echo(table.text() + "\n")
    names = [RESULTS, "tables", *(["plots"] if any(folder.glob("plots/*")) else []), "report.md"]
    click.echo(f"Written to {folder}: {', '.join(names)}", err=True)
