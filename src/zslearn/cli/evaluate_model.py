"""`zslearn evaluate model.zsl SAMPLES`: what a saved model makes of labeled samples."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from zslearn.cli.output import echo_json, format_table, write_rows
from zslearn.cli.predict import classifier_in, load_model
from zslearn.cli.teach import labeled_samples
from zslearn.evaluation import Answers, Share, answer_samples
from zslearn.evaluation.answers import percent
from zslearn.exceptions import user_data

# Bins of the probabilities.
_BINS = 5


def evaluate_model(
    model: str, samples: str, options: dict[str, Any], csv_file: str | None, *, as_json: bool
) -> None:
    """Ask the model in a file about labeled samples and print how often it is right."""
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
