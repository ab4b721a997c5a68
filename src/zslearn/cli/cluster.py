"""`zslearn cluster`: learn from labels which distances matter, then cluster new samples."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.data_options import order_columns, remember_columns
from zslearn.cli.main import warnings_as_lines
from zslearn.cli.methods import set_parameters
from zslearn.cli.output import check_target, echo_json, echo_notes, format_table, write_rows
from zslearn.exceptions import InvalidInputError, user_data

if TYPE_CHECKING:
    from zslearn.cluster import SupervisedKMeans
    from zslearn.datasets.table import FeatureTable

EPILOG = """\b
Example:
  zslearn cluster fit --features X.csv --labels y.csv --save clusters.zsl
  zslearn cluster predict clusters.zsl new.csv --out clusters.csv
"""
FIT_EPILOG = """\b
Examples:
  zslearn cluster fit --features X.csv --labels y.csv --save clusters.zsl
  zslearn cluster fit --features table.csv --labels species --mapping lda --save clusters.zsl
  zslearn cluster fit --features pixels.npy --labels y.npy --groups image.npy -P cv=5 --save m.zsl
"""
PREDICT_EPILOG = """\b
Examples:
  zslearn cluster predict clusters.zsl new.csv
  zslearn cluster predict clusters.zsl pixels.npy --groups image.npy --n-clusters 2 --out out.csv
"""
EVALUATE_EPILOG = """\b
Examples:
  zslearn cluster evaluate clusters.zsl test.csv --labels y_test.csv
  zslearn cluster evaluate clusters.zsl table.csv --labels species --json
"""
MAPPINGS_EPILOG = """\b
Examples:
  zslearn cluster mappings
  zslearn cluster mappings --json
"""
MAPPING_COLUMNS = {
    "name": "name",
    "title": "mapping",
    "incremental": "partial_fit",
    "reference": "reference",
}

Command = Callable[..., Any]


@dataclass(frozen=True)
class Samples:
    """What a file of features and its companions hold."""

    X: Any
    names: Sequence[Any]
    columns: Sequence[str] = ()
    labels: Any = None
    groups: Any = None


@click.group(epilog=EPILOG)
def cluster() -> None:
    """Learn from labels which distances matter, then cluster new samples."""


def _shared(command: Command) -> Command:
    """Add the options of files that all commands read."""
    options = [
        click.option(
            "--groups",
            metavar="FILE|COLUMN",
            help="Group of each row, e.g. its image; groups are clustered by themselves.",
        ),
        click.option("--ignore", multiple=True, metavar="COLUMN", help="A column to leave out."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON for programs."),
    ]
    for option in options:
        command = option(command)
    return command


@cluster.command(epilog=FIT_EPILOG)
@click.option("--features", required=True, metavar="FILE", help="One sample per row.")
@click.option("--labels", required=True, metavar="FILE|COLUMN", help="Class of each sample.")
@click.option("--mapping", default="sae", show_default=True, help="See zslearn cluster mappings.")
@click.option(
    "-P", "--param", "params", multiple=True, metavar="NAME=VALUE", help="E.g. lam=0.5; repeatable."
)
@click.option("--raw", is_flag=True, help="Do not standardize the features.")
@click.option("--save", "target", required=True, metavar="FILE", help="Where to write the model.")
@_shared
def fit(
    features: str,
    labels: str,
    mapping: str,
    params: tuple[str, ...],
    raw: bool,
    target: str,
    groups: str | None,
    ignore: tuple[str, ...],
    as_json: bool,
) -> None:
    """Learn a mapping from labeled samples and save it.

    Features are standardized unless --raw is given. λ of the default mapping is chosen by
    cross-validation on the labels, in the setting of --groups if they are given.
    """
    check_target(target)
    from zslearn.cluster import SupervisedKMeans, make_mapping
    from zslearn.persistence import save

    learner = make_mapping(mapping)
    set_parameters(learner, mapping, params)
    samples = _read(features, ignore, labels=labels, groups=groups)
    click.echo(f"Fitting {mapping} on {len(samples.X)} samples ...", err=True)
    start = perf_counter()
    with user_data(), warnings_as_lines():
        model = SupervisedKMeans(learner, standardize=not raw)
        model.fit(samples.X, samples.labels, groups=samples.groups)
    facts = {
        "mapping": mapping,
        "samples": len(samples.X),
        "features": model.n_features_in_,
        "classes": len(model.classes_),
        "lam": getattr(model.mapping_, "lam_", None),
        "fit_seconds": round(perf_counter() - start, 3),
    }
    remember_columns(model, samples.columns)
    save(model, target)
    _tell(facts | {"file": target, "bytes": os.path.getsize(target)}, "model", as_json)


@cluster.command(epilog=PREDICT_EPILOG)
@click.argument("model")
@click.argument("features")
@click.option("--n-clusters", type=click.IntRange(min=1), help="By default the training classes.")
@click.option("--out", metavar="CSV", help="Write the clusters here instead of printing them.")
@_shared
def predict(
    model: str,
    features: str,
    n_clusters: int | None,
    out: str | None,
    groups: str | None,
    ignore: tuple[str, ...],
    as_json: bool,
) -> None:
    """Cluster the samples in FEATURES with the mapping in the file MODEL.

    Clusters are numbered from 0, in each group anew. They are not classes: the cluster of a sample
    depends on the samples it is given with.
    """
    check_target(out)
    fitted = _loaded(model)
    samples = _read(features, ignore, groups=groups)
    X = order_columns(fitted, samples.X, samples.columns, features)
    with user_data(), warnings_as_lines():
        found = fitted.cluster(X, samples.groups, n_clusters).tolist()
    rows = [{"sample": name, "cluster": c} for name, c in zip(samples.names, found, strict=True)]
    if samples.groups is not None:
        rows = [row | {"group": g} for row, g in zip(rows, samples.groups.tolist(), strict=True)]
    if out:
        write_rows(out, rows)
        click.echo(f"Wrote {out}.", err=True)
    if as_json:
        echo_json(rows)
    elif not out:
        click.echo(format_table(rows, {key: key for key in rows[0]}))


@cluster.command(epilog=EVALUATE_EPILOG)
@click.argument("model")
@click.argument("features")
@click.option("--labels", required=True, metavar="FILE|COLUMN", help="True cluster of each sample.")
@_shared
def evaluate(
    model: str,
    features: str,
    labels: str,
    groups: str | None,
    ignore: tuple[str, ...],
    as_json: bool,
) -> None:
    """Cluster the samples in FEATURES and compare with their true clusters.

    Each group is split into as many clusters as there were training classes. The loss is 0 for the
    true clusters; divided by its largest value it is 1 for unrelated ones. The adjusted Rand index
    is 1 and 0 there. With groups all are means over groups.
    """
    fitted = _loaded(model)
    samples = _read(features, ignore, labels=labels, groups=groups)
    X = order_columns(fitted, samples.X, samples.columns, features)
    with user_data(), warnings_as_lines():
        found = fitted.cluster(X, samples.groups)
    _tell(_scores(samples, found), "measure", as_json)


@cluster.command(epilog=MAPPINGS_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def mappings(as_json: bool) -> None:
    """List the mappings that can be learned."""
    from zslearn.cluster import MAPPINGS

    rows = [
        {
            "name": name,
            "title": mapping.title,
            "incremental": mapping.tags.incremental,
            "reference": mapping.tags.reference,
        }
        for name, mapping in MAPPINGS.items()
    ]
    if as_json:
        echo_json(rows)
    else:
        click.echo(format_table(rows, MAPPING_COLUMNS))


def _loaded(path: str) -> SupervisedKMeans:
    from zslearn.cluster import SupervisedKMeans
    from zslearn.persistence import load

    model = load(path)
    if not isinstance(model, SupervisedKMeans):
        raise InvalidInputError(
            f"{path} holds a {type(model).__name__}, which clusters nothing; save a model with "
            "zslearn cluster fit."
        )
    return model


def _read(
    path: str, ignore: tuple[str, ...], *, labels: str | None = None, groups: str | None = None
) -> Samples:
    """Read features with their labels and groups, each a file or a column of the features."""
    from zslearn.datasets.table import is_column, read_feature_table

    own = {name for name in (labels, groups) if name is not None and is_column(name, path)}
    table = read_feature_table(path, take=own, ignore=ignore)
    if not len(table.X):
        raise InvalidInputError(f"{path} has no samples.")
    echo_notes(path, table.notes)
    return Samples(
        table.X,
        list(range(len(table.X))) if table.ids is None else table.ids,
        table.columns,
        _companion(path, labels, table),
        _companion(path, groups, table),
    )


def _companion(path: str, name: str | None, table: FeatureTable) -> Any:
    """Values of a column of the features table, or of a file with one value per row."""
    from zslearn.datasets.table import read_labels

    if name is None or name in table.taken:
        return None if name is None else table.taken[name]
    values, n_rows = read_labels(Path(name)), len(table.X)
    if values.dtype.kind == "U" and len(values) == n_rows + 1:
        values = values[1:]  # the title of the column
    if len(values) != n_rows:
        raise InvalidInputError(f"{name} has {len(values)} values but {path} has {n_rows} rows.")
    return values


def _scores(samples: Samples, found: Any) -> dict[str, Any]:
    """Loss and adjusted Rand index, averaged over groups."""
    import numpy as np
    from sklearn.metrics import adjusted_rand_score

    from zslearn.cluster.kmeans import group_rows
    from zslearn.metrics import clustering_loss

    y = np.asarray(samples.labels)
    parts = [(y[rows], found[rows]) for _, rows in group_rows(samples.groups)]
    return {
        "samples": len(found),
        "groups": None if samples.groups is None else len(parts),
        "clustering_loss": float(np.mean([clustering_loss(*part) for part in parts])),
        "normalized_loss": float(
            np.mean([clustering_loss(*part, normalize=True) for part in parts])
        ),
        "adjusted_rand_index": float(np.mean([adjusted_rand_score(*part) for part in parts])),
    }


def _tell(facts: dict[str, Any], title: str, as_json: bool) -> None:
    """Print facts as a table of two columns or as JSON."""
    if as_json:
        echo_json(facts)
        return
    shown = [
        {"fact": key.replace("_", " "), "value": f"{value:.4g}" if _is_float(value) else str(value)}
        for key, value in facts.items()
        if value is not None
    ]
    click.echo(format_table(shown, {"fact": title, "value": ""}))


def _is_float(value: Any) -> bool:
    return isinstance(value, float)
