"""`zslearn data check`: whether samples and a class table fit together."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.table import echo_json, format_table
from zslearn.exceptions import InvalidInputError

if TYPE_CHECKING:
    from zslearn.evaluation import ClassReport
    from zslearn.signatures import Signatures

EPILOG = """\b
Examples:
  zslearn data check animals signatures.csv
  zslearn data check my_store signatures.csv
  zslearn data check X.csv signatures.csv --labels y.csv
"""
COLUMNS = {"name": "class", "samples": "samples", "signature": "signature", "role": ""}
# Longer lists are cut in the text; --json has everything.
_SHOWN = 10


@click.command(epilog=EPILOG)
@click.argument("source")
@click.argument("signatures")
@click.option(
    "--labels", metavar="FILE|COLUMN", help="Labels of a file of features, or its column."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def check(source: str, signatures: str, labels: str | None, as_json: bool) -> None:
    """Compare the samples of SOURCE with the classes of SIGNATURES.

    SOURCE is a store, a data set or a file of features; SIGNATURES a table, .csv or .npz. Shows
    which classes have samples, signatures or both, classes that nothing tells apart, dimensions
    that never vary, and unseen classes that networks pretrained on ImageNet have seen. Exit code 1
    if samples have no signature.
    """
    from zslearn.evaluation import report_classes

    table = _read_table(signatures)
    report = report_classes(_labels(source, labels, table), table)
    if as_json:
        echo_json(asdict(report))
    else:
        _print_report(report)
    if report.without_signature:
        raise click.ClickException(
            f"{_have(report.without_signature)} samples and no signature: "
            f"{_few(report.without_signature)}. Add rows for them or correct the names."
        )


def _read_table(path: str) -> Signatures:
    from zslearn.signatures import Signatures

    return (Signatures.from_npz if path.endswith(".npz") else Signatures.from_csv)(path)


def _labels(source: str, labels: str | None, table: Signatures) -> list[Any]:
    """Return the class of every sample."""
    from zslearn.datasets import open_dataset
    from zslearn.datasets.table import is_column, read_feature_table, table_columns
    from zslearn.scale import StoreSource

    place = Path(source)
    if labels is not None and not is_column(labels, place):
        return _listed_labels(place, labels, table)
    if labels is None and (place / "meta.json").is_file():
        store = StoreSource(place)
        return list(store.labels() if store.names is None else store.names[store.labels()])
    if labels is None and not (place.is_file() and place.suffix != ".mat"):
        return list(open_dataset(source).y)
    columns = [name for name in (labels, "label", "class") if name in table_columns(place)]
    if not columns:
        raise InvalidInputError(
            f"{source} has no column 'label' or 'class'; pass --labels with a file or a column."
        )
    return list(read_feature_table(place, take=columns[:1]).taken[str(columns[0])])


def _listed_labels(place: Path, labels: str, table: Signatures) -> list[Any]:
    """Read a file of labels; a first line that is one too many is the title of the column."""
    from zslearn.datasets import load_features
    from zslearn.datasets.table import read_labels

    found = list(read_labels(Path(labels)))
    n_rows = len(load_features(place, mmap=True))
    known = {str(name) for name in table}
    titled = len(found) == n_rows + 1 and str(found[0]) not in known
    if len(found) - titled != n_rows:
        raise InvalidInputError(f"{place} has {n_rows} samples and {labels} {len(found)} labels.")
    return found[titled:]


def _print_report(report: ClassReport) -> None:
    rows = [
        {
            "name": name,
            "samples": count,
            "signature": name not in report.without_signature,
            "role": _role(report, name),
        }
        for name, count in report.n_samples.items()
    ]
    click.echo(format_table(rows, COLUMNS))
    click.echo(
        f"\n{_have(report.seen)} samples and a signature, {len(report.unseen)} a "
        f"signature only (unseen), {len(report.without_signature)} samples only."
    )
    pairs = [f"{first} and {second}" for first, second, _ in report.near_duplicates]
    for found, line in (
        (pairs, "Classes with nearly the same signature, which no method tells apart"),
        (report.constant, "Dimensions that never vary"),
        (report.constant_when_seen, "Dimensions that never vary over the seen classes"),
        (list(report.leakage.exact), "Classes that networks pretrained on ImageNet have seen"),
    ):
        click.echo(f"{line}: {_few(found) if found else 'none'}.")


def _role(report: ClassReport, name: str) -> str:
    if name in report.without_signature:
        return "no signature"
    return "unseen" if name in report.unseen else ""


def _have(names: Any) -> str:
    return "1 class has" if len(names) == 1 else f"{len(names)} classes have"


def _few(names: Any) -> str:
    """Spell the first names and how many more there are."""
    every = list(map(str, names))
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more
