"""Fit, predict, measure: from a data set and a method to a flat row."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.evaluation.estimator import (
    calibrated,
    chosen_parameters,
    classifier_of,
    own_settings,
    prepared_estimator,
    score_candidates,
    without_bias,
)
from zslearn.evaluation.hubness import HubnessReport, hubness_report
from zslearn.evaluation.open_protocol import OpenAnswers, OpenProtocol
from zslearn.evaluation.protocols import ConventionalProtocol, GeneralizedProtocol
from zslearn.evaluation.result import Result, SplitsResult
from zslearn.evaluation.task import Task
from zslearn.exceptions import InvalidInputError, ZslearnWarning
from zslearn.metrics import RejectionCurve, SeenUnseenCurve
from zslearn.signatures import Signatures
from zslearn.zero_shot.calibration import CalibratedStacking
from zslearn.zero_shot.pipelines import features_of, frozen

# One class taking more of the predictions than this is a collapsed model.
COLLAPSED_SHARE = 0.9
Protocol = ConventionalProtocol | GeneralizedProtocol | OpenProtocol


def evaluate(
    dataset: ZeroShotDataset,
    method: Any,
    protocol: Protocol | None = None,
    *,
    semantics: str | Sequence[str] | Signatures | None = None,
) -> Result:
    """Fit a method on the training rows of a protocol and measure it on its test rows.

    The estimator gets features and labels of the training rows, then features of the test rows
    and the candidates; never a test label.

    Parameters
    ----------
    dataset : ZeroShotDataset
        Data.
    method : str, ZeroShotClassifier or Pipeline
        Name of a method (a key of `zslearn.zero_shot.METHODS`), or an estimator, which is cloned.
        A pipeline must end in a zero-shot classifier.
    protocol : ConventionalProtocol, GeneralizedProtocol or OpenProtocol, optional
        What is trained, tested and measured; by default ``ConventionalProtocol()``.
    semantics : str, sequence of str or Signatures, optional
        Semantic space of the data set, several to join side by side, or another class table. By
        default the estimator's own signatures if it has any, else the data set's first space.

    Returns
    -------
    Result
        A flat row; `as_dict` makes it a dict.

    Warns
    -----
    ZslearnWarning
        If one class takes more than 90 % of the predictions though not of the samples.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.evaluation import GeneralizedProtocol, evaluate
    >>> data = make_zero_shot(random_state=0)
    >>> evaluate(data, "sae").metrics["per_class_accuracy"]
    1.0
    >>> result = evaluate(data, "sae", GeneralizedProtocol(calibrate=False))
    >>> round(result.metrics["ausuc"], 2), result.n_candidates
    (1.0, 25)
    """
    protocol = ConventionalProtocol() if protocol is None else protocol
    task = protocol.task(dataset)
    estimator, space = prepared_estimator(dataset, method, semantics)
    stack = _calibration(estimator, protocol)
    fitted, fit_seconds = _fit(_to_fit(estimator, protocol, task, stack), dataset, task)
    gamma, calibration_seconds = _gamma(stack, fitted, dataset, task)
    start = perf_counter()
    scores = score_candidates(fitted, dataset.X[task.test], task.candidates)
    predict_seconds = perf_counter() - start
    y = dataset.y[task.test]
    name = method if isinstance(method, str) else type(classifier_of(estimator)).__name__
    hubs = _checked_hubs(name, scores, task, y)
    curve: Any
    if isinstance(protocol, OpenProtocol):
        curve, metrics = _open_measures(protocol, task, fitted, dataset)
    else:
        curve, metrics = _measures(protocol, task, y, scores, gamma)
    return Result(
        dataset=dataset.name,
        features=dataset.features,
        semantics=space,
        protocol=protocol.name,
        split=task.split,
        method=name,
        settings=own_settings(estimator),
        chosen=chosen_parameters(fitted),
        metrics=metrics,
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        calibration_seconds=calibration_seconds,
        uses_test_batch=classifier_of(fitted).zero_shot_tags.transductive,
        n_train=len(task.train),
        n_test=len(task.test),
        n_candidates=len(task.candidates),
        chance=1.0 / len(task.candidates),
        estimator_seed=classifier_of(fitted).get_params().get("random_state"),
        holdout_seed=task.seed,
        hubness_skewness=hubs.skewness,
        largest_hub_share=hubs.largest_share,
        largest_hub=hubs.largest,
        curve=curve if isinstance(curve, SeenUnseenCurve) else None,
        rejection=curve if isinstance(curve, RejectionCurve) else None,
    )


def evaluate_splits(
    dataset: ZeroShotDataset,
    method: Any,
    splits: Mapping[str, ClassSplit] | Sequence[str | ClassSplit],
    protocol: Protocol | None = None,
    *,
    semantics: str | Sequence[str] | Signatures | None = None,
) -> SplitsResult:
    """Evaluate on several splits, for data sets whose figures are averages over splits.

    Parameters
    ----------
    dataset : ZeroShotDataset
        Data.
    method, protocol, semantics
        As in :func:`evaluate`; the protocol's own `split` is not looked at.
    splits : mapping of str to ClassSplit, or sequence of str or ClassSplit
        The splits, for example what :func:`read_class_splits` returns.

    Returns
    -------
    SplitsResult
        The results with their mean and standard deviation.

    Examples
    --------
    >>> from zslearn.datasets import ClassSplit, make_zero_shot
    >>> from zslearn.evaluation import evaluate_splits
    >>> data = make_zero_shot(6, 2, noise=3.0, random_state=0)
    >>> names = data.classes
    >>> splits = {"a": ClassSplit(names[:5], names[5:]), "b": ClassSplit(names[3:], names[:3])}
    >>> row = evaluate_splits(data, "sae", splits).as_dict()
    >>> row["n_splits"], row["per_class_accuracy_std"] > 0
    (2, True)
    """
    protocol = ConventionalProtocol() if protocol is None else protocol
    if not splits:
        raise InvalidInputError("splits is empty; give at least one split.")
    named = splits if isinstance(splits, Mapping) else dict(enumerate(splits))
    results = []
    for name, split in named.items():
        result = evaluate(dataset, method, replace(protocol, split=split), semantics=semantics)
        results.append(replace(result, split=str(name)) if isinstance(splits, Mapping) else result)
    return SplitsResult(tuple(results))


def _fit(estimator: Any, dataset: ZeroShotDataset, task: Task) -> tuple[Any, float]:
    """Fit on the training rows; return the fitted estimator and the seconds it took."""
    X, y = dataset.X[task.train], dataset.y[task.train]
    start = perf_counter()
    return estimator.fit(X, y), perf_counter() - start


def _to_fit(
    estimator: Any, protocol: Protocol, task: Task, stack: CalibratedStacking | None
) -> Any:
    """Return what is fitted: with the calibration in it only where the protocol rejects."""
    if isinstance(protocol, OpenProtocol):
        return calibrated(estimator, task.unknown)
    return without_bias(estimator) if stack else estimator


def _calibration(estimator: Any, protocol: Protocol) -> CalibratedStacking | None:
    """Return how to choose the bias, or None where no bias is asked for."""
    if not isinstance(protocol, GeneralizedProtocol):
        return None
    classifier = classifier_of(estimator)
    if isinstance(classifier, CalibratedStacking):
        return classifier
    return CalibratedStacking(classifier) if protocol.calibrate else None


def _gamma(
    stack: CalibratedStacking | None, fitted: Any, dataset: ZeroShotDataset, task: Task
) -> tuple[float | None, float | None]:
    """Choose the bias on the training rows; return it and the seconds it took."""
    if stack is None:
        return None, None
    start = perf_counter()
    X = dataset.X[task.train]
    # What the fit chose on all training classes is not chosen again in every fold.
    if isinstance(stack.estimator, Pipeline):
        inner = frozen(fitted)
    else:
        X, inner = features_of(fitted, X), classifier_of(fitted).frozen()
    stack = clone(stack).set_params(estimator=inner).fit_calibration(X, dataset.y[task.train])
    return stack.gamma_, perf_counter() - start


def _open_measures(
    protocol: OpenProtocol, task: Task, fitted: Any, dataset: ZeroShotDataset
) -> tuple[RejectionCurve, dict[str, float]]:
    """Return the curve and the metrics of the open protocol, and what the calibration learned."""
    classifier: Any = classifier_of(fitted)
    names: Any = task.candidates
    X = features_of(fitted, dataset.X[task.test])
    answers = OpenAnswers.of(classifier.recogniser(names), X, task.unseen)
    learned = {
        "gamma": classifier.bias_,
        "temperature": classifier.temperature_["all"],
        "threshold": classifier.threshold_["all"],
    }
    y = dataset.y[task.test]
    return protocol.curve(task, y, answers), learned | protocol.measure(task, y, answers)


def _measures(
    protocol: ConventionalProtocol | GeneralizedProtocol,
    task: Task,
    y: NDArray[Any],
    scores: NDArray[Any],
    gamma: float | None,
) -> tuple[SeenUnseenCurve | None, dict[str, float]]:
    """Return the curve, where there is one, and the metrics."""
    if isinstance(protocol, GeneralizedProtocol):
        curve = protocol.curve(task, y, scores)
        return curve, protocol.measure(task, y, scores, gamma, curve)
    return None, protocol.measure(task, y, scores)


def _checked_hubs(method: str, scores: NDArray[Any], task: Task, y: NDArray[Any]) -> HubnessReport:
    """Refuse scores that are not numbers; warn if one class takes nearly all predictions."""
    if not np.isfinite(scores).all():
        raise InvalidInputError(
            f"{method} gave NaN or infinite scores on split {task.split!r}; the fit failed. Check "
            "the features and signatures for extreme values, or raise the regularization."
        )
    hubs = hubness_report(scores, task.candidates)
    true_share = float(np.mean(y == hubs.largest))
    if hubs.largest_share > COLLAPSED_SHARE >= true_share:
        warnings.warn(
            f"{method} answers {hubs.largest!r} for {hubs.largest_share:.0%} of the samples, "
            f"which {true_share:.0%} of them are; chance is {1 / len(task.candidates):.1%}. The "
            "model has collapsed: check normalization, parameters and signatures.",
            ZslearnWarning,
            stacklevel=3,
        )
    return hubs
