"""`zslearn fit`: learn from samples of seen classes and save the model."""

from __future__ import annotations

import os
from dataclasses import asdict
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.data_options import remember_columns, source_of, source_options
from zslearn.cli.main import warnings_as_lines
from zslearn.cli.method_options import AUTO, DEFAULT_METHOD, default_method, set_parameters
from zslearn.cli.output import check_target, echo_json, expectation_of, format_table
from zslearn.exceptions import user_data
from zslearn.zero_shot.registry import RECOMMENDED

if TYPE_CHECKING:
    from zslearn.datasets import ZeroShotDataset
    from zslearn.zero_shot import ZeroShotClassifier

REASONS = {RECOMMENDED: "what we recommend first", AUTO: "which chooses one on held-out classes"}
EPILOG = """\b
Examples:
  zslearn fit --features X.csv --labels y.csv --signatures classes.csv --save model.zsl
  zslearn fit photos.store --signatures classes.csv --save model.zsl
  zslearn fit tickets.store --classes classes.csv --save model.zsl
  zslearn fit animals --split standard --save model.zsl
  zslearn fit xlsa17/CUB --features effnet_lite0 --method eszsl --save cub.zsl
  zslearn fit animals --method auto -P time_budget=60 --save model.zsl
  zslearn fit animals --method sae -P lam=0.5 -P direction=encode --save model.zsl
"""


@click.command(epilog=EPILOG)
@source_options
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
    "--calibrate",
    is_flag=True,
    help="Learn a bias against seen classes as well, for predicting among all classes, and when "
    "to reject, for zslearn predict --reject.",
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
    calibrate: bool,
    cluster: str | None,
    checkpoint: str | None,
    target: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn from samples of the seen classes and save the model.

    The data is PATH ("animals", a folder in the xlsa17 layout, a folder of your own), or a store
    made by zslearn features with --signatures or --classes, or three files of yours: features,
    labels and a table of class signatures. Classes of that table without samples are the unseen
    ones, which the model will recognize all the same. Free parameters such as λ are chosen by
    holding out seen classes.
    """
    from zslearn.encoders import remember_encoder
    from zslearn.persistence import check_savable, save

    check_target(target)
    source = source_of(options)
    dataset = source.load()
    chosen = method is not None
    if method is None:
        method = default_method(dataset, in_memory=cluster is None and checkpoint is None)
    model = _classifier(method, dataset, params, calibrate)
    check_savable(model)
    rows = source.training_rows(dataset)
    hint = "" if chosen else f" ({REASONS[method]}; --method takes others)"
    click.echo(f"Fitting {method}{hint} on {len(rows)} samples ...", err=True)
    start = perf_counter()
    with user_data(), warnings_as_lines():
        _fit(model, dataset, rows, cluster, checkpoint)
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


def _fit(
    model: ZeroShotClassifier,
    dataset: ZeroShotDataset,
    rows: Any,
    cluster: str | None,
    checkpoint: str | None,
) -> None:
    """Fit in memory, block by block from a file, or on a cluster."""
    import numpy as np

    from zslearn.core.learner import MomentLearner

    on_disk = isinstance(dataset.X, np.memmap) and isinstance(model, MomentLearner)
    if cluster is None and not on_disk:
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
    method: str, dataset: ZeroShotDataset, params: tuple[str, ...], calibrate: bool
) -> ZeroShotClassifier:
    """Return the unfitted method with the user's parameters."""
    from zslearn.zero_shot import CalibratedStacking, make_classifier

    model = make_classifier(method, dataset.signatures)
    set_parameters(model, method, params, hidden=frozenset({"signatures"}))
    # What auto chooses is calibrated on the same folds.
    return CalibratedStacking(model) if calibrate and method != AUTO else model


def _facts(model: ZeroShotClassifier, method: str, n_rows: int, seconds: float) -> dict[str, Any]:
    from zslearn.evaluation.run import chosen_parameters

    return {
        "method": method,
        "samples": n_rows,
        "features": model.n_features_in_,
        "seen_classes": len(model.seen_classes_),
        "unseen_classes": len(model.classes_) - len(model.seen_classes_),
        "chosen": chosen_parameters(model),
        "fit_seconds": round(seconds, 3),
    }


def _text(value: Any) -> str:
    """Return a fact as one cell."""
    if isinstance(value, dict):
        return ", ".join(
            f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in value.items()
        )
    return str(value)
