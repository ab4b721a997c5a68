"""One method on one split: the conventional or the generalized protocol."""

from __future__ import annotations

from typing import Any

import numpy as np

from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol, Result, evaluate
from zslearn.exceptions import InvalidInputError
from zslearn.reproduce.runs.steps import with_steps
from zslearn.reproduce.specification import Run

CURVE_POINTS = 200


def measure(run: Run) -> dict[str, Any]:
    """Fit on seen classes, measure on unseen ones or on both."""
    if run.source is None:
        raise InvalidInputError("a zero-shot run needs a data set.")
    protocol: ConventionalProtocol | GeneralizedProtocol
    if run.protocol == "generalized":
        protocol = GeneralizedProtocol(run.split, random_state=run.seed)
    else:
        protocol = ConventionalProtocol(run.split)
    data = run.source.load()
    method = with_steps(run.method, run.seed)
    result = evaluate(data, method, protocol, semantics=run.semantics)
    row = result.as_dict() | {"feature_title": result.features}
    return row | ({"series": {"curve": _thinned(result)}} if result.curve is not None else {})


def _thinned(result: Result) -> dict[str, list[float]]:
    """Return points of the seen-unseen curve, evenly along its length."""
    curve = result.curve
    if curve is None:
        return {}
    steps = np.abs(np.diff(curve.seen)) + np.abs(np.diff(curve.unseen))
    length = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0.0, length[-1], CURVE_POINTS)
    rows = np.unique(np.searchsorted(length, wanted).clip(0, len(length) - 1))
    return {
        "seen": np.round(curve.seen[rows], 5).tolist(),
        "unseen": np.round(curve.unseen[rows], 5).tolist(),
    }
