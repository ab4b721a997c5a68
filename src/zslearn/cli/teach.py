"""`zslearn teach` and `zslearn suggest`: labeled samples for a saved model, and which to label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn._files import check_is_file
from zslearn.cli.data_options import order_columns
from zslearn.cli.main import warnings_as_lines
from zslearn.cli.output import check_target, echo_json, echo_notes, format_table, write_rows
from zslearn.cli.predict import (
    candidates_of,
    classifier_in,
    holds_features,
    load_classifier,
    load_model,
    read_samples,
    shortened,
    text_vectors,
)
from zslearn.exceptions import InvalidInputError, user_data

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zslearn.encoders import EncoderIdentity
    from zslearn.zero_shot.teaching import Teachable

TEACH_EPILOG = """\b
Examples:
  zslearn teach model.zsl labeled/                      a folder per class
  zslearn teach model.zsl new.csv --labels species
  zslearn teach model.zsl tickets.csv --text question --labels category
  zslearn teach model.zsl photos.store --out better.zsl
"""


@click.command(epilog=TEACH_EPILOG)
@click.argument("model")
@click.argument("samples")
@click.option(
    "--labels",
    metavar="FILE|COLUMN",
    help="Classes of a table or array: a column of the table, or a file with one per line.",
)
@click.option("--text", metavar="COLUMN", help="The column of the texts, for a model of texts.")
@click.option(
    "--ignore", multiple=True, metavar="COLUMN", help="A column that is no feature; repeatable."
)
@click.option("--out", metavar="FILE", help="Where to write the model; by default MODEL itself.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def teach(
    model: str,
    samples: str,
    out: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Add labeled SAMPLES to the model in the file MODEL.

    SAMPLES are a folder of pictures with a folder per class, for a model that was trained on
    pictures; a table of texts, for a model of texts; a store made by zslearn features; or a table
    or array of features with --labels. The classes
    may be ones the model was trained on, ones it knows by description, or new ones. A description
    counts as a few samples, so that the first ones move a class and many replace its description.
    The file is replaced as a whole or not at all.
    """
    target = out or model
    check_target(target, may_replace={"model"})
    from zslearn.persistence import save

    # What the file holds may begin with an encoder of texts; the classifier behind it learns.
    whole = load_model(model, [samples])
    classifier = classifier_in(whole, model)
    learner = teachable(classifier, model)
    X, y = labeled_samples(classifier, model, samples, options)
    known = set(classifier.classes_.tolist())
    with user_data(), warnings_as_lines():
        learner.partial_fit(X, y)
    save(whole, target)
    rows = _added(classifier, y, known)
    if as_json:
        kappa = classifier.kappa_
        echo_json({"file": target, "description_counts_as": kappa, "classes": rows})
        return
    click.echo(format_table(rows, {"class": "class", "added": "added", "by": "known by"}))
    click.echo(
        f"Wrote {target}: {len(y)} samples added; a description counts as "
        f"{classifier.kappa_:.3g} samples.",
        err=True,
    )


def teachable(classifier: Any, path: str) -> Teachable:
    """Return a classifier that learns from single samples, or say that it does not."""
    from zslearn.zero_shot.teaching import Teachable

    if not isinstance(classifier, Teachable) or not hasattr(classifier, "partial_fit"):
        method = getattr(classifier, "estimator_", classifier)
        raise InvalidInputError(
            f"{path} holds a {type(method).__name__}, which learns nothing from single samples "
            "after the fit; zslearn fit --method prototype-regression makes a model that does."
        )
    return classifier


def labeled_samples(
    classifier: Any, model: str, samples: str, options: Mapping[str, Any]
) -> tuple[Any, NDArray[Any]]:
    """Return features and classes of labeled samples."""
    import numpy as np

    from zslearn.encoders import Store, encoder_of_model, find_pictures, is_store

    labels, text, ignore = options["labels"], options["text"], options["ignore"]
    if not Path(samples).is_dir():
        check_is_file(samples)
        if labels is None:
            raise click.UsageError("say by --labels which column, or which file, holds the classes")
        identity = encoder_of_model(classifier)
        if identity is not None and identity.kind == "text":
            if not holds_features(samples, text, classifier.n_features_in_):
                return _texts(identity, samples, text, labels)
        elif text is not None:
            raise click.UsageError(f"--text is for a model of texts, which {model} is not")
        return _table(classifier, samples, labels, ignore)
    if not is_store(samples):
        known = {str(Path(samples) / p.name): p.label for p in find_pictures(samples, labels)}
        if None in known.values():
            raise InvalidInputError(
                f"the pictures of {samples} have no classes; put them into a folder per class, or "
                "name a table of files and classes by --labels."
            )
        read = read_samples(classifier, model, [samples], ignore)
        kept = [i for i, name in enumerate(read.names) if name in known]
        return read.X[kept], np.array([known[read.names[i]] for i in kept])
    if labels is not None:
        raise click.UsageError("a store has its own classes; leave --labels out")
    y = Store.open(samples).y
    if y is None:
        raise InvalidInputError(
            f"the samples of {samples} have no classes; run zslearn features on a folder per "
            "class, or with --labels."
        )
    return read_samples(classifier, model, [samples], ignore).X, y


def _texts(
    identity: EncoderIdentity, path: str, text: str | None, labels: str
) -> tuple[Any, NDArray[Any]]:
    """Encode the texts of a table; those that cannot be read are listed and left out."""
    import numpy as np

    from zslearn.encoders import read_texts

    known = {sample.name: sample for sample in read_texts(path, text=text, labels=labels)}
    read = text_vectors(identity, [(s.name, str(s.content)) for s in known.values()])
    return read.X, np.array([known[name].label for name in read.names])


def _table(
    classifier: Any, path: str, labels: str, ignore: Sequence[str]
) -> tuple[Any, NDArray[Any]]:
    from zslearn.datasets.table import read_labeled

    table, y = read_labeled(path, labels, classifier.signatures_, ignore=ignore)
    if len(y) != len(table.X):
        raise InvalidInputError(f"{labels} has {len(y)} labels; {path} has {len(table.X)} samples.")
    if not len(y):
        raise InvalidInputError(f"{path} has no samples.")
    echo_notes(path, table.notes)
    return order_columns(classifier, table.X, table.columns, path), y


def _added(classifier: Any, y: NDArray[Any], known: set[Any]) -> list[dict[str, Any]]:
    """Say for each class how many samples were added, and what it is known by."""
    import numpy as np

    seen = set(classifier.seen_classes_.tolist())
    rows = []
    for name, count in zip(*np.unique(y, return_counts=True), strict=True):
        by = "training samples" if name.item() in seen else "description"
        by = by if name.item() in known else "these samples alone"
        rows.append({"class": name.item(), "added": int(count), "by": by})
    return rows


SUGGEST_EPILOG = """\b
Examples:
  zslearn suggest model.zsl unlabeled/ --n 20
  zslearn suggest model.zsl new.csv --n 10 --unseen-only --out to_label.csv
"""


@click.command(epilog=SUGGEST_EPILOG)
@click.argument("model")
@click.argument("samples", nargs=-1, required=True)
@click.option("--n", default=20, show_default=True, type=click.IntRange(min=1), help="How many.")
@click.option("--candidates", metavar="NAME[,NAME]", help="Classes the samples may be of.")
@click.option("--candidates-file", metavar="FILE", help="The same, one name per line.")
@click.option("--unseen-only", is_flag=True, help="Only classes that were not trained on.")
@click.option("--text", metavar="COLUMN", help="The column of the texts, for a model of texts.")
@click.option(
    "--ignore", multiple=True, metavar="COLUMN", help="A column that is no feature; repeatable."
)
@click.option("--out", metavar="CSV", help="Write them here instead of printing a table.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def suggest(
    model: str, samples: tuple[str, ...], n: int, out: str | None, as_json: bool, **options: Any
) -> None:
    """Name the SAMPLES whose labels would help the model in the file MODEL most.

    They lie between two classes of which the model knows little. Label them, and add them by
    zslearn teach.
    """
    check_target(out)
    classifier = load_classifier(model, samples)
    learner = teachable(classifier, model)
    read = read_samples(classifier, model, samples, options["ignore"], options["text"])
    with user_data(), warnings_as_lines():
        found = learner.suggest(read.X, n, candidates_of(classifier, options))
    rows = [
        read.row(row) | {"first": pair[0], "second": pair[1], "worth": float(worth)}
        for row, worth, pair in zip(found.rows, found.worths, found.names.tolist(), strict=True)
    ]
    if out:
        write_rows(out, rows)
        click.echo(f"Wrote {out}.", err=True)
    if as_json:
        echo_json(rows)
    elif not out:
        titles = {"first": "is it", "second": "or"}
        columns = {key: titles.get(key, key) for key in rows[0]}
        click.echo(format_table([shortened(row) for row in rows], columns))
