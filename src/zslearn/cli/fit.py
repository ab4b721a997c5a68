"""`zslearn fit`: learn from samples of seen classes and save the model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.data_options import Source, remember_columns, source_of, source_options
from zslearn.cli.features import encoded, encoder_options, find_samples
from zslearn.cli.main import warnings_as_lines
from zslearn.cli.method_options import AUTO, DEFAULT_METHOD, default_method, set_parameters
from zslearn.cli.output import check_target, echo_json, expectation_of, format_table
from zslearn.exceptions import InvalidInputError, UnknownClassError, ZslearnError, user_data
from zslearn.zero_shot.registry import RECOMMENDED

if TYPE_CHECKING:
    from zslearn.datasets import ZeroShotDataset
    from zslearn.encoders import Sample
    from zslearn.zero_shot import ZeroShotClassifier

REASONS = {RECOMMENDED: "what we recommend first", AUTO: "which chooses one on held-out classes"}
UNCALIBRATED = (
    "Among all classes it prefers the seen ones, and its scores are no probabilities; "
    "zslearn predict --unseen-only is sound."
)
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def fit(
    method: str | None,
    params: tuple[str, ...],
    calibrate: bool | None,
    cluster: str | None,
    checkpoint: str | None,
    target: str,
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
    source = source_of(options)
    if source.is_raw():
        source = _encoded(source, options, target, cluster)
    else:
        _check_no_encoder(options)
    dataset = source.load()
    chosen = method is not None
    if method is None:
        method = default_method(dataset, in_memory=cluster is None and checkpoint is None)
    model = _classifier(method, dataset, params)
    check_savable(model)
    rows = source.training_rows(dataset)
    hint = "" if chosen else f" ({REASONS[method]}; --method takes others)"
    click.echo(f"Fitting {method}{hint} on {len(rows)} samples ...", err=True)
    start = perf_counter()
    with user_data(), warnings_as_lines():
        model = _fitted(model, dataset, rows, calibrate, cluster, checkpoint)
    remember_columns(model, dataset.extra.get("feature_columns", ()))
    facts = _facts(model, method, len(rows), perf_counter() - start)
    expected = expectation_of(model)
    if expected is not None:
        facts["expected_accuracy"] = asdict(expected) if as_json else expected
    remember_encoder(model, dataset.extra.get("encoder"))
    save(model, target)
    facts |= {"file": target, "bytes": os.path.getsize(target)}
    if as_json:
        echo_json(facts)
    else:
        shown = [{"fact": key.replace("_", " "), "value": _text(facts[key])} for key in facts]
        click.echo(format_table(shown, {"fact": "model", "value": ""}))


def _encoded(
    source: Source, options: Mapping[str, Any], target: str, cluster: str | None
) -> Source:
    """Encode pictures or texts into a store beside the model, and return that as the source."""
    folder, table = str(source.path), source.signatures or source.classes
    if table is None or source.features or source.semantics or source.split or source.ignore:
        raise click.UsageError(
            "a folder of pictures, or a table of texts, needs --signatures or --classes, and none "
            "of --features, --semantics, --split and --ignore"
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
    _check_labels(samples, folder, table, source.class_names())
    store = Path(target).with_suffix(".store")
    made = encoded(samples, store, options, cluster=cluster, forget=True)
    return replace(source, path=str(made.folder), labels=None)


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
) -> ZeroShotClassifier:
    """Fit a classifier, calibrated where that is wanted and can be done."""
    from zslearn.zero_shot import AutoZeroShotClassifier, CalibratedStacking

    # What auto chooses is calibrated on the same folds.
    if calibrate is False or isinstance(model, AutoZeroShotClassifier):
        _fit(model, dataset, rows, cluster, checkpoint)
        return model
    stack, reason = CalibratedStacking(model), None
    if calibrate:
        _fit(stack, dataset, rows, cluster, checkpoint)
        return stack
    if cluster is not None or checkpoint is not None or _stays_on_disk(model, dataset):
        reason = "a fit block by block holds out no classes"
    elif not set(dataset.signatures.names.tolist()).difference(dataset.y[rows].tolist()):
        _fit(model, dataset, rows, None, None)
        return model
    else:
        try:
            _fit(stack, dataset, rows, None, None)
        except ZslearnError as error:
            reason = f"{model.__class__.__name__} cannot be ({error})"
        else:
            if stack.ranks_:
                return stack
            reason = f"{len(stack.seen_classes_)} seen classes are too few to hold some out"
    # A mistake in the data is found again here, and said without a word about calibration.
    _fit(model, dataset, rows, cluster, checkpoint)
    click.echo(f"Not calibrated: {reason}. {UNCALIBRATED}", err=True)
    return model


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


def _facts(model: ZeroShotClassifier, method: str, n_rows: int, seconds: float) -> dict[str, Any]:
    from zslearn.evaluation.run import chosen_parameters
    from zslearn.zero_shot import CalibratedStacking

    chosen = chosen_parameters(model)
    if isinstance(model, CalibratedStacking):
        chosen = chosen_parameters(model.estimator_) | chosen
    return {
        "method": method,
        "samples": n_rows,
        "features": model.n_features_in_,
        "seen_classes": len(model.seen_classes_),
        "unseen_classes": len(model.classes_) - len(model.seen_classes_),
        "chosen": chosen,
        "calibrated": model.recognizer().is_calibrated,
        "fit_seconds": round(seconds, 3),
    }


def _text(value: Any) -> str:
    """Return a fact as one cell."""
    if isinstance(value, dict):
        return ", ".join(
            f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in value.items()
        )
    return str(value)
