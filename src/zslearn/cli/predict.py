"""`zslearn predict`: name new samples with a saved model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from zslearn._files import check_is_file, read_names
from zslearn.cli.data_options import is_in_words, order_columns
from zslearn.cli.main import warnings_as_lines
from zslearn.cli.output import (
    check_target,
    echo_json,
    echo_notes,
    format_table,
    names_in,
    printable,
    write_rows,
)
from zslearn.exceptions import (
    InvalidInputError,
    ModelFileError,
    UnknownClassError,
    ZslearnError,
    user_data,
)

if TYPE_CHECKING:
    from zslearn.encoders import EncoderIdentity, Sample, Store
    from zslearn.signatures import Signatures
    from zslearn.zero_shot import ZeroShotClassifier


class Samples(NamedTuple):
    """What is to be named: names, or row numbers where there are none, vectors, and texts."""

    names: list[Any]
    X: Any
    texts: Sequence[str] | None = None

    def row(self, number: int) -> dict[str, Any]:
        """Return the cells that tell a sample from the others."""
        row = {"sample": self.names[number]}
        return row if self.texts is None else row | {"text": self.texts[number]}


def read_samples(
    classifier: Any,
    model: str,
    paths: Sequence[str],
    ignore: Sequence[str] = (),
    text: str | None = None,
) -> Samples:
    """Return the samples with their vectors, in the order of the model's features."""
    from zslearn.encoders import Store, encoder_of_model, is_store

    identity = encoder_of_model(classifier)
    if identity is not None and identity.kind == "text":
        return _of_texts(classifier, identity, paths, ignore, text)
    if text is not None:
        raise click.UsageError(f"--text is for a model of texts, which {model} is not")
    if all(_is_of_pictures(path, classifier) for path in paths):
        return _encoded(classifier, model, paths)
    if len(paths) > 1:
        raise click.UsageError(
            "give pictures and folders of them, or one file or store of features"
        )
    if is_store(paths[0]):
        return _stored(classifier, Store.open(paths[0]))
    return _table(classifier, paths[0], ignore)


def _of_texts(
    classifier: Any,
    identity: EncoderIdentity,
    given: Sequence[str],
    ignore: Sequence[str],
    text: str | None,
) -> Samples:
    """Return vectors of texts: of a store, a table or a file with one per line, or typed here."""
    from zslearn.encoders import Store, is_store
    from zslearn.encoders.pictures import IMAGE_SUFFIXES

    first = given[0]
    if len(given) == 1 and is_store(first):
        return _stored(classifier, Store.open(first))
    if len(given) == 1 and _is_path(first):
        check_is_file(first)
        if Path(first).suffix.lower() in IMAGE_SUFFIXES:
            raise InvalidInputError(f"{first} is a picture, the model takes texts.")
        if holds_features(first, text, classifier.n_features_in_):
            return _table(classifier, first, ignore)
        return text_vectors(identity, _texts_in(first, text))
    if text is not None:
        raise click.UsageError("--text names a column of a table; give the table")
    if any(map(_is_path, given)):
        raise click.UsageError("give texts, or one table or store of them")
    return text_vectors(identity, [(one, one) for one in given])


def text_vectors(identity: EncoderIdentity, named: list[tuple[str, str]]) -> Samples:
    """Encode texts; those that cannot be read are listed and left out."""
    from zslearn.encoders import encoder_of
    from zslearn.encoders.samples import text_problem

    kept = []
    for name, text in named:
        problem = text_problem(text)
        if problem is None:
            kept.append((name, text))
        elif name == text:
            raise InvalidInputError(f"{problem}: {text!r}.")
        else:
            click.echo(f"Left out row {printable(name)}: {problem}", err=True)
    if not kept:
        raise InvalidInputError("there is no text to name: all of them are empty or damaged.")
    names, texts = zip(*kept, strict=True)
    with warnings_as_lines():
        X = encoder_of(identity).transform(list(texts))
    return Samples(list(names), X, None if names == texts else texts)


def _is_path(given: str) -> bool:
    """Say whether an argument names a file rather than being a text."""
    from zslearn.datasets.table import ENDINGS

    if os.path.exists(given):
        return True
    return not any(map(str.isspace, given)) and Path(given).suffix.lower() in ENDINGS


def holds_features(path: str, text: str | None, n_features: int) -> bool:
    """Say whether a file holds arrays, or as many columns of numbers as the model has features."""
    from zslearn._tables import ENDINGS, read_table

    ending = Path(path).suffix.lower()
    if text is not None or ending not in ENDINGS:
        return ending in (".npy", ".npz")
    table = read_table(path)
    return sum(not table.is_text(i) for i in range(len(table.columns))) >= n_features


def _texts_in(path: str, text: str | None) -> list[tuple[str, str]]:
    """Return names and texts of a table, or of a file with one text per line."""
    from zslearn._tables import ENDINGS, read_table
    from zslearn.encoders import read_texts

    if Path(path).suffix.lower() in ENDINGS:
        return [(sample.name, str(sample.content)) for sample in read_texts(path, text=text)]
    if text is not None:
        raise click.UsageError(f"--text names a column of a table, {', '.join(ENDINGS)}")
    lines = read_table(path, header=False, delimiter="\n").texts(0)
    return [(str(row), line) for row, line in enumerate(lines)]


def _is_of_pictures(path: str, classifier: Any) -> bool:
    """Say whether a path is a picture, or a folder of them for a model that takes pictures.

    To such a model every file is a picture that has no ending of a table; what is none is found out
    when it is read.
    """
    from zslearn.datasets.table import ENDINGS
    from zslearn.encoders import encoder_of_model, is_store
    from zslearn.encoders.pictures import IMAGE_SUFFIXES

    takes_pictures, ending = encoder_of_model(classifier) is not None, Path(path).suffix.lower()
    if os.path.isdir(path):
        return takes_pictures and not is_store(path)
    return ending in IMAGE_SUFFIXES or (takes_pictures and ending not in ENDINGS)


def _encoded(classifier: Any, model: str, paths: Sequence[str]) -> Samples:
    """Encode pictures; those that cannot be read are listed and left out."""
    import numpy as np

    from zslearn.core.threads import map_in_order, n_threads
    from zslearn.encoders import encoder_of, encoder_of_model

    identity = encoder_of_model(classifier)
    if identity is None:
        raise InvalidInputError(
            f"the model {model} was not trained on pictures; give it features, or train it on a "
            "store made by zslearn features."
        )
    encoder = encoder_of(identity)
    single = len(paths) == 1 and not Path(paths[0]).is_dir()

    def encode(picture: Sample) -> Any:
        from zslearn.encoders.pictures import read_rgb

        try:
            return encoder.encode_batch([read_rgb(picture.content)])[0]
        except ZslearnError as error:
            if single:
                raise
            return error

    pictures = _pictures(paths)
    found = list(map_in_order(encode, pictures, min(n_threads(), len(pictures))))
    for result in found:
        if isinstance(result, ZslearnError):
            click.echo(f"Left out: {result}", err=True)
    kept = [
        (picture.name, vector)
        for picture, vector in zip(pictures, found, strict=True)
        if not isinstance(vector, ZslearnError)
    ]
    if not kept:
        raise InvalidInputError("none of the files could be read as a picture.")
    names, vectors = zip(*kept, strict=True)
    return Samples(list(names), np.stack(vectors))


def _pictures(paths: Sequence[str]) -> list[Sample]:
    from zslearn.encoders import Sample, find_pictures

    found: list[Sample] = []
    for path in paths:
        place = Path(path)
        if place.is_dir():
            found += [p._replace(name=str(place / p.name)) for p in find_pictures(place)]
        else:
            found.append(Sample(path, place))
    return found


def _stored(classifier: Any, store: Store) -> Samples:
    from zslearn.encoders import encoder_of_model

    known = encoder_of_model(classifier)
    if known is not None and store.encoder is not None:
        known.check(store.encoder, str(store.folder))
    return Samples(list(store.samples), store.X, store.samples.texts)


def _table(classifier: Any, path: str, ignore: Sequence[str]) -> Samples:
    from zslearn.datasets.table import read_feature_table

    known = getattr(classifier, "feature_columns_", ())
    table = read_feature_table(path, ignore=ignore, known=known)
    if not len(table.X):
        raise InvalidInputError(f"{path} has no samples.")
    echo_notes(path, table.notes)
    X = order_columns(classifier, table.X, table.columns, path)
    return Samples(list(range(len(X))) if table.ids is None else table.ids, X)


BLOCK_ROWS, BLOCK_SCORES = 4096, 2**24
REASONS = 5
EPILOG = """\b
Examples:
  zslearn predict model.zsl new.csv
  zslearn predict model.zsl photo.jpg --top 3
  zslearn predict model.zsl "Where is my card?" --top 3
  zslearn predict model.zsl new.csv --text text
  zslearn predict model.zsl new.csv --candidates "zebra,otter,polar bear" --top 2
  zslearn predict calibrated.zsl new.csv --reject "none of these"
  zslearn predict model.zsl today/ --unseen-only --adapt
  zslearn predict model.zsl new.npy --add-classes more.csv --top 5 --out answers.csv
"""


@click.command(epilog=EPILOG)
@click.argument("model")
@click.argument("samples", nargs=-1, required=True)
@click.option("--candidates", metavar="NAME[,NAME]", help="Classes allowed as answers.")
@click.option("--candidates-file", metavar="FILE", help="The same, one name per line.")
@click.option("--unseen-only", is_flag=True, help="Allow only classes that were not trained on.")
@click.option(
    "--add-classes",
    metavar="FILE",
    help="New classes: a table with the model's dimensions as columns, in any order, one line per "
    "class; or names and descriptions, which a text encoder reads where one made the signatures, "
    "and which else name traits and classes: 'like a horse, with stripes'. No refit.",
)
@click.option("--text", metavar="COLUMN", help="The column of the texts, for a model of texts.")
@click.option(
    "--reject",
    metavar="LABEL",
    help="Answer LABEL where a sample seems to belong to no class; for calibrated models.",
)
@click.option(
    "--adapt",
    is_flag=True,
    help="Move the classes to these samples first, all of them together, without any labels.",
)
@click.option("--scores", "with_scores", is_flag=True, help="Show the scores as well.")
@click.option("--top", default=1, show_default=True, type=click.IntRange(min=1), help="Answers.")
@click.option(
    "--ignore", multiple=True, metavar="COLUMN", help="A column that is no feature; repeatable."
)
@click.option("--out", metavar="CSV", help="Write the answers here instead of printing a table.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def predict(
    model: str,
    samples: tuple[str, ...],
    top: int,
    reject: str | None,
    out: str | None,
    with_scores: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Name SAMPLES with the model in the file MODEL.

    SAMPLES are pictures or folders of them, for a model that was trained on pictures; texts, a
    table with a column of them or a file with one per line, for a model that was trained on texts;
    or a store made by zslearn features; or a table (.csv, .tsv, .jsonl, .xlsx, .parquet) or .npy or
    .npz file of features, one sample per row, where a first column of text is taken for the
    samples' names. By default every class with a signature may be answered. A calibrated model, as
    fit makes them, says how likely each answer is. Scores, which --json and --out have as well,
    compare within a row; their scale depends on the method.
    """
    check_target(out)
    if reject is not None and top > 1:
        raise click.UsageError("--reject goes with one answer per sample; leave --top out")
    classifier = load_classifier(model, samples)
    if options["add_classes"]:
        _add_classes(classifier, options["add_classes"])
    read = read_samples(classifier, model, samples, options["ignore"], options["text"])
    X = read.X
    candidates = candidates_of(classifier, options)
    if options["adapt"]:
        classifier = _adapted(classifier, model, X, candidates)
    what = "1 sample" if len(X) == 1 else f"{len(X)} samples"
    click.echo(f"Naming {what} among {len(candidates)} classes ...", err=True)
    with user_data(), warnings_as_lines():
        rows = [row for block in _answers(classifier, X, candidates, top, reject) for row in block]
    rows = [read.row(number) | row for number, row in enumerate(rows)]
    reasons, line = _reasons(classifier, X, rows[0]) if len(rows) == 1 else ([], "")
    if out:
        write_rows(out, rows)
        click.echo(f"Wrote {out}.", err=True)
    if as_json:
        echo_json([row | {"because": reasons} for row in rows] if reasons else rows)
    elif not out:
        shown = [_spoken(shortened(row), with_scores, reject) for row in rows]
        click.echo(format_table(shown, {key: key.replace("_", " ") for key in shown[0]}))
        if line:
            click.echo(printable(line))


def shortened(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for a table on the screen: of a long text its beginning."""
    text = row.get("text", "")
    return row | {"text": f"{text[:39]}…"} if len(text) > 40 else row


def _spoken(row: dict[str, Any], with_scores: bool, reject: str | None) -> dict[str, Any]:
    """Return a row for the screen: probabilities stand beside their classes, as percentages."""
    # That of a rejected answer is the one of the class it would have been.
    shown = {}
    for key, value in row.items():
        what, _, number = key.partition("_")
        if what == "class":
            sure = row.get(f"probability_{number}" if number else "probability")
            shown[key] = value if sure is None or value == reject else f"{value} {_percent(sure)}"
        elif what != "probability" and (what != "score" or with_scores):
            shown[key] = value
    return shown


def _percent(share: float) -> str:
    """Return a probability as text; what is nearly sure, or nearly excluded, is not quite."""
    if 0.005 <= share < 0.995:
        return f"{100 * share:.0f} %"
    return "> 99 %" if share > 0.5 else "< 1 %"


def _adapted(classifier: Any, model: str, X: Any, candidates: list[Any]) -> Any:
    """Return the classifier moved to the samples, and say how far it went."""
    from zslearn.cli.teach import teachable

    with user_data(), warnings_as_lines():
        moved: Any = teachable(classifier, model).adapt(X, candidates)
    click.echo(str(moved.adaptation_), err=True)
    return moved


def load_classifier(path: str, samples: Sequence[str]) -> Any:
    """Load a model that names classes; if model and samples are swapped, say so."""
    return classifier_in(load_model(path, samples), path)


def load_model(path: str, samples: Sequence[str]) -> Any:
    """Load a model; if model and samples are swapped, say so."""
    from zslearn.persistence import load

    try:
        return load(path)
    except ModelFileError:
        if len(samples) == 1 and _is_model(samples[0]):
            command = click.get_current_context().info_name
            raise InvalidInputError(
                f"{path} is not a model and {samples[0]} is one; try: zslearn {command} "
                f"{samples[0]} {path}"
            ) from None
        raise


def classifier_in(model: Any, path: str) -> Any:
    """Return what names classes by vectors in a model that may begin with an encoder."""
    from zslearn.encoders import remember_encoder
    from zslearn.encoders.base import split_encoder

    encoder, classifier = split_encoder(model)
    if encoder is not None:  # a pipeline: what follows its encoder takes vectors
        remember_encoder(classifier, encoder.known_identity)
    if not hasattr(classifier, "signatures_"):
        raise InvalidInputError(
            f"{path} holds a {type(classifier).__name__}, which names no classes; save a "
            "zero-shot classifier."
        )
    return classifier


def _is_model(path: str) -> bool:
    from zslearn.persistence import load

    try:
        load(path)
    except (ZslearnError, OSError):
        return False
    return True


def _add_classes(classifier: ZeroShotClassifier, path: str) -> None:
    """Add the classes of a table; its columns are matched with the model's by their names."""
    from zslearn._files import naming
    from zslearn.datasets.table import read_noted_signatures
    from zslearn.encoders import describe_classes, read_descriptions, text_encoder_of
    from zslearn.zero_shot.explanation import numbered_dimensions

    known = classifier.signatures_
    has_names = len(numbered_dimensions(known.dimensions)) < known.n_dimensions
    notes: tuple[str, ...] = ()
    if text_encoder_of(known) is not None and is_in_words(path):
        with naming(path), warnings_as_lines():
            table = describe_classes(read_descriptions(path), known)
    elif has_names and is_in_words(path):
        with naming(path):
            table, notes = _in_traits(read_descriptions(path), classifier)
    else:
        table, notes = read_noted_signatures(path)
    echo_notes(path, notes)
    with naming(path):
        if classifier.signatures_.names.dtype.kind in "iu" and table.names.dtype.kind == "U":
            table = table.renamed(dict(zip(table, _whole_numbers(table.names), strict=True)))
        classifier.add_classes(table)


def _in_traits(
    texts: dict[str, list[str]], classifier: ZeroShotClassifier
) -> tuple[Signatures, tuple[str, ...]]:
    """Return classes described in words of the table, and what was understood of each."""
    from zslearn.encoders import read_phrase
    from zslearn.signatures import Signatures

    known, rows, notes = classifier.signatures_, {}, []
    for name, given in texts.items():
        said = read_phrase(", ".join(given), known, seen=classifier.seen_classes_.tolist())
        if not said.is_understood:
            raise InvalidInputError(f"class {name!r}: {said.hint()} Nothing names a trait.")
        rows[name] = said.row
        notes.append(f"{name}: {', '.join(said.understood)}. {said.hint()}".strip())
    return Signatures.from_dict(rows, known.dimensions), tuple(notes)


def _whole_numbers(names: Any) -> Any:
    try:
        return names.astype(int)
    except ValueError as error:
        raise InvalidInputError("the classes of the model are numbers; these are not.") from error


def candidates_of(classifier: ZeroShotClassifier, options: dict[str, Any]) -> list[Any]:
    """Return the classes allowed as answers, in the type of the model's names."""
    ways = ("candidates", "candidates_file", "unseen_only")
    if sum(bool(options[way]) for way in ways) > 1:
        raise click.UsageError("give one of --candidates, --candidates-file and --unseen-only")
    known = classifier.candidate_names()
    if options["unseen_only"]:
        if len(known) == len(classifier.seen_classes_):
            raise InvalidInputError("every class of the model was trained on; none is unseen.")
        return classifier.candidate_names("unseen").tolist()
    named = names_in(options["candidates"])
    if options["candidates"] is not None and not named:
        raise click.UsageError("--candidates names no class")
    if options["candidates_file"]:
        named = tuple(read_names(options["candidates_file"]))
    if not named:
        return known.tolist()
    by_text = {str(name): name for name in known.tolist()}
    unknown = [name for name in named if name not in by_text]
    if unknown:
        remedy = "Correct the name, or give the class a signature by --add-classes."
        raise UnknownClassError(unknown, known.tolist(), remedy)
    return [by_text[name] for name in named]


def _answers(
    classifier: ZeroShotClassifier, X: Any, candidates: list[Any], top: int, reject: str | None
) -> Iterator[list[dict[str, Any]]]:
    """Yield the best classes, their scores and, if they mean something, probabilities."""
    import numpy as np

    if top > len(candidates):
        raise InvalidInputError(
            f"--top {top} asks for more answers than there are candidates, {len(candidates)}."
        )
    recognizer = classifier.recognizer(candidates)
    column = {name: i for i, name in enumerate(recognizer.names.tolist())}
    size = max(1, min(BLOCK_ROWS, BLOCK_SCORES // len(candidates)))
    if classifier.zero_shot_tags.transductive:  # it looks at the whole batch and must get it whole
        size = len(X)
    for start in range(0, len(X), size):
        block = X[start : start + size]
        names, scores = recognizer.rank(block, top)
        sure = None
        if recognizer.is_calibrated:
            best = [[column[name] for name in row] for row in names.tolist()]
            sure = np.take_along_axis(recognizer.probabilities(block), np.array(best), axis=1)
        if reject is not None:
            names = recognizer.predict(block, reject=True, reject_label=reject)[:, None]
        answers = {"class": names.tolist(), "score": scores.tolist()}
        if sure is not None:
            answers["probability"] = sure.tolist()
        yield [
            _answer(dict(zip(answers, parts, strict=True)))
            for parts in zip(*answers.values(), strict=True)
        ]


def _reasons(classifier: ZeroShotClassifier, X: Any, row: dict[str, Any]) -> tuple[list[Any], str]:
    """Return what speaks for and against the answer to a single sample, and a line that says so."""
    from zslearn.zero_shot.explanation import reasons_in_words

    name = row["class"] if "class" in row else row["class_1"]
    try:
        why = classifier.recognizer([name]).explain(X[0], name)
    except ZslearnError:  # a method whose score is not a sum
        return [], ""
    found = why.reasons(REASONS)
    if found:
        return [one._asdict() for one in found], reasons_in_words(found)
    if classifier.signatures_.texts.get(name):
        return [], f"no reasons: the description of {name} has no parts that could be left out"
    return [], (
        "no reasons: the class table holds numbers of an encoder, without names or the texts they "
        "were made from; give the texts by zslearn fit --classes"
    )


def _answer(parts: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the cells of a sample; of several answers each has its number."""
    n_answers = len(parts["class"])
    if n_answers == 1:
        return {what: values[0] for what, values in parts.items()}
    return {
        f"{what}_{i + 1}": values[i] for i in range(n_answers) for what, values in parts.items()
    }
