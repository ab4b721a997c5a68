"""`zslearn advise`: what the data looks like, which method fits it, and what to expect."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.data_options import source_of, source_options
from zslearn.cli.main import warnings_as_lines
from zslearn.cli.output import echo_json, format_table
from zslearn.exceptions import user_data

if TYPE_CHECKING:
    from zslearn.zero_shot import AutoZeroShotClassifier

BOARD = {
    "rank": "",
    "member": "member",
    "accuracy": "held out",
    "interval": "expected",
    "seconds": "s",
    "note": "note",
}
EPILOG = """\b
Examples:
  zslearn advise animals --time-budget 60
  zslearn advise --features X.csv --labels y.csv --signatures classes.csv
  zslearn advise xlsa17/CUB --json
"""
# Longer lists are cut in the text; --json has everything.
_SHOWN = 5


@click.command(epilog=EPILOG)
@source_options
@click.option(
    "--time-budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="How long it may take; members for which there is no time are left out.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def advise(time_budget: float | None, as_json: bool, **options: Any) -> None:
    """Say which method fits the data, and what accuracy to expect of it.

    Looks at the samples of the seen classes alone: judges preparations of the features and methods
    by holding out seen classes, and prints what the data looks like, the leaderboard, the accuracy
    to expect on classes without samples, and the command to type next.
    """
    source = source_of(options)
    dataset = source.load()
    rows = source.training_rows(dataset)
    from zslearn.zero_shot import AutoZeroShotClassifier

    X, y = dataset.X[rows], dataset.y[rows]
    facts = data_facts(X, y, dataset.signatures)
    click.echo(f"Judging methods on {len(rows)} samples ...", err=True)
    model = AutoZeroShotClassifier(dataset.signatures, time_budget=time_budget)
    with user_data(), warnings_as_lines():
        model.fit(X, y)
    command = next_command(sys.argv[2:])
    if as_json:
        echo_json({"data": facts, **_found(model), "next": command})
        return
    shown = [{"fact": key.replace("_", " "), "value": _text(value)} for key, value in facts.items()]
    click.echo(format_table(shown, {"fact": "data", "value": ""}))
    if any(row["folds"] for row in model.leaderboard_):
        click.echo("\n" + format_table(list(map(_shown, model.leaderboard_)), BOARD))
    click.echo("\n" + _sentence(model))
    click.echo(f"\nNext:\n  {command}")


def data_facts(X: Any, y: Any, signatures: Any) -> dict[str, Any]:
    """Return what samples and a class table look like.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features of the seen classes.
    y : ndarray of shape (n_samples,)
        Their classes.
    signatures : Signatures
        The class table.

    Returns
    -------
    dict
        Sizes, shares, ranges, and what is the same where it should differ.
    """
    import numpy as np

    from zslearn.evaluation import report_classes

    report = report_classes(y, signatures)
    counts = np.unique(y, return_counts=True)[1]
    low, high = X.min(axis=0), X.max(axis=0)
    # What varies by less than the rounding of the largest value varies by nothing.
    rounding = np.finfo(np.float64).eps * max(abs(float(low.min())), abs(float(high.max())))
    varies = high - low > rounding
    spread = (high - low)[varies]
    return {
        "samples": len(y),
        "samples_per_class": f"{counts.min()} to {counts.max()}",
        "seen_classes": len(counts),
        "unseen_classes": len(report.unseen),
        "features": X.shape[1],
        "features_that_never_vary": int((~varies).sum()),
        "share_of_zeros": round(float(np.mean(X == 0)), 4),
        "smallest_and_largest_value": f"{low.min():.4g} to {high.max():.4g}",
        "largest_range_over_smallest": f"{spread.max() / spread.min():.3g}" if len(spread) else "",
        "attributes": signatures.n_dimensions,
        "attributes_that_never_vary": list(report.constant),
        "attributes_the_same_for_all_seen": list(report.constant_when_seen),
        "classes_nearly_the_same": [f"{a} and {b}" for a, b, _ in report.near_duplicates],
    }


def next_command(arguments: list[str]) -> str:
    """Return the fit that takes the same member, for the data and budget that were given.

    It chooses again, so that the model expects what was said here: of a member fitted alone nobody
    could know that it was chosen on the same folds.

    Parameters
    ----------
    arguments : list of str
        What the user typed after ``zslearn advise``.

    Returns
    -------
    str

    Examples
    --------
    >>> print(next_command(["animals", "--time-budget", "9", "--json"]))
    zslearn fit animals --method auto -P time_budget=9 --save model.zsl
    """
    kept: list[str] = []
    method, rest = ["--method", "auto"], iter(arguments)
    for text in rest:
        if text.startswith("--time-budget"):
            method += ["-P", f"time_budget={text.partition('=')[2] or next(rest)}"]
        elif text != "--json":
            kept.append(text)
    return shlex.join(["zslearn", "fit", *kept, *method, "--save", "model.zsl"])


def _found(model: AutoZeroShotClassifier) -> dict[str, Any]:
    """Return what was found, for programs."""
    expected = model.expected_accuracy_
    return {
        "member": model.member_,
        "leaderboard": list(model.leaderboard_),
        "expected_accuracy": None if expected is None else asdict(expected),
    }


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the leaderboard with its interval in one cell."""
    known = row["low"] is not None
    return row | {"interval": f"{row['low']:.2f} to {row['high']:.2f}" if known else ""}


def _sentence(model: AutoZeroShotClassifier) -> str:
    """Say what to take, and what to expect of it."""
    if model.expected_accuracy_ is None:
        return f"Take {model.member_}."
    return f"Take {model.member_}, and expect an accuracy of {model.expected_accuracy_}."


def _text(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    more = f" and {len(value) - _SHOWN} more" if len(value) > _SHOWN else ""
    return ", ".join(map(str, value[:_SHOWN])) + more if value else "none"
