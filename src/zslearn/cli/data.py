"""`zslearn data`: look at data sets, and compare samples with a class table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.data_options import describe_classes, is_in_words
from zslearn.cli.main import LazyGroup
from zslearn.cli.output import echo_json, echo_notes, format_table, printable
from zslearn.exceptions import InvalidInputError, ZslearnError

if TYPE_CHECKING:
    from zslearn.datasets import ZeroShotDataset
    from zslearn.evaluation import ClassReport
    from zslearn.signatures import Signatures


CHECK_EPILOG = """\b
Examples:
  zslearn data check animals signatures.csv
  zslearn data check my_store signatures.csv
  zslearn data check tickets.store classes.csv
  zslearn data check X.csv signatures.csv --labels y.csv
"""
COLUMNS = {"name": "class", "samples": "samples", "signature": "signature", "role": ""}
# Longer lists are cut in the text; --json has everything.
_SHOWN = 10


@click.command(epilog=CHECK_EPILOG)
@click.argument("source")
@click.argument("signatures")
@click.option(
    "--labels", metavar="FILE|COLUMN", help="Labels of a file of features, or its column."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def check(source: str, signatures: str, labels: str | None, as_json: bool) -> None:
    """Compare the samples of SOURCE with the classes of SIGNATURES.

    SOURCE is a store, a data set or a file of features; SIGNATURES a table, .csv or .npz, or names
    and descriptions of the classes, which are encoded. Shows
    which classes have samples, signatures or both, classes that nothing tells apart, dimensions
    that never vary, and unseen classes that networks pretrained on ImageNet have seen. Exit code 1
    if samples have no signature.
    """
    from zslearn.evaluation import report_classes

    try:
        table = _read_table(signatures, source)
        found = _labels(source, labels, table)
    except ZslearnError:
        if _are_swapped(source, signatures, labels):
            raise InvalidInputError(
                "SOURCE and SIGNATURES seem to be swapped; try: zslearn data check "
                f"{signatures} {source}"
            ) from None
        raise
    report = report_classes(found, table)
    if as_json:
        echo_json(asdict(report))
    else:
        _print_report(report)
    if report.without_signature:
        raise click.ClickException(
            f"{_have(report.without_signature)} samples and no signature: "
            f"{_few(report.without_signature)}. Add rows for them or correct the names."
        )


def _read_table(path: str, source: str) -> Signatures:
    """Read a class table; one in words is encoded as the samples of a store were."""
    from zslearn.datasets.table import read_noted_signatures
    from zslearn.encoders import Store, is_store

    try:
        table, notes = read_noted_signatures(path)
    except ZslearnError:
        if not is_in_words(path):
            raise
        return describe_classes(path, Store.open(source).encoder if is_store(source) else None)
    echo_notes(path, notes)
    return table


def _are_swapped(source: str, signatures: str, labels: str | None) -> bool:
    """Say whether each of two arguments can be read as the other, with classes in common."""
    from zslearn.datasets.table import read_signatures

    try:
        table = read_signatures(source)
        found = _labels(signatures, labels, table)
    except ZslearnError:
        return False
    return not Path(signatures).is_file() or not {str(name) for name in table}.isdisjoint(found)


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
    from zslearn.datasets.table import read_feature_table, read_labels

    found = list(read_labels(Path(labels)))
    n_rows = len(read_feature_table(place, mmap=True).X)
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
    for found_wrong in report.warnings:
        click.echo(f"Warning: {printable(found_wrong)}.")


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


SPLITS = {
    "split": "split",
    "seen": "seen classes",
    "unseen": "unseen classes",
    "train": "train rows",
    "test_seen": "test rows, seen",
    "test_unseen": "test rows, unseen",
}
SPACES = {"semantics": "semantic space", "dimensions": "dimensions", "classes": "classes"}
EPILOG = """\b
Examples:
  zslearn data info animals
  zslearn data check my_store signatures.csv
"""
INFO_EPILOG = """\b
Examples:
  zslearn data info animals
  zslearn data info xlsa17/CUB --features effnet_lite0
  zslearn data info my_folder --json
"""


@click.group(cls=LazyGroup, epilog=EPILOG)
def data() -> None:
    """Look at data sets."""


data.add_command(check)


@data.command(epilog=INFO_EPILOG)
@click.argument("path")
@click.option("--features", metavar="NAME", help="Which feature file of a folder with several.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def info(path: str, features: str | None, as_json: bool) -> None:
    """Describe the data set at PATH: sizes, semantic spaces and splits.

    PATH is "animals" (bundled), a folder in the xlsa17 layout, or a folder of your own with
    features.csv, labels.csv and signatures.csv (also .npy, .npz, .parquet).
    """
    dataset = _opened(path, features)
    if as_json:
        echo_json(_facts(dataset))
    else:
        _print_facts(_facts(dataset))


def _opened(path: str, features: str | None) -> ZeroShotDataset:
    """Open a data set; where no features can be chosen, its semantics and splits alone."""
    from zslearn.datasets import open_dataset

    try:
        return open_dataset(path, features)
    except ZslearnError as error:
        if features is not None:
            raise
        try:
            dataset = open_dataset(path, "none")
        except ZslearnError:
            raise error from None
        click.echo(f"Without features: {error}", err=True)
        return dataset


def _facts(dataset: ZeroShotDataset) -> dict[str, Any]:
    n_samples, n_features = dataset.X.shape
    return {
        "name": dataset.name,
        "samples": n_samples,
        "features": n_features,
        "classes": len(dataset.classes),
        "feature_kind": dataset.features,
        "source": dataset.source,
        "semantics": [
            {"semantics": name, "dimensions": table.n_dimensions, "classes": len(table)}
            for name, table in dataset.semantics.items()
        ],
        "splits": [_split_facts(dataset, name) for name in dataset.splits],
        "withheld": dict(dataset.withheld),
        "citation": dataset.citation,
    }


def _split_facts(dataset: ZeroShotDataset, name: str) -> dict[str, Any]:
    split = dataset.split(name)
    loaded = bool(len(dataset.y))
    return {
        "split": name,
        "seen": len(split.seen),
        "unseen": len(split.unseen),
        "train": len(dataset.train_rows(split)) if loaded else None,
        "test_seen": None if split.test_seen is None else len(split.test_seen),
        "test_unseen": len(dataset.test_rows(split)) if loaded else None,
    }


def _print_facts(facts: dict[str, Any]) -> None:
    click.echo(
        f"{facts['name']}: {facts['samples']} samples, {facts['features']} features, "
        f"{facts['classes']} classes"
    )
    for key, title in (("feature_kind", "features"), ("source", "source")):
        if facts[key]:
            click.echo(f"{title}: {facts[key]}")
    click.echo("\n" + format_table(facts["semantics"], SPACES))
    if facts["splits"]:
        click.echo("\n" + format_table(facts["splits"], SPLITS))
    for name, reason in facts["withheld"].items():
        click.echo(f"\nThe split {name!r} is withheld: {reason}")
    if facts["citation"]:
        click.echo("\nPlease cite:\n" + facts["citation"])
