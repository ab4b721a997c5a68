"""Samples made ready once give the scores that they give otherwise."""

import numpy as np
import pytest
from scipy import sparse

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot import CalibratedStacking, SAEClassifier, base, candidates
from zslearn.zero_shot.registry import make_classifier

NEAR = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(12, 6, n_per_class=10, n_features=20, n_dimensions=7, random_state=3)


def recognizer_of(data, method):
    rows = data.rows(data.split("standard").seen)
    return make_classifier(method, data.signatures).fit(data.X[rows], data.y[rows]).recognizer()


@pytest.mark.parametrize(
    "method",
    ["sae", "sae-encode", "sae-both", "prototype-regression", "eszsl", "ridge-fs", "exem", "amp"],
)
def test_ready_samples_score_like_features(data, method):
    recognizer = recognizer_of(data, method)
    ready = recognizer.ready(data.X)
    np.testing.assert_array_equal(recognizer.scores(ready), recognizer.scores(data.X))
    changed = recognizer.replace("new", data.signatures.vectors[:2].mean(axis=0))
    whole = changed.scores(data.X)
    np.testing.assert_allclose(changed.column(ready, "new"), whole[:, -1], **NEAR)
    np.testing.assert_allclose(changed.column(data.X, "new"), whole[:, -1], **NEAR)
    place = list(changed.names).index(data.signatures.names[3])
    np.testing.assert_allclose(
        changed.column(ready, data.signatures.names[3]), whole[:, place], **NEAR
    )
    for one, other in zip(changed.rank(ready, 3), changed.rank(data.X, 3), strict=True):
        np.testing.assert_array_equal(one, other)


def test_ready_samples_of_a_calibrated_classifier_keep_the_bias(data):
    rows = data.rows(data.split("standard").seen)
    clf = CalibratedStacking(make_classifier("sae", data.signatures, lam=1.0), gamma=0.5)
    recognizer = clf.fit(data.X[rows], data.y[rows]).recognizer()
    ready = recognizer.ready(data.X)
    scores = recognizer.scores(data.X)
    for place in (0, -1):
        name = recognizer.names[place]
        np.testing.assert_allclose(recognizer.column(ready, name), scores[:, place], **NEAR)


def as_array(X):
    return X


def as_frame(X):
    return pytest.importorskip("pandas").DataFrame(X, copy=False)


@pytest.mark.parametrize("method", ["sae", "sae-encode", "prototype-regression", "ridge-fs"])
@pytest.mark.parametrize("norm", [None, "l2"])
@pytest.mark.parametrize("form", [as_array, as_frame, sparse.csr_matrix], ids=lambda f: f.__name__)
def test_ready_samples_stay_when_the_features_change(data, method, norm, form):
    clf = make_classifier(method, data.signatures, feature_norm=norm)
    recognizer = clf.fit(data.X, data.y).recognizer()
    X = data.X.copy()
    given = form(X)
    ready, expected = recognizer.ready(given), recognizer.scores(given)
    X[:] = np.nan
    if sparse.issparse(given):
        given.data[:] = np.nan
    np.testing.assert_array_equal(recognizer.scores(ready), expected)


def test_ready_samples_that_were_rescaled_are_not_copied_again(data, monkeypatch):
    recognizer = recognizer_of(data, "prototype-regression")
    kept = []
    represent = type(recognizer._scorer).represent
    monkeypatch.setattr(
        type(recognizer._scorer),
        "represent",
        lambda self, rows: kept.append(represent(self, rows)) or kept[-1],
    )
    assert recognizer.ready(data.X).queries is kept[0]


def test_many_samples_are_made_ready_whole(data, monkeypatch):
    recognizer = recognizer_of(data, "sae-both")
    expected = recognizer.scores(data.X)
    monkeypatch.setattr(base, "SCORE_BYTES", 1000)
    ready = recognizer.ready(data.X)
    monkeypatch.setattr(candidates, "SCORE_BYTES", 1000)
    np.testing.assert_allclose(recognizer.scores(ready), expected, **NEAR)
    assert len(ready[3:8]) == 5


def test_a_subclass_that_scores_anew_is_not_passed_by(data):
    class Louder(SAEClassifier):
        def compare(self, queries, classes):
            return 1000.0 * super().compare(queries, classes)

    plain, louder = (kind(data.signatures, lam=1.0) for kind in (SAEClassifier, Louder))
    expected = 1000.0 * plain.fit(data.X, data.y).recognizer().scores(data.X)
    recognizer = louder.fit(data.X, data.y).recognizer()
    np.testing.assert_allclose(recognizer.scores(recognizer.ready(data.X)), expected, **NEAR)


def test_samples_ready_for_another_model_are_refused(data):
    one, other = recognizer_of(data, "sae"), recognizer_of(data, "sae-encode")
    with pytest.raises(InvalidInputError, match="ready by another recognizer; call ready of this"):
        other.scores(one.ready(data.X))
