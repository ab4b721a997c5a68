"""Texts per second of `TextEncoder` against the bare onnxruntime session, in one run.

    python benchmarks/texts.py FILE.csv [--n 7000] [--small]

FILE has the columns ``text`` and ``label``. The peer is the session of the same model on tokens
that are already there, in batches of 32 sorted by length: nothing but its own work. Then all that a
user waits for: encode all texts and the names of all labels, fit on three quarters of the classes,
name the texts of the others. `minilm-int8` is measured beside if it is installed.
"""

from __future__ import annotations

import argparse
import csv
import random
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


def read(path: Path, n: int) -> tuple[list[str], np.ndarray]:
    """Return n texts, each another one, and their labels."""
    with path.open(newline="", encoding="utf-8") as file:
        found = {row["text"]: row["label"] for row in csv.DictReader(file)}
    kept = random.Random(0).sample(sorted(found), min(n, len(found)))
    return kept, np.array([found[text] for text in kept])


def bare(model: Any, tokens: list[list[int]], size: int = 32) -> None:
    for start in range(0, len(tokens), size):
        model.run(tokens[start : start + size])


def end_to_end(X: np.ndarray, y: np.ndarray, encoder: TextEncoder) -> float:
    names = np.unique(y)
    table = Signatures.from_texts({name: [name.replace("_", " ")] for name in names}, encoder)
    unseen = names[::4]
    seen = ~np.isin(y, unseen)
    model = PrototypeRegression(table).fit(X[seen], y[seen])
    return float((model.predict(X[~seen], candidates=unseen) == y[~seen]).mean())


def measure(name: str, texts: list[str], y: np.ndarray) -> dict[str, Any]:
    model = OPENERS[name](name)
    tokens = sorted((model.prepare(text) for text in texts), key=len)
    bare(model, tokens[:320])
    roof, _ = machine.timed(lambda: bare(model, tokens), 1)
    encoder = TextEncoder(name)
    ours, X = machine.timed(lambda: encoder.transform(texts), 1)  # once: it remembers texts
    again, _ = machine.timed(lambda: bare(model, tokens), 1)
    roof = (roof + again) / 2
    rest, accuracy = machine.timed(lambda: end_to_end(X, y, encoder), 1)
    print(
        f"{name}: {len(texts)} texts, bare session {len(texts) / roof:.0f}/s, ours "
        f"{len(texts) / ours:.0f}/s ({roof / ours:.3f} of it), fit and predict {rest:.1f} s, "
        f"accuracy {accuracy:.3f} of {len(np.unique(y)[::4])} unseen classes"
    )
    seconds = {"bare": roof, "ours": ours, "fit and predict": rest}
    return {"model": name, "texts": len(texts), "seconds": seconds, "share": roof / ours}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--n", type=int, default=7000)
    parser.add_argument("--small", action="store_true", help="a trial of seconds")
    given = parser.parse_args()
    before = machine.facts()
    texts, y = read(given.file, 400 if given.small else given.n)
    rows = []
    for name in OPENERS:
        try:
            rows.append(measure(name, texts, y))
        except MissingExtraError as error:
            print(f"{name}: {error}")
    machine.write("texts", before, rows, small=given.small)


if __name__ == "__main__":
    main()
