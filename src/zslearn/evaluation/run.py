"""Fit, predict, measure: from a data set and a method to a flat row.

`evaluate` is the recipe. Below it is what it asks of an estimator, which may be a name, a
classifier or a pipeline: its signatures, its bias, what it chose, and how it differs from its
defaults.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from zslearn._pipelines import (
    features_of,
    frozen,
    last_step,
    set_signatures,
    with_last_step,
)
from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.evaluation.open_protocol import OpenAnswers, OpenProtocol
from zslearn.evaluation.protocols import ConventionalProtocol, GeneralizedProtocol, Task
from zslearn.evaluation.reports import HubnessReport, hubness_report
from zslearn.evaluation.result import Result, SplitsResult
from zslearn.exceptions import InvalidInputError, InvalidTypeError, ZslearnWarning, did_you_mean
from zslearn.metrics import RejectionCurve, SeenUnseenCurve
from zslearn.signatures import Signatures
from zslearn.zero_shot import ZeroShotClassifier, make_classifier
from zslearn.zero_shot.calibration import CalibratedStacking
from zslearn.zero_shot.inputs import as_signatures
from zslearn.zero_shot.registry import find_method

Semantics = str | Sequence[str] | Signatures | None
Protocol = ConventionalProtocol | GeneralizedProtocol | OpenProtocol
PROTOCOLS = get_args(Protocol)

# One class taking more of the predictions than this is a collapsed model.
COLLAPSED_SHARE = 0.9


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
    protocol = _checked_protocol(dataset, protocol)
    task = protocol.task(dataset)
    estimator, space = prepared_estimator(dataset, method, semantics)
    stack = _calibration(estimator, protocol)
    if isinstance(protocol, OpenProtocol):  # which rejects, so that what is fitted is calibrated
        fitted = calibrated(estimator, task.unknown)
    else:
        fitted = without_bias(estimator) if stack else estimator
    X, y = dataset.X[task.train], dataset.y[task.train]
    start = perf_counter()
    fitted = fitted.fit(X, y)
    fit_seconds = perf_counter() - start
    gamma, calibration_seconds = _gamma(stack, fitted, X, y)
    start = perf_counter()
    scores = score_candidates(fitted, dataset.X[task.test], task.candidates)
    predict_seconds = perf_counter() - start
    y = dataset.y[task.test]
    name = method if isinstance(method, str) else type(classifier_of(estimator)).__name__
    hubs = _checked_hubs(name, scores, task, y)
    curve: Any
    if isinstance(protocol, OpenProtocol):
        curve, metrics = _open_measures(protocol, task, fitted, dataset)
    elif isinstance(protocol, GeneralizedProtocol):
        curve = protocol.curve(task, y, scores)
        metrics = protocol.measure(task, y, scores, gamma, curve)
    else:
        curve, metrics = None, protocol.measure(task, y, scores)
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
    protocol = _checked_protocol(dataset, protocol)
    if not splits:
        raise InvalidInputError("splits is empty; give at least one split.")
    named = splits if isinstance(splits, Mapping) else dict(enumerate(splits))
    results = []
    for name, split in named.items():
        result = evaluate(dataset, method, replace(protocol, split=split), semantics=semantics)
        results.append(replace(result, split=str(name)) if isinstance(splits, Mapping) else result)
    return SplitsResult(tuple(results))


def _checked_protocol(dataset: Any, protocol: Any) -> Protocol:
    """Return the protocol to follow; refuse arguments in another order."""
    if not isinstance(dataset, ZeroShotDataset):
        raise InvalidTypeError(
            f"dataset must be a ZeroShotDataset; got {type(dataset).__name__}. The order is data "
            "set, method, protocol."
        )
    if protocol is None:
        return ConventionalProtocol()
    if not isinstance(protocol, PROTOCOLS):
        known = ", ".join(f"{kind.__name__}()" for kind in PROTOCOLS)
        raise InvalidTypeError(f"protocol must be one of {known}; got {protocol!r:.80}.")
    return protocol


def _calibration(estimator: Any, protocol: Protocol) -> CalibratedStacking | None:
    """Return how to choose the bias, or None where no bias is asked for."""
    if not isinstance(protocol, GeneralizedProtocol):
        return None
    classifier = classifier_of(estimator)
    if isinstance(classifier, CalibratedStacking):
        return classifier
    return CalibratedStacking(classifier) if protocol.calibrate else None


def _gamma(
    stack: CalibratedStacking | None, fitted: Any, X: NDArray[Any], y: NDArray[Any]
) -> tuple[float | None, float | None]:
    """Choose the bias on the training rows; return it and the seconds it took."""
    if stack is None:
        return None, None
    start = perf_counter()
    # What the fit chose on all training classes is not chosen again in every fold.
    if isinstance(stack.estimator, Pipeline):
        inner = frozen(fitted)
    else:
        X, inner = features_of(fitted, X), classifier_of(fitted).frozen()
    stack = clone(stack).set_params(estimator=inner).fit_calibration(X, y)
    return stack.gamma_, perf_counter() - start


def _open_measures(
    protocol: OpenProtocol, task: Task, fitted: Any, dataset: ZeroShotDataset
) -> tuple[RejectionCurve, dict[str, float]]:
    """Return the curve and the metrics of the open protocol, and what the calibration learned."""
    classifier: Any = classifier_of(fitted)
    names: Any = task.candidates
    X = features_of(fitted, dataset.X[task.test])
    answers = OpenAnswers.of(classifier.recognizer(names), X, task.unseen)
    learned = {
        "gamma": classifier.gamma_,
        "temperature": classifier.temperature_["all"],
        "threshold": classifier.threshold_["all"],
    }
    y = dataset.y[task.test]
    return protocol.curve(task, y, answers), learned | protocol.measure(task, y, answers)


def _checked_hubs(method: str, scores: NDArray[Any], task: Task, y: NDArray[Any]) -> HubnessReport:
    """Return how often each class is the answer; warn if one takes nearly all predictions."""
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


def prepared_estimator(
    dataset: ZeroShotDataset, method: Any, semantics: Semantics
) -> tuple[Any, str]:
    """Return an unfitted estimator with its signatures, and the name of their space."""
    if isinstance(method, str):
        table, name = find_semantics(dataset, semantics)
        return make_classifier(method, _wanted(dataset, method, table, name)), name
    classifier_of(method)  # which must be one
    estimator = clone(method)
    given = classifier_of(estimator).signatures
    if semantics is None and given is not None:
        return estimator, _name_of(dataset, given)
    table, name = find_semantics(dataset, semantics)
    set_signatures(estimator, table)
    return estimator, name


def classifier_of(estimator: Any) -> ZeroShotClassifier:
    """Return the zero-shot classifier of an estimator, which may be the end of a pipeline."""
    last = last_step(estimator)
    if not isinstance(last, ZeroShotClassifier):
        raise InvalidTypeError(
            "method must be a name, a zero-shot classifier or a pipeline that ends in one; got "
            f"{type(last).__name__}."
        )
    return last


def score_candidates(fitted: Any, X: NDArray[Any], candidates: NDArray[Any]) -> NDArray[Any]:
    """Return the score of each candidate, of shape (n_samples, n_candidates)."""
    names: Any = candidates
    return classifier_of(fitted).decision_function(features_of(fitted, X), candidates=names)


def without_bias(estimator: Any) -> Any:
    """Return the estimator with its classifier out of its `CalibratedStacking`, if it has one."""
    classifier = classifier_of(estimator)
    if not isinstance(classifier, CalibratedStacking):
        return estimator
    return with_last_step(estimator, classifier.estimator)


def calibrated(estimator: Any, unknown: NDArray[Any]) -> Any:
    """Return the estimator in a `CalibratedStacking`, without signatures of unknown classes."""
    twin = clone(estimator)
    given = classifier_of(twin).signatures
    if given is not None:
        table = as_signatures(given)
        set_signatures(twin, table.drop([name for name in unknown if name in table]))
    if isinstance(classifier_of(twin), CalibratedStacking):
        return twin
    return CalibratedStacking(twin)


def chosen_parameters(fitted: Any) -> dict[str, Any]:
    """Return what the fit chose, as plain values; one for each key of a dict such as weights."""
    chosen: dict[str, Any] = {}
    for name, value in classifier_of(fitted).best_params_.items():
        if isinstance(value, Mapping):
            chosen |= {f"{name}_{key}": item for key, item in value.items()}
        else:
            chosen[name] = value
    return {name: _plain(value) for name, value in chosen.items()}


def _plain(value: Any) -> Any:
    """Turn numpy scalars into Python values."""
    return value.item() if isinstance(value, np.generic) else value


def own_settings(estimator: Any) -> dict[str, Any]:
    """Return the parameters that differ from the defaults of the estimator's class."""
    classifier = classifier_of(estimator)
    defaults = inspect.signature(type(classifier).__init__).parameters
    settings = {}
    for name, value in classifier.get_params(deep=False).items():
        if name == "signatures":
            continue
        if isinstance(value, ZeroShotClassifier | Pipeline):
            settings[name] = type(value).__name__
            settings |= {f"{name}__{key}": item for key, item in own_settings(value).items()}
        elif not _is_default(value, defaults[name].default):
            settings[name] = value
    if isinstance(estimator, Pipeline):
        settings["steps"] = " > ".join(type(step).__name__ for _, step in estimator.steps[:-1])
    return settings


def _is_default(value: Any, default: Any) -> bool:
    """Compare without tripping over arrays."""
    if value is default:
        return True
    return type(value) is type(default) and bool(np.all(value == default))


def find_semantics(dataset: ZeroShotDataset, semantics: Semantics) -> tuple[Signatures, str]:
    """Return the class table asked for, and its name."""
    if isinstance(semantics, Signatures):
        return semantics, _name_of(dataset, semantics)
    if semantics is None:
        semantics = next(iter(dataset.semantics))
    if not isinstance(semantics, Sequence):
        raise InvalidTypeError(
            "semantics must be the name of a semantic space, several names or Signatures; got "
            f"{type(semantics).__name__}."
        )
    names = [semantics] if isinstance(semantics, str) else list(semantics)
    tables = [_space(dataset, name) for name in names]
    joined, title = tables[0], names[0]
    for table, name in zip(tables[1:], names[1:], strict=True):
        joined, title = joined.join(table, names=(title, name)), f"{title} + {name}"
    return joined, title


def _wanted(dataset: ZeroShotDataset, method: str, table: Signatures, name: str) -> Signatures:
    """Return the values as they were collected, for methods that are made for them."""
    if not find_method(method).tags.raw_signatures or dataset.semantics.get(name) is not table:
        return table
    return dataset.raw.get(name, table)


def _space(dataset: ZeroShotDataset, name: str) -> Signatures:
    """Return one semantic space of the data set by its name."""
    if name in dataset.semantics:
        return dataset.semantics[name]
    hint = did_you_mean(name, dataset.semantics)
    raise InvalidInputError(
        f"data set {dataset.name!r} has no semantic space {name!r}; it has "
        f"{', '.join(map(repr, dataset.semantics))}.{hint}"
    )


def _name_of(dataset: ZeroShotDataset, table: Any) -> str:
    """Name the space of the data set that equals a given table."""
    for name, space in dataset.semantics.items():
        if space is table or (isinstance(table, Signatures) and space == table):
            return name
    return "own table"
