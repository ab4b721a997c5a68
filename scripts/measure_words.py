"""What words are worth against attributes: the bundled animals with every kind of signature.

    python scripts/measure_words.py --data DIR --splits 0
    python scripts/measure_words.py --data DIR --splits 10 --methods rrzsl

Names and descriptions go through MiniLM (extra ``text``), WordNet's files must be there, and DIR is
the folder of the real data sets, for the word vectors of animals28. Every parameter of every method
is chosen on the seen classes of its split. The rows go to results/words.json; those already there
are skipped.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from zslearn.datasets import ClassSplit, ZeroShotDataset, load_animals
from zslearn.encoders import TextEncoder, match_wordnet, read_descriptions
from zslearn.encoders.samples import spell_out
from zslearn.evaluation import ConventionalProtocol, evaluate
from zslearn.signatures import Signatures

METHODS = ["prototype-regression", "sae", "rrzsl", "eszsl"]
# Measured on the two splits of the data set; the others are variants, for random splits only.
MAIN = ("attributes", "descriptions", "names", "word vectors", "WordNet kinds")
ROWS = Path(__file__).parents[1] / "results" / "words.json"
DESCRIPTIONS = Path(__file__).parents[1] / "examples" / "animal_descriptions.csv"
N_UNSEEN = 8


def spaces(animals: ZeroShotDataset, folder: Path) -> dict[str, Signatures]:
    """Every kind of signature for the same 28 classes."""
    names, encoder = list(animals.signatures), TextEncoder()
    spoken = {name: spell_out(str(name)) for name in names}
    tables = {
        "attributes": animals.semantics["attributes"],
        "descriptions": Signatures.from_texts(read_descriptions(DESCRIPTIONS), encoder),
        "names": Signatures.from_texts(spoken, encoder),
        "word vectors": _word_vectors(folder),
        "WordNet kinds": match_wordnet(names, below="mammal").signatures,
        "binary attributes": animals.semantics["binary attributes"],
        "names in a sentence": Signatures.from_texts(
            spoken, encoder, templates=["a photo of a {}", "the animal called {}"]
        ),
        "WordNet distances": match_wordnet(names, below="mammal", kind="distances").signatures,
    }
    for first, second in (
        ("descriptions", "WordNet kinds"),
        ("attributes", "descriptions"),
        ("attributes", "WordNet kinds"),
    ):
        both = tables[first].join(tables[second], names=(first, second))
        tables[f"{first} + {second}"] = both.normalized("l2-block")
    return {title: table.subset(names) for title, table in tables.items()}


def _word_vectors(folder: Path) -> Signatures:
    with np.load(folder / "animals28" / "animals28_effnet_lite2.npz", allow_pickle=False) as file:
        return Signatures(file["class_names"], file["S_wordvec1000"])


def with_random_splits(animals: ZeroShotDataset, n_splits: int) -> ZeroShotDataset:
    """Deal the classes again for every split."""
    classes = np.unique(animals.y)
    splits = dict(animals.splits)
    for seed in range(n_splits):
        dealt = np.random.default_rng(seed).permutation(classes)
        splits[f"random {seed}"] = ClassSplit(dealt[N_UNSEEN:], dealt[:N_UNSEEN])
    return replace(animals, splits=splits)


def cases(tables: dict[str, Signatures], n_splits: int) -> Iterator[tuple[str, str]]:
    """Yield what to measure: a kind of signature and a split."""
    for title in MAIN:
        yield from ((title, "proposed"), (title, "standard"))
    for title in tables:
        yield from ((title, f"random {seed}") for seed in range(n_splits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    animals = with_random_splits(load_animals(), options.splits)
    tables = spaces(animals, options.data)
    rows: list[dict[str, Any]] = json.loads(ROWS.read_text()) if ROWS.is_file() else []
    done = {(row["semantics"], row["split"], row["method"]) for row in rows}
    for title, split in cases(tables, options.splits):
        for method in options.methods.split(","):
            if (title, split, method) in done:
                continue
            result = evaluate(
                animals, method, ConventionalProtocol(split=split), semantics=tables[title]
            )
            accuracy = result.metrics["per_class_accuracy"]
            print(f"{title:<30} {split:<12} {method:<22} {accuracy:.4f}", flush=True)
            rows.append(
                {"semantics": title, "split": split, "method": method, "accuracy": accuracy}
            )
            ROWS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
