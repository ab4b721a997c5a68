"""What a model read from a file must be: allowed parameters, declared shapes, finite answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from zslearn._files import first_line
from zslearn._parameters import (
    Group,
    Number,
    Whole,
    check_parameters,
    check_value,
    constraints_of,
    facts_of,
)
from zslearn._pipelines import features_of, last_step, steps_before
from zslearn.core.magnitudes import LARGEST_LEARNED, is_moderate
from zslearn.encoders.base import split_encoder
from zslearn.exceptions import InvalidInputError
from zslearn.persistence.trusted import estimator_name
from zslearn.signatures import Signatures

# As `fitted` declares them for our own: d features, other letters as they come. NaN is allowed
# where scikit-learn writes it for columns without values; transformed samples are tried.
_BY_COLUMN = "optional missing d"
LEARNED_SHAPES: dict[str, dict[str, str]] = {
    "FactorAnalysis": {"components_": "c d", "mean_": "d", "noise_variance_": "d"},
    "GaussianNB": {"theta_": "c d", "var_": "c d", "class_prior_": "c"},
    "GaussianRandomProjection": {"components_": "c d"},
    "LinearDiscriminantAnalysis": {
        "coef_": "b d",
        "intercept_": "b",
        "xbar_": "optional d",
        "scalings_": "optional d r",
    },
    "LogisticRegression": {"coef_": "b d", "intercept_": "b"},
    "MaxAbsScaler": {"scale_": _BY_COLUMN},
    "MinMaxScaler": {"scale_": _BY_COLUMN, "min_": _BY_COLUMN},
    "Nystroem": {"components_": "missing n d", "normalization_": "n n"},  # may be whole numbers
    "PCA": {"components_": "c d", "mean_": "d", "explained_variance_": "c"},
    "PowerTransformer": {"lambdas_": _BY_COLUMN},
    "QuadraticDiscriminantAnalysis": {"means_": "c d", "priors_": "c"},
    "QuantileTransformer": {"quantiles_": "q d", "references_": "q"},
    "RBFSampler": {"random_weights_": "d n", "random_offset_": "n"},
    "RobustScaler": {"center_": _BY_COLUMN, "scale_": _BY_COLUMN},
    "SimpleImputer": {"statistics_": _BY_COLUMN},
    "SparseRandomProjection": {"components_": "c d"},
    "StandardScaler": {"mean_": _BY_COLUMN, "scale_": _BY_COLUMN, "var_": _BY_COLUMN},
    "TruncatedSVD": {"components_": "c d"},
}


def check_state(model: Any) -> None:
    """Refuse what fits the shapes above and still could not be the outcome of a fit."""
    if type(model).__name__ == "PolynomialFeatures":
        again = clone(model).fit(np.zeros((1, model.n_features_in_)))
        if again.n_output_features_ != model.n_output_features_:
            raise InvalidInputError("n_output_features_ does not fit the number of features")
    if type(model).__name__ == "KBinsDiscretizer":
        _check_bins(model)


def _check_bins(model: Any) -> None:
    """Compare the edges of bins and the columns made of them with the numbers of bins."""
    numbers = model.n_bins_.tolist()
    whole = len(numbers) == len(model.bin_edges_) == model.n_features_in_ and all(
        len(edges) == n + 1 and (edges[:-1] <= edges[1:]).all()
        for n, edges in zip(numbers, model.bin_edges_, strict=True)
    )
    encoder = getattr(model, "_encoder", None)
    named = encoder is None or (
        len(encoder.categories_) == len(numbers)
        and all(map(np.array_equal, encoder.categories_, map(np.arange, numbers)))
    )
    if not whole or not named:
        raise InvalidInputError("the bins do not fit together")


_TRIAL_CANDIDATES = 8
_MOST_FEATURES = 2**24


def check_estimator(model: Any) -> None:
    """Refuse an estimator whose parameters or learned state its class does not allow."""
    check_parameters(model)
    if not any(name.endswith("_") for name in vars(model)):
        return  # not fitted: a parameter of another estimator
    _check_chosen(model)
    _check_shapes(model)
    _check_classes(model)
    if hasattr(type(model), "check_learned"):
        model.check_learned()
    if _of_scikit_learn(type(model)):
        check_state(model)


def check_answers(model: Any) -> None:
    """Refuse a model that cannot answer for samples drawn at random, or answers with NaN."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            finite = np.isfinite(_answers(model)).all()
    except Exception as error:  # whatever it is, a file that loads must predict
        raise InvalidInputError(f"it cannot predict ({first_line(error)})") from error
    if not finite:
        raise InvalidInputError("it answers with numbers that are not finite")


def _check_chosen(model: Any) -> None:
    """Refuse a value learned for a parameter, such as lam_ for lam, that the parameter forbids."""
    declared = _declared(type(model))
    constraints = constraints_of(type(model))
    for group in [one for one in constraints.values() if isinstance(one, Group)]:
        constraints |= constraints_of(group.kind)
    for name, constraint in constraints.items():
        value = vars(model).get(f"{name}_")
        if value is None or f"{name}_" in declared or constraint.allows(value):
            continue
        for one in value.values() if type(value) is dict else [value]:
            if one is not None:  # too few classes to learn it
                check_value(f"{name}_", one, constraint)


def _check_shapes(model: Any) -> None:
    """Compare learned arrays with what the class declares; a letter is one number everywhere."""
    sizes, checked = _known_sizes(model), dict[tuple[int, str], Any]()
    for name, declared in _declared(type(model)).items():
        optional = declared.startswith("optional ")
        value = getattr(model, name, None)
        if value is None and not optional:
            raise InvalidInputError(f"{name} is missing")
        # Two names of one array, such as the maps of SAE both ways, are looked at once.
        if value is not None and (id(value), declared) not in checked:
            _check_value(name, value, declared.removeprefix("optional ").split(), sizes)
            checked[id(value), declared] = value


def _known_sizes(model: Any) -> dict[str, int]:
    sizes = {}
    if hasattr(model, "n_features_in_"):
        check_value("n_features_in_", model.n_features_in_, Whole(1))
        sizes["d"] = int(model.n_features_in_)
        for name, part in vars(model).items():
            if getattr(part, "n_features_in_", sizes["d"]) != sizes["d"]:
                raise InvalidInputError(f"{name} has another number of features")
        if hasattr(model, "feature_names_in_"):
            _check_shape("feature_names_in_", model.feature_names_in_, ["d"], sizes)
    if isinstance(getattr(model, "signatures_", None), Signatures):
        sizes["k"] = model.signatures_.vectors.shape[1]
    return sizes


def _check_value(name: str, value: Any, declared: list[str], sizes: dict[str, int]) -> None:
    if declared == ["arrays"]:
        for part, array in _items(name, value):
            _check_numbers(part, array)
    elif not declared:
        check_value(name, value, Number(least=-1e75, most=1e75))
    elif declared[0] == "names":
        _check_shape(name, value, declared[1:], sizes)
    elif declared[0] == "missing":
        _check_shape(name, value, declared[1:], sizes)
        numbers = np.asarray(value, dtype=np.float64)
        _check_numbers(name, numbers[~np.isnan(numbers)])
    else:
        _check_shape(name, value, declared, sizes)
        _check_numbers(name, value)


def _check_shape(name: str, value: Any, declared: list[str], sizes: dict[str, int]) -> None:
    shape = getattr(value, "shape", None)
    arrays = isinstance(value, np.ndarray) or sparse.issparse(value)
    if shape is None or not arrays or len(shape) != len(declared):
        raise InvalidInputError(f"{name} must have {len(declared)} axes; got shape {shape}")
    for letter, size in zip(declared, shape, strict=True):
        wanted = int(letter) if letter.isdigit() else sizes.setdefault(letter, size)
        if size != wanted:
            raise InvalidInputError(f"{name} has shape {shape}, which does not fit the rest")


def _check_numbers(name: str, value: Any) -> None:
    value = value.data if sparse.issparse(value) else value
    if getattr(value, "dtype", None) not in LARGEST_LEARNED:
        raise InvalidInputError(f"{name} must hold floating-point numbers")
    if not is_moderate(value):
        raise InvalidInputError(f"{name} holds numbers that are not finite, or too large")


def _check_classes(model: Any) -> None:
    """Refuse training classes that are not sorted, or have no signature."""
    table = getattr(model, "signatures_", None)
    if table is None:
        return
    if not isinstance(table, Signatures):
        raise InvalidInputError("signatures_ is no table of signatures")
    classes = model.seen_classes_
    if not (len(classes) and (classes[:-1] < classes[1:]).all()):
        raise InvalidInputError("seen_classes_ must be one or more, in order")
    names = classes if model.signatures is not None else classes.astype(str)
    if any(name not in table for name in names.tolist()):
        raise InvalidInputError("a class of seen_classes_ has no signature")


def _answers(model: Any) -> NDArray[Any]:
    """Return what a model says of a few samples."""
    rng = np.random.default_rng(0)
    _, model = split_encoder(model)  # weights may be elsewhere; vectors are tried
    if estimator_name(model) == "ImageSegmenter":
        return np.asarray(model.predict(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)))
    steps, last = steps_before(model), last_step(model)
    tags = getattr(last, "zero_shot_tags", None)
    n_features = next(s.n_features_in_ for s in (*steps, last) if hasattr(s, "n_features_in_"))
    if n_features > _MOST_FEATURES:
        raise InvalidInputError(f"it claims {n_features} features")
    X = np.abs(rng.standard_normal((max(2, tags.min_batch if tags else 0), n_features)))
    if steps:
        X = _without_zero_rows(features_of(model, X))
    model = last
    if tags is None:
        return np.asarray(model.transform(X))
    names = model.candidate_names()
    some = names[:: -(-len(names) // _TRIAL_CANDIDATES)]
    if getattr(model, "trunk_sha256_", None) is not None:
        return _answers_behind_trunk(model, some, rng)
    return np.asarray(model.decision_function(X, some))


def _answers_behind_trunk(
    model: Any, names: NDArray[Any], rng: np.random.Generator
) -> NDArray[Any]:
    """Return what a model says of feature maps; the network that makes them is given later."""
    if np.prod(model.picture_shape_) != model.n_features_in_:
        raise InvalidInputError("its pictures have another number of pixels")
    if np.prod(model.map_shape_) > _MOST_FEATURES:
        raise InvalidInputError(f"it claims feature maps of shape {model.map_shape_}")
    return np.asarray(model.score_maps(rng.standard_normal((2, *model.map_shape_)), names))


def _without_zero_rows(X: Any) -> Any:
    """Put ones in place of rows of zeros, which are refused; they are the trial's own fault."""
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return np.where(dense.any(axis=1, keepdims=True), dense, 1)


def _declared(kind: type) -> dict[str, str]:
    """Shapes that a class and its bases declare; its own go before those of its bases."""
    if _of_scikit_learn(kind):
        return LEARNED_SHAPES.get(kind.__name__, {})
    shapes = facts_of(kind, "shape")
    return {name: declared for name, declared in shapes.items() if declared is not None}


def _of_scikit_learn(kind: type) -> bool:
    return kind.__module__.startswith("sklearn.")


def _items(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name} must be a dict of arrays")
    yield from ((f"{name}[{key!r}]", item) for key, item in value.items())
