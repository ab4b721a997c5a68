"""Means of classifiers, semantic spaces alone, and the signed root."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import parametrize_with_zero_shot_checks
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load, save
from zslearn.signatures import Signatures
from zslearn.zero_shot import (
    AutoZeroShotClassifier,
    ESZSLClassifier,
    EXEMClassifier,
    RRZSLClassifier,
    SAEClassifier,
)
from zslearn.zero_shot.auto.average import AverageClassifier
from zslearn.zero_shot.auto.portfolio import default_names, named_member
from zslearn.zero_shot.auto.signed_root import SignedRoot

PARTS = [RRZSLClassifier(lam=1.0), make_pipeline(StandardScaler(), SAEClassifier(lam=1.0))]


ROOTED = [RRZSLClassifier(lam=1.0), make_pipeline(SignedRoot(), SAEClassifier(lam=1.0))]


@parametrize_with_zero_shot_checks([AverageClassifier(members=ROOTED)])
def test_zero_shot_checks(case, check):
    check(case)


@parametrize_with_checks([SignedRoot()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(10, 3, n_per_class=12, n_features=12, n_dimensions=6, random_state=0)


def seen_rows(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


def test_scores_are_the_mean_of_the_members_own_over_their_scales(data):
    X, y = seen_rows(data)
    clf = AverageClassifier(data.signatures, members=PARTS).fit(X, y)
    total = 0
    for part in PARTS:
        own = part.set_params(**{_signatures(part): data.signatures}).fit(X, y)
        among_seen = (
            own.decision_function(X)
            if part is PARTS[0]
            else own[-1].decision_function(own[:-1].transform(X))
        )
        columns = np.isin(clf.classes_, clf.seen_classes_)
        scale = among_seen[:, columns].std(axis=1).mean()
        total = total + own.decision_function(data.X) / scale / len(PARTS)
    np.testing.assert_allclose(clf.decision_function(data.X), total, rtol=1e-6, atol=1e-8)


def _signatures(part):
    return min((name for name in part.get_params() if name.endswith("signatures")), key=len)


def test_what_a_member_cannot_explain_belongs_to_no_dimension(data):
    X, y = seen_rows(data)
    clf = AverageClassifier(data.signatures, members=[RRZSLClassifier(), EXEMClassifier()])
    clf.fit(X, y)
    why = clf.explain(data.X[0], "unseen0")
    own = clf.pipelines_[0].explain(data.X[0], "unseen0")
    assert why.score == pytest.approx(clf.decision_function(data.X[:1], ["unseen0"])[0, 0])
    np.testing.assert_allclose(why.contributions, own.contributions / clf.scales_[0] / 2)
    alone = AverageClassifier(data.signatures, members=[EXEMClassifier()]).fit(X, y)
    with pytest.raises(InvalidInputError, match="cannot explain"):
        alone.explain(data.X[0], "unseen0")


def test_a_member_on_one_space_sees_nothing_of_the_other(data):
    X, y = seen_rows(data)
    noise = np.random.default_rng(0).standard_normal((len(data.classes), 4))
    joined = data.signatures.join(Signatures(data.classes, noise), names=("good", "noise"))
    clf = AverageClassifier(joined, members=[RRZSLClassifier(lam=1.0)], spaces=["good"]).fit(X, y)
    own = RRZSLClassifier(data.signatures, lam=1.0).fit(X, y)
    np.testing.assert_allclose(
        clf.decision_function(data.X) * clf.scales_, own.decision_function(data.X)
    )
    assert clf.explain(data.X[0], "unseen0").contributions[-4:].tolist() == [0] * 4
    with pytest.raises(InvalidInputError, match="spaces must name a block"):
        AverageClassifier(joined, members=PARTS, spaces=["good", "bad"]).fit(X, y)


def test_the_informative_space_is_taken_alone_and_kept_in_a_file(data, tmp_path):
    X, y = seen_rows(data)
    noise = 5 * np.random.default_rng(0).standard_normal((len(data.classes), 30))
    joined = data.signatures.join(Signatures(data.classes, noise), names=("good", "noise"))
    clf = AutoZeroShotClassifier(joined, portfolio=["rrzsl", "noise: rrzsl", "good: rrzsl"])
    clf.fit(X, y)
    assert clf.member_ == "good: rrzsl"
    save(clf, tmp_path / "m.zsl")
    np.testing.assert_array_equal(
        load(tmp_path / "m.zsl").decision_function(data.X), clf.decision_function(data.X)
    )
    names = default_names(12, spaces=["good", "noise"])
    assert {"good: sae", "noise: prototype-regression"} <= set(names)
    assert not any(": " in name for name in default_names(12, spaces=["semantics"]))


def test_a_mean_can_be_named_saved_frozen_and_given_classes(data, tmp_path):
    X, y = seen_rows(data)
    name = "mean of rrzsl, root > eszsl"
    clf = AutoZeroShotClassifier(data.signatures, portfolio=[name]).fit(X, y)
    assert clf.member_ == name
    assert [type(one.steps[-1][1]) for one in clf.estimator_.pipelines_] == [
        RRZSLClassifier,
        ESZSLClassifier,
    ]
    save(clf, tmp_path / "m.zsl")
    scores = clf.decision_function(data.X)
    np.testing.assert_array_equal(load(tmp_path / "m.zsl").decision_function(data.X), scores)
    np.testing.assert_allclose(clf.frozen().fit(X, y).decision_function(data.X), scores)
    clf.add_classes({"new": data.signatures["unseen0"]})
    both = clf.decision_function(data.X, ["new", "unseen0"])
    np.testing.assert_array_equal(both[:, 0], both[:, 1])


def test_the_root_of_a_sparse_matrix_is_that_of_the_dense_one():
    X = np.array([[4.0, -9.0, 0.0], [0.25, 0.0, -1.0]])
    found = SignedRoot().fit(X).transform(sparse.csr_matrix(X)).toarray()
    np.testing.assert_array_equal(found, [[2.0, -3.0, 0.0], [0.5, 0.0, -1.0]])
    assert X[0, 0] == 4.0
    assert isinstance(named_member("root > sae").steps[0], SignedRoot)
