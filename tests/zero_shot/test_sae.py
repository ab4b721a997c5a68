from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from zslearn.core import Moments
from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import expected_failed_checks
from zslearn.exceptions import InvalidInputError, UnknownClassError
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import SAEClassifier

DIRECTIONS = ["encode", "decode", "both"]
METRICS = ["cosine", "dot", "euclidean"]


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        12, 5, n_per_class=9, n_features=14, n_dimensions=7, noise=0.9, domain_shift=0.5,
        random_state=3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def train(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


@pytest.fixture(scope="module")
def test_rows(data):
    rows = data.rows(data.split("standard").unseen)
    return data.X[rows], data.y[rows]


def unit(M):
    return M / np.linalg.norm(M, axis=1, keepdims=True)


@parametrize_with_checks(
    [SAEClassifier(), SAEClassifier(lam=1.0)], expected_failed_checks=expected_failed_checks
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("direction", ["encode", "decode"])
def test_it_is_the_paper_step_by_step(data, train, test_rows, direction, metric):
    (X, y), (Z, _), lam = train, test_rows, 0.3
    S = unit(data.signatures.rows(y))
    W = linalg.solve_sylvester(S.T @ S, lam * unit(X).T @ unit(X), (1 + lam) * S.T @ unit(X))
    targets = unit(data.signatures.rows(np.sort(data.signatures.names)))
    queries, classes = (unit(Z) @ W.T, targets) if direction == "encode" else (unit(Z), targets @ W)
    if metric == "cosine":
        wanted = unit(queries) @ unit(classes).T
    elif metric == "dot":
        wanted = queries @ classes.T
    else:
        wanted = -np.sum((queries[:, None] - classes) ** 2, axis=2)
    clf = SAEClassifier(data.signatures, lam=lam, direction=direction, metric=metric).fit(X, y)
    np.testing.assert_allclose(clf.decision_function(Z), wanted, atol=1e-9)
    np.testing.assert_array_equal(
        clf.predict(Z), np.sort(data.signatures.names)[wanted.argmax(axis=1)]
    )
    np.testing.assert_allclose(clf.coef_, W, atol=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_both_is_the_mean_of_the_two(data, train, test_rows, metric):
    one, other, both = (
        SAEClassifier(data.signatures, lam=0.3, direction=way, metric=metric)
        .fit(*train)
        .decision_function(test_rows[0])
        for way in DIRECTIONS
    )
    np.testing.assert_allclose(both, (one + other) / 2)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("direction", ["encode", "decode"])
def test_the_search_for_lam_is_an_explicit_loop(data, train, direction, metric):
    X, y = train
    lams = [1e-3, 0.03, 0.3, 3.0, 100.0]
    clf = SAEClassifier(data.signatures, lams=lams, direction=direction, metric=metric, cv=3)
    clf.fit(X, y)
    splitter = ClassKFold(3, shuffle=True, random_state=0)
    wanted = np.empty((len(lams), 3))
    for fold, (seen, held_out) in enumerate(splitter.split(X, y)):
        for row, lam in enumerate(lams):
            one = SAEClassifier(data.signatures, lam=lam, direction=direction, metric=metric)
            wanted[row, fold] = one.fit(X[seen], y[seen]).score(
                X[held_out], y[held_out], np.unique(y[held_out])
            )
    for fold in range(3):
        np.testing.assert_allclose(clf.cv_results_[f"split{fold}_test_score"], wanted[:, fold])
    assert [point["lam"] for point in clf.cv_results_["params"]] == lams
    assert clf.best_params_ == {"lam": clf.lam_[direction]}
    assert clf.lam_[direction] == lams[int(wanted.mean(axis=1).argmax())]
    assert np.ptp(wanted.mean(axis=1)) > 0.02  # λ matters here, so a wrong choice would show
    for found, given in zip(clf.folds_, splitter.class_folds(y), strict=True):
        assert found.tolist() == given.tolist()
    final = SAEClassifier(
        data.signatures, lam=clf.lam_[direction], direction=direction, metric=metric
    ).fit(X, y)
    np.testing.assert_allclose(clf.coef_, final.coef_, atol=1e-9)


def test_what_the_search_found_is_shown(data, train):
    clf = SAEClassifier(data.signatures).fit(*train)
    found = clf.cv_results_
    assert found["mean_test_score"].shape == found["split4_test_score"].shape == (30,)
    X, S = unit(train[0]), unit(data.signatures.rows(train[1]))
    lams = np.array([point["lam"] for point in found["params"]])
    np.testing.assert_allclose(lams * np.sum(X**2) / np.sum(S**2), np.logspace(-4, 4, 30))
    assert sorted(np.concatenate(clf.folds_).tolist()) == sorted(set(train[1].tolist()))
    assert all(len(fold) >= 2 for fold in clf.folds_)
    fixed = SAEClassifier(data.signatures, lam=1.0).fit(*train)
    assert fixed.cv_results_ is None
    assert fixed.best_params_ == {}
    assert fixed.folds_ == []
    assert fixed.lam_ == {"encode": 1.0, "decode": 1.0}


def test_both_directions_are_searched_shown_and_frozen_each_with_its_lam(data, train):
    clf = SAEClassifier(data.signatures, direction="both").fit(*train)
    for way in ("encode", "decode"):
        one = SAEClassifier(data.signatures, direction=way).fit(*train)
        shown = [i for i, p in enumerate(clf.cv_results_["params"]) if p["direction"] == way]
        np.testing.assert_array_equal(
            clf.cv_results_["mean_test_score"][shown], one.cv_results_["mean_test_score"]
        )
        assert clf.lam_[way] == one.lam_[way]
    assert clf.best_params_ == {"lam": clf.lam_}
    again = clf.frozen().fit(*train)
    assert again.cv_results_ is None
    np.testing.assert_allclose(again.coef_encode_, clf.coef_encode_, atol=1e-12)
    np.testing.assert_allclose(again.coef_decode_, clf.coef_decode_, atol=1e-12)
    with pytest.raises(InvalidInputError, match="dict of positive numbers for 'encode'"):
        SAEClassifier(data.signatures, lam={"encode": 1.0}).fit(*train)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_few_classes_the_lam_of_the_demos_is_taken(data, train, n_classes):
    X, y = train
    rows = np.isin(y, np.unique(y)[:n_classes])
    clf = SAEClassifier(data.signatures).fit(X[rows], y[rows])
    S = unit(data.signatures.rows(y[rows]))
    wanted = 0.2 * np.sum(S**2) / np.sum(unit(X[rows]) ** 2)
    assert clf.lam_["decode"] == pytest.approx(wanted)
    assert clf.cv_results_ is None


def test_fewer_folds_where_there_are_fewer_classes(data, train):
    X, y = train
    rows = np.isin(y, np.unique(y)[:7])
    clf = SAEClassifier(data.signatures).fit(X[rows], y[rows])
    assert [len(fold) for fold in clf.folds_] == [3, 2, 2]


@pytest.mark.parametrize("lam", [0.3, "cv"])
def test_more_features_than_samples_is_the_big_solve(lam):
    data = make_zero_shot(
        8, 3, n_per_class=3, n_features=60, n_dimensions=5, noise=0.5, random_state=0
    )
    seen = data.rows(data.split("standard").seen)
    X, y = data.X[seen], data.y[seen]
    wide = SAEClassifier(data.signatures, lam=lam).fit(X, y)
    tall = SAEClassifier(data.signatures, lam=lam, solver="spectral").fit(sparse.csr_array(X), y)
    assert wide.lam_ == pytest.approx(tall.lam_)
    np.testing.assert_allclose(wide.coef_, tall.coef_, atol=1e-8)
    np.testing.assert_allclose(wide.decision_function(data.X), tall.decision_function(data.X))


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_any_batching_gives_the_model_of_one_fit(data, train, test_rows, order):
    X, y = train
    whole = SAEClassifier(data.signatures, lam=0.5).fit(X, y)
    parts = np.array_split(np.arange(len(y)), 4)  # classes come one after another
    clf = SAEClassifier(data.signatures, lam=0.5)
    for part in order:
        clf.partial_fit(X[parts[part]], y[parts[part]])
    np.testing.assert_allclose(clf.coef_, whole.coef_, atol=1e-10)
    assert clf.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_array_equal(clf.predict(test_rows[0]), whole.predict(test_rows[0]))


def test_moments_are_all_it_needs(data, train):
    X, y = train
    whole = SAEClassifier(data.signatures, lam=0.5).fit(X, y)
    a, b = Moments.of(unit(X[:40]), y[:40]), Moments.of(unit(X[40:]), y[40:])
    clf = SAEClassifier(data.signatures, lam=0.5).learn(b + a)
    np.testing.assert_allclose(clf.coef_, whole.coef_, atol=1e-10)
    chosen = SAEClassifier(data.signatures).learn(a + b)
    assert chosen.lam_["encode"] == pytest.approx(0.2)  # unit vectors: λ is scale-free
    with pytest.raises(InvalidInputError, match=r"raw moments .* got centered ones of 12"):
        clf.learn(Moments.of(X, y, centered=True))
    with pytest.raises(InvalidInputError, match="at least two classes; got raw ones of 1"):
        clf.learn(Moments.of(X[:5], y[:5]))


def test_a_refused_batch_leaves_the_model_as_it_was(data, train, test_rows):
    X, y = train
    clf = SAEClassifier(data.signatures, lam=0.5).partial_fit(X[:60], y[:60])
    before = clf.decision_function(test_rows[0])
    with pytest.raises(UnknownClassError, match="'yeti' has no signature"):
        clf.partial_fit(X[60:], np.full(len(X) - 60, "yeti"))
    with pytest.raises(ValueError, match="features"):
        clf.partial_fit(X[60:, :-1], y[60:])
    np.testing.assert_array_equal(clf.decision_function(test_rows[0]), before)
    clf.partial_fit(X[60:], y[60:])
    whole = SAEClassifier(data.signatures, lam=0.5).fit(X, y)
    np.testing.assert_allclose(clf.coef_, whole.coef_, atol=1e-10)


def test_an_added_class_may_get_samples_later(data, train, test_rows):
    table = data.signatures.drop(["unseen0"])
    clf = SAEClassifier(table, lam=0.5).partial_fit(*train)
    clf.add_classes({"unseen0": data.signatures["unseen0"]})
    new = test_rows[1] == "unseen0"
    clf.partial_fit(test_rows[0][new], test_rows[1][new])
    X, y = np.vstack([train[0], test_rows[0][new]]), np.append(train[1], test_rows[1][new])
    whole = SAEClassifier(data.signatures, lam=0.5).fit(X, y)
    np.testing.assert_allclose(clf.coef_, whole.coef_, atol=1e-10)


def test_announced_classes_allow_a_first_batch_of_one_class(data, train, test_rows):
    X, y = train
    clf = SAEClassifier(data.signatures, lam=0.5)
    for name in np.unique(y):  # one class after another, as scikit-learn allows
        clf.partial_fit(X[y == name], y[y == name], classes=np.unique(y))
        assert set(clf.predict(test_rows[0][:3])) <= set(clf.classes_)
    whole = SAEClassifier(data.signatures, lam=0.5).fit(X, y)
    np.testing.assert_allclose(clf.coef_, whole.coef_, atol=1e-10)
    with pytest.raises(InvalidInputError, match="at least two classes"):
        SAEClassifier(data.signatures, lam=0.5).partial_fit(X[y == y[0]], y[y == y[0]])


def test_announced_classes_stay_and_hold_every_label(data, train):
    X, y = train
    names = np.unique(y)
    clf = SAEClassifier(data.signatures, lam=0.5)
    with pytest.raises(UnknownClassError, match=r"'yeti' has no signature; .* out of classes"):
        clf.partial_fit(X, y, classes=[*names, "yeti"])
    with pytest.raises(InvalidInputError, match=f"y holds {names[-1]}, which is not one of the 11"):
        clf.partial_fit(X, y, classes=names[:-1])
    clf.partial_fit(X[:60], y[:60], classes=names[::-1])
    with pytest.raises(InvalidInputError, match="classes must be the same in every call"):
        clf.partial_fit(X[60:], y[60:], classes=names[1:])
    clf.partial_fit(X[60:], y[60:])
    with pytest.raises(InvalidInputError, match="y holds unseen0, which is not one of the 12"):
        clf.partial_fit(X[:2], ["unseen0", "unseen1"])
    clf.fit(X, y).partial_fit(X[:60], np.where(y[:60] == y[0], "unseen0", y[:60]))


def test_batches_need_a_lam_and_signatures(data):
    assert not hasattr(SAEClassifier(data.signatures), "partial_fit")
    assert not hasattr(SAEClassifier(lam=1.0), "partial_fit")
    assert hasattr(SAEClassifier(data.signatures, lam=1.0), "partial_fit")


def test_fit_forgets_earlier_batches(data, train):
    X, y = train
    clf = SAEClassifier(data.signatures, lam=0.5).partial_fit(X[:60], y[:60]).fit(X[60:], y[60:])
    wanted = SAEClassifier(data.signatures, lam=0.5).fit(X[60:], y[60:])
    np.testing.assert_allclose(clf.coef_, wanted.coef_)
    clf.partial_fit(X[:60], y[:60])
    wanted = SAEClassifier(data.signatures, lam=0.5).fit(X[:60], y[:60])
    np.testing.assert_allclose(clf.coef_, wanted.coef_, atol=1e-10)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("norm", ["l2", None])
def test_explanations_sum_to_the_score(data, train, test_rows, direction, metric, norm):
    clf = SAEClassifier(
        data.signatures, lam=0.4, direction=direction, metric=metric,
        feature_norm=norm, signature_norm=norm,
    ).fit(*train)  # fmt: skip
    scores = clf.decision_function(test_rows[0])
    for i, j in ((0, 0), (7, 13), (20, 16)):
        told = clf.explain(test_rows[0][i], data.signatures.names[j])
        assert told.score == pytest.approx(scores[i, j], rel=1e-9, abs=1e-12)
        assert told.offset + told.contributions.sum() == pytest.approx(told.score)
        assert told.contributions.shape == (7,)
        assert (told.offset == 0) == (metric != "euclidean" or direction == "encode")
        top = told.top(3)
        assert len(top) == 3
        assert abs(top[0][1]) == np.abs(told.contributions).max()
        assert told.dimensions.index(top[0][0]) == int(np.abs(told.contributions).argmax())


def test_a_class_that_cannot_be_explained_is_refused(data, train):
    clf = SAEClassifier(data.signatures, lam=1.0).fit(*train)
    with pytest.raises(UnknownClassError, match="'yeti' has no signature"):
        clf.explain(train[0][0], "yeti")
    with pytest.raises(ValueError, match="13 features, but SAEClassifier is expecting 14"):
        clf.explain(train[0][0][:-1], "seen0")
    with pytest.raises(ValueError, match=r"one sample is explained at a time.*\(2, 14\)"):
        clf.explain(train[0][:2], "seen0")


def test_samples_given_twice_change_nothing(data, train):
    X, y = train
    once = SAEClassifier(data.signatures, lam=0.5).fit(X, y)
    twice = SAEClassifier(data.signatures, lam=0.5).fit(np.vstack([X, X]), np.tile(y, 2))
    np.testing.assert_allclose(twice.coef_, once.coef_, atol=1e-11)


def test_rotated_features_give_the_same_scores(data, train, test_rows):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((14, 14)))[0]
    plain = SAEClassifier(data.signatures, lam=0.5).fit(*train)
    turned = SAEClassifier(data.signatures, lam=0.5).fit(train[0] @ Q, train[1])
    np.testing.assert_allclose(turned.coef_, plain.coef_ @ Q, atol=1e-11)
    np.testing.assert_allclose(
        turned.decision_function(test_rows[0] @ Q), plain.decision_function(test_rows[0])
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_vectors_of_zeros_never_give_nan_without_normalization(data, train, direction, metric):
    X = train[0].copy()
    X[0] = 0.0
    clf = SAEClassifier(
        data.signatures, lam=0.5, direction=direction, metric=metric,
        feature_norm=None, signature_norm=None,
    ).fit(X, train[1])  # fmt: skip
    clf.add_classes({"nothing": np.zeros(7)})
    assert np.all(np.isfinite(clf.decision_function(X)))
    assert np.isfinite(clf.explain(X[0], "nothing").score)


@pytest.mark.parametrize("lam", [0, -1.0, np.nan, np.inf, "abc", "CV", True, None])
def test_a_bad_lam_is_refused(data, train, lam):
    with pytest.raises(InvalidInputError, match="lam must be"):
        SAEClassifier(data.signatures, lam=lam).fit(*train)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metric": "manhattan"}, "metric must be 'cosine', .* got 'manhattan'"),
        ({"direction": "sideways"}, "direction must be 'decode', .* got 'sideways'"),
        ({"solver": "reference"}, "solver must be 'auto', 'spectral' or 'tridiagonal'"),
        ({"cv": 1}, "cv must be a whole number of at least 2; got 1"),
        ({"cv": True}, "cv must be"),
        ({"cv": 2.5}, "cv must be"),
        ({"lams": [1.0, 0.0]}, "lams must be"),
        ({"signatures": 3}, "signatures must be None or a Signatures table"),
    ],
)
def test_bad_options_are_refused(data, train, options, says):
    with pytest.raises(InvalidInputError, match=says):
        SAEClassifier(**{"signatures": data.signatures} | options).fit(*train)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda X, y: (X[:-1], y), "inconsistent"),
        (lambda X, y: (X[:0], y[:0]), "minimum of 1"),
        (lambda X, y: (X, np.full(len(y), "seen0")), "at least two classes; got one class, seen0"),
        (lambda X, y: (X, np.linspace(0, 1, len(y))), "Unknown label type"),
        (lambda X, y: (np.where(X == X[3, 2], np.nan, X), y), "NaN"),
        (lambda X, y: (np.full(X.shape, "red", dtype=object), y), "could not convert"),
        (lambda X, y: (np.zeros_like(X), y), "row 0 of X holds only zeros"),
    ],
)
def test_bad_training_data_are_refused(data, train, change, says):
    with pytest.raises(ValueError, match=says):
        SAEClassifier(data.signatures).fit(*change(*train))


@pytest.mark.parametrize(("factor", "dtype"), [(1e200, "f8"), (1e-200, "f8"), (3e19, "f4")])
def test_the_scale_of_features_does_not_matter_at_the_edge_of_the_numbers(
    train, data, factor, dtype
):
    X, y = train[0].astype(dtype), train[1]
    clf = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    expected, extreme = clf.predict(X), X * X.dtype.type(factor)
    np.testing.assert_array_equal(clf.predict(extreme), expected)
    np.testing.assert_array_equal(clf.fit(extreme, y).predict(extreme), expected)


def test_overflow_without_normalization_is_refused_with_its_row(train, data):
    X, y = train
    clf = SAEClassifier(data.signatures, lam=1.0, feature_norm=None).fit(X, y)
    extreme = X * np.where(np.arange(len(X)) == 3, 1e200, 1.0)[:, None]
    for method in (clf.predict, lambda X: clf.fit(X, y)):
        with pytest.raises(InvalidInputError, match="row 3 of X holds numbers as large as"):
            method(extreme)


def test_a_failed_fit_leaves_the_classifier_as_it_was(train, data):
    X, y = train
    clf = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    before = dict(vars(clf))
    for wrong in ((X[:, :-1] * np.nan, y), (X[:, :3], np.where(y == y[0], "okapi", y))):
        with pytest.raises(ValueError, match=r"NaN|okapi"):
            clf.fit(*wrong)
        assert vars(clf) == before
    clf.predict(X)
    fresh = SAEClassifier(data.signatures)
    with pytest.raises(InvalidInputError, match="okapi"):
        fresh.fit(X, np.where(y == y[0], "okapi", y))
    assert not hasattr(fresh, "classes_")
