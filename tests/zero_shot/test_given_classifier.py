"""Posterior methods with a classifier of scikit-learn inside."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from zslearn.core.nearest import unit_rows
from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import check_zero_shot_classifier
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.persistence import load, save
from zslearn.signatures import Signatures
from zslearn.zero_shot import (
    AMPClassifier,
    ConSEClassifier,
    DAPClassifier,
    DirectSimilarityClassifier,
    IAPClassifier,
    SAEClassifier,
)

METHODS = [
    AMPClassifier,
    ConSEClassifier,
    DAPClassifier,
    DirectSimilarityClassifier,
    IAPClassifier,
]


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(n_per_class=10, random_state=1)


@pytest.fixture(scope="module")
def parts(data):
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    return data.X[seen], data.y[seen], data.X[unseen][:8], list(split.unseen)


@pytest.mark.parametrize("method", METHODS)
def test_methods_with_a_classifier_pass_every_check(method):
    check_zero_shot_classifier(method(classifier=LogisticRegression(C=1000.0, max_iter=1000)))


def test_conse_combines_what_the_classifier_says(data, parts):
    X, y, new, names = parts
    clf = ConSEClassifier(
        data.signatures, top=3, temperature=2.0, center=False, classifier=GaussianNB()
    ).fit(X, y)
    P = GaussianNB().fit(unit_rows(X), y).predict_proba(unit_rows(new))
    P = softmax(np.log(np.maximum(P, 1e-12)) / 2.0, axis=1)
    S, U = clf.seen_signatures_, unit_rows(data.signatures.rows(names))
    for x, row in enumerate(clf.decision_function(new, names)):
        best = sorted(range(len(S)), key=lambda c, x=x: -P[x, c])[:3]
        f = sum(P[x, c] * S[c] for c in best) / sum(P[x, c] for c in best)
        np.testing.assert_allclose(row, U @ f / np.linalg.norm(f))


def test_dap_asks_one_classifier_per_attribute(data, parts):
    X, y, new, names = parts
    # The last attribute is the same for all classes, so nothing can be learned about it.
    table = Signatures(
        data.signatures.names, np.c_[data.signatures.vectors, np.zeros(len(data.classes))]
    )
    clf = DAPClassifier(table, threshold="attribute", prior=None, classifier=GaussianNB())
    clf.fit(X, y)
    assert clf.classifiers_[-1] is None
    S = table.rows(np.unique(y))
    B = (table.vectors > S.mean(axis=0)).astype(float)
    wanted = np.zeros((len(new), len(names)))
    for m in range(S.shape[1] - 1):
        has = B[table.index_of(y), m]
        p = GaussianNB().fit(unit_rows(X), has).predict_proba(unit_rows(new))[:, 1]
        p = np.clip(p, 1e-6, 1 - 1e-6)
        for j, b in enumerate(B[table.index_of(names), m]):
            wanted[:, j] += np.log(p / 0.5) if b else np.log((1 - p) / 0.5)
    np.testing.assert_allclose(clf.decision_function(new, names), wanted)
    why = clf.explain(new[0], names[0])
    assert why.score == pytest.approx(wanted[0, 0])


@pytest.mark.parametrize("method", METHODS)
def test_the_classifier_is_cloned_and_nested_parameters_can_be_set(data, parts, method):
    X, y, _, names = parts
    given = LogisticRegression(C=10.0)
    clf = method(data.signatures, classifier=given).fit(X, y)
    assert not hasattr(given, "coef_")
    assert clf.frozen().classifier.C == 10.0
    other = clone(clf).set_params(classifier__C=1e-4).fit(X, y)
    first, second = (one.decision_function(X, names) for one in (clf, other))
    assert not np.allclose(first, second)
    np.testing.assert_allclose(clf.decision_function(sparse.csr_array(X), names), first)
    # Without it again, the fit is the one that never had it.
    plain = clf.set_params(classifier=None).fit(X, y)
    never = method(data.signatures).fit(X, y)
    np.testing.assert_array_equal(
        plain.decision_function(X, names), never.decision_function(X, names)
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classifier", [GaussianNB(), LogisticRegression()])
def test_known_classifiers_are_saved_and_others_refused(data, parts, method, classifier, tmp_path):
    X, y, new, names = parts
    clf = method(data.signatures, classifier=classifier).fit(X, y)
    save(clf, tmp_path / "model.zsl")
    np.testing.assert_array_equal(
        load(tmp_path / "model.zsl").decision_function(new, names),
        clf.decision_function(new, names),
    )
    forest = RandomForestClassifier(3, random_state=0)
    clf = method(data.signatures, classifier=forest).fit(X, y)
    with pytest.raises(InvalidTypeError, match="RandomForestClassifier, which cannot be saved"):
        save(clf, tmp_path / "forest.zsl")
    assert not (tmp_path / "forest.zsl").exists()


@pytest.mark.parametrize("wrong", [GaussianNB, SVC(), "GaussianNB", 3])
def test_what_is_no_classifier_with_probabilities_is_refused(data, parts, wrong):
    X, y, *_ = parts
    with pytest.raises(InvalidInputError, match=r"classifier must be None or a scikit-learn class"):
        DAPClassifier(data.signatures, classifier=wrong).fit(X, y)


def test_attributes_that_only_a_nonlinear_classifier_sees():
    # A channel swings wide if the attribute is there and little if not; its mean is always zero.
    rng = np.random.default_rng(0)
    B = np.unique(rng.integers(0, 2, (60, 8)), axis=0)[:26]
    B = rng.permutation(B)
    names = np.array([f"c{i:02d}" for i in range(len(B))])
    index = np.repeat(np.arange(len(B)), 40)
    X = rng.standard_normal((len(index), 24)) * np.repeat(1.0 + 3.0 * B, 3, axis=1)[index]
    y, unseen = names[index], names[20:]
    train = index < 20
    table = Signatures(names, B)

    def accuracy(clf):
        return clf.fit(X[train], y[train]).score(X[~train], y[~train], unseen)

    chance = 1 / len(unseen)
    for linear in (SAEClassifier(table, lam=1.0), DAPClassifier(table, feature_norm=None)):
        assert accuracy(linear) < 2 * chance
    assert accuracy(DAPClassifier(table, feature_norm=None, classifier=GaussianNB())) > 5 * chance
