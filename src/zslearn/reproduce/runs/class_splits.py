"""One method on one split of the classes, as it is or made harder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.evaluation import ConventionalProtocol, evaluate
from zslearn.exceptions import InvalidInputError
from zslearn.reproduce.specification import RANDOM, Run
from zslearn.signatures import Signatures
from zslearn.zero_shot import make_classifier

FEWER_CLASSES = (20, 50, 100)
FEWER_SAMPLES = (1, 5, 20)
Case = tuple[ClassSplit, Signatures]


def measure(run: Run) -> dict[str, Any]:
    """Fit on the seen classes; "case" makes the problem harder, other options are parameters."""
    if run.source is None:
        raise InvalidInputError("a class split needs a data set.")
    options = dict(run.parameters)
    case = options.pop("case", "")
    data = run.source.load()
    split, table = class_split(data, run.split), data.semantics[run.semantics]
    if case:
        cases = harder(data, split, table)
        if case not in cases:
            raise InvalidInputError(f"there is no case {case!r} here; cases: {', '.join(cases)}.")
        split, table = cases[case]
    method = make_classifier(run.method, **options)
    return evaluate(data, method, ConventionalProtocol(split), semantics=table).as_dict()


def class_split(data: ZeroShotDataset, name: str) -> ClassSplit:
    """Return a split by name; "random 3" deals the classes again, with 3 as the seed."""
    if not name.startswith(RANDOM):
        return data.split(name)
    usual = data.split("standard" if "standard" in data.splits else next(iter(data.splits)))
    classes = np.unique(data.y)
    order = np.random.default_rng(int(name.removeprefix(RANDOM))).permutation(classes)
    unseen = order[: len(usual.unseen)]
    return ClassSplit(np.setdiff1d(classes, unseen), unseen)


def harder(data: ZeroShotDataset, split: ClassSplit, table: Signatures) -> dict[str, Case]:
    """Return the problem with fewer seen classes, fewer samples, noisy and missing attributes."""
    rng = np.random.default_rng(0)
    train = data.train_rows(split)
    y = data.y[train]
    classes = np.unique(y)
    cases: dict[str, Case] = {}
    for n in FEWER_CLASSES:
        if n < len(classes):
            kept = rng.permutation(classes)[:n]
            cases[f"{n} seen"] = _trained_on(split, kept, train[np.isin(y, kept)]), table
    for n in FEWER_SAMPLES:
        rows = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:n] for c in classes])
        cases[f"{n} per class"] = _trained_on(split, classes, train[rows]), table
    vectors = table.vectors
    noise = rng.standard_normal(vectors.shape) * vectors.std(axis=0)
    missing = rng.uniform(size=vectors.shape) < 0.5
    cases["noisy attributes"] = split, _with_vectors(table, vectors + noise)
    cases["half missing"] = split, _with_vectors(table, np.where(missing, 0.0, vectors))
    return cases


def _trained_on(split: ClassSplit, seen: NDArray[Any], train: NDArray[Any]) -> ClassSplit:
    return ClassSplit(seen, split.unseen, train, test_unseen=split.test_unseen)


def _with_vectors(table: Signatures, vectors: NDArray[Any]) -> Signatures:
    return Signatures(table.names, vectors, table.dimensions)
