"""`zslearn demo`: recognize animals never seen, on the data that ships with the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.output import echo_json, format_table

if TYPE_CHECKING:
    from zslearn.datasets import ClassSplit, ZeroShotDataset
    from zslearn.zero_shot import SAEClassifier

WAYS = {
    "encode": "SAE encoder (features → attributes)",
    "decode": "SAE decoder (attributes → features)",
}
TABLE = {
    "split": "split",
    "seen": "seen classes",
    "unseen": "unseen classes",
    "method": "method",
    "accuracy": "accuracy",
    "lam": "λ",
}
SAMPLES = {"photograph": "photograph of", "predicted": "taken for", "because": "because of"}
EPILOG = """\b
Examples:
  zslearn demo
  zslearn demo --json
"""


@click.command(epilog=EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option(
    "--samples",
    default=6,
    show_default=True,
    type=click.IntRange(0, 360),
    help="How many photographs to explain.",
)
def demo(as_json: bool, samples: int) -> None:
    """Recognize animals that were never seen in training.

    Learns the semantic autoencoder from photographs of the seen classes of the bundled data, with
    λ chosen by holding out seen classes, then names photographs of the unseen classes by their
    attributes alone. Needs no files and takes a few seconds. "accuracy" is the mean over the
    unseen classes; chance is guessing among them.
    """
    click.echo("Loading the bundled animals ...", err=True)
    from zslearn.datasets import load_animals

    animals = load_animals()
    rows: list[dict[str, Any]] = []
    for name in animals.splits:
        click.echo(f"Learning from the seen classes of the {name} split ...", err=True)
        classifier = _learned(animals, animals.split(name))
        rows += _split_rows(animals, name, classifier)
    explained = _sample_rows(animals, animals.split(name), classifier, samples)
    if as_json:
        echo_json({"data": animals.name, "rows": rows, "samples": explained})
    else:
        _print_report(animals, rows, explained, name)


def _learned(animals: ZeroShotDataset, split: ClassSplit) -> SAEClassifier:
    from zslearn.zero_shot import SAEClassifier

    seen = animals.rows(split.seen)
    classifier = SAEClassifier(animals.signatures)
    classifier.fit(animals.X[seen], animals.y[seen])
    return classifier


def _split_rows(
    animals: ZeroShotDataset, name: str, classifier: SAEClassifier
) -> list[dict[str, Any]]:
    """Chance, encoder and decoder on the unseen classes of one split."""
    split = animals.split(name)
    unseen = animals.rows(split.unseen)
    sizes = {"split": name, "seen": len(split.seen), "unseen": len(split.unseen)}
    rows = [sizes | {"method": "chance", "accuracy": 1.0 / len(split.unseen), "lam": None}]
    for way, title in WAYS.items():
        # One fit learns both directions; the parameter says which one scores.
        classifier.set_params(direction=way)
        accuracy = classifier.score(animals.X[unseen], animals.y[unseen], list(split.unseen))
        rows.append(sizes | {"method": title, "accuracy": accuracy, "lam": classifier.lam_[way]})
    return rows


def _sample_rows(
    animals: ZeroShotDataset, split: ClassSplit, classifier: SAEClassifier, n_samples: int
) -> list[dict[str, Any]]:
    """Explain what the decoder makes of a few photographs, as many of each unseen class."""
    by_class = [animals.rows([name]) for name in split.unseen]
    picked = [rows[i] for i in range(max(map(len, by_class))) for rows in by_class if i < len(rows)]
    explained = []
    for row in picked[:n_samples]:
        x = animals.X[row]
        best, other = classifier.predict_top_k(x[None], 2, list(split.unseen))[0].tolist()
        explained.append(
            {
                "photograph": str(animals.y[row]),
                "predicted": best,
                "rather_than": other,
                "attributes": _reasons(classifier, x, best, other),
            }
        )
    return explained


def _reasons(classifier: SAEClassifier, x: Any, best: str, other: str) -> list[str]:
    """Name the attributes that speak most for the first class and against the second."""
    import numpy as np

    mine, theirs = classifier.explain(x, best), classifier.explain(x, other)
    margin = mine.contributions - theirs.contributions
    own, rival = classifier.signatures_[best], classifier.signatures_[other]
    return [
        f"{'has' if own[i] >= rival[i] else 'lacks'} {mine.dimensions[i]}"
        for i in np.argsort(-margin, kind="stable")[:4]
    ]


def _print_report(
    animals: ZeroShotDataset, rows: list[dict[str, Any]], explained: list[Any], split: str
) -> None:
    n_classes, n_attributes = animals.signatures.shape
    click.echo(
        f"{len(animals.y)} photographs of {n_classes} animals as {animals.X.shape[1]} features, "
        f"{n_attributes} attributes an animal.\n"
    )
    click.echo(format_table(rows, TABLE))
    if not explained:
        return
    click.echo(f"\nPhotographs of animals unseen in training ({split} split, decoder):\n")
    for sample in explained:
        sample["because"] = (
            f"{', '.join(sample['attributes'])} (rather than {sample['rather_than']})"
        )
    click.echo(format_table(explained, SAMPLES))
