"""What the evaluation asks of an estimator: signatures in, scores and chosen parameters out."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from zslearn.datasets import ZeroShotDataset
from zslearn.exceptions import InvalidInputError, InvalidTypeError, closest_name
from zslearn.signatures import Signatures
from zslearn.zero_shot import ZeroShotClassifier, make_classifier
from zslearn.zero_shot.calibration import CalibratedStacking
from zslearn.zero_shot.inputs import as_signatures
from zslearn.zero_shot.pipelines import features_of, last_step
from zslearn.zero_shot.registry import find_method

Semantics = str | Sequence[str] | Signatures | None


def prepared_estimator(
    dataset: ZeroShotDataset, method: Any, semantics: Semantics
) -> tuple[Any, str]:
    """Return an unfitted estimator with its signatures, and the name of their space."""
    if isinstance(method, str):
        table, name = find_semantics(dataset, semantics)
        return make_classifier(method, _wanted(dataset, method, table, name)), name
    estimator = clone(method)
    holder = _holder(estimator)
    if semantics is None and holder.signatures is not None:
        return estimator, _name_of(dataset, holder.signatures)
    table, name = find_semantics(dataset, semantics)
    holder.set_params(signatures=table)
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
    if isinstance(estimator, Pipeline):
        name = estimator.steps[-1][0]
        return Pipeline([*estimator.steps[:-1], (name, classifier.estimator)])
    return classifier.estimator


def calibrated(estimator: Any, unknown: NDArray[Any]) -> Any:
    """Return the estimator in a `CalibratedStacking`, without signatures of unknown classes."""
    twin = clone(estimator)
    holder = _holder(twin)
    if holder.signatures is not None:
        table = as_signatures(holder.signatures)
        holder.set_params(signatures=table.drop([name for name in unknown if name in table]))
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


def find_semantics(dataset: ZeroShotDataset, semantics: Semantics) -> tuple[Signatures, str]:
    """Return the class table asked for, and its name."""
    if isinstance(semantics, Signatures):
        return semantics, _name_of(dataset, semantics)
    if semantics is None:
        semantics = next(iter(dataset.semantics))
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
    near = closest_name(name, dataset.semantics)
    hint = f" Did you mean {near!r}?" if near is not None else ""
    raise InvalidInputError(
        f"data set {dataset.name!r} has no semantic space {name!r}; it has "
        f"{', '.join(map(repr, dataset.semantics))}.{hint}"
    )


def _holder(estimator: Any) -> Any:
    """Return the estimator that has the parameter `signatures`."""
    classifier = classifier_of(estimator)
    while isinstance(classifier, CalibratedStacking):
        classifier = classifier_of(classifier.estimator)
    return classifier


def _name_of(dataset: ZeroShotDataset, table: Any) -> str:
    """Name the space of the data set that equals a given table."""
    for name, space in dataset.semantics.items():
        if space is table or (isinstance(table, Signatures) and space == table):
            return name
    return "own table"


def _is_default(value: Any, default: Any) -> bool:
    """Compare without tripping over arrays."""
    if value is default:
        return True
    return type(value) is type(default) and bool(np.all(value == default))


def _plain(value: Any) -> Any:
    """Turn numpy scalars into Python values."""
    return value.item() if isinstance(value, np.generic) else value
