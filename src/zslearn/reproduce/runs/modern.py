"""One method in the conventional and the generalized setting by one fit, with its CPU time.

A generator is also measured at every checkpoint of its training: the best of them, taken by its
test accuracy, is what many published figures are. It is a figure of this experiment only; the
estimator chooses on its training classes.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np

from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol, Task, evaluate
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import harmonic_mean, per_class_accuracy
from zslearn.reproduce.runs.steps import with_steps
from zslearn.reproduce.specification import Run
from zslearn.zero_shot import make_classifier
from zslearn.zero_shot.registry import find_method

Figures = dict[str, float]


def measure(run: Run) -> dict[str, Any]:
    """Fit on the training rows of the generalized protocol and measure both settings."""
    if run.source is None:
        raise InvalidInputError("a run of the generators needs a data set.")
    data = run.source.load()
    task = GeneralizedProtocol(run.split, random_state=run.seed).task(data)
    if "deep.generators" in find_method(run.method).module:
        return _generator(run, data, task)
    return _other(run, data, task)


def _generator(run: Run, data: ZeroShotDataset, task: Task) -> dict[str, Any]:
    """Train with every checkpoint kept, and measure the chosen one and the best on the test."""
    table = data.semantics[run.semantics]
    clf: Any = make_classifier(
        run.method, table, random_state=run.seed, keep_stages=True, **run.parameters
    )
    start = process_time()
    clf.fit(data.X[task.train], data.y[task.train])
    minutes = (process_time() - start) / 60
    stages = {steps: _figures(clf.at_step(steps), data, task) for steps in sorted(clf.stages_)}
    return stages[clf.n_steps_] | {
        "fit_cpu_minutes": minutes,
        "chosen_n_steps": clf.n_steps_,
        "chosen_n_synthetic": clf.n_synthetic_,
        "best_on_test_accuracy": max(one["per_class_accuracy"] for one in stages.values()),
        "best_on_test_harmonic_mean": max(one["harmonic_mean"] for one in stages.values()),
        "series": {"stages": [{"n_steps": steps} | one for steps, one in stages.items()]},
    }


def _figures(clf: Any, data: ZeroShotDataset, task: Task) -> Figures:
    X, y = data.X[task.test], data.y[task.test]
    unseen = np.isin(y, task.unseen)
    alone = clf.predict(X[unseen], task.unseen)
    among = clf.predict(X, task.candidates)
    on_unseen, on_seen = (per_class_accuracy(y[part], among[part]) for part in (unseen, ~unseen))
    return {
        "per_class_accuracy": per_class_accuracy(y[unseen], alone),
        "unseen_accuracy": on_unseen,
        "seen_accuracy": on_seen,
        "harmonic_mean": harmonic_mean(on_seen, on_unseen),
    }


def _other(run: Run, data: ZeroShotDataset, task: Task) -> dict[str, Any]:
    """Measure a method whose balance of seen and unseen classes calibrated stacking chooses."""
    method = with_steps(run.method, run.seed)
    rows = ClassSplit(task.seen, task.unseen, task.train)
    start = process_time()
    alone = evaluate(data, method, ConventionalProtocol(rows), semantics=run.semantics)
    minutes = (process_time() - start) / 60
    protocol = GeneralizedProtocol(run.split, random_state=run.seed)
    among = evaluate(data, method, protocol, semantics=run.semantics).metrics
    both = {
        name: among[f"calibrated_{name}"]
        for name in ("unseen_accuracy", "seen_accuracy", "harmonic_mean")
    }
    accuracy = alone.metrics["per_class_accuracy"]
    return both | {"per_class_accuracy": accuracy, "fit_cpu_minutes": minutes}
