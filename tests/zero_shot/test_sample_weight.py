"""Weights of samples: integers repeat rows, zeros drop them, and who cannot weight says so."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from zslearn.core import Moments
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.zero_shot import METHODS, CalibratedStacking, SAEClassifier, make_classifier

WEIGHTED = ("sae", "ridge-fs", "rrzsl", "eszsl", "prototype-regression")


def training(n_features=14, random_state=3):
    """Noisy samples of 12 seen classes, and weights from 0 to 3 that leave every class some."""
    data = make_zero_shot(
        12, 5, n_per_class=6, n_features=n_features, n_dimensions=7, noise=0.9, random_state=3
    )  # fmt: skip
    rows = data.rows(data.split("standard").seen)
    weights = np.random.default_rng(random_state).integers(0, 4, len(rows))
    return data, data.X[rows], data.y[rows], weights


# With fewer samples than features the grids of ridge-fs and eszsl are laid by the number of rows.
@pytest.mark.parametrize(
    ("name", "n_features"),
    [
        *((name, 14) for name in WEIGHTED),
        *((name, 100) for name in ("sae", "rrzsl", "prototype-regression")),
    ],
)
def test_whole_weights_are_repeated_rows_also_where_parameters_are_chosen(name, n_features):
    data, X, y, weights = training(n_features)
    weighted = make_classifier(name, data.signatures).fit(X, y, sample_weight=weights)
    repeated = make_classifier(name, data.signatures).fit(X.repeat(weights, 0), y.repeat(weights))
    np.testing.assert_allclose(
        weighted.decision_function(data.X), repeated.decision_function(data.X), atol=1e-6
    )
    for key in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(
            weighted.cv_results_[key], repeated.cv_results_[key], atol=1e-12, err_msg=key
        )
    plain = make_classifier(name, data.signatures).fit(X, y)
    assert np.abs(plain.decision_function(data.X) - weighted.decision_function(data.X)).max() > 1e-3


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_class_without_weight_is_not_seen(kind):
    data, X, y, _ = training()
    weights = np.where(y == y[0], 0.0, 0.5)
    clf = SAEClassifier(data.signatures, lam=1.0).fit(kind(X), y, sample_weight=weights)
    other = SAEClassifier(data.signatures, lam=1.0).fit(kind(X[y != y[0]]), y[y != y[0]])
    assert y[0] not in clf.seen_classes_
    # One weight for all scales A, C and G alike, which leaves the solution as it is.
    np.testing.assert_allclose(clf.coef_, other.coef_, atol=1e-10)


def test_rows_of_a_memory_map_are_weighted_as_those_in_memory(tmp_path):
    data, X, y, weights = training()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    on_disk, here = (
        SAEClassifier(data.signatures).fit(rows, y, sample_weight=weights) for rows in (mapped, X)
    )
    assert on_disk.lam_ == here.lam_
    np.testing.assert_allclose(on_disk.coef_, here.coef_, atol=1e-10)


def test_weights_of_moments_and_of_batches_are_those_of_fit():
    data, X, y, weights = training()
    clf = SAEClassifier(data.signatures, lam=0.3)
    wanted = clf.fit(X, y, sample_weight=weights).coef_.copy()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(
        clf.learn(Moments.of(unit, y, sample_weight=weights)).coef_, wanted, atol=1e-10
    )
    batches = SAEClassifier(data.signatures, lam=0.3)
    for rows in np.array_split(np.random.default_rng(0).permutation(len(y)), 3):
        batches.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    np.testing.assert_allclose(batches.coef_, wanted, atol=1e-10)


def test_a_pipeline_passes_weights_on():
    data, X, y, weights = training()
    pipeline = make_pipeline(StandardScaler(), SAEClassifier(data.signatures, lam=1.0))
    pipeline.fit(X, y, saeclassifier__sample_weight=weights)
    alone = SAEClassifier(data.signatures, lam=1.0)
    alone.fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    np.testing.assert_allclose(pipeline[-1].coef_, alone.coef_)


def test_whole_weights_of_a_score_are_repeated_rows():
    data, X, y, weights = training()
    clf = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    wanted = clf.score(X.repeat(weights, 0), y.repeat(weights), "seen")
    assert clf.score(X, y, "seen", sample_weight=weights) == pytest.approx(wanted)
    assert clf.score(X, y, "seen") != pytest.approx(wanted)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (lambda n: np.ones(n - 1), r"must hold 72 finite, .*, one per sample; got shape \(71,\)"),
        (lambda n: np.ones((n, 1)), r"got shape \(72, 1\)"),
        (lambda n: -np.ones(n), r"non-negative .* from -1.0 to -1.0"),
        (lambda n: np.full(n, np.nan), "finite"),
        (lambda n: np.zeros(n), "holds zeros only"),
        (lambda n: ["heavy"] * n, "must hold numbers"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(weights, message):
    data, X, y, _ = training()
    clf = SAEClassifier(data.signatures, lam=1.0)
    with pytest.raises(InvalidInputError, match=message):
        clf.fit(X, y, sample_weight=weights(len(y)))
    with pytest.raises(InvalidInputError, match=message):
        clf.fit(X, y).score(X, y, "seen", sample_weight=weights(len(y)))


def test_weights_that_leave_one_class_are_refused():
    data, X, y, _ = training()
    with pytest.raises(InvalidInputError, match="at least two classes; got one class"):
        SAEClassifier(data.signatures, lam=1.0).fit(X, y, sample_weight=y == y[0])


@pytest.mark.parametrize("name", [name for name in METHODS if name not in WEIGHTED])
def test_methods_that_cannot_weight_say_who_can(name):
    if METHODS[name].class_name in {METHODS[other].class_name for other in WEIGHTED}:
        return  # the same class with other parameters
    data, X, y, weights = training()
    clf = make_classifier(name, data.signatures)
    assert not has_fit_parameter(clf, "sample_weight")
    with pytest.raises(InvalidTypeError, match=r"takes no sample_weight\. .*PrototypeRegression"):
        clf.fit(X, y, sample_weight=weights)


def test_calibration_refuses_weights_and_takes_none():
    data, X, y, weights = training()
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), gamma=0.1)
    with pytest.raises(InvalidTypeError, match="CalibratedStacking takes no sample_weight"):
        clf.fit(X, y, sample_weight=weights)
    assert clf.fit(X, y, sample_weight=None).gamma_ == 0.1
