"""Steps of scikit-learn's pipelines as nodes of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from zslearn.exceptions import InvalidInputError
from zslearn.persistence.onnx_graph import Graph


def add_step(graph: Graph, x: str, step: Any) -> str:
    """Add what a fitted step does to the rows `x`; return the name of the result.

    Parameters
    ----------
    graph : Graph
        Where to add.
    x : str
        Name of the rows.
    step : estimator, "passthrough" or None
        A step of a pipeline.

    Returns
    -------
    str
    """
    if step is None or step == "passthrough":
        return x
    for kinds, add in _STEPS.items():
        if type(step) in kinds:
            return add(graph, x, step)
    known = ", ".join(kind.__name__ for kinds in _STEPS for kind in kinds)
    raise InvalidInputError(
        f"{type(step).__name__} cannot be written as ONNX; the steps that can be are {known}. "
        "Export the last step alone and transform the features before."
    )


def _moved(graph: Graph, x: str, center: NDArray[Any] | None) -> str:
    return x if center is None else graph.node("Sub", [x, graph.constant(center[None])])


def _divided(graph: Graph, x: str, scale: NDArray[Any] | None) -> str:
    return x if scale is None else graph.node("Div", [x, graph.constant(scale[None])])


def _standardized(graph: Graph, x: str, step: StandardScaler) -> str:
    center = step.mean_ if step.with_mean else None
    return _divided(graph, _moved(graph, x, center), step.scale_)


def _robust(graph: Graph, x: str, step: RobustScaler) -> str:
    return _divided(graph, _moved(graph, x, step.center_), step.scale_)


def _between_limits(graph: Graph, x: str, step: MinMaxScaler) -> str:
    # About the smallest value seen, so that a large offset costs no digits.
    size = graph.node("Mul", [_moved(graph, x, step.data_min_), graph.constant(step.scale_[None])])
    low, high = step.feature_range
    y = graph.node("Add", [size, graph.constant(np.array([low]))])
    if not step.clip:
        return y
    limits = [graph.constant(np.array(limit)) for limit in (low, high)]
    return graph.node("Clip", [y, *limits])


def _unit(graph: Graph, x: str, step: Normalizer) -> str:
    if step.norm != "l2":
        raise InvalidInputError(
            f"Normalizer(norm={step.norm!r}) cannot be written as ONNX; norm='l2' can."
        )
    return graph.unit_rows(x)


def _projected(graph: Graph, x: str, step: PCA | TruncatedSVD) -> str:
    center = getattr(step, "mean_", None)
    y = graph.node("MatMul", [_moved(graph, x, center), graph.constant(step.components_.T)])
    if not getattr(step, "whiten", False):
        return y
    tiny = np.finfo(step.explained_variance_.dtype).eps
    return _divided(graph, y, np.maximum(np.sqrt(step.explained_variance_), tiny))


def _selected(graph: Graph, x: str, step: Any) -> str:
    columns = graph.constant(step.get_support(indices=True), np.int64)
    return graph.node("Gather", [x, columns], axis=1)


_STEPS: dict[tuple[type, ...], Any] = {
    (StandardScaler,): _standardized,
    (RobustScaler,): _robust,
    (MaxAbsScaler,): lambda graph, x, step: _divided(graph, x, step.scale_),
    (MinMaxScaler,): _between_limits,
    (Normalizer,): _unit,
    (PCA, TruncatedSVD): _projected,
    (SelectKBest, SelectPercentile, VarianceThreshold): _selected,
}
