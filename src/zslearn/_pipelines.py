"""A pipeline seen from its end: the last step, what comes before it, and who has the signatures."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline; any other estimator is its own.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Binarizer, StandardScaler
    >>> last_step(make_pipeline(StandardScaler(), Binarizer()))
    Binarizer()
    """
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def steps_before(estimator: Any) -> tuple[Any, ...]:
    """Return the steps before the last one, without those that change nothing.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Binarizer, StandardScaler
    >>> steps_before(make_pipeline(StandardScaler(), "passthrough", Binarizer()))
    (StandardScaler(),)
    """
    found: list[Any] = []
    while isinstance(estimator, Pipeline):
        found += [step for _, step in estimator.steps[:-1] if step not in (None, "passthrough")]
        estimator = estimator.steps[-1][1]
    return tuple(found)


def features_of(fitted: Any, X: Any) -> Any:
    """Return features as the last step gets them, after the earlier steps of a pipeline."""
    for step in steps_before(fitted):
        X = step.transform(X)
    return X


def with_last_step(estimator: Any, last: Any) -> Any:
    """Return an unfitted copy that ends in another classifier; without a pipeline, that one."""
    if not isinstance(estimator, Pipeline):
        return last
    name, end = estimator.steps[-1]
    return clone(estimator).set_params(**{name: with_last_step(end, last)})


def replaced_last_step(fitted: Any, last: Any) -> Any:
    """Return a copy of a fitted pipeline that ends in another estimator and shares its steps."""
    if not isinstance(fitted, Pipeline):
        return last
    name, end = fitted.steps[-1]
    twin = copy.copy(fitted)
    twin.steps = [*fitted.steps[:-1], (name, replaced_last_step(end, last))]
    return twin


def behind(step: Any, fitted: Any) -> Pipeline:
    """Return a fitted pipeline that begins with one more step.

    Examples
    --------
    >>> from sklearn.preprocessing import Binarizer, StandardScaler
    >>> [name for name, _ in behind(StandardScaler(), Binarizer()).steps]
    ['standardscaler', 'binarizer']
    """
    if not isinstance(fitted, Pipeline):
        return make_pipeline(step, fitted)
    return Pipeline([(type(step).__name__.lower(), step), *fitted.steps])


def frozen(fitted: Any) -> Any:
    """Return an unfitted copy in which the classifier has the parameters that its fit chose."""
    return with_last_step(fitted, last_step(fitted).frozen())


def signature_holder(estimator: Any) -> Any:
    """Return the classifier whose parameter `signatures` is, inside of pipelines and wrappers."""
    holder = last_step(estimator)
    while "signatures" not in holder.get_params(deep=False):
        holder = last_step(holder.estimator)
    return holder


def set_signatures(estimator: Any, signatures: Any) -> None:
    """Set the class table of a classifier, or of the one it wraps."""
    signature_holder(estimator).set_params(signatures=signatures)
