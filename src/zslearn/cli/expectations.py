"""What a model chosen on held-out classes promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zslearn.zero_shot.auto.expectation import Expectation


def expectation_of(model: Any) -> Expectation | None:
    """Return what to expect of a model by `AutoZeroShotClassifier`; None of others.

    Parameters
    ----------
    model : estimator
        Fitted; with a bias against seen classes the classifier inside is asked.

    Returns
    -------
    Expectation or None
    """
    inner = getattr(model, "estimator_", model) if hasattr(model, "gamma_") else model
    return getattr(inner, "expected_accuracy_", None)
