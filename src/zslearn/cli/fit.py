"""`zslearn fit`: learn from samples of seen classes and save the model."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from zslearn._files import replacing
from zslearn.cli.data_options import Source, remember_columns, source_of, source_options
from zslearn.cli.features import encoded, encoder_options, find_samples
from zslearn.cli.main import warnings_as_lines
from zslearn.cli.methods import AUTO, DEFAULT_METHOD, default_method, set_parameters
from zslearn.cli.output import check_target, echo_json, expectation_of, printable, rejection_of
from zslearn.exceptions import InvalidInputError, UnknownClassError, ZslearnError, user_data
from zslearn.zero_shot.registry import RECOMMENDED

if TYPE_CHECKING:
    from zslearn.datasets import ZeroShotDataset
    from zslearn.encoders import Sample, Store
    from zslearn.evaluation import Shown
    from zslearn.zero_shot import ZeroShotClassifier
    from zslearn.zero_shot.expectation import Expectation

REASONS = {RECOMMENDED: "what we recommend first", AUTO: "which chooses one on held-out classes"}
UNCALIBRATED = "it prefers seen classes; zslearn predict --unseen-only is sound"
# Lines on the screen, names of classes in a line, and classes that are compared with each other.
MOST_LINES, MOST_NAMES, MOST_COMPARED = 8, 4, 4096
# Of the page: samples that are asked about, pixels of a picture.
MOST_REPORTED, THUMBNAIL = 10_000, 176
EPILOG = """\b
Examples:
  zslearn fit photos --signatures classes.csv --save model.zsl
  zslearn fit tickets.csv --text text --labels category --classes classes.csv --save model.zsl
  zslearn fit --features X.csv --labels y.csv --signatures classes.csv --save model.zsl
  zslearn fit photos.store --signatures classes.csv --save model.zsl
  zslearn fit animals --split standard --save model.zsl
  zslearn fit xlsa17/CUB --features effnet_lite0 --method eszsl --save cub.zsl
  zslearn fit animals --method auto -P time_budget=60 --save model.zsl
  zslearn fit animals --method sae -P lam=0.5 -P direction=encode --save model.zsl
"""


@click.command(epilog=EPILOG)
@source_options
@encoder_options
@click.option(
    "--method",
    help=f"See zslearn methods. {DEFAULT_METHOD}",
)
@click.option(
    "-P",
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the method, e.g. lam=0.5; may be repeated.",
)
@click.option(
    "--calibrate/--no-calibrate",
    default=None,
    help="Whether to hold out seen classes to learn how far the model prefers them, how sure an "
    "answer is, when to reject it and what to expect. Default: wherever the table has classes "
    "without samples and the fit takes all samples at once.",
)
@click.option(
    "--dask",
    "cluster",
    metavar="local|ADDRESS",
    help="Let a Dask cluster read the data and add it up: worker processes started for this fit, "
    'or a running scheduler, e.g. tcp://host:8786 (pip install "zslearn[dask]").',
)
@click.option(
    "--checkpoint",
    metavar="FILE",
    help="For features that stay on disk: note here how far the fit has got, and continue from it.",
)
@click.option("--save", "target", required=True, metavar="FILE", help="Where to write the model.")
@click.option(
    "--report",
    metavar="HTML",
    help="Write a page about the model here: what to expect, how classes are confused when they "
    "are held out, typical mistakes, warnings, and how to use it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def fit(
    method: str | None,
    params: tuple[str, ...],
    calibrate: bool | None,
    cluster: str | None,
    checkpoint: str | None,
    target: str,
    report: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn from samples of the seen classes and save the model.

    The data is PATH: a folder of pictures with a folder per class, a table of texts, or a store
    made by zslearn features, each with --signatures or --classes; or a data set ("animals", a
    folder in the xlsa17 layout, a folder of your own). Or three files of yours: features, labels
    and a table of class signatures. Pictures and texts are encoded into a store beside the model,
    which is continued after a kill, and the next fit encodes only what is new.

    Classes of the table without samples are the unseen ones, which the model will recognize all the
    same. Free parameters such as λ are chosen by holding out seen classes, and so is all that makes
    answers among seen and unseen classes fair and their probabilities honest.
    """
    from zslearn.encoders import remember_encoder
    from zslearn.persistence import check_savable, save

    check_target(target)
    check_target(report)
    if report is not None and Path(report).absolute() == Path(target).absolute():
        raise click.UsageError("--report and --save name the same file")
    source, store = source_of(options), None
    given = str(source.path or source.features)
    if source.is_raw():
        _check_outside(given, source.labels, (target, report))
        source, store = _encoded(source, options, target, cluster)
    else:
        _check_no_encoder(options)
    dataset = source.load()
    chosen = method is not None
    if method is None:
        method = default_method(dataset, in_memory=cluster is None and checkpoint is None)
    model = _classifier(method, dataset, params)
    check_savable(model)
    rows = source.training_rows(dataset)
    found = _warnings(dataset, rows)
    hint = "" if chosen else f" ({REASONS[method]}; --method takes others)"
    click.echo(f"Fitting {method}{hint} on {len(rows)} samples ...", err=True)
    start = perf_counter()
    with user_data(), warnings_as_lines():
        model, plain = _fitted(model, dataset, rows, calibrate, cluster, checkpoint)
    remember_columns(model, dataset.extra.get("feature_columns", ()))
    facts = _facts(model, method, len(rows), perf_counter() - start)
    remember_encoder(model, dataset.extra.get("encoder"))
    save(model, target)
    facts |= {"file": target, "bytes": os.path.getsize(target), "warnings": found}
    if store is not None:
        facts |= {"store": str(store.folder), "left_out": len(store.refused)}
    if report is not None:
        shown = _shown(dataset, rows, None if store is None else Path(given))
        notes = [*found, *([f"what to expect is {plain}"] if plain else [])]
        title = f"{Path(given).name}: {Path(target).stem}"
        page = _report(model, dataset, rows, title=title, file=target, warnings=notes, shown=shown)
        with replacing(report) as opened:
            opened.write(page.encode())
        facts["report"] = report
    if as_json:
        echo_json(facts)
        return
    read = _read(given, source, dataset, len(rows), store)
    lines = [("read", read), ("fitted", _classes(model, method)), ("expect", _expected(model))]
    if plain:
        lines[-1] = ("expect", plain)
    if rejects := _rejected(model):
        lines.append(("reject", rejects))
    saved = target if report is None else f"{target} and {report}"
    last = [("saved", saved), ("next", _next_command(dataset, target))]
    room, check = MOST_LINES - len(lines) - len(last), _check_command(source, dataset)
    lines += [("note", line) for line in _most_important(found, room, check)]
    lines += last
    for title, text in lines:
        click.echo(f"{title:<8}{printable(text)}")


def _warnings(dataset: ZeroShotDataset, rows: Any) -> list[str]:
    """Return what is likely to be wrong with the class table; refuse one that cannot be right."""
    import numpy as np

    from zslearn.evaluation import report_classes

    table = dataset.signatures
    if len(table) > MOST_COMPARED:
        return []
    report = report_classes(np.unique(dataset.y[rows]).tolist(), table)
    same = [(a, b) for a, b, share in report.near_duplicates if share == 0]
    unseen = set(report.unseen)
    if unseen and unseen <= {name for pair in same for name in pair}:
        first, second = next(pair for pair in same if unseen.intersection(pair))
        raise InvalidInputError(
            f"{first!r} and {second!r} have the same row, and so has every class without samples "
            "that of another one: nothing tells them apart. Add traits in which they differ."
        )
    lines = list(report.warnings)
    if not unseen:
        lines.insert(
            0,
            "every class of the table has samples, so none is recognized without any; "
            "add a row for each class that is to be",
        )
    return lines


def _shown(dataset: ZeroShotDataset, rows: Any, folder: Path | None) -> Shown:
    """Say how training samples are shown on a page, as far as it is known what they are."""
    from zslearn.evaluation import Shown

    files, texts = dataset.image_files, dataset.extra.get("texts")
    names = None if files is None else [str(files[row]) for row in rows]
    if texts is not None:
        return Shown(names, [texts[row] for row in rows])
    if folder is None or names is None:
        return Shown(names)

    def picture(row: int) -> Any:
        from zslearn.encoders.pictures import read_rgb

        return read_rgb(folder / names[row], at_least=THUMBNAIL)

    return Shown(names, picture=picture)


def _report(
    model: ZeroShotClassifier,
    dataset: ZeroShotDataset,
    rows: Any,
    *,
    title: str,
    file: str,
    warnings: Sequence[str],
    shown: Shown,
) -> str:
    """Ask about every class as if it were unseen, and return the page about the model."""
    import numpy as np

    from zslearn.evaluation import answer_held_out, report_page
    from zslearn.zero_shot.search import even_rows

    click.echo("Holding out each class once for the report ...", err=True)
    index = np.unique(dataset.y[rows], return_inverse=True)[1]
    kept = even_rows(index, MOST_REPORTED, np.random.default_rng(0))
    held_out = None
    with user_data(), warnings_as_lines(), suppress(InvalidInputError):  # too few classes
        held_out = answer_held_out(model, dataset.X[rows[kept]], dataset.y[rows[kept]])
    if held_out is not None:  # what is shown goes by all rows
        held_out = replace(held_out, rows=kept[held_out.rows])
    return report_page(model, held_out, title=title, file=file, warnings=warnings, shown=shown)


def _most_important(found: Sequence[str], room: int, check: str) -> list[str]:
    """Return as many lines as there is room for; the last says how many more there are."""
    shown = list(found[:room])
    if len(found) > room:
        shown[-1] += f" (and {len(found) - room} more: {check})"
    return shown


def _check_command(source: Source, dataset: ZeroShotDataset) -> str:
    """Return the command that lists everything that was found."""
    table = source.signatures or source.classes
    if table is None:
        return "--json lists them"
    given = [source.path or str(source.features), table]
    given += ["--labels", source.labels] if source.labels else []
    return shlex.join(["zslearn", "data", "check", *given])


def _read(
    given: str, source: Source, dataset: ZeroShotDataset, n_rows: int, store: Store | None
) -> str:
    """Say what was learned from."""
    encoder = dataset.extra.get("encoder")
    unit = "samples" if encoder is None else {"image": "pictures", "text": "texts"}[encoder.kind]
    if store is not None:
        left = f", {len(store.refused)} could not be read" if store.refused else ""
        return f"{n_rows} {unit} in {given}{left}; their vectors are in {store.folder}"
    split = f", {source.find_split(dataset)[0]} split" if dataset.splits and source.path else ""
    return f"{n_rows} {unit} of {dataset.X.shape[1]} features in {given}{split}"


def _classes(model: ZeroShotClassifier, method: str) -> str:
    """Say which method learned, and what from."""
    import numpy as np

    names = np.setdiff1d(model.classes_, model.seen_classes_).tolist()
    method += f", which took {member}," if (member := getattr(model, "member_", "")) else ""
    more = ", ..." if len(names) > MOST_NAMES else ""
    named = f" ({', '.join(map(str, names[:MOST_NAMES]))}{more})" if names else ""
    return f"{method} on {len(model.seen_classes_)} seen classes; {len(names)} unseen{named}"


def _expected(model: Any) -> str:
    """Say how often answers to samples of unseen classes will be right."""
    from zslearn.evaluation.answers import percent

    one = expectation_of(model)
    if one is None:
        return "unknown: nothing was held out to find it out on"
    every = model.expected_accuracy(one.n_candidates, among="all")

    def share(found: Expectation) -> tuple[str, str]:
        return percent(found.accuracy), f"({100 * found.low:.0f} to {percent(found.high)})"

    right, interval = share(every)
    alone, other = share(one)
    return (
        f"on unseen classes {right} right among all {len(model.classes_)} {interval}, "
        f"{alone} among these {one.n_candidates} alone {other}"
    )


def _rejected(model: Any) -> str:
    """Say what rejection will do, or that it is no use; nothing where nothing is known."""
    from zslearn.evaluation.answers import percent

    one = rejection_of(model)
    if one is None or one.auroc is None or one.strangers is None or one.unseen is None:
        return ""
    if not one.tells_apart:
        return (
            "of little use: classes outside the table look like its unseen ones (AUROC "
            f"{one.auroc:.2f}; .5 is guessing)"
        )
    return (
        f"zslearn predict --reject LABEL refuses {percent(one.strangers)} of samples of classes "
        f"outside the table, {percent(one.unseen)} of its unseen ones"
    )


def _next_command(dataset: ZeroShotDataset, target: str) -> str:
    encoder = dataset.extra.get("encoder")
    new = "new.csv" if encoder is None else {"image": "new.jpg", "text": '"..."'}[encoder.kind]
    return f"zslearn predict {shlex.quote(target)} {new} --top 3"


def _encoded(
    source: Source, options: Mapping[str, Any], target: str, cluster: str | None
) -> tuple[Source, Store]:
    """Encode pictures or texts into a store beside the model, which is the source from then on."""
    folder, table = str(source.path), source.signatures or source.classes
    if table is None:
        raise click.UsageError(
            f"say what the classes of {folder} are, also those without samples: by --signatures, a "
            "table of their traits, or by --classes, their descriptions"
        )
    if source.features or source.semantics or source.split or source.ignore:
        raise click.UsageError(
            "--features, --semantics, --split and --ignore do not go with pictures and texts"
        )
    if source.signatures is not None and source.classes is not None:
        raise click.UsageError("give the classes by --signatures or by --classes, not by both")
    try:
        samples = find_samples(folder, {**options, "labels": source.labels})
    except ZslearnError as error:
        if Path(folder).is_dir() or options["text"] is not None:
            raise
        raise InvalidInputError(
            f"{error} If {folder} holds features, give it by --features {folder}."
        ) from error
    known = source.class_names()
    if absent := [name for name in source.unseen if name not in set(known)]:
        raise UnknownClassError(absent, known, "Correct the name given by --unseen.")
    _check_labels(samples, folder, table, known)
    store = Path(target).with_suffix(".store")
    made = encoded(samples, store, options, cluster=cluster, forget=True)
    return replace(source, path=str(made.folder), labels=None), made


def _check_outside(folder: str, labels: str | None, targets: Iterable[str | None]) -> None:
    """Refuse to write among pictures in folders of classes, where the next fit finds it."""
    for target in filter(None, targets):
        if labels is None and Path(folder).resolve() in Path(target).resolve().parents:
            raise click.UsageError(
                f"{target} would lie among the pictures in {folder} and be in the way of the next "
                "fit; write it outside, beside the folder"
            )


def _check_labels(samples: Sequence[Sample], folder: str, table: str, known: Sequence[str]) -> None:
    """Refuse, before minutes of work, samples without classes or of classes without a row."""
    names = {str(sample.label): sample.name for sample in samples if sample.label is not None}
    if not names and Path(folder).is_dir():
        raise InvalidInputError(
            f"the pictures of {folder} lie in no folders of classes. Put those of each class into "
            "a folder with its name, or name a table of files and classes by --labels."
        )
    if not names:
        raise InvalidInputError(
            f"nothing says of which classes the texts of {folder} are; name their column by "
            "--labels COLUMN."
        )
    unknown = [name for name in names if name not in set(known)]
    for name in unknown:
        inner = names[name].split("/")[1] if names[name].count("/") > 1 else None
        if inner in known:
            raise InvalidInputError(
                f"the folders of classes lie one level too deep, such as {name}/{inner}; move "
                f"them, so that {folder} itself holds a folder per class."
            )
    if unknown:
        remedy = f"A class has the same name in {folder} and in {table}: add a row, or correct it."
        raise UnknownClassError(unknown, known, remedy)


def _check_no_encoder(options: Mapping[str, Any]) -> None:
    """Refuse options of an encoder where nothing is encoded."""
    given = [name for name in ("text", "name", "encoder", "jobs", "strict") if options[name]]
    given += ["views"] if options["views"] != "center" else []
    if given:
        raise click.UsageError(f"--{given[0]} is for a folder of pictures or a table of texts")


def _fitted(
    model: ZeroShotClassifier,
    dataset: ZeroShotDataset,
    rows: Any,
    calibrate: bool | None,
    cluster: str | None,
    checkpoint: str | None,
) -> tuple[ZeroShotClassifier, str]:
    """Fit a classifier, calibrated where that is wanted and can be done; say why it is not."""
    from zslearn.zero_shot import AutoZeroShotClassifier, CalibratedStacking

    unseen = set(dataset.signatures.names.tolist()).difference(dataset.y[rows].tolist())
    # What auto chooses is calibrated on the same folds.
    if isinstance(model, AutoZeroShotClassifier) or (calibrate is None and not unseen):
        _fit(model, dataset, rows, cluster, checkpoint)
        return model, ""
    stack, reason = CalibratedStacking(model), "--no-calibrate"
    if calibrate:
        _fit(stack, dataset, rows, cluster, checkpoint)
        return stack, ""
    if calibrate is None:
        if cluster is not None or checkpoint is not None or _stays_on_disk(model, dataset):
            reason = "a fit block by block holds out no classes"
        else:
            try:
                _fit(stack, dataset, rows, None, None)
            except ZslearnError as error:
                reason = f"{type(model).__name__} cannot be, {error}".rstrip(".")
            else:
                if stack.ranks_:
                    return stack, ""
                reason = f"{len(stack.seen_classes_)} seen classes are too few to hold some out"
    # A mistake in the data is found again here, and said without a word about calibration.
    _fit(model, dataset, rows, cluster, checkpoint)
    return model, f"unknown, and not calibrated ({reason}): {UNCALIBRATED}"


def _stays_on_disk(model: ZeroShotClassifier, dataset: ZeroShotDataset) -> bool:
    """Say whether the samples are read block by block."""
    import numpy as np

    from zslearn.core.learner import MomentLearner

    return isinstance(dataset.X, np.memmap) and isinstance(model, MomentLearner)


def _fit(
    model: ZeroShotClassifier,
    dataset: ZeroShotDataset,
    rows: Any,
    cluster: str | None,
    checkpoint: str | None,
) -> None:
    """Fit in memory, block by block from a file, or on a cluster."""
    if cluster is None and not _stays_on_disk(model, dataset):
        if checkpoint is not None:
            raise click.UsageError(
                "--checkpoint is for data sets whose features stay on disk (a folder with X.npy, "
                "y.npy, signatures.npz, seen.txt and unseen.txt), and for methods that learn from "
                "moments, such as sae, rrzsl and eszsl"
            )
        model.fit(dataset.X[rows], dataset.y[rows])
        return
    from zslearn.scale import ArraySource, fit_batches, fit_dask

    source = ArraySource(dataset.X, dataset.y, rows)
    if cluster is None:
        fit_batches(model, source, checkpoint=checkpoint, progress=True)
    else:
        fit_dask(model, source, cluster=cluster)


def _classifier(
    method: str, dataset: ZeroShotDataset, params: tuple[str, ...]
) -> ZeroShotClassifier:
    """Return the unfitted method with the user's parameters."""
    from zslearn.zero_shot import make_classifier

    model = make_classifier(method, dataset.signatures)
    set_parameters(model, method, params, hidden=frozenset({"signatures"}))
    return model


def _facts(model: Any, method: str, n_rows: int, seconds: float) -> dict[str, Any]:
    """Return what a program may want to know."""
    from zslearn.evaluation.run import chosen_parameters
    from zslearn.zero_shot import CalibratedStacking

    chosen = chosen_parameters(model)
    if isinstance(model, CalibratedStacking):
        chosen = chosen_parameters(model.estimator_) | chosen
    facts = {
        "method": method,
        "samples": n_rows,
        "features": model.n_features_in_,
        "seen_classes": len(model.seen_classes_),
        "unseen_classes": len(model.classes_) - len(model.seen_classes_),
        "chosen": chosen,
        "calibrated": model.recognizer().is_calibrated,
        "fit_seconds": round(seconds, 3),
    }
    expected = expectation_of(model)
    if expected is not None:
        among_all = model.expected_accuracy(expected.n_candidates, among="all")
        facts |= {"expected_accuracy": asdict(expected), "expected_among_all": asdict(among_all)}
    if (rejection := rejection_of(model)) is not None:
        facts["expected_rejection"] = asdict(rejection)
    return facts
