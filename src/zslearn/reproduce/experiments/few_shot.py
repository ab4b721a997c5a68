"""From descriptions to samples: a few labels, a batch without labels, texts and their names."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from zslearn.core.nearest import unit_rows
from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.evaluation import GeneralizedProtocol
from zslearn.metrics import per_class_accuracy, seen_unseen_curve
from zslearn.reproduce.experiments.class_splits import class_split
from zslearn.reproduce.specification import Run
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, PSTClassifier

SHOTS = (1, 2, 4, 8, 16)
# Samples of each class that stay for the test, however many are asked for.
KEPT = 2
# A squared error of descriptions so large that they count for nothing.
WORTHLESS = 1e30
# Share of known samples that may be rejected where unknown ones are counted.
REJECTED = 0.07
# Batches of each kind for one split; those of 20 samples are many, because each tells little.
SCENARIOS = {
    "all": 1, "a tenth": 10, "one class": 10, "Zipf": 5, "20 samples": 100, "30 % foreign": 5
}  # fmt: skip


def measure(run: Run) -> dict[str, Any]:
    """Do one of the experiments on one split of the classes."""
    data = run.data.load()
    split = class_split(data, run.split)
    data = replace(data, semantics={run.semantics: data.semantics[run.semantics]})
    kinds = {"shots": shots, "texts": texts, "adapt": adaptation, "novelty": novelty}
    return kinds[run.kind](data, split, run.seed, **run.parameters)


def shots(data: ZeroShotDataset, split: ClassSplit, seed: int, draws: int = 10) -> dict[str, float]:
    """Teach unseen classes by 1 to 16 samples each, and half of them only."""
    train, test = data.train_rows(split), data.test_rows(split)
    clf = PrototypeRegression(data.signatures).fit(data.X[train], data.y[train])
    rows = test[np.isin(data.y[test], split.unseen)]
    X, y, names = data.X[rows], data.y[rows], np.sort(split.unseen)
    found: dict[str, list[float]] = {"zero": [clf.score(X, y, names.tolist())]}

    def note(key: str, taught: Any, kept: NDArray[np.bool_], classes: NDArray[Any]) -> None:
        kept = kept & np.isin(y, classes)
        found.setdefault(key, []).append(taught.score(X[kept], y[kept], names.tolist()))

    rng = np.random.default_rng(seed)
    for _ in range(draws):
        order = _ranks(y, rng)
        half = np.sort(rng.permutation(names)[: len(names) // 2])
        for n in SHOTS:
            room = np.maximum(_sizes(y) - KEPT, 1)
            mine, kept = order < np.minimum(n, room), order >= n
            both, alone = copy.copy(clf), copy.copy(clf)
            alone.space_ = replace(clf.space_, error=WORTHLESS)
            for kind, one in (("both", both), ("alone", alone)):
                one.partial_fit(X[mine], y[mine])
                note(f"{kind}_{n}", one, kept, names)
            some = mine & np.isin(y, half)
            part = copy.copy(clf).partial_fit(X[some], y[some])
            note(f"half_taught_{n}", part, kept, half)
            note(f"half_described_{n}", part, kept, np.setdiff1d(names, half))
    return {key: float(np.mean(values)) for key, values in found.items()} | {
        "kappa": clf.kappa_,
        "draws": draws,
    }


def novelty(data: ZeroShotDataset, split: ClassSplit, seed: int) -> dict[str, float]:
    """Take half of the unseen classes from the candidates, and tell their samples from others."""
    task = GeneralizedProtocol(split, random_state=seed).task(data)
    table = data.signatures
    stack = CalibratedStacking(PrototypeRegression(table), confidence="known")
    stack.fit(data.X[task.train], data.y[task.train])
    X, y = data.X[task.test], data.y[task.test]
    halves = np.array_split(np.random.default_rng(seed).permutation(task.unseen), 2)
    found: dict[str, list[float]] = {}
    for unknown in halves:
        new = np.isin(y, unknown)
        for setting, classes in (("unseen", task.unseen), ("all", task.candidates)):
            names, rows = np.setdiff1d(classes, unknown), np.isin(y, classes)
            recognizer = stack.recognizer(names.tolist())
            ways = {
                "probability": recognizer.probabilities(X[rows]).max(axis=1),
                "confidence": recognizer.confidence(X[rows]),
                "ratio": recognizer.familiarity(X[rows])[:, 0],
            }
            foreign = new[rows]
            for key, sure in ways.items():
                value = _auroc(sure[~foreign], sure[foreign])
                found.setdefault(f"{key} {setting}", []).append(value)
            # At the threshold that was learned with the classifier.
            rejected = recognizer.rejected(X[rows])
            found.setdefault(f"rejected {setting}", []).append(float(rejected[~foreign].mean()))
            found.setdefault(f"caught {setting}", []).append(float(rejected[foreign].mean()))
    return {key: float(np.mean(values)) for key, values in found.items()}


def _ranks(y: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Give numbers to the samples of each class in a random order."""
    ranks = np.empty(len(y), dtype=np.intp)
    order = rng.permutation(len(y))
    for name in np.unique(y):
        mine = order[y[order] == name]
        ranks[mine] = np.arange(len(mine))
    return ranks


def _sizes(y: NDArray[Any]) -> NDArray[np.intp]:
    """Size of the class of each sample."""
    _, index, counts = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray(counts[index])


def texts(data: ZeroShotDataset, split: ClassSplit, seed: int) -> dict[str, float]:
    """Compare texts with the names of their classes: cosine, and learned with and without it."""
    task = GeneralizedProtocol(split, random_state=seed).task(data)
    X, y = data.X[task.train], data.y[task.train]
    unseen = np.isin(data.y, task.unseen)
    unseen_X, unseen_y, names = data.X[unseen], data.y[unseen], np.sort(task.unseen)
    table = data.signatures
    found = {"cosine": _cosine(unseen_X, unseen_y, table.rows(names), names)}
    means = np.array([X[y == name].mean(axis=0) for name in np.unique(y)])
    seen_rows = table.rows(np.unique(y))
    centered = unit_rows(unseen_X) - unit_rows(means).mean(axis=0)
    found["centered_cosine"] = _cosine(
        centered, unseen_y, unit_rows(table.rows(names)) - unit_rows(seen_rows).mean(axis=0), names
    )
    test_X, test_y = data.X[task.test], data.y[task.test]
    for key, prior in (("without", None), ("with", "signature")):
        method = PrototypeRegression(table, prior=prior)
        stack = CalibratedStacking(method, confidence="known").fit(X, y)
        inner = stack.estimator_
        found[f"{key}_prior"] = inner.score(unseen_X, unseen_y, names.tolist())
        answers = stack.predict(test_X, task.candidates.tolist())
        on_unseen = np.isin(test_y, task.unseen)
        sides = [per_class_accuracy(test_y[s], answers[s]) for s in (~on_unseen, on_unseen)]
        found[f"{key}_seen"], found[f"{key}_unseen"] = sides
        found[f"{key}_harmonic"] = 2 * sides[0] * sides[1] / max(sum(sides), 1e-12)
        found[f"{key}_kappa"] = inner.kappa_
        found[f"{key}_posterior_seen"] = float(inner.seen_prototypes_ == "posterior")
        if "out_of_scope" in data.extra:
            recognizer = stack.recognizer(task.candidates.tolist())
            sure, rejected = recognizer.confidence, recognizer.rejected
            known, foreign = sure(test_X), sure(data.extra["out_of_scope"])
            found[f"{key}_scope_auroc"] = _auroc(known, foreign)
            # What could be caught, at a quantile of the test samples, and what the threshold that
            # was learned with the classifier rejects.
            threshold = np.quantile(known, REJECTED)
            found[f"{key}_scope_caught"] = float((foreign < threshold).mean())
            found[f"{key}_scope_learned_rejected"] = float(rejected(test_X).mean())
            learned = float(rejected(data.extra["out_of_scope"]).mean())
            found[f"{key}_scope_learned_caught"] = learned
    plain = _cosine_scores(test_X, table.rows(task.candidates))
    curve = seen_unseen_curve(test_y, plain, candidates=task.candidates, seen=np.unique(y))
    found["cosine_harmonic"] = float(curve.harmonic_means.max())
    return found


def _cosine_scores(X: NDArray[Any], vectors: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(unit_rows(X) @ unit_rows(vectors).T)


def _cosine(X: NDArray[Any], y: NDArray[Any], vectors: NDArray[Any], names: NDArray[Any]) -> float:
    return per_class_accuracy(y, names[_cosine_scores(X, vectors).argmax(axis=1)])


def _auroc(known: NDArray[Any], foreign: NDArray[Any]) -> float:
    """Return how often a known sample is surer than a foreign one."""
    ranks = (
        np.searchsorted(np.sort(foreign), known),
        np.searchsorted(np.sort(foreign), known, side="right"),
    )
    return float((np.add(*ranks) / 2 / len(foreign)).mean())


def adaptation(
    data: ZeroShotDataset, split: ClassSplit, seed: int, share: float = 1.0
) -> dict[str, float]:
    """Adapt to batches without labels: all classes, few, one, uneven, small, with foreign ones.

    `share` is that of the batches of `SCENARIOS`, for a shorter form.
    """
    train = data.train_rows(split)
    stack = CalibratedStacking(PrototypeRegression(data.signatures))
    stack.fit(data.X[train], data.y[train])
    spread = PSTClassifier(estimator=clone(stack.estimator_.frozen()), signatures=data.signatures)
    spread.fit(data.X[train], data.y[train])
    rng, found = np.random.default_rng(seed), dict[str, float]()
    for scenario, repeats in SCENARIOS.items():
        gains = []
        for _ in range(max(1, round(share * repeats))):
            rows, among = _batch(data, split, scenario, rng)
            names = among.tolist()
            X, y = data.X[rows], data.y[rows]
            own = np.isin(y, names)
            answers = {
                "inductive": stack.predict(X, names),
                "adapted": stack.adapt(X, names).predict(X, names),
                "pst": spread.predict(X, names) if len(X) >= 20 else stack.predict(X, names),
            }
            gains.append([float((given[own] == y[own]).mean()) for given in answers.values()])
        means = np.mean(gains, axis=0)
        for kind, value in zip(("inductive", "adapted", "pst"), means, strict=True):
            found[f"{kind} {scenario}"] = float(value)
        lost = np.array(gains)[:, 1] - np.array(gains)[:, 0]
        found[f"worst {scenario}"] = float(lost.min())
    return found


def _batch(
    data: ZeroShotDataset, split: ClassSplit, scenario: str, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return rows of a batch, and the candidates."""
    names = np.sort(split.unseen)
    rows = np.flatnonzero(np.isin(data.y, names))
    y = data.y[rows]
    if scenario == "a tenth":
        present = rng.choice(names, max(2, round(len(names) / 10)), replace=False)
        return rows[np.isin(y, present)], names
    if scenario == "one class":
        return rows[y == rng.choice(names)], names
    if scenario == "Zipf":
        parts = [
            rng.permutation(rows[y == name])[: max(1, round(int((y == name).sum()) / (rank + 1)))]
            for rank, name in enumerate(rng.permutation(names))
        ]
        return np.concatenate(parts), names
    if scenario == "20 samples":
        return rng.choice(rows, 20, replace=False), names
    if scenario == "30 % foreign":
        kept = rng.permutation(names)[: len(names) - max(1, round(0.3 * len(names)))]
        return rows, np.sort(kept)
    return rows, names


def __getattr__(name: str) -> Any:
    if name in ("TABLES", "plots"):
        from zslearn.reproduce.experiments import few_shot_tables

        return getattr(few_shot_tables, name)
    raise AttributeError(name)
