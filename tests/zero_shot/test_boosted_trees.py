"""Boosting against scikit-learn's own, its file, and files that no fit writes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from zslearn.datasets import make_family
from zslearn.exceptions import InvalidInputError, ModelFileError
from zslearn.persistence import container, load, save
from zslearn.zero_shot import BoostedTreesClassifier, DAPClassifier, IAPClassifier


@parametrize_with_checks([BoostedTreesClassifier(5, min_samples_leaf=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def table(n_classes, n=500, seed=0):
    """Whole numbers, of which no feature has more than 20, and classes that depend on a product."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 20, (n, 6)).astype(float)
    score = (X[:, 0] - 10) * (X[:, 1] - 10) / 20 + X[:, 2] / 5 + rng.standard_normal(n)
    return X, np.digitize(score, [2.0] if n_classes == 2 else np.linspace(-1, 4, n_classes - 1))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("depth", [1, 3, 5])
def test_it_is_the_gradient_boosting_of_scikit_learn_on_few_values(n_classes, depth):
    X, y = table(n_classes)
    own = BoostedTreesClassifier(30, max_depth=depth, learning_rate=0.2).fit(X, y)
    theirs = GradientBoostingClassifier(
        n_estimators=30, max_depth=depth, learning_rate=0.2, min_samples_leaf=20, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


def test_a_monotone_change_of_features_changes_no_answer():
    X, y = table(3)
    answers = [BoostedTreesClassifier(10).fit(T, y).predict_proba(T) for T in (X, np.exp(X / 4))]
    np.testing.assert_allclose(*answers, atol=1e-12)


def test_a_tree_looks_at_some_of_many_features():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40))
    y = X[:, :10].sum(axis=1) > 0
    clf = BoostedTreesClassifier(20, max_features=4).fit(X, y)
    assert max(len(np.unique(one)) for one in clf.features_[0]) <= 4 + 1  # 0 where nothing is split
    assert len(np.unique(clf.features_)) > 10
    again = BoostedTreesClassifier(20, max_features=4).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), again.predict_proba(X))


def test_a_tree_is_grown_on_some_of_many_samples():
    X, y = table(2, 3000)
    X_new, y_new = table(2, 3000, seed=1)
    every, some = (BoostedTreesClassifier(max_samples=n).fit(X, y) for n in (3000, 300))
    assert not np.array_equal(every.thresholds_, some.thresholds_)
    assert some.score(X_new, y_new) > every.score(X_new, y_new) - 0.02
    again = BoostedTreesClassifier(max_samples=300).fit(X, y)
    np.testing.assert_array_equal(some.predict_proba(X_new), again.predict_proba(X_new))


@pytest.mark.parametrize("labels", [[1, 1, 1], ["a", "a", "a"]])
def test_one_class_is_refused(labels):
    with pytest.raises(InvalidInputError, match="two classes or more; got one class"):
        BoostedTreesClassifier().fit(np.eye(3), labels)


@pytest.fixture(scope="module")
def data():
    return make_family("product", random_state=0)


@pytest.fixture(scope="module")
def parts(data):
    split = data.split("standard")
    seen, unseen = data.train_rows(split), data.test_rows(split)
    return data.X[seen], data.y[seen], data.X[unseen], data.y[unseen]


def test_dap_with_boosting_sees_products(data, parts):
    X, y, new, truth = parts
    clf = DAPClassifier(data.signatures, feature_norm=None, classifier=BoostedTreesClassifier())
    assert clf.fit(X, y).score(new, truth, candidates="unseen") > 0.9
    linear = DAPClassifier(data.signatures, feature_norm=None)
    assert linear.fit(X, y).score(new, truth, candidates="unseen") < 0.4


@pytest.mark.parametrize("method", [DAPClassifier, IAPClassifier])
def test_a_loaded_model_answers_exactly_as_the_saved_one(method, data, parts, tmp_path):
    X, y, new, _ = parts
    boosting = BoostedTreesClassifier(5)
    clf = method(data.signatures, feature_norm=None, classifier=boosting).fit(X, y)
    save(clf, tmp_path / "m.zsl")
    again = load(tmp_path / "m.zsl")
    np.testing.assert_array_equal(again.decision_function(new), clf.decision_function(new))


def test_a_model_that_never_looks_at_the_first_features_is_loaded(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    X[:, :4] = 0.0
    y = np.repeat([0, 1, 2, 3], 50)
    X[:, 4] += 4 * (y % 2)
    X[:, 5] += 4 * (y // 2)
    table = {0: [0.0, 0.0], 1: [1.0, 0.0], 2: [0.0, 1.0], 3: [1.0, 1.0]}
    boosting = BoostedTreesClassifier(3, max_depth=1)
    clf = DAPClassifier(table, signature_norm=None, classifier=boosting).fit(X, y)
    assert min(one.features_.min() for one in clf.classifiers_) >= 4
    save(clf, tmp_path / "m.zsl")
    again = load(tmp_path / "m.zsl")
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))


def with_first(a, value):
    changed = a.copy()
    changed.flat[0] = value
    return changed


@pytest.mark.parametrize(
    ("tensor", "change", "match"),
    [
        ("features_", lambda a: a + 12, "features_ must name features from 0 to 11"),
        ("features_", lambda a: with_first(a, 12), "features_ must name features from 0 to 11"),
        ("features_", lambda a: a - 1, "features_ must name features from 0 to 11"),
        ("features_", lambda a: a.astype(float), "features_ must name features from 0 to 11"),
        ("features_", lambda a: a[:, :, :3], "thresholds_ has shape .* does not fit the rest"),
        ("thresholds_", lambda a: a[:, 1:], "thresholds_ has shape .* does not fit the rest"),
        ("thresholds_", lambda a: a * np.nan, "thresholds_ holds numbers that are not finite"),
        ("thresholds_", lambda a: a + np.inf, "thresholds_ holds numbers that are not finite"),
        ("values_", lambda a: a[:, :, :4], "the trees must have depth 3"),
        ("values_", lambda a: a * np.nan, "values_ holds numbers that are not finite"),
        ("values_", lambda a: a[0], "values_ must have 3 axes"),
        ("base_", lambda a: np.repeat(a, 2), "base_ has shape .* does not fit the rest"),
        ("classes_", lambda a: np.arange(3), "1 scores do not fit 3 classes"),
        ("classes_", lambda a: a[::-1].copy(), "classes_ must be in order"),
    ],
)
def test_trees_that_no_fit_grows_are_refused(data, parts, tmp_path, tensor, change, match):
    X, y, *_ = parts
    clf = DAPClassifier(data.signatures, classifier=BoostedTreesClassifier(5)).fit(X, y)
    save(clf, tmp_path / "m.zsl")
    document, tensors = container.read(tmp_path / "m.zsl")
    name = next(name for name in tensors if name.endswith(f"classifiers_[0].{tensor}"))
    tensors[name] = np.ascontiguousarray(change(tensors[name]))
    container.write(tmp_path / "m.zsl", document, tensors)
    with pytest.raises(ModelFileError, match=match) as refused:
        load(tmp_path / "m.zsl")
    assert "\n" not in str(refused.value)
