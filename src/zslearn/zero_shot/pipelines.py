"""A classifier that may be the end of a scikit-learn pipeline."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from zslearn._parameters import Constraint
from zslearn.zero_shot.base import ZeroShotClassifier


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline; any other estimator is its own."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def features_of(fitted: Any, X: Any) -> Any:
    """Return features as the last step gets them, after the earlier steps of a pipeline."""
    if isinstance(fitted, Pipeline) and len(fitted.steps) > 1:
        return fitted[:-1].transform(X)
    return X


def steps_before(fitted: Any) -> tuple[Any, ...]:
    """Return the fitted steps before the last one; none if there is no pipeline."""
    return tuple(step for _, step in fitted.steps[:-1]) if isinstance(fitted, Pipeline) else ()


def frozen(fitted: Any) -> Any:
    """Return an unfitted copy in which the classifier has the parameters that its fit chose."""
    if not isinstance(fitted, Pipeline):
        return fitted.frozen()
    name, last = fitted.steps[-1]
    return clone(fitted).set_params(**{name: last.frozen()})


def set_signatures(classifier: Any, signatures: Any) -> None:
    """Set the class table of a classifier, or of the one it wraps."""
    names = [name for name in classifier.get_params() if name.split("__")[-1] == "signatures"]
    classifier.set_params(**{min(names, key=len): signatures})


CLASSIFIER = Constraint(
    "a zero-shot classifier such as SAEClassifier(signatures), or a pipeline that ends in one",
    lambda value: isinstance(last_step(value), ZeroShotClassifier),
)
