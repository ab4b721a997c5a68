"""One method, calibrated: how honest its probabilities are and how well it rejects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from zslearn.core.confidence import MEASURES
from zslearn.datasets import ZeroShotDataset
from zslearn.evaluation import GeneralizedProtocol, OpenProtocol, Task, evaluate
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import RejectionCurve, expected_calibration_error, reliability_curve
from zslearn.model_selection import ClassKFold
from zslearn.reproduce.runs.class_splits import class_split
from zslearn.reproduce.specification import Run
from zslearn.zero_shot import CalibratedStacking, make_classifier
from zslearn.zero_shot.held_out import LEARNED, RejectionRule, held_out_folds

CONFIDENCES = (*LEARNED, *MEASURES)
CURVE_POINTS = 100
FLOOR_DRAWS = 20


def measure(run: Run) -> dict[str, Any]:
    """Measure the method with part of the unseen classes unknown, and its probabilities without."""
    if run.source is None:
        raise InvalidInputError("an open run needs a data set.")
    data = run.source.load()
    split, table = class_split(data, run.split), data.semantics[run.semantics]
    closed = GeneralizedProtocol(split, random_state=run.seed).task(data)
    model = make_classifier(run.method, table).fit(data.X[closed.train], data.y[closed.train])
    # Parameters are chosen once; every way to reject uses the same classifier.
    chosen = model.frozen()
    protocol = OpenProtocol(split, random_state=run.seed)
    ways = {
        name: evaluate(data, stack, protocol)
        for name, stack in _stacks(data, protocol.task(data), chosen).items()
    }
    row = ways["right"].as_dict() | {"split": run.split, "method": run.method}
    for name, result in ways.items():
        row[f"auroc_{name}"] = result.metrics["unknown_auroc"]
        row[f"area_{name}"] = result.metrics["coverage_area"]
        row[f"known_rejected_{name}"] = result.metrics["known_rejected"]
        row[f"unknown_rejected_{name}"] = result.metrics["unknown_accuracy"]
    series = {f"rejection_{name}": _thinned(result.rejection) for name, result in ways.items()}
    errors, reliability = _calibration(data, closed, model, chosen)
    return row | errors | {"series": series | reliability}


def _stacks(data: ZeroShotDataset, task: Task, chosen: Any) -> dict[str, CalibratedStacking]:
    """Return one calibration for each confidence, all learned on the same folds."""
    X, y = data.X[task.train], data.y[task.train]
    known = clone(chosen).set_params(signatures=chosen.signatures.drop(task.unknown))
    first = CalibratedStacking(known).fit(X, y)
    holdout, seed = first.holdout, first.random_state
    deal = ClassKFold(len(first.curves_), shuffle=True, holdout=holdout, random_state=seed)
    folds = list(held_out_folds(known, X, y, deal))
    stacks = {}
    for name in CONFIDENCES:
        rule = RejectionRule(name, first.max_rejected, None, seed)
        mixed, found = rule.learn(folds, first.gamma_, first.temperature_)
        threshold = {setting: value for setting, value in found.items() if value is not None}
        stacks[name] = CalibratedStacking(
            known,
            gamma=first.gamma_,
            temperature=first.temperature_,
            confidence=mixed or name,
            threshold=threshold,
        )
    return stacks


def _calibration(
    data: ZeroShotDataset, task: Task, model: Any, chosen: Any
) -> tuple[dict[str, float], dict[str, dict[str, list[float]]]]:
    """Measure probabilities with all unseen classes known, before and after calibration."""
    stack = CalibratedStacking(chosen).fit(data.X[task.train], data.y[task.train])
    X, y = data.X[task.test], data.y[task.test]
    on_unseen = np.isin(y, task.unseen)
    every = np.ones(len(y), dtype=bool)
    cases: dict[str, tuple[NDArray[np.bool_], Any]] = {
        "conventional": (on_unseen, task.unseen),
        "generalized": (every, task.candidates),
        "generalized_unseen": (on_unseen, task.candidates),
        "generalized_seen": (~on_unseen, task.candidates),
    }
    errors, series = {}, {}
    for name, (rows, names) in cases.items():
        for kind, clf in (("plain", model), ("calibrated", stack)):
            probabilities = clf.predict_proba(X[rows], names)
            curve = reliability_curve(y[rows], probabilities, candidates=names)
            errors[f"ece_{kind}_{name}"] = curve.error
            series[f"reliability_{kind}_{name}"] = {
                "confidence": np.round(curve.confidence, 5).tolist(),
                "accuracy": np.round(curve.accuracy, 5).tolist(),
                "share": np.round(curve.share, 5).tolist(),
            }
        errors[f"ece_floor_{name}"] = _floor(probabilities, names)
    return errors, series


def _floor(probabilities: NDArray[Any], names: NDArray[Any]) -> float:
    """Return the error that true probabilities would show on so many samples, drawn one by one."""
    rng = np.random.default_rng(0)
    cumulated = probabilities.cumsum(axis=1)
    errors = []
    for _ in range(FLOOR_DRAWS):
        places = (rng.uniform(size=(len(probabilities), 1)) > cumulated).sum(axis=1)
        drawn = names[np.minimum(places, len(names) - 1)]
        errors.append(expected_calibration_error(drawn, probabilities, candidates=names))
    return float(np.mean(errors))


def _thinned(curve: RejectionCurve | None) -> dict[str, list[float]]:
    """Return points of the curve, evenly along its length."""
    if curve is None:
        return {}
    rows = np.unique(np.linspace(0, len(curve.coverage) - 1, CURVE_POINTS).astype(int))
    return {
        "coverage": np.round(curve.coverage[rows], 5).tolist(),
        "accuracy": np.round(curve.accuracy[rows], 5).tolist(),
    }
