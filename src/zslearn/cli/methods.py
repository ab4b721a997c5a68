"""`zslearn methods`: what can be fitted."""

from __future__ import annotations

from typing import Any

import click

from zslearn.cli.output import echo_json, format_table

COLUMNS = {
    "name": "name",
    "title": "method",
    "kind": "kind",
    "several_spaces": "several spaces",
    "cost": "cost",
    "extra": "extra",
    "reference": "reference",
}
EPILOG = """\b
Examples:
  zslearn methods
  zslearn methods --json
"""


@click.command(epilog=EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def methods(as_json: bool) -> None:
    """List the zero-shot methods.

    "kind" says whether a method looks at the whole test batch (transductive) or at one sample at
    a time (inductive), how it is solved and whether chance plays a part. "cost" is the time of a
    fit on CUB (7,057 samples, 1,280 features, 150 classes) on one core. A method with an "extra"
    needs it to fit: pip install 'zslearn[deep]'.
    """
    rows = method_rows()
    if as_json:
        echo_json(rows)
    else:
        click.echo(format_table(rows, COLUMNS))


def method_rows() -> list[dict[str, Any]]:
    """Return one row per method of the registry, and what chooses among them."""
    from zslearn.zero_shot.registry import CHOOSERS, DEEP, METHODS

    return [
        {
            "name": name,
            "title": method.title,
            "kind": method.tags.kind,
            "several_spaces": method.tags.several_spaces,
            "cost": method.cost,
            "extra": "deep" if name in DEEP else "",
            "reference": method.tags.reference,
        }
        for name, method in (METHODS | DEEP | CHOOSERS).items()
    ]
