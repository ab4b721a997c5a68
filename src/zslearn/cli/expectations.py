"""What a model chosen on held-out classes promises, as facts for a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


def expectations(model: Any) -> dict[str, Any]:
    """Return what to expect of a model by `AutoZeroShotClassifier`; nothing of others.

    Parameters
    ----------
    model : estimator
        Fitted; with a bias against seen classes the classifier inside is asked.

    Returns
    -------
    dict
        With the key "expected_accuracy", if the model was judged.
    """
    inner = getattr(model, "estimator_", model) if hasattr(model, "gamma_") else model
    expected = getattr(inner, "expected_accuracy_", None)
    if expected is None:
        return {}
    rounded = {
        key: round(value, 4) if isinstance(value, float) else value
        for key, value in asdict(expected).items()
    }
    return {"expected_accuracy": rounded}
