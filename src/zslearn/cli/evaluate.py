"""`zslearn evaluate`: measure methods on a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.files import check_target, names_in, write_rows
from zslearn.cli.guard import warnings_as_lines
from zslearn.cli.source import source_of, source_options
from zslearn.cli.table import echo_json, format_table

if TYPE_CHECKING:
    from zslearn.datasets import ZeroShotDataset
    from zslearn.evaluation import Result
    from zslearn.evaluation.protocols import Protocol

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
SHARED = {"chosen": "chosen", "fit_seconds": "fit s", "note": "note"}
EPILOG = """\b
Examples:
  zslearn evaluate animals --method sae,sae-encode --split standard
  zslearn evaluate xlsa17/CUB --features effnet_lite0 --method sae,eszsl
  zslearn evaluate xlsa17/CUB --protocol gzsl --plot curve.png --csv rows.csv
  zslearn evaluate xlsa17/AWA1 --method all --semantics "attributes,word vectors" --json
"""


@click.command(epilog=EPILOG)
@source_options
@click.option(
    "--method",
    "methods",
    default="sae",
    show_default=True,
    metavar="NAME[,NAME]|all",
    help="Methods to measure; see zslearn methods.",
)
@click.option(
    "--protocol",
    type=click.Choice(["zsl", "gzsl"]),
    default="zsl",
    show_default=True,
    help="zsl: only unseen classes are tested and answered. gzsl: all classes are.",
)
@click.option("--plot", metavar="FILE", help="Draw the result (.png, .svg or .pdf).")
@click.option("--csv", "csv_file", metavar="FILE", help="Write every figure as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def evaluate(
    methods: str,
    protocol: str,
    plot: str | None,
    csv_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit methods on seen classes and measure them on samples they were not fitted on.

    Accuracies are shares between 0 and 1; "per class" is the mean over classes. With gzsl, H is
    the harmonic mean of seen and unseen accuracy, "cal." means with a bias against seen classes
    that was chosen on training classes, and AUSUC is the area under the curve over all biases.
    A method that fails is a row with its reason, and the exit code is 1.
    """
    for target in (plot, csv_file):
        check_target(target)
    source = source_of(options)
    names = _method_names(methods)
    if plot:
        from zslearn.cli.plot import check_plot

        check_plot(plot)
    dataset = source.load()
    rules = _rules(protocol, source.split)
    rules.task(dataset)  # what no method can do ends here, as one error
    found = [
        _measured(dataset, rules, name, f"[{i}/{len(names)}]") for i, name in enumerate(names, 1)
    ]
    rows = [row for row, _ in found]
    results = {row["method"]: result for row, result in found if result is not None}
    if csv_file:
        write_rows(csv_file, rows)
    if plot and results:
        from zslearn.cli.plot import draw

        draw(results, plot)
    _print(rows, results, protocol, as_json)
    if len(results) < len(rows):
        raise click.exceptions.Exit(1)


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
    from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol

    return ConventionalProtocol(split) if protocol == "zsl" else GeneralizedProtocol(split)


def _measured(
    dataset: ZeroShotDataset, rules: Protocol, name: str, count: str
) -> tuple[dict[str, Any], Result | None]:
    """Evaluate one method; return its row and, if it did not fail, its result."""
    from zslearn.evaluation import evaluate as run
    from zslearn.zero_shot import METHODS

    click.echo(f"{count} {METHODS[name].title} ...", err=True)
    try:
        with warnings_as_lines(f"{name}: "):
            result = run(dataset, name, rules)
    except FAILURES as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        click.echo(f"{count} {name} failed: {reason}", err=True)
        return {"method": name, "status": "failed", "error": reason}, None
    return {"status": "ok"} | result.as_dict(), result


def _print(
    rows: list[dict[str, Any]], results: dict[str, Result], protocol: str, as_json: bool
) -> None:
    if as_json:
        echo_json(rows)
        return
    for result in list(results.values())[:1]:
        click.echo(
            f"{result.dataset}, {result.features}; {result.semantics}; {result.split} split; "
            f"{result.n_train} training and {result.n_test} test samples, {result.n_candidates} "
            f"candidates, chance {result.chance:.4f}\n"
        )
    columns = (ZSL if protocol == "zsl" else GZSL) | SHARED
    shown = [_shown(row, results.get(row["method"])) for row in rows]
    used = {key for row in shown for key, value in row.items() if value not in (None, "")}
    click.echo(format_table(shown, {key: columns[key] for key in columns if key in used}))


def _shown(row: dict[str, Any], result: Result | None) -> dict[str, Any]:
    """Return a row with what was chosen and what to know in words."""
    if result is None:
        return row | {"note": f"failed: {row['error']}"}
    chosen = ", ".join(
        f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in result.chosen.items()
    )
    seconds = f"{result.fit_seconds:.1f}"
    note = "uses the test batch" if result.uses_test_batch else ""
    return row | {"chosen": chosen, "fit_seconds": seconds, "note": note}
