"""Texts per second of `TextEncoder` against the bare onnxruntime session, in one run.

    python benchmarks/texts.py FILE.csv ... [--n 7000] [--classes 140] [--model minilm] [--small]

Each FILE has the columns ``text`` and ``label``; texts are drawn from all of them, of the labels
that have most. The peer is the session of the same model on tokens that are already there, in
batches of 32 sorted by length: nothing but its own work. The model is open before either is timed.
Then all that a user waits for: encode the texts and the names of all labels, fit on three quarters
of the classes, and answer for every text with all classes as candidates. `minilm-int8` is measured
beside if it is installed.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections import Counter
from pathlib import Path
from typing import Any

import machine
import numpy as np

from zslearn.encoders import TextEncoder
from zslearn.encoders.onnx_models import open_minilm, open_minilm_int8
from zslearn.exceptions import MissingExtraError
from zslearn.signatures import Signatures
from zslearn.zero_shot import PrototypeRegression

OPENERS = {"minilm": open_minilm, "minilm-int8": open_minilm_int8}


def read(paths: list[Path], n: int, n_classes: int | None) -> tuple[list[str], np.ndarray]:
    """Return n texts, each another one, and their labels, those with most texts."""
    found: dict[str, str] = {}
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            found |= {row["text"]: row["label"] for row in csv.DictReader(file)}
    names = {name for name, _ in Counter(found.values()).most_common(n_classes)}
    rows = sorted(text for text, label in found.items() if label in names)
    kept = random.Random(0).sample(rows, min(n, len(rows)))
    return kept, np.array([found[text] for text in kept])


def bare(model: Any, tokens: list[list[int]], size: int = 32) -> None:
    for start in range(0, len(tokens), size):
        model.run(tokens[start : start + size])


def end_to_end(texts: list[str], y: np.ndarray, encoder: TextEncoder) -> float:
    """Return the accuracy on texts of unseen classes, after an answer for every text."""
    X, names = encoder.transform(texts), np.unique(y)
    table = Signatures.from_texts({name: [name.replace("_", " ")] for name in names}, encoder)
    unseen = names[::4]
    seen = ~np.isin(y, unseen)
    model = PrototypeRegression(table).fit(X[seen], y[seen])
    model.predict(X, candidates=names)
    return float((model.predict(X[~seen], candidates=unseen) == y[~seen]).mean())


def measure(name: str, texts: list[str], y: np.ndarray) -> dict[str, Any]:
    model = OPENERS[name](name)
    tokens = sorted((model.prepare(text) for text in texts), key=len)
    bare(model, tokens[:320])
    roof, _ = machine.timed(lambda: bare(model, tokens), 1)
    encoder = TextEncoder(name)
    opening, _ = machine.timed(lambda: encoder.opened, 1)
    ours, _ = machine.timed(lambda: encoder.transform(texts), 1)  # once: it remembers texts
    again, _ = machine.timed(lambda: bare(model, tokens), 1)
    roof = (roof + again) / 2
    rest, accuracy = machine.timed(lambda: end_to_end(texts, y, encoder), 1)
    classes = np.unique(y)
    print(
        f"{name}: {len(texts)} texts, bare session {len(texts) / roof:.0f}/s, ours "
        f"{len(texts) / ours:.0f}/s ({roof / ours:.3f} of it); opened in {opening:.1f} s, fit and "
        f"answers among {len(classes)} classes {rest:.1f} s, all {opening + ours + rest:.1f} s; "
        f"accuracy {accuracy:.3f} of {len(classes[::4])} unseen classes"
    )
    seconds = {"bare": roof, "opening": opening, "ours": ours, "fit and predict": rest}
    return {
        "model": name,
        "texts": len(texts),
        "classes": len(classes),
        "seconds": seconds,
        "share": roof / ours,
        "accuracy": accuracy,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--n", type=int, default=7000)
    parser.add_argument("--classes", type=int, help="how many labels; by default all")
    parser.add_argument("--model", choices=OPENERS, help="this one alone")
    parser.add_argument("--small", action="store_true", help="a trial of seconds")
    given = parser.parse_args()
    before = machine.facts()
    texts, y = read(given.files, 400 if given.small else given.n, given.classes)
    rows = []
    for name in [given.model] if given.model else OPENERS:
        try:
            rows.append(measure(name, texts, y))
        except MissingExtraError as error:
            print(f"{name}: {error}")
    kind = "texts" if given.classes is None else f"texts-{given.n}-{given.classes}"
    machine.write(kind, before, rows, small=given.small)


if __name__ == "__main__":
    main()
