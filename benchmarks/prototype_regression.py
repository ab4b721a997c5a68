"""Prototype regression against the other methods over many class splits, with an ablation.

    python benchmarks/prototype_regression.py --data DIR [--splits 10] [--part main|ablation|hard]

Every parameter of every method is chosen on the seen classes of its split. Differences are paired
over splits and come with a 95 % t-interval. The rows go to benchmarks/results/; those that are
there already are not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from zslearn.datasets import ZeroShotDataset, load_animals, open_dataset
from zslearn.zero_shot import PrototypeRegression, make_classifier

OURS = "prototype-regression"
RIVALS = ["sae", "rrzsl", "ridge-fs", "eszsl", "exem", "gfzsl", "sync-struct", "sje", "ale"]
ABLATION = {
    "all parts": {},
    "no power transform": {"power": 1.0},
    "no whitening": {"shrinkage": 1.0},
    "nearly linear kernel": {"bandwidth": 1000.0},
    "neither whitening nor power": {"shrinkage": 1.0, "power": 1.0},
}
RESULTS = Path(__file__).parent / "results"


class Problem(NamedTuple):
    """Training and test rows of one split, with a class table."""

    data: str
    split: str
    X: np.ndarray
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    signatures: Any


def random_splits(
    data: ZeroShotDataset, name: str, space: str, n_unseen: int, n_splits: int
) -> Iterator[Problem]:
    """Deal the classes anew for every split."""
    classes = np.unique(data.y)
    for seed in range(n_splits):
        unseen = np.random.default_rng(seed).permutation(classes)[:n_unseen]
        test = np.isin(data.y, unseen)
        yield Problem(
            name,
            f"random {seed}",
            data.X,
            data.y,
            np.flatnonzero(~test),
            np.flatnonzero(test),
            data.semantics[space],
        )


def named_splits(data: ZeroShotDataset, name: str, space: str) -> Iterator[Problem]:
    for split in ("proposed", "standard"):
        if split in data.splits:
            rows = data.train_rows(split), data.test_rows(split)
            yield Problem(name, split, data.X, data.y, *rows, data.semantics[space])


def harder(problem: Problem, seed: int) -> Iterator[Problem]:
    """Fewer seen classes, fewer samples, noisy and missing attributes."""
    rng = np.random.default_rng(seed)
    y = problem.y[problem.train]
    classes = np.unique(y)
    for n in (20, 50, 100):
        if n < len(classes):
            kept = np.isin(y, rng.permutation(classes)[:n])
            yield problem._replace(split=f"{problem.split}, {n} seen", train=problem.train[kept])
    for n in (1, 5, 20):
        rows = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:n] for c in classes])
        yield problem._replace(split=f"{problem.split}, {n} a class", train=problem.train[rows])
    table = problem.signatures
    vectors = table.vectors
    noisy = vectors + rng.standard_normal(vectors.shape) * vectors.std(axis=0)
    missing = np.where(rng.uniform(size=vectors.shape) < 0.5, 0.0, vectors)
    for label, changed in (("noisy attributes", noisy), ("half missing", missing)):
        signatures = type(table)(table.names, changed, table.dimensions)
        yield problem._replace(split=f"{problem.split}, {label}", signatures=signatures)


def measured(problem: Problem, label: str, classifier: Any) -> dict[str, Any]:
    """One flat row: what was run, how well and how long."""
    row = {"data": problem.data, "split": problem.split, "method": label}
    start = time.perf_counter()
    try:
        classifier.fit(problem.X[problem.train], problem.y[problem.train])
        fit = time.perf_counter() - start
        accuracy = classifier.score(problem.X[problem.test], problem.y[problem.test])
        row |= {"accuracy": accuracy, "fit_seconds": fit}
    except Exception as error:  # a failed run is a row with its reason
        row |= {"accuracy": None, "error": str(error)}
    shown = "failed" if row["accuracy"] is None else f"{row['accuracy']:.4f}"
    print(f"{problem.data:<22} {problem.split:<32} {label:<28} {shown}", flush=True)
    return row


def problems(folder: Path, n_splits: int) -> Iterator[Problem]:
    animals = load_animals()
    yield from named_splits(animals, "animals", "attributes")
    yield from random_splits(animals, "animals", "attributes", 8, n_splits)
    awa = open_dataset(folder / "xlsa17" / "AWA1", features="hist5_pca500")
    yield from named_splits(awa, "AWA1", "attributes")
    yield from named_splits(awa, "AWA1 word vectors", "word vectors")
    yield from random_splits(awa, "AWA1", "attributes", 10, n_splits)
    birds = open_dataset(folder / "xlsa17" / "CUB", features="effnet_lite0")
    yield from named_splits(birds, "CUB", "attributes")
    yield from named_splits(birds, "CUB sentences", "sentences")
    yield from random_splits(birds, "CUB", "attributes", 50, n_splits)


def runs(part: str, folder: Path, n_splits: int) -> Iterator[tuple[Problem, str, Any]]:
    """Yield what to run: a problem, the name of the method and the method."""
    for problem in problems(folder, n_splits):
        if part == "main":
            for name in [OURS, *RIVALS]:
                yield problem, name, make_classifier(name, problem.signatures)
        elif part == "ablation":
            for label, fixed in ABLATION.items():
                yield problem, label, PrototypeRegression(problem.signatures, **fixed)
        elif problem.split == "proposed":
            for case in harder(problem, seed=0):
                for name in (OURS, "sae", "rrzsl", "eszsl", "exem"):
                    yield case, name, make_classifier(name, case.signatures)


def paired_table(rows: list[dict[str, Any]], reference: str) -> str:
    """Mean accuracy over splits and the paired difference to the reference, as Markdown."""
    lines = [
        "| data | splits | method | accuracy | difference | 95 % interval | fit, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for data, kind in dict.fromkeys((row["data"], kind_of(row["split"])) for row in rows):
        chosen = [r for r in rows if r["data"] == data and kind_of(r["split"]) == kind]
        base = {r["split"]: r["accuracy"] for r in chosen if r["method"] == reference}
        for method in dict.fromkeys(r["method"] for r in chosen):
            own = [r for r in chosen if r["method"] == method and r["accuracy"] is not None]
            lines.append(_line(data, kind, method, own, base))
    return "\n".join(lines) + "\n"


def kind_of(split: str) -> str:
    """Random splits belong together, whatever their number."""
    return split.split(" ")[0] if split.startswith("random") else split


def paired_interval(difference: Any) -> tuple[float, float]:
    """Return the 95 % t-interval of the mean of paired differences."""
    mean, half = np.mean(difference), stats.t.ppf(0.975, len(difference) - 1)
    half *= stats.sem(difference)
    return float(mean - half), float(mean + half)


def _line(
    data: str, kind: str, method: str, rows: list[dict[str, Any]], base: dict[str, float]
) -> str:
    if not rows:
        return f"| {data} | {kind} | {method} | failed | | | |"
    accuracy = np.array([row["accuracy"] for row in rows])
    difference = np.array([row["accuracy"] - base[row["split"]] for row in rows])
    interval = ""
    if len(rows) > 2 and difference.any():
        low, high = paired_interval(difference)
        interval = f"{low:+.3f} … {high:+.3f}"
    spread = f" ± {accuracy.std(ddof=1):.3f}" if len(rows) > 1 else ""
    seconds = float(np.mean([row["fit_seconds"] for row in rows]))
    return (
        f"| {data} | {kind} ({len(rows)}) | {method} | {accuracy.mean():.3f}{spread} | "
        f"{difference.mean():+.3f} | {interval} | {seconds:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds xlsa17/")
    parser.add_argument("--splits", type=int, default=10, help="random class splits a data set")
    parser.add_argument("--part", choices=("main", "ablation", "hard"), default="main")
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    target = RESULTS / f"prototype_regression_{arguments.part}"
    kept = target.with_suffix(".json")
    rows: list[dict[str, Any]] = json.loads(kept.read_text()) if kept.is_file() else []
    rows = [row for row in rows if row["accuracy"] is not None]
    done = {(row["data"], row["split"], row["method"]) for row in rows}
    for problem, label, classifier in runs(arguments.part, arguments.data, arguments.splits):
        if (problem.data, problem.split, label) not in done:
            rows.append(measured(problem, label, classifier))
            written = kept.with_suffix(".tmp")
            written.write_text(json.dumps(rows, indent=1) + "\n")
            written.replace(kept)
    reference = "all parts" if arguments.part == "ablation" else OURS
    table = paired_table(rows, reference)
    target.with_suffix(".md").write_text(table)
    print(table)


if __name__ == "__main__":
    main()
