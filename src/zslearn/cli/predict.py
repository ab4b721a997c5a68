"""`zslearn predict`: name new samples with a saved model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from zslearn._files import read_names
from zslearn.cli.columns import order_columns
from zslearn.cli.files import check_target, echo_notes, names_in, write_rows
from zslearn.cli.guard import user_data, warnings_as_lines
from zslearn.cli.table import echo_json, format_table
from zslearn.exceptions import InvalidInputError

if TYPE_CHECKING:
    from zslearn.zero_shot import ZeroShotClassifier

BLOCK_ROWS = 4096
EPILOG = """\b
Examples:
  zslearn predict model.zsl new.csv
  zslearn predict model.zsl new.csv --candidates "zebra,otter,polar bear" --top 2
  zslearn predict model.zsl new.npy --add-classes more.csv --top 5 --out answers.csv
"""


@click.command(epilog=EPILOG)
@click.argument("model")
@click.argument("features")
@click.option("--candidates", metavar="NAME[,NAME]", help="Classes allowed as answers.")
@click.option("--candidates-file", metavar="FILE", help="The same, one name a line.")
@click.option("--unseen-only", is_flag=True, help="Allow only classes that were not trained on.")
@click.option(
    "--add-classes",
    metavar="CSV",
    help="New classes: a table with the model's dimensions, one line a class. Nothing is refitted.",
)
@click.option("--top", default=1, show_default=True, type=click.IntRange(min=1), help="Answers.")
@click.option(
    "--ignore", multiple=True, metavar="COLUMN", help="A column that is no feature; repeatable."
)
@click.option("--out", metavar="CSV", help="Write the answers here instead of printing a table.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def predict(
    model: str, features: str, top: int, out: str | None, as_json: bool, **options: Any
) -> None:
    """Name the samples in FEATURES with the model in the file MODEL.

    FEATURES is a .csv, .npy, .npz, .parquet or .xlsx file, one sample per row; a first column of
    text is taken for the samples' names. By default every class with a signature may be answered.
    Scores compare within a row; their scale depends on the method.
    """
    check_target(out)
    from zslearn.persistence import load

    classifier = load(model)
    _check_classifier(classifier, model)
    if options["add_classes"]:
        _add_classes(classifier, options["add_classes"])
    names, X = _samples(classifier, features, options["ignore"])
    candidates = _candidates(classifier, options)
    click.echo(f"Naming {len(X)} samples among {len(candidates)} classes ...", err=True)
    with user_data(), warnings_as_lines():
        rows = [row for block in _answers(classifier, X, candidates, top) for row in block]
    rows = [{"sample": name} | row for name, row in zip(names, rows, strict=True)]
    if out:
        write_rows(out, rows)
        click.echo(f"Wrote {out}.", err=True)
    if as_json:
        echo_json(rows)
    elif not out:
        click.echo(format_table(rows, {key: key.replace("_", " ") for key in rows[0]}))


def _check_classifier(classifier: Any, path: str) -> None:
    if not hasattr(classifier, "signatures_"):
        raise InvalidInputError(
            f"{path} holds a {type(classifier).__name__}, which names no classes; save a "
            "zero-shot classifier."
        )


def _add_classes(classifier: ZeroShotClassifier, path: str) -> None:
    from zslearn.signatures import Signatures

    whole_numbers = classifier.signatures_.names.dtype.kind in "iu"
    classifier.add_classes(Signatures.from_csv(path, int_names=whole_numbers))


def _samples(
    classifier: ZeroShotClassifier, path: str, ignore: Sequence[str]
) -> tuple[list[Any], Any]:
    """Return the names of the samples, their row numbers where they have none, and features."""
    from zslearn.datasets.feature_files import read_feature_table

    table = read_feature_table(path, ignore=ignore)
    if not len(table.X):
        raise InvalidInputError(f"{path} has no samples.")
    echo_notes(path, table.notes)
    X = order_columns(classifier, table.X, table.columns, path)
    return (list(range(len(X))) if table.ids is None else table.ids), X


def _candidates(classifier: ZeroShotClassifier, options: dict[str, Any]) -> list[Any]:
    """Return the classes allowed as answers, in the type of the model's names."""
    ways = ("candidates", "candidates_file", "unseen_only")
    if sum(bool(options[way]) for way in ways) > 1:
        raise click.UsageError("give one of --candidates, --candidates-file and --unseen-only")
    known = classifier.candidate_names()
    if options["unseen_only"]:
        unseen = [name for name in known.tolist() if name not in set(classifier.classes_.tolist())]
        if not unseen:
            raise InvalidInputError("every class of the model was trained on; none is unseen.")
        return unseen
    named = names_in(options["candidates"])
    if options["candidates"] is not None and not named:
        raise click.UsageError("--candidates names no class")
    if options["candidates_file"]:
        named = tuple(read_names(options["candidates_file"]))
    if not named:
        return known.tolist()
    by_text = {str(name): name for name in known.tolist()}
    return [by_text.get(name, name) for name in named]


def _answers(
    classifier: ZeroShotClassifier, X: Any, candidates: list[Any], top: int
) -> Iterator[list[dict[str, Any]]]:
    """Yield the best classes and their scores, block by block of rows."""
    if top > len(candidates):
        raise InvalidInputError(
            f"--top {top} asks for more answers than there are candidates, {len(candidates)}."
        )
    recogniser = classifier.recogniser(candidates)
    # A method that looks at the whole batch must get it whole.
    size = len(X) if classifier.zero_shot_tags.transductive else BLOCK_ROWS
    for start in range(0, len(X), size):
        ranking = recogniser.rank(X[start : start + size], top)
        pairs = zip(ranking.names.tolist(), ranking.scores.tolist(), strict=True)
        yield [_answer(names, scores) for names, scores in pairs]


def _answer(names: list[Any], scores: list[float]) -> dict[str, Any]:
    if len(names) == 1:
        return {"class": names[0], "score": scores[0]}
    pairs = enumerate(zip(names, scores, strict=True), 1)
    return {
        key: value
        for i, (name, score) in pairs
        for key, value in ((f"class_{i}", name), (f"score_{i}", score))
    }
