"""`zslearn evaluate`: measure methods on a data set, or a saved model on labeled samples."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn._optional import require
from zslearn.cli.data_options import Source, source_of, source_options
from zslearn.cli.main import warnings_as_lines
from zslearn.cli.methods import (
    DEFAULT_METHOD,
    default_method,
    make_transformer,
    set_parameters,
)
from zslearn.cli.output import check_target, echo_json, format_table, names_in, write_rows
from zslearn.cli.predict import classifier_in, load_model
from zslearn.cli.teach import labeled_samples
from zslearn.exceptions import InvalidInputError, user_data

if TYPE_CHECKING:
    from zslearn.datasets import ClassSplit, ZeroShotDataset
    from zslearn.evaluation import Answers, Result, Share, SplitsResult
    from zslearn.evaluation.run import Protocol


# What a method may fail with; anything else is a fault of the program and stops the run.
FAILURES = (ValueError, TypeError, ArithmeticError, RuntimeError, MemoryError)
ZSL = {
    "method": "method",
    "per_class_accuracy": "per class",
    "per_sample_accuracy": "per sample",
    "hit_at_5": "hit@5",
}
GZSL = {
    "method": "method",
    "seen_accuracy": "seen",
    "unseen_accuracy": "unseen",
    "harmonic_mean": "H",
    "calibrated_seen_accuracy": "seen (cal.)",
    "calibrated_unseen_accuracy": "unseen (cal.)",
    "calibrated_harmonic_mean": "H (cal.)",
    "ausuc": "AUSUC",
}
OPEN = {
    "method": "method",
    "seen_accuracy": "seen",
    "unseen_accuracy": "unseen",
    "unknown_accuracy": "unknown",
    "harmonic_mean": "H",
    "known_rejected": "known rej.",
    "unknown_auroc": "AUROC",
    "calibration_error": "ECE",
}
TABLES = {"zsl": ZSL, "gzsl": GZSL, "open": OPEN}
# Bins of the probabilities that a saved model gives.
_BINS = 5
SHARED = {"interval": "interval", "chosen": "chosen", "fit_seconds": "fit s", "note": "note"}
EPILOG = """\b
Examples:
  zslearn evaluate animals --method sae,sae-encode --split standard
  zslearn evaluate xlsa17/CUB --features effnet_lite0 --method sae,eszsl
  zslearn evaluate xlsa17/CUB --protocol gzsl --plot curve.png --csv rows.csv
  zslearn evaluate animals --protocol open --method sae,prototype-regression
  zslearn evaluate --features X.csv --labels y.csv --signatures classes.csv --cv 5
  zslearn evaluate animals --method dap -P classifier=gaussian-nb --preprocess standardize
  zslearn evaluate xlsa17/AWA1 --method all --semantics "attributes,word vectors" --json
  zslearn evaluate model.zsl labeled/                   a folder per class
  zslearn evaluate model.zsl tickets.csv --text question --labels category
"""
# What a fitted model has settled already.
SETTLED = (
    "methods",
    "protocol",
    "n_folds",
    "preprocess",
    "params",
    "plot",
    "features",
    "semantics",
    "split",
    "signatures",
    "classes",
    "unseen",
)


@click.command(epilog=EPILOG)
@source_options
@click.argument("samples", required=False)
@click.option("--text", metavar="COLUMN", help="The column of the texts, for a model of texts.")
@click.option(
    "--method",
    "methods",
    metavar="NAME[,NAME]|all",
    help=f"Methods to measure; see zslearn methods. {DEFAULT_METHOD}",
)
@click.option(
    "--protocol",
    type=click.Choice(["zsl", "gzsl", "open"]),
    default="zsl",
    show_default=True,
    help="zsl: only unseen classes are tested and answered. gzsl: all classes are. open: a third "
    "of the unseen classes is unknown, and samples of them should be rejected.",
)
@click.option(
    "--cv",
    "n_folds",
    type=click.IntRange(2),
    metavar="N",
    help="Cross-validation over the seen classes: each of N parts of them is unseen once.",
)
@click.option(
    "--preprocess",
    metavar="NAME[,NAME]",
    help="What is done to the features first: standardize, minmax, power, quantile, pca or "
    "nystroem.",
)
@click.option(
    "-P",
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the methods, e.g. lam=0.5 or, for dap, classifier=gaussian-nb (logistic, "
    "knn, boosting, random-forest); may be repeated.",
)
@click.option("--plot", metavar="FILE", help="Draw the result (.png, .svg or .pdf).")
@click.option("--csv", "csv_file", metavar="FILE", help="Write every figure as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def evaluate(
    samples: str | None,
    text: str | None,
    methods: str | None,
    protocol: str,
    n_folds: int | None,
    preprocess: str | None,
    params: tuple[str, ...],
    plot: str | None,
    csv_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit methods on seen classes and measure them on samples they were not fitted on.

    With a saved model in place of PATH nothing is fitted: the model is asked about labeled SAMPLES,
    a folder of pictures with a folder per class, a store, or a table with --labels. The answer is
    how often it is right, per class and for seen and unseen classes, with intervals, what it
    mistakes for what, and whether its probabilities can be believed.

    Accuracies are shares between 0 and 1; "per class" is the mean over classes. With gzsl, H is
    the harmonic mean of seen and unseen accuracy, "cal." means with a bias against seen classes
    that was chosen on training classes, and AUSUC is the area under the curve over all biases.
    With open, a rejected sample of a known class counts as wrong, "unknown" is the share of unknown
    samples that is rejected, H the harmonic mean of the three, "known rej." the share of known
    samples that is rejected, and ECE the expected calibration error of the probabilities.
    A method that fails is a row with its reason, and the exit code is 1.
    """
    for target in (plot, csv_file):
        check_target(target)
    if _names_a_model(options["path"], samples, text):
        given = {"labels": options["labels"], "text": text, "ignore": options["ignore"]}
        evaluate_model(options["path"], str(samples), given, csv_file, as_json=as_json)
        return
    source = source_of(options)
    names = None if methods is None else _method_names(methods)
    if plot and n_folds:
        raise click.UsageError("--plot draws one split; leave --cv out")
    if plot:
        from zslearn.cli.evaluate import check_plot

        check_plot(plot)
    if names is not None:  # what is wrong with a method is said before the data is read
        estimators = {name: _estimator(name, preprocess, params) for name in names}
        dataset = source.load()
    else:
        dataset = source.load()
        name = default_method(dataset)
        estimators = {name: _estimator(name, preprocess, params)}
    rules = _rules(protocol, source.split)
    splits = None if n_folds is None else _class_folds(source, dataset, n_folds)
    if splits is None:
        _check_can_test(source, dataset)
        rules.task(dataset)  # what no method can do ends here, as one error
    found = [
        _measured(dataset, rules, splits, named, f"[{i}/{len(estimators)}]")
        for i, named in enumerate(estimators.items(), 1)
    ]
    rows = [row for row, _ in found]
    results: dict[str, Any] = {row["method"]: result for row, result in found if result is not None}
    if csv_file:
        write_rows(csv_file, rows)
    if plot and results:
        from zslearn.cli.evaluate import draw

        draw(results, plot)
    _print(rows, results, protocol, as_json)
    if len(results) < len(rows):
        raise click.exceptions.Exit(1)


def _names_a_model(path: str | None, samples: str | None, text: str | None) -> bool:
    """Say whether a saved model is asked; refuse one without samples, and options of fitting."""
    if samples is None:
        if path is not None and Path(path).is_file():
            raise click.UsageError(
                f"{path} is a file; to measure a saved model name labeled samples after it: "
                "zslearn evaluate model.zsl SAMPLES"
            )
        if text is not None:
            raise click.UsageError("--text is for a saved model of texts and its SAMPLES")
        return False
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name in SETTLED and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{option.opts[0]} is for methods that are fitted; a saved model is asked as it is"
            )
    return True


def _method_names(text: str) -> list[str]:
    """Return the names asked for, each once, refusing unknown ones before any work."""
    from zslearn.zero_shot import METHODS
    from zslearn.zero_shot.registry import find_method

    names = list(METHODS) if text.strip() == "all" else list(dict.fromkeys(names_in(text)))
    if not names:
        raise click.UsageError("--method names no method")
    for name in names:
        find_method(name)
    return names


def _rules(protocol: str, split: str | None) -> Protocol:
    """Return the protocol of that name for a split."""
    from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol, OpenProtocol

    kinds = {"zsl": ConventionalProtocol, "gzsl": GeneralizedProtocol, "open": OpenProtocol}
    return kinds[protocol](split)


def _estimator(name: str, preprocess: str | None, params: tuple[str, ...]) -> Any:
    """Return the unfitted method with the user's parameters, behind the steps asked for."""
    from sklearn.pipeline import make_pipeline

    from zslearn.zero_shot import make_classifier

    model = make_classifier(name)
    set_parameters(model, name, params, hidden=frozenset({"signatures"}))
    steps = [make_transformer(step) for step in names_in(preprocess)]
    return make_pipeline(*steps, model) if steps else model


def _class_folds(source: Source, dataset: ZeroShotDataset, n_folds: int) -> dict[str, ClassSplit]:
    """Return one split per fold of the seen classes."""
    import numpy as np

    from zslearn.datasets import ClassSplit
    from zslearn.model_selection import ClassKFold

    known = dataset.y
    if dataset.splits:
        known = known[dataset.train_rows(source.find_split(dataset)[1])]
    folds = ClassKFold(n_folds, shuffle=True, random_state=0).class_folds(known)
    return {
        f"fold {i}": ClassSplit(np.setdiff1d(known, fold), fold) for i, fold in enumerate(folds, 1)
    }


def _check_can_test(source: Source, dataset: ZeroShotDataset) -> None:
    """Refuse own files in which every sample is of a seen class."""
    import numpy as np

    own = source.path is None or (source.signatures or source.classes) is not None
    if own and (not dataset.splits or not np.isin(dataset.y, dataset.split("own").unseen).any()):
        raise InvalidInputError(
            "no sample is of an unseen class, so there is no test row. Use --cv 5 to hold out "
            "classes in turn, or name classes to hold out by --unseen."
        )


def _measured(
    dataset: ZeroShotDataset,
    rules: Protocol,
    splits: dict[str, ClassSplit] | None,
    named: tuple[str, Any],
    count: str,
) -> tuple[dict[str, Any], Result | SplitsResult | None]:
    """Evaluate one method; return its row and, if it did not fail, its result."""
    from zslearn.evaluation import evaluate as run
    from zslearn.evaluation import evaluate_splits
    from zslearn.zero_shot.registry import find_method

    name, estimator = named
    click.echo(f"{count} {find_method(name).title} ...", err=True)
    try:
        with warnings_as_lines(f"{name}: "):
            result = (
                run(dataset, estimator, rules)
                if splits is None
                else evaluate_splits(dataset, estimator, splits, rules)
            )
    except FAILURES as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        click.echo(f"{count} {name} failed: {reason}", err=True)
        return {"method": name, "status": "failed", "error": reason}, None
    row = {"status": "ok"} | result.as_dict() | {"method": name}
    return row | _bounds(result), result


def _bounds(result: Result | SplitsResult) -> dict[str, float]:
    """Return the interval of a mean over folds."""
    from zslearn.evaluation import SplitsResult

    if not isinstance(result, SplitsResult):
        return {}
    metric = _main_metric(result.mean)
    low, high = result.interval(metric)
    return {f"{metric}_low": low, f"{metric}_high": high}


def _print(
    rows: list[dict[str, Any]],
    results: dict[str, Result | SplitsResult],
    protocol: str,
    as_json: bool,
) -> None:
    if as_json:
        echo_json(rows)
        return
    for found in list(results.values())[:1]:
        click.echo(f"{_data_in_words(found)}\n")
    columns = TABLES[protocol] | SHARED
    shown = [_shown(row, results.get(row["method"]), columns) for row in rows]
    used = {key for row in shown for key, value in row.items() if value not in (None, "")}
    click.echo(format_table(shown, {key: columns[key] for key in columns if key in used}))


def _data_in_words(found: Result | SplitsResult) -> str:
    """Say on what the methods were measured."""
    results = getattr(found, "results", [found])
    first = results[0]
    data = f"{first.dataset}, {first.features}; {first.semantics}"
    if len(results) > 1:
        sizes = sorted({result.n_candidates for result in results})
        return (
            f"{data}; mean ± standard deviation over {len(results)} folds of the seen classes, "
            f"with {' or '.join(map(str, sizes))} candidates each, and an interval of the mean for "
            "nine of ten"
        )
    return (
        f"{data}; {first.split} split; {first.n_train} training and {first.n_test} test samples, "
        f"{first.n_candidates} candidates, chance {first.chance:.4f}"
    )


def _main_metric(columns: Mapping[str, Any]) -> str:
    """Return the figure that sums a protocol up."""
    return "harmonic_mean" if "harmonic_mean" in columns else "per_class_accuracy"


def _shown(
    row: dict[str, Any], result: Result | SplitsResult | None, columns: Mapping[str, str]
) -> dict[str, Any]:
    """Return a row with what was chosen, how much folds differ, and what to know in words."""
    if result is None:
        return row | {"note": f"failed: {row['error']}"}
    from zslearn.evaluation import SplitsResult

    if isinstance(result, SplitsResult):  # every fold chose for itself
        spread = {
            key: f"{row[key]:.4f} ± {row[f'{key}_std']:.4f}"
            for key in columns
            if f"{key}_std" in row
        }
        low, high = result.interval(_main_metric(columns))
        note = "uses the test batch" if row["uses_test_batch"] else ""
        return row | spread | {"interval": f"{low:.4f} to {high:.4f}", "note": note}
    chosen = ", ".join(f"{key}={_short(value)}" for key, value in result.chosen.items())
    seconds = f"{result.fit_seconds:.1f}"
    note = "uses the test batch" if result.uses_test_batch else ""
    return row | {"chosen": chosen, "fit_seconds": seconds, "note": note}


def _short(value: Any) -> str:
    """Return a chosen value in a few characters; of several the first and how many there are."""
    if isinstance(value, list):
        return f"{_short(value[0])} (first of {len(value)})"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


KINDS = (".png", ".svg", ".pdf")


def check_plot(path: str) -> None:
    """Refuse, before any work is done, a picture that cannot be drawn."""
    if Path(path).suffix.lower() not in KINDS:
        raise InvalidInputError(f"--plot {path}: pictures end in {', '.join(KINDS)}.")
    require("matplotlib", extra="plot", purpose="--plot")


def draw(results: Mapping[str, Result], path: str) -> None:
    """Draw the curves of the generalized or open setting, or bars of the conventional one."""
    from matplotlib.figure import Figure  # no pyplot: nothing looks for a display

    from zslearn._files import replacing

    figure = Figure(figsize=(7, 5.5), layout="constrained")
    axes = figure.subplots()
    first = next(iter(results.values()))
    if first.rejection is not None:
        _rejection_curves(axes, results)
    elif first.curve is None:
        _bars(axes, results, first.chance)
    else:
        _curves(axes, results)
    axes.set_title(f"{first.dataset}, {first.semantics}, {first.split} split")
    buffer = io.BytesIO()
    figure.savefig(buffer, format=Path(path).suffix[1:].lower(), dpi=150)
    with replacing(path) as file:
        file.write(buffer.getvalue())


def _bars(axes: Any, results: Mapping[str, Result], chance: float) -> None:
    names = list(results)[::-1]
    values = [results[name].metrics["per_class_accuracy"] for name in names]
    axes.bar_label(axes.barh(names, values), fmt="%.3f", padding=3)
    axes.axvline(chance, color="black", linestyle=":", label=f"chance {chance:.3f}")
    axes.set(xlabel="accuracy on unseen classes, per class", xlim=(0, 1))
    axes.legend()


def _curves(axes: Any, results: Mapping[str, Result]) -> None:
    for name, result in results.items():
        if result.curve is not None:
            result.plot(axes, name=name)


def _rejection_curves(axes: Any, results: Mapping[str, Result]) -> None:
    from zslearn.metrics import RejectionCurveDisplay

    for name, result in results.items():
        if result.rejection is not None:
            display = RejectionCurveDisplay(result.rejection, name=name)
            display.plot(axes, threshold=result.metrics["threshold"])


def evaluate_model(
    model: str, samples: str, options: dict[str, Any], csv_file: str | None, *, as_json: bool
) -> None:
    """Ask the model in a file about labeled samples and print how often it is right."""
    import numpy as np

    from zslearn.evaluation import answer_samples
    from zslearn.evaluation.answers import percent

    classifier = classifier_in(load_model(model, [samples]), model)
    X, y = labeled_samples(classifier, model, samples, options)
    with user_data():
        answers = answer_samples(classifier, X, y)
    if csv_file:
        write_rows(csv_file, _class_rows(answers))
    if as_json:
        echo_json(_as_dict(answers) | {"model": model, "samples": samples})
        return
    n_classes = len(np.unique(answers.truth))
    click.echo(
        f"{model} on {samples}: {len(answers)} samples of {n_classes} classes, answers among all "
        f"{answers.n_candidates} classes. In brackets: where nine of ten repetitions with other "
        "samples would fall.\n"
    )
    rows = [
        {
            "class": one.name,
            "kind": "unseen" if one.unseen else "seen",
            "samples": one.n_samples,
            "right": str(one.accuracy),
            "mistaken": f"{one.mistaken_for} ({one.n_mistaken})" if one.n_mistaken else "",
        }
        for one in answers.classes
    ]
    titles = {"class": "class", "kind": "", "samples": "samples", "right": "right"}
    click.echo(format_table(rows, titles | {"mistaken": "most often mistaken for"}) + "\n")
    for name, share in _summary(answers).items():
        if share is not None:
            click.echo(f"{name}: {share}")
    if answers.sure is None:
        click.echo("\nThe model is not calibrated, so its probabilities mean nothing.")
        return
    bins = [
        {"said": percent(said), "right": str(share), "samples": n}
        for said, share, n in _bins(answers)
    ]
    titles = {"said": "probability said", "right": "right", "samples": "samples"}
    click.echo("\n" + format_table(bins, titles))


def _summary(answers: Answers) -> dict[str, Share | None]:
    """Return the accuracies of both sides, means over classes, and their harmonic mean."""
    return {
        "Unseen classes": answers.accuracy(unseen=True),
        "Seen classes": answers.accuracy(unseen=False),
        "H, their harmonic mean": answers.harmonic_mean(),
    }


def _class_rows(answers: Answers) -> list[dict[str, Any]]:
    """Return one flat row per class."""
    return [
        {
            "class": one.name,
            "unseen": one.unseen,
            "samples": one.n_samples,
            "accuracy": one.accuracy.value,
            "low": one.accuracy.low,
            "high": one.accuracy.high,
            "mistaken_for": one.mistaken_for,
            "mistaken": one.n_mistaken,
        }
        for one in answers.classes
    ]


def _bins(answers: Answers) -> list[tuple[float, Share, int]]:
    """Return, from unsure to sure, what was said, what was right, and of how many samples."""
    import numpy as np

    from zslearn.evaluation import Share

    if answers.sure is None:
        return []
    place = np.minimum((answers.sure * _BINS).astype(int), _BINS - 1)
    found = []
    for at in np.unique(place).tolist():
        held = place == at
        n, right = int(held.sum()), int(answers.right[held].sum())
        found.append((float(answers.sure[held].mean()), Share.counted(right, n), n))
    return found


def _as_dict(answers: Answers) -> dict[str, Any]:
    reliability = answers.reliability()
    names = ("unseen_accuracy", "seen_accuracy", "harmonic_mean")
    shares = zip(names, _summary(answers).values(), strict=True)
    return {
        "n_samples": len(answers),
        "n_candidates": answers.n_candidates,
        **{name: None if share is None else share._asdict() for name, share in shares},
        "classes": _class_rows(answers),
        "confusions": [
            {"class": true, "answer": answer, "count": count, "of": size}
            for true, answer, count, size in answers.confusions()
        ],
        "reliability": [
            {"said": said, **share._asdict(), "samples": n} for said, share, n in _bins(answers)
        ],
        "calibration_error": None if reliability is None else reliability.error,
    }
