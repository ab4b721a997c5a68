"""Gradient boosting of scikit-learn in model files: its trees as plain arrays.

scikit-learn keeps them in objects of its own. A file holds what prediction reads of every node; the
objects around them are made by a fit on nothing, and the trees are checked before they go there,
because compiled code follows their links without asking.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from zslearn.exceptions import InvalidInputError, InvalidTypeError

NAME = "sklearn.HistGradientBoostingClassifier"
# What prediction reads of a node; a leaf has no left child, and a child stands after its parent.
_COLUMNS = ("value", "feature_idx", "num_threshold", "missing_go_to_left", "left", "right")
# Numbers in the rows that are fitted to make the objects, which a damaged file may ask for.
_LARGEST = 2**24


def state_of(model: Any) -> dict[str, Any]:
    """Return the learned state of a classifier as arrays and numbers; none if it is not fitted.

    Parameters
    ----------
    model : HistGradientBoostingClassifier
        Learned from numbers alone.

    Returns
    -------
    dict
        Nodes of all trees one after the other by column, "sizes" of shape
        (n_iterations, n_scores), where the scores begin, and what the labels are.
    """
    if not hasattr(model, "_predictors"):
        return {}
    if model.is_categorical_ is not None:
        raise InvalidTypeError(
            "HistGradientBoostingClassifier was fitted on categorical features, whose splits "
            "cannot be saved without pickle; encode them as numbers."
        )
    trees = [[tree.nodes for tree in step] for step in model._predictors]
    nodes = np.concatenate([tree for step in trees for tree in step])
    names = {"feature_names_in_"} & vars(model).keys()
    return {
        "classes_": model.classes_,
        "n_features_in_": int(model.n_features_in_),
        "baseline": model._baseline_prediction.ravel(),
        "sizes": np.array([[len(tree) for tree in step] for step in trees]),
        **{column: nodes[column].copy() for column in _COLUMNS},
        **{name: getattr(model, name) for name in names},
    }


def restore(model: Any, state: dict[str, Any], made: dict[str, Any]) -> None:
    """Give an unfitted classifier the state that a file holds.

    Parameters
    ----------
    model : HistGradientBoostingClassifier
        With the parameters of the file.
    state : dict
        What `state_of` returned, or a file claims that it did.
    made : dict
        Classifiers that were fitted on nothing before, for others of the same kind.

    Raises
    ------
    InvalidInputError
        If the arrays are not those of trees that a fit grows.
    """
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    classes, n_features = state["classes_"], state["n_features_in_"]
    _check(type(n_features) is int and 0 < n_features * len(classes) <= _LARGEST, "n_features_in_")
    _check(len(classes) > 1 and bool((classes[:-1] < classes[1:]).all()), "classes_")
    sizes, baseline = state["sizes"], state["baseline"]
    n_scores = 1 if len(classes) == 2 else len(classes)
    _check(sizes.ndim == 2 and sizes.shape[1] == n_scores and sizes.dtype.kind == "i", "sizes")
    _check(baseline.shape == (n_scores,) and _are_numbers(baseline), "baseline")
    nodes = _nodes(state, n_features, sizes.ravel())
    key = repr((sorted(model.get_params().items()), classes.tolist(), n_features))
    if key not in made:
        quiet = {"max_iter": 1, "early_stopping": False, "warm_start": False, "verbose": 0}
        rows = np.zeros((len(classes), n_features))
        made[key] = clone(model).set_params(**quiet).fit(rows, classes)
    around = {name: value for name, value in vars(made[key]).items() if name not in vars(model)}
    none = np.zeros((0, 8), dtype=np.uint32)  # categories that go left
    trees = [TreePredictor(tree, none, none) for tree in np.split(nodes, np.cumsum(sizes)[:-1])]
    around["_predictors"] = [
        trees[start : start + n_scores] for start in range(0, len(trees), n_scores)
    ]
    around["_baseline_prediction"] = baseline.reshape(1, -1)
    around["classes_"] = classes  # its own, not that of all others
    around |= {name: state[name] for name in {"feature_names_in_"} & state.keys()}
    vars(model).update(around)


def _nodes(state: dict[str, Any], n_features: int, sizes: NDArray[Any]) -> NDArray[Any]:
    """Return the nodes of all trees as scikit-learn keeps them, if prediction ends in each."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE as KIND

    n_nodes = len(state["value"])
    # No single one above the sum: several huge ones would add up to it once more in 64 bits.
    fine = bool(len(sizes)) and sizes.min() > 0 and sizes.max() <= n_nodes
    _check(fine and sizes.sum() == n_nodes, "sizes")
    nodes = np.zeros(n_nodes, dtype=KIND)
    for column in _COLUMNS:
        fits = state[column].shape == (n_nodes,) and state[column].dtype == KIND[column]
        _check(fits, column)
        nodes[column] = state[column]
    # A child lies after its parent and inside its tree, so that every way down ends in a leaf.
    size = np.repeat(sizes, sizes)
    number = np.arange(n_nodes) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    leaf = nodes["left"] == 0
    for child in ("left", "right"):
        _check(bool((leaf | ((nodes[child] > number) & (nodes[child] < size))).all()), child)
    asked = nodes["feature_idx"]
    _check(bool(((asked >= 0) & (asked < n_features)).all()), "feature_idx")
    _check(_are_numbers(nodes["value"]), "value")
    _check(not np.isnan(nodes["num_threshold"]).any(), "num_threshold")
    nodes["is_leaf"] = leaf
    return nodes


def _are_numbers(values: NDArray[Any]) -> bool:
    return values.dtype == np.float64 and bool((np.abs(values) < 1e75).all())


def _check(fine: bool, name: str) -> None:
    if not fine:
        raise InvalidInputError(f"{name} of the boosted trees fits no tree that a fit grows")
