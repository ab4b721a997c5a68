"""`zslearn data`: look at data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.data_check import check
from zslearn.cli.table import echo_json, format_table

if TYPE_CHECKING:
    from zslearn.datasets import ZeroShotDataset

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


@click.group(epilog=EPILOG)
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
    from zslearn.exceptions import ZslearnError

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
