"""MLZSC, MTMDL and the networks of Ba et al."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import check_zero_shot_classifier
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot import BaFCClassifier, MLZSCClassifier, MTMDLClassifier

NETWORKS = (
    BaFCClassifier(),
    BaFCClassifier(loss="hinge"),
    BaFCClassifier(loss="euclidean"),
    MTMDLClassifier(),
    MTMDLClassifier(loss="squared", rectify=False),
    MLZSCClassifier(),
)


@pytest.fixture(scope="module")
def parts():
    data = make_zero_shot(n_seen=60, n_dimensions=6, noise=0.2, random_state=3)
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    return data.signatures, data.X[seen], data.y[seen], data.X[unseen], data.y[unseen]


@pytest.mark.parametrize("estimator", [BaFCClassifier(), MTMDLClassifier(), MLZSCClassifier()])
def test_passes_the_checks_of_zero_shot_classifiers(estimator):
    check_zero_shot_classifier(estimator.set_params(epochs=5, learning_rate=1e-3))


@pytest.mark.parametrize("estimator", NETWORKS)
def test_recognizes_unseen_classes_of_a_linear_world(estimator, parts):
    signatures, X, y, X_new, y_new = parts
    clf = estimator.set_params(signatures=signatures, epochs=15, learning_rate=1e-3).fit(X, y)
    assert clf.score(X_new, y_new, "unseen") > 0.75
    assert clf.loss_curve_.shape == (clf.n_epochs_,)


@pytest.mark.parametrize("estimator", NETWORKS)
def test_loss_falls_and_gradient_is_right(estimator, parts):
    signatures, X, y, _, _ = parts
    clf = estimator.set_params(signatures=signatures, epochs=4, learning_rate=1e-3).fit(X, y)
    assert clf.loss_curve_[-1] < clf.loss_curve_[0]
    rng = np.random.RandomState(0)
    A, S, labels = rng.standard_normal((9, 3)), rng.standard_normal((4, 2)), rng.randint(4, size=9)
    small = {"n_components": 3} | ({"n_hidden": 4} if hasattr(clf, "n_hidden") else {})
    start = clf.set_params(**small)._start(rng, S.astype(np.float32), 3)
    start = {name: value + 0.2 * rng.standard_normal(value.shape) for name, value in start.items()}
    moving = list(clf._loss(start, A, labels, S, {"attribute_weight": 0.3})[1])
    stops = np.cumsum([start[name].size for name in moving])[:-1]

    def at(flat, part):
        pieces = zip(moving, np.split(flat, stops), strict=True)
        parameters = start | {name: piece.reshape(start[name].shape) for name, piece in pieces}
        return clf._loss(parameters, A, labels, S, {"attribute_weight": 0.3})[part]

    error = check_grad(
        lambda f: at(f, 0),
        lambda f: np.concatenate([at(f, 1)[name].ravel() for name in moving]),
        np.concatenate([start[name].ravel() for name in moving]),
    )
    assert error < 1e-5


@pytest.mark.parametrize(
    ("estimator", "match"),
    [
        (BaFCClassifier(loss="log"), "loss must be 'bce', 'hinge' or 'euclidean'"),
        (MTMDLClassifier(n_components=0), "n_components must be a whole number"),
        (MLZSCClassifier(threshold=-1.0), "threshold must be a positive"),
    ],
)
def test_unusable_parameters_are_refused(estimator, match, parts):
    signatures, X, y, _, _ = parts
    with pytest.raises(InvalidInputError, match=match):
        estimator.set_params(signatures=signatures).fit(X, y)
