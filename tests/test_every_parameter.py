"""Every parameter of every public estimator: it has a constraint, and the constraint is honest."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator

from zslearn._parameters import constraints_of
from zslearn.autoencoder import SemanticAutoencoder, SemanticAutoencoderCV
from zslearn.cluster import RVML, ImageSegmenter, LinearMapping, SAEMapping
from zslearn.core.moments import Moments
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.scale import fit_batches
from zslearn.zero_shot import (
    CalibratedStacking,
    ESZSLClassifier,
    PrototypeRegression,
    RRZSLClassifier,
    SAEClassifier,
    ZeroShotClassifier,
    ZeroShotMethod,
)

ROOMS = ("autoencoder", "cluster", "model_selection", "zero_shot")
BASES = (LinearMapping, ZeroShotClassifier, ZeroShotMethod)
# Values people give by mistake; many are right for some parameter.
VALUES = {
    "text": "nonsense",
    "nan": np.nan,
    "infinite": np.inf,
    "negative": -1,
    "bool": True,
    "none": None,
    "list": [1.0, -2.0],
    "ragged list": [[1.0], [1.0, 2.0]],
    "random state": np.random.RandomState(0),
    "huge": 1e300,
    "array": np.ones((2, 4)),
    "object": object(),
}
# Accepted values that overflow by their nature: float32 holds no 1e300.
NOT_FITTED = ("huge",)
# What makes a fit short.
QUICK = {"max_iter": 2, "max_epochs": 1, "n_repeats": 1, "n_pairs": 20, "rounds": 1, "n_rounds": 1}
QUICK |= {"portfolio": [RRZSLClassifier(lam=1.0), SAEClassifier(lam=1.0)]}


def public_classes() -> list[type]:
    """Estimators and splitters that the rooms export, without the bases for other methods."""
    rooms = [importlib.import_module(f"zslearn.{room}") for room in ROOMS]
    exported = [getattr(room, name) for room in rooms for name in room.__all__]
    kinds = (BaseEstimator, BaseCrossValidator)
    found = [one for one in exported if inspect.isclass(one) and issubclass(one, kinds)]
    return [one for one in found if one not in BASES]


def parameters_of(kind: type) -> list[str]:
    return [name for name in inspect.signature(kind).parameters if name != "self"]


CASES = [(kind, name) for kind in public_classes() for name in parameters_of(kind)]


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        n_seen=6, n_unseen=2, n_per_class=6, n_features=5, n_dimensions=4, random_state=0
    )


def start(kind: type, data: Any, parameters: dict[str, Any]) -> Any:
    """Construct, and fit if it is an estimator."""
    quick = {name: QUICK[name] for name in parameters_of(kind) if name in QUICK}
    given = quick | parameters
    if issubclass(kind, BaseCrossValidator):
        return kind(**given)
    if issubclass(kind, ImageSegmenter):
        mask = np.zeros((12, 12), dtype=int)
        mask[3:9, 3:9] = 1
        image = np.repeat(mask[:, :, None] * 200 + 20, 3, axis=2).astype(np.uint8)
        return kind(**{"height": 12} | given).fit([image], [mask])
    if issubclass(kind, (SemanticAutoencoder, SemanticAutoencoderCV)):
        return kind(**given).fit(data.X, data.signatures.rows(data.y))
    X, y = (part[data.rows(data.split("standard").seen)] for part in (data.X, data.y))
    if issubclass(kind, CalibratedStacking):
        given = {"estimator": RRZSLClassifier(data.signatures, lam=1.0)} | given
    elif issubclass(kind, ZeroShotClassifier):
        given = {"signatures": data.signatures} | given
    return kind(**given).fit(X, y)


def test_there_are_estimators_to_test():
    assert len(public_classes()) > 45
    assert len(CASES) > 350


@pytest.mark.parametrize("kind", public_classes(), ids=lambda kind: kind.__name__)
def test_every_parameter_has_a_constraint(kind):
    assert set(parameters_of(kind)) <= set(constraints_of(kind))


@pytest.mark.parametrize("kind", public_classes(), ids=lambda kind: kind.__name__)
def test_constraints_of_a_class_are_of_its_own_parameters(kind):
    own = vars(kind).get("parameter_constraints", {})
    assert set(own) <= set(parameters_of(kind))


@pytest.mark.parametrize("kind", public_classes(), ids=lambda kind: kind.__name__)
def test_defaults_are_allowed(kind):
    required = {CalibratedStacking: {"estimator"}}
    for name, parameter in inspect.signature(kind).parameters.items():
        if name not in required.get(kind, set()):
            assert constraints_of(kind)[name].allows(parameter.default), name


@pytest.mark.parametrize(("kind", "name"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_a_wrong_value_gives_one_line_that_names_the_parameter(kind, name, data):
    constraint = constraints_of(kind)[name]
    refused = [value for value in VALUES.values() if not constraint.allows(value)]
    assert refused
    for value in refused:
        with pytest.raises(InvalidInputError, match=f"^{name} must be ") as caught:
            start(kind, data, {name: value})
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "name"),
    [case for case in CASES if issubclass(case[0], BaseEstimator)],
    ids=lambda case: getattr(case, "__name__", case),
)
def test_an_allowed_value_works(kind, name, data):
    constraint = constraints_of(kind)[name]
    for case, value in VALUES.items():
        if constraint.allows(value) and case not in NOT_FITTED:
            start(kind, data, {name: value})


@pytest.mark.parametrize(
    "kind", [kind for kind, name in CASES if name == "random_state"], ids=lambda kind: kind.__name__
)
def test_the_largest_seed_works(kind, data):
    extra = {"ClassKFold": {"shuffle": True}, "SeenUnseenSplit": {"n_unseen": 2}}
    made = start(kind, data, {"random_state": 2**32 - 1} | extra.get(kind.__name__, {}))
    if issubclass(kind, BaseCrossValidator):
        assert len(list(made.split(data.X, data.y))) == made.get_n_splits()


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (SAEClassifier(lam=-1.0), "lam"),
        (ESZSLClassifier(gamma=1.0, lam=1.0, coding="ternary"), "coding"),
        (PrototypeRegression(power=0.5, shrinkage=2.0, bandwidth=1.0, ridge=1.0), "shrinkage"),
        (RVML(-1.0), "lam"),
        (SAEMapping(class_weight="auto"), "class_weight"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_learning_from_moments_and_batches_checks_too(estimator, name, data):
    says = f"^{name} must be "
    with pytest.raises(InvalidInputError, match=says):
        estimator.learn(Moments.of(data.X, data.y))
    with pytest.raises(InvalidInputError, match=says):
        estimator.moment_plan()
    with pytest.raises(InvalidInputError, match=says):
        fit_batches(estimator, data.X, data.y)
    if hasattr(estimator, "partial_fit"):
        with pytest.raises(InvalidInputError, match=says):
            estimator.partial_fit(data.X, data.y)
