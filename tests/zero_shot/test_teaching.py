"""From zero samples to many: samples after the fit, unlabeled batches, novelty, suggestions."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn.core.moments import Moments
from zslearn.core.posterior_prototypes import left_out_weights
from zslearn.core.whitening import WithinClassCovariance
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError, UnknownClassError, ZslearnWarning
from zslearn.persistence import load, save
from zslearn.scale import fit_batches
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, SAEClassifier
from zslearn.zero_shot.prototypes.prototype_settings import NO_KERNEL, kernel_points, thinned
from zslearn.zero_shot.teaching import Evidence

FIXED = {"power": 1.0, "shrinkage": 0.4, "bandwidth": 1.5, "ridge": 0.2}


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        16, 5, n_per_class=12, n_features=24, n_dimensions=8, noise=2.0, random_state=3
    )


@pytest.fixture(scope="module")
def split(data):
    found = data.split("standard")
    return data.rows(found.seen), data.rows(found.unseen)


@pytest.fixture
def fitted(data, split):
    seen, _ = split
    return PrototypeRegression(data.signatures, **FIXED).fit(data.X[seen], data.y[seen])


@pytest.fixture(scope="module")
def chosen(data, split):
    seen, _ = split
    return PrototypeRegression(data.signatures, n_repeats=1).fit(data.X[seen], data.y[seen])


@pytest.fixture(scope="module")
def calibrated(data, split):
    seen, _ = split
    clf = CalibratedStacking(PrototypeRegression(data.signatures, n_repeats=1))
    return clf.fit(data.X[seen], data.y[seen])


@pytest.fixture
def new(data, split):
    """Samples of unseen classes."""
    _, unseen = split
    return data.X[unseen], data.y[unseen]


def unit(M):
    return M / np.linalg.norm(M, axis=1, keepdims=True)


def literal_space(clf, X, y):
    """Center, inverse of the shrunk covariance, class means and tr(Σ Σ(α)⁻¹), written out."""
    X, classes = unit(X), np.unique(y)
    means = np.array([X[y == c].mean(axis=0) for c in classes])
    left = X - means[np.searchsorted(classes, y)]
    covariance = left.T @ left / len(X)
    target = np.trace(covariance) / len(covariance)
    alpha = clf.shrinkage_
    inverse = np.linalg.inv((1 - alpha) * covariance + alpha * target * np.eye(len(covariance)))
    return means.mean(axis=0), inverse, means, np.trace(covariance @ inverse)


def literal_kappa(clf, X, y):
    center, inverse, means, spread = literal_space(clf, X, y)
    K = literal_kernel(clf)
    squares = []
    for c in range(len(means)):
        others = np.delete(np.arange(len(means)), c)
        G = np.linalg.inv(K[np.ix_(others, others)] + 0.2 * np.eye(len(others)))
        missed = means[c] - center - K[c, others] @ G @ (means[others] - center)
        squares.append(max(missed @ inverse @ missed - spread / 12, 0))
    return spread / np.mean(squares)


def literal_kernel(clf, S=None):
    seen = clf.seen_signatures_
    S = seen if S is None else S
    squared = ((S[:, None] - seen) ** 2).sum(axis=2)
    own = ((seen[:, None] - seen) ** 2).sum(axis=2)
    return np.exp(-squared / (1.5 * np.median(own[~np.eye(len(seen), dtype=bool)])))


def test_kappa_is_the_spread_over_the_error_of_left_out_classes(data, split, fitted):
    seen, _ = split
    assert fitted.kappa_ == pytest.approx(literal_kappa(fitted, data.X[seen], data.y[seen]))


@pytest.mark.parametrize("n_seen", [2, 3, 4])
def test_few_classes_say_what_a_description_is_worth(data, split, new, n_seen):
    seen, _ = split
    rows = seen[np.isin(data.y[seen], np.unique(data.y[seen])[:n_seen])]
    X, y = data.X[rows], data.y[rows]
    clf = PrototypeRegression(data.signatures, **FIXED).fit(X, y)
    assert clf.kappa_ == pytest.approx(literal_kappa(clf, X, y))
    # Whatever folds of so few classes choose, samples take over in the end.
    clf = PrototypeRegression(data.signatures, power=1.0, n_repeats=1).fit(X, y)
    assert clf.kappa_ > 0
    more, names = new
    clf.partial_fit(more, names, sample_weight=np.full(len(names), 1e9))
    center, inverse, _, _ = literal_space(clf, X, y)
    classes = np.unique(names)
    means = np.array([unit(more)[names == name].mean(axis=0) - center for name in classes])
    expected = (unit(more) - center) @ inverse @ means.T
    expected -= np.einsum("cd,cd->c", means @ inverse, means) / 2
    np.testing.assert_allclose(clf.decision_function(more, list(classes)), expected, atol=1e-5)


def prototypes(clf, names):
    """Prototypes in the features' own space, from the class vectors."""
    targets = clf.prepare(np.array(names), clf.signatures_.rows(names))
    return targets.vectors, targets.offsets


def test_one_taught_class_lies_between_description_and_samples(data, split, fitted, new):
    seen, _ = split
    X, y = new
    center, inverse, means, _ = literal_space(fitted, data.X[seen], data.y[seen])
    name = y[0]
    S = unit(data.signatures.rows([name]))
    G = np.linalg.inv(literal_kernel(fitted) + 0.2 * np.eye(len(means)))
    p = (literal_kernel(fitted, S) @ G @ (means - center))[0]
    rows = unit(X[y == name][:3])
    kappa = fitted.kappa_
    m = (kappa * p + (rows - center).sum(axis=0)) / (kappa + 3)
    fitted.partial_fit(X[y == name][:3], [name] * 3)
    found = fitted.decision_function(X, [name])[:, 0]
    expected = (unit(X) - center) @ inverse @ m - m @ inverse @ m / 2
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


def test_no_samples_is_zero_shot_and_many_are_the_class_mean(data, split, new, fitted):
    seen, _ = split
    X, y = new
    before = fitted.decision_function(X)
    center, inverse, _, _ = literal_space(fitted, data.X[seen], data.y[seen])
    name = y[0]
    rows = X[y == name]
    fitted.partial_fit(rows, [name] * len(rows), sample_weight=np.full(len(rows), 1e9))
    mean = unit(rows).mean(axis=0) - center
    expected = (unit(X) - center) @ inverse @ mean - mean @ inverse @ mean / 2
    np.testing.assert_allclose(fitted.decision_function(X, [name])[:, 0], expected, rtol=1e-6)
    fitted.forget(name)
    np.testing.assert_allclose(fitted.decision_function(X), before, rtol=1e-12)


def test_a_kappa_of_zero_is_the_nearest_mean_of_the_samples(data, split, fitted, new):
    seen, _ = split
    X, y = new
    object.__setattr__(fitted.space_, "error", 1e30 * fitted.space_.error)
    fitted.partial_fit(X[::12], y[::12])  # one of each class
    _, inverse, _, _ = literal_space(fitted, data.X[seen], data.y[seen])
    left = (unit(X)[:, None] - unit(X[::12])) @ np.linalg.cholesky(inverse)
    nearest = y[::12][(left**2).sum(axis=2).argmin(axis=1)]
    assert len(set(y[::12])) == 5
    np.testing.assert_array_equal(fitted.predict(X, "unseen"), nearest)


def test_infinite_kappa_is_zero_shot(fitted, new):
    X, y = new
    before = fitted.decision_function(X)
    object.__setattr__(fitted.space_, "error", 0.0)
    assert fitted.kappa_ == np.inf
    fitted.partial_fit(X[:5], y[:5])
    np.testing.assert_allclose(fitted.decision_function(X), before, rtol=1e-9)
    assert "inf samples" in fitted.explain(X[0], y[0]).note


def test_batches_in_any_order_give_the_same_classifier(data, split, new):
    seen, _ = split
    X, y = new
    order = np.random.default_rng(0).permutation(len(y))
    clfs = [
        PrototypeRegression(data.signatures, **FIXED).fit(data.X[seen], data.y[seen])
        for _ in range(3)
    ]
    clfs[0].partial_fit(X, y)
    for row in order:
        clfs[1].partial_fit(X[[row]], y[[row]])
    for part in np.array_split(order, 4):
        clfs[2].partial_fit(X[part], y[part])
    expected = clfs[0].decision_function(X)
    for clf in clfs[1:]:
        np.testing.assert_allclose(clf.decision_function(X), expected, rtol=1e-9, atol=1e-10)


def test_labels_of_pandas_are_text(data, split, new):
    seen, _ = split
    X, y = new
    by_kind = []
    for kind in (str, object):
        clf = PrototypeRegression(data.signatures, **FIXED)
        clf.fit(data.X[seen], data.y[seen].astype(kind)).partial_fit(X[::4], y[::4].astype(kind))
        clf.partial_fit(data.X[seen[:3]], data.y[seen[:3]].astype(object))
        by_kind.append(clf.partial_fit(X[1::4], y[1::4]).decision_function(X))
    np.testing.assert_array_equal(*by_kind)


def test_weights_are_repeated_samples_and_weight_zero_is_no_sample(data, split, new):
    seen, _ = split
    X, y = new
    clfs = [
        PrototypeRegression(data.signatures, **FIXED).fit(data.X[seen], data.y[seen])
        for _ in range(2)
    ]
    clfs[0].partial_fit(X[:4], y[:4], sample_weight=[2, 1, 0, 3])
    clfs[1].partial_fit(X[[0, 0, 1, 3, 3, 3]], y[[0, 0, 1, 3, 3, 3]])
    np.testing.assert_allclose(
        clfs[0].decision_function(X), clfs[1].decision_function(X), rtol=1e-10
    )


def test_weights_in_the_fit_are_repeated_samples_for_all_that_comes_later(data, split, new):
    seen, _ = split
    weights = np.random.default_rng(1).integers(1, 4, len(seen))
    X, y = new
    method, found = PrototypeRegression(data.signatures, **FIXED), []
    for rows, given in ((seen, weights), (seen.repeat(weights), None)):
        clf = clone(method).fit(data.X[rows], data.y[rows], sample_weight=given)
        clf.partial_fit(X[:4], y[:4])
        found.append((clf.kappa_, clf.decision_function(X), clf.novelty(X)))
    for weighted, repeated in zip(*found, strict=True):
        np.testing.assert_allclose(weighted, repeated, rtol=1e-8, atol=1e-9)
    plain = clone(method).fit(data.X[seen], data.y[seen])
    assert abs(plain.kappa_ / found[0][0] - 1) > 1e-3


@pytest.mark.parametrize(
    ("scale", "norm"), [(1e-100, "l2"), (1e100, "l2"), (1e-30, None), (1e30, None)]
)
def test_the_unit_of_the_features_does_not_matter(data, split, new, scale, norm):
    seen, _ = split
    X, y = new
    found = []
    for factor in (1.0, scale):
        clf = PrototypeRegression(data.signatures, feature_norm=norm, **FIXED)
        clf.fit(factor * data.X[seen], data.y[seen]).partial_fit(factor * X[:9:2], y[:9:2])
        found.append((clf.kappa_, clf.decision_function(factor * X), clf.novelty(factor * X)))
    for plain, scaled in zip(*found, strict=True):
        np.testing.assert_allclose(scaled, plain, rtol=1e-6, atol=1e-6)


def test_sparse_samples_teach_as_dense_ones(data, split, new):
    seen, _ = split
    X, y = new
    X = np.where(np.abs(X) > 1, X, 0)
    fit = np.where(np.abs(data.X) > 1, data.X, 0)[seen]
    found = []
    for kind in (np.asarray, sparse.csr_matrix):
        clf = PrototypeRegression(data.signatures, **FIXED).fit(kind(fit), data.y[seen])
        clf.partial_fit(kind(X[:4]), y[:4])
        found.append((clf.decision_function(kind(X)), clf.novelty(kind(X))))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)


def test_one_training_sample_per_class_counts_a_description_as_one_sample(data, split, new):
    seen, _ = split
    X, y = new
    rows = seen[::12]
    clf = PrototypeRegression(data.signatures, **FIXED).fit(data.X[rows], data.y[rows])
    assert clf.kappa_ == 1.0
    before = prototypes(clf, [y[0]])[0]
    clf.partial_fit(X[:1], y[:1])
    assert not np.allclose(prototypes(clf, [y[0]])[0], before)
    assert np.isfinite(clf.novelty(X)).all()


def test_samples_that_contradict_the_description_win_in_the_end(fitted, new):
    X, y = new
    wrong, right = y[0], y[-1]
    rows, odds = X[y == right], []
    for weight in (0.5, 2, 10, 100):
        fitted.partial_fit(rows, [wrong] * len(rows), sample_weight=np.full(len(rows), weight))
        scores = fitted.decision_function(rows, [wrong, right])
        odds.append((scores[:, 0] - scores[:, 1]).mean())
    assert odds == sorted(odds)
    assert odds[-1] > 0


def test_neighbors_of_taught_classes_are_informed_and_seen_classes_are_not(fitted, new):
    X, y = new
    before = fitted.decision_function(X)
    fitted.partial_fit(X[:3], y[:3])
    changed = np.abs(fitted.decision_function(X) - before).max(axis=0) > 1e-6
    seen = np.isin(fitted.classes_, fitted.seen_classes_)
    assert changed[~seen].all()
    assert not changed[seen].any()


def test_samples_of_a_seen_class_add_to_those_of_the_fit(data, split, fitted):
    seen, _ = split
    X, name = data.X[seen], fitted.seen_classes_[0]
    rows = X[data.y[seen] == name][:2]
    v, _ = prototypes(fitted, [name])
    center, inverse, _, _ = literal_space(fitted, X, data.y[seen])
    strength = fitted.kappa_ + 12
    fitted.partial_fit(rows, [name] * 2)
    expected = (strength * v[0] + (unit(rows) - center).sum(axis=0) @ inverse) / (strength + 2)
    np.testing.assert_allclose(prototypes(fitted, [name])[0][0], expected, rtol=1e-8)
    assert fitted.explain(X[0], name).note.endswith("2 were added")


def test_posterior_seen_prototypes_mean_prediction_and_samples(data, split):
    seen, _ = split
    X, y = data.X[seen], data.y[seen]
    clf = PrototypeRegression(data.signatures, seen_prototypes="posterior", **FIXED).fit(X, y)
    plain = clf.with_seen_prototypes("predicted")
    center, inverse, means, _ = literal_space(clf, X, y)
    predicted, _ = prototypes(plain, clf.seen_classes_)
    kappa = clf.kappa_
    expected = (kappa * predicted + 12 * (means - center) @ inverse) / (kappa + 12)
    np.testing.assert_allclose(prototypes(clf, clf.seen_classes_)[0], expected, rtol=1e-7)
    unseen = [name for name in clf.classes_ if name not in clf.seen_classes_]
    for one, other in zip(prototypes(clf, unseen), prototypes(plain, unseen), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_classes_come_by_samples_alone_by_a_description_later_and_go_again(data, fitted, new):
    X, y = new
    rows = X[y == y[0]][:6]
    fitted.partial_fit(rows, ["stranger"] * 6)
    assert "stranger" in fitted.classes_
    assert (fitted.predict(rows, ["stranger", y[-1]]) == "stranger").all()
    note = fitted.explain(rows[0], "stranger").note
    assert note == "there is no description; 6 were added"
    m = fitted._known(np.array(["stranger"]), fitted.signatures_.rows(["stranger"]))
    kappa = fitted.space_.kappa_undescribed
    whitened = fitted.space_.whitened(fitted.represent(fitted.check_rows(rows)))
    np.testing.assert_allclose(m.points[0], whitened.sum(axis=0) / (kappa + 6))
    assert kappa < fitted.kappa_  # a description is worth more than none
    fitted.add_classes({"stranger": data.signatures[y[0]]})
    assert "counts as" in fitted.explain(rows[0], "stranger").note
    fitted.forget("stranger")
    assert "stranger" in fitted.classes_  # it is described by now
    fitted.partial_fit(rows, ["other"] * 6).forget("other")
    assert "other" not in fitted.classes_


def test_a_name_that_looks_misspelled_is_asked_about(fitted, new):
    X, _ = new
    with pytest.warns(ZslearnWarning, match="'unseen' has no description.*did you mean 'unseen"):
        fitted.partial_fit(X[:1], ["unseen"])


@pytest.mark.parametrize("how", ["plain", "taught", "posterior", "adapted", "guessed"])
def test_explanations_sum_to_the_score(data, split, new, how):
    seen, _ = split
    X, y = new
    if how == "guessed":
        rng = np.random.default_rng(0)
        M = rng.normal(size=(20, 16))
        X, y = np.repeat(M, 9, axis=0) + rng.normal(size=(180, 16)), np.repeat(np.arange(20), 9)
        y = y.astype(str)
        table = {str(i): m for i, m in enumerate(M + 0.5 * rng.normal(size=M.shape))}
        kept = np.isin(y, np.arange(14).astype(str))
        clf = PrototypeRegression(table, power=0.5, prior="signature", n_repeats=1)
        clf.fit(X[kept], y[kept])
        assert clf.lean_ > 0
        X, y = X[~kept], y[~kept]
    else:
        clf = PrototypeRegression(data.signatures, n_repeats=1).fit(data.X[seen], data.y[seen])
    if how == "posterior":
        clf = clf.with_seen_prototypes("posterior")
    if how in ("taught", "adapted", "guessed"):
        clf.partial_fit(X[:30:4], y[:30:4])
    if how == "adapted":
        clf = clf.adapt(X, "unseen")
    for name in [clf.seen_classes_[0], y[0], y[-1]]:
        score = clf.decision_function(X[:1], [name])[0, 0]
        for why in (clf.explain(X[0], name), clf.explain_by_class(X[0], name)):
            assert why.score == pytest.approx(score, abs=1e-8)


def test_the_explanation_of_a_guess_is_the_path_integral():
    rng = np.random.default_rng(1)
    M = rng.normal(size=(12, 6))
    X, y = np.repeat(M, 6, axis=0) + 0.5 * rng.normal(size=(72, 6)), np.repeat(np.arange(12), 6)
    table = {i: m for i, m in enumerate(M + 0.3 * rng.normal(size=M.shape))}
    kept = y < 9
    clf = PrototypeRegression(
        table, prior="signature", beta=0.7, power=1.0, shrinkage=0.5, bandwidth=2.0, ridge=0.3
    ).fit(X[kept], y[kept])
    why = clf.explain(X[-1], 11)
    s, seen = unit(clf.signatures_.rows([11]))[0], clf.seen_signatures_
    start, way = seen.mean(axis=0), s - seen.mean(axis=0)
    z = clf.space_.whitened(clf.represent(clf.check_rows(X[-1:])))[0]

    def score(at):
        squared = ((at - seen) ** 2).sum(axis=1)
        k = np.exp(-squared / (clf.kernels_[0, 1] * clf.kernel_scales_[0, 0]))
        guess = clf.space_.whitening.applied((at - clf.guess_center_)[None])[0]
        p = k @ clf.regression_[0] @ clf.space_.means - k @ clf.leaning_[0] @ clf.guesses_
        p = p + clf.lean_ * guess
        return z @ p - p @ p / 2

    expected = np.zeros(6)
    for t in (np.arange(200) + 0.5) / 200:
        for j, bump in enumerate(1e-5 * np.eye(6)):
            slope = (score(start + t * way + bump) - score(start + t * way - bump)) / 2e-5
            expected[j] += way[j] * slope / 200
    np.testing.assert_allclose(why.contributions, expected, atol=1e-5)
    assert why.offset == pytest.approx(score(start))


def test_guesses_are_used_only_where_signatures_live_among_the_samples():
    rng = np.random.default_rng(2)
    M = rng.normal(size=(14, 8))
    X, y = np.repeat(M, 8, axis=0) + rng.normal(size=(112, 8)), np.repeat(np.arange(14), 8)
    near = dict(enumerate(M + 0.5 * rng.normal(size=M.shape)))
    far = dict(enumerate(rng.normal(size=M.shape)))
    other = dict(enumerate(rng.normal(size=(14, 5))))
    kept = y < 10
    for table, prior, used in [
        (near, "auto", True), (near, "signature", True), (near, None, False),
        (far, "auto", False), (other, "auto", False),
    ]:  # fmt: skip
        clf = PrototypeRegression(table, prior=prior, n_repeats=1).fit(X[kept], y[kept])
        assert ("beta" in clf.best_params_) is used
    with pytest.raises(InvalidInputError, match="signatures have 5 numbers, samples have 8"):
        PrototypeRegression(other, prior="signature").fit(X[kept], y[kept])


def test_one_sample_per_class_in_any_order_shows_whether_signatures_are_guesses():
    rng = np.random.default_rng(4)
    M = rng.normal(size=(14, 30))
    X, y = M + 0.3 * rng.normal(size=M.shape), rng.permutation(14)
    clf = PrototypeRegression(dict(zip(y.tolist(), M, strict=True)), n_repeats=1).fit(X, y)
    assert "beta" in clf.best_params_


def test_spaces_are_compared_by_fewer_settings_of_every_kind():
    clf = PrototypeRegression(np.eye(3))
    points = kernel_points(clf, guesses=True)
    few = thinned(points)
    assert (len(points), len(few)) == (141, 25)
    for name, values in {"n_kernels": {1, 2}, "beta": {0.0, 1.0}}.items():
        assert {point[name] for point in few} == values
    assert few[-1]["ridge"] == NO_KERNEL
    given = kernel_points(PrototypeRegression(np.eye(3), ridge=0.1, bandwidth=[1.0]), guesses=False)
    assert thinned(given) == given


def test_blocks_of_a_stream_give_the_guesses_and_beliefs_of_a_fit(data):
    """Class sums and Gram matrices hold all that samples after the fit need."""
    rng = np.random.default_rng(6)
    M = rng.normal(size=(18, 10))
    X, y = np.repeat(M, 9, axis=0) + rng.normal(size=(162, 10)), np.repeat(np.arange(18), 9)
    table, kept = dict(enumerate(M + 0.6 * rng.normal(size=M.shape))), y < 12
    method = PrototypeRegression(table, power=1.0, n_repeats=1)
    whole = clone(method).fit(X[kept], y[kept])
    stream = fit_batches(method, X[kept], y[kept], block_rows=23, validation_rows=10**6)
    assert whole.lean_ > 0
    np.testing.assert_array_equal(stream.beta_, whole.beta_)
    assert stream.kappa_ == pytest.approx(whole.kappa_)
    assert stream.space_.temperature == pytest.approx(whole.space_.temperature)
    for clf in (whole, stream):
        clf.partial_fit(X[~kept][::4], y[~kept][::4])
    moved = [clf.adapt(X[~kept], "unseen") for clf in (whole, stream)]
    for one, other in ((whole, stream), moved):
        scores = one.decision_function(X)
        np.testing.assert_allclose(scores, other.decision_function(X), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(one.novelty(X), other.novelty(X), rtol=1e-6, atol=1e-8)


def test_beta_of_zero_is_the_method_without_guesses_bit_for_bit():
    rng = np.random.default_rng(2)
    M = rng.normal(size=(14, 8))
    X, y = np.repeat(M, 8, axis=0) + rng.normal(size=(112, 8)), np.repeat(np.arange(14), 8)
    table, kept = dict(enumerate(M)), y < 10
    plain = PrototypeRegression(table, prior=None, n_repeats=1).fit(X[kept], y[kept])
    zero = PrototypeRegression(table, prior="signature", beta=0, n_repeats=1).fit(X[kept], y[kept])
    np.testing.assert_array_equal(plain.decision_function(X), zero.decision_function(X))
    assert plain.best_params_ == zero.best_params_


def test_scores_with_guesses_are_distances_to_leaning_prototypes():
    rng = np.random.default_rng(3)
    M = rng.normal(size=(12, 20))
    X, y = np.repeat(M, 3, axis=0) + rng.normal(size=(36, 20)), np.repeat(np.arange(12), 3)
    table, kept = (
        dict(enumerate(M + rng.normal(size=M.shape))),
        y < 5,
    )  # fewer samples than features
    clf = PrototypeRegression(table, prior="signature", beta=0.5, **FIXED).fit(X[kept], y[kept])
    center, inverse, means, _ = literal_space(clf, X[kept], y[kept])
    F, f = unit(clf.signatures_.rows(range(5))), unit(clf.signatures_.rows(range(5, 12)))
    F, f, M = F - F.mean(axis=0), f - F.mean(axis=0), means - center
    G = np.linalg.inv(literal_kernel(clf) + 0.2 * np.eye(5))
    b = np.trace(G @ M @ inverse @ F.T) / np.trace(G @ F @ inverse @ F.T)
    k = literal_kernel(clf, unit(clf.signatures_.rows(range(5, 12))))
    p = 0.5 * b * f + k @ G @ (M - 0.5 * b * F)
    expected = (unit(X) - center) @ inverse @ p.T - np.einsum("cd,de,ce->c", p, inverse, p) / 2
    found = clf.decision_function(X, list(range(5, 12)))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    recognizer = clf.recognizer(list(range(5, 12)))
    np.testing.assert_allclose(recognizer.linear_form().scores(X), found, rtol=1e-8, atol=1e-8)


def test_uncertainty_is_one_for_left_out_seen_classes_on_average(data, split, fitted):
    G = np.linalg.inv(literal_kernel(fitted) + 0.2 * np.eye(len(fitted.seen_classes_)))
    names = [name for name in fitted.classes_ if name not in fitted.seen_classes_]
    k = literal_kernel(fitted, unit(data.signatures.rows(names)))
    left = 1 + 0.2 - np.einsum("cs,st,ct->c", k, G, k)
    expected = left / left_out_weights(G)[1].mean()
    np.testing.assert_allclose(fitted.class_uncertainty(names), expected)
    assert (fitted.class_uncertainty(fitted.seen_classes_) < 1).all()


def test_adapting_returns_a_copy_and_says_how_far_it_moved(chosen, new):
    X, y = new
    before = chosen.decision_function(X)
    moved = chosen.adapt(X, "unseen")
    np.testing.assert_array_equal(chosen.decision_function(X), before)
    facts = moved.adaptation_
    assert facts.n_samples == len(X)
    assert facts.shares.sum() == pytest.approx(1)
    assert (facts.moved > 0).all()
    assert str(facts).startswith(f"Adapted to {len(X)} samples of 5 candidates: prototypes moved")
    assert moved.score(X, y, "unseen") >= chosen.score(X, y, "unseen")
    again = moved.adapt(X, "unseen")  # starts from the labeled state, not from the moved one
    np.testing.assert_allclose(again.decision_function(X), moved.decision_function(X))
    assert not hasattr(chosen, "adaptation_")


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_samples_of_any_size_move_as_those_of_length_one(chosen, new, scale):
    X, _ = new
    plain, scaled = (chosen.adapt(rows, "unseen").adaptation_ for rows in (X, scale * X))
    np.testing.assert_allclose(scaled.shares, plain.shares, rtol=1e-9)
    np.testing.assert_allclose(scaled.moved, plain.moved, rtol=1e-9)
    assert chosen.suggest(scale * X, 5).rows.tolist() == chosen.suggest(X, 5).rows.tolist()


def test_one_sample_hardly_moves_anything(chosen, new):
    X, _ = new
    moved = chosen.adapt(X[:1], "unseen")
    assert moved.adaptation_.moved.max() < 0.05
    np.testing.assert_array_equal(moved.predict(X, "unseen"), chosen.predict(X, "unseen"))


def test_only_the_candidates_of_an_adaptation_move(chosen, new):
    X, y = new
    names = list(np.unique(y))[:3]
    moved = chosen.adapt(X, names)
    changed = np.abs(moved.decision_function(X) - chosen.decision_function(X)).max(axis=0) > 1e-9
    assert sorted(chosen.classes_[changed]) == sorted(names)


def test_adapting_needs_a_temperature(fitted, new):
    with pytest.raises(InvalidInputError, match=r"no temperature was learned.*CalibratedStacking"):
        fitted.adapt(new[0])


def test_novelty_is_the_ratio_of_densities(data, split, fitted, new):
    seen, _ = split
    X, y = new
    answers = fitted.predict(X, "unseen")
    found = fitted.novelty(X, "unseen")
    Z = fitted.space_.whitened(fitted.represent(fitted.check_rows(X)))
    names = np.unique(y)
    points = fitted._known(names, fitted.signatures_.rows(names)).points
    table = fitted.space_.novelty.ratios(Z, points)[0]
    expected = -table[np.arange(len(X)), np.searchsorted(names, answers)]
    np.testing.assert_allclose(found, expected)
    noise = np.random.default_rng(0).normal(size=X.shape)
    assert np.median(fitted.novelty(noise)) > np.median(fitted.novelty(data.X[seen]))


def test_suggestions_are_rows_between_uncertain_classes(chosen, new):
    X, y = new
    found = chosen.suggest(X, 7, "unseen")
    assert len(set(found.rows.tolist())) == 7
    assert found.worths[0] == 1.0
    assert found.names.shape == (7, 2)
    np.testing.assert_array_equal(found.names[:, 0], chosen.predict(X[found.rows], "unseen"))
    assert len(chosen.suggest(X, 1000, "unseen").rows) == len(X)
    with pytest.raises(InvalidInputError, match="n must be a whole number of at least 1; got 0"):
        chosen.suggest(X, 0)
    with pytest.raises(InvalidInputError, match="at least two candidates"):
        chosen.suggest(X, 3, [y[0]])


@pytest.mark.filterwarnings("ignore:samples of classes that nobody described")
def test_everything_goes_through_calibration_and_pipelines(data, split, new):
    seen, _ = split
    X, y = new
    pipeline = make_pipeline(StandardScaler(), PrototypeRegression(data.signatures, n_repeats=1))
    clf = CalibratedStacking(pipeline).fit(data.X[seen], data.y[seen])
    inner, scaled = clf.estimator_[-1], clf.estimator_[0].transform(X)
    assert clf.kappa_ == inner.kappa_
    np.testing.assert_allclose(clf.class_uncertainty(), inner.class_uncertainty())
    np.testing.assert_allclose(clf.novelty(X, "unseen"), inner.novelty(scaled, "unseen"))
    before = clf.decision_function(X)
    moved = clf.adapt(X)
    np.testing.assert_array_equal(clf.decision_function(X), before)
    assert moved.adaptation_.names.tolist() == clf.classes_.tolist()
    assert not np.allclose(moved.decision_function(X), before)
    suggested = clf.suggest(X, 5)
    clf.partial_fit(X[suggested.rows], y[suggested.rows])
    assert clf.estimator_[-1].evidence_.weights.sum() == 5
    name = y[suggested.rows[0]]
    assert "were added" in clf.explain(X[0], name).note
    why = clf.explain(X[0], name)
    assert why.score == pytest.approx(clf.decision_function(X[:1], [name])[0, 0])
    assert clf.predict(X, reject=True).shape == (len(X),)
    clf.forget(name)


def test_the_confidence_knows_how_familiar_samples_are(calibrated, new, data, split):
    X, _ = new
    assert {len(row) for row in calibrated.confidence_.values()} == {8}
    recognizer = calibrated.recognizer("unseen")
    ratios = recognizer.familiarity(X)
    scores = recognizer.scores(X)
    expected = calibrated.calibration.confidence(scores, recognizer.seen, ratios)
    np.testing.assert_allclose(recognizer.confidence(X), expected)
    ready = recognizer.ready(X)
    np.testing.assert_allclose(recognizer.confidence(ready), expected)
    for row in (0, 5):
        alone = recognizer.confidence(X[[row]])
        np.testing.assert_allclose(alone, expected[[row]], rtol=1e-6)


@pytest.mark.parametrize("measure", ["ratio", "free ratio"])
def test_a_ratio_can_be_the_confidence(data, split, new, measure):
    seen, _ = split
    clf = CalibratedStacking(PrototypeRegression(data.signatures, **FIXED), confidence=measure)
    clf.fit(data.X[seen], data.y[seen])
    recognizer = clf.recognizer("unseen")
    column = ["ratio", "free ratio"].index(measure)
    np.testing.assert_allclose(
        recognizer.confidence(new[0]), recognizer.familiarity(new[0])[:, column]
    )


def test_other_methods_say_that_they_cannot(data, split, new):
    seen, _ = split
    X, y = data.X[seen], data.y[seen]
    clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0)).fit(X, y)
    for call in (
        lambda: clf.adapt(new[0]), lambda: clf.novelty(new[0]),
        lambda: clf.suggest(new[0]), lambda: clf.forget("seen0"), lambda: clf.class_uncertainty(),
    ):  # fmt: skip
        with pytest.raises(InvalidInputError, match="SAEClassifier learns nothing after the fit"):
            call()
    assert not hasattr(clf, "partial_fit")
    assert not hasattr(clf, "kappa_")
    assert {len(row) for row in clf.confidence_.values()} == {6}
    with pytest.raises(InvalidInputError, match="CalibratedStacking does not know how likely"):
        clf.recognizer().familiarity(new[0])
    ratio = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), confidence="ratio")
    with pytest.raises(InvalidInputError, match="takes a method that knows how likely"):
        ratio.fit(X, y)


def test_what_was_taught_and_adapted_is_saved(tmp_path, calibrated, new, data, split):
    X, y = new
    clf = CalibratedStacking(PrototypeRegression(data.signatures, n_repeats=1))
    seen, _ = split
    clf.fit(data.X[seen], data.y[seen]).partial_fit(X[:5], y[:5])
    clf.partial_fit(X[-3:], ["stranger"] * 3)
    moved = clf.adapt(X)
    save(moved, tmp_path / "model.zsl")
    loaded = load(tmp_path / "model.zsl")
    np.testing.assert_array_equal(loaded.decision_function(X), moved.decision_function(X))
    assert str(loaded.adaptation_) == str(moved.adaptation_)
    for one in (loaded, moved):
        one.partial_fit(X[5:8], y[5:8]).forget("stranger")
    np.testing.assert_array_equal(loaded.decision_function(X), moved.decision_function(X))
    np.testing.assert_array_equal(loaded.novelty(X), moved.novelty(X))


def test_a_fit_forgets_samples_and_adaptation(data, split, chosen, new):
    seen, _ = split
    X, y = new
    clf = PrototypeRegression(data.signatures, **FIXED).fit(data.X[seen], data.y[seen])
    before = clf.decision_function(X)
    clf.partial_fit(X, y).partial_fit(X[:1], ["stranger"]).fit(data.X[seen], data.y[seen])
    np.testing.assert_array_equal(clf.decision_function(X), before)


def test_an_unfitted_classifier_is_fitted_by_its_first_batch(data, split):
    seen, _ = split
    clf = PrototypeRegression(data.signatures, **FIXED).partial_fit(data.X[seen], data.y[seen])
    assert len(clf.evidence_) == 0
    with pytest.raises(NotFittedError):
        PrototypeRegression(data.signatures).forget("seen0")


def test_bad_samples_change_nothing(fitted, new):
    X, y = new
    before = fitted.decision_function(X)
    bad = X[:3].copy()
    bad[1, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fitted.partial_fit(bad, y[:3])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted.partial_fit(X[:3], y[:2])
    with pytest.raises(ValueError, match="23 features"):
        fitted.partial_fit(X[:3, 1:], y[:3])
    with pytest.raises(InvalidInputError, match="sample_weight must hold 3 finite"):
        fitted.partial_fit(X[:3], y[:3], sample_weight=[1, -1, 2])
    with pytest.raises(InvalidInputError, match=r"no samples of 'unseen0' were added"):
        fitted.forget("unseen0")
    np.testing.assert_array_equal(fitted.decision_function(X), before)
    one_hot = PrototypeRegression(**FIXED).fit(X, y)
    with pytest.raises(UnknownClassError, match="know the training classes only"):
        one_hot.partial_fit(X[:1], ["stranger"])
    one_hot.partial_fit(X[:1], y[:1])


def test_the_better_way_to_represent_seen_classes_is_found_on_folds(data, split):
    seen, _ = split
    X, y = data.X[seen], data.y[seen]
    auto = CalibratedStacking(PrototypeRegression(data.signatures, n_repeats=1)).fit(X, y)
    taken = auto.estimator_.seen_prototypes_
    means = {}
    for rule in ("predicted", "posterior"):
        inner = auto.estimator_.frozen().set_params(seen_prototypes=rule)
        clf = CalibratedStacking(inner).fit(X, y)
        means[rule] = max(clf.cv_results_["mean_test_score"])
        if rule == taken:
            np.testing.assert_allclose(clf.decision_function(X), auto.decision_function(X))
            assert clf.gamma_ == pytest.approx(auto.gamma_)
    assert means[taken] == max(means.values())
    assert auto.frozen().estimator.seen_prototypes in ("auto", taken)


def test_evidence_merges_by_name_and_gives_zeros_for_others():
    one = Evidence(np.array(["a", "c"]), np.ones(2), np.eye(2), np.zeros(2))
    two = Evidence(np.array(["b", "c"]), np.ones(2), np.eye(2), np.ones(2))
    both = one.plus(two)
    assert both.names.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(both.weights, [1, 1, 2])
    np.testing.assert_array_equal(both.sums, [[1, 0], [1, 0], [0, 2]])
    weights, sums, offsets = both.of(np.array(["z", "c"]))
    np.testing.assert_array_equal(weights, [0, 2])
    np.testing.assert_array_equal(sums, [[0, 0], [0, 2]])
    np.testing.assert_array_equal(offsets, [0, 1])
    assert both.without("b").names.tolist() == ["a", "c"]
    assert both.fits(2)
    assert not both.fits(3)


def test_teaching_from_many_threads_loses_nothing(fitted, new):
    from concurrent.futures import ThreadPoolExecutor

    X, y = new
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: fitted.partial_fit(X[[i]], y[[i]]), range(len(X))))
    assert fitted.evidence_.weights.sum() == len(X)


def test_whitening_moments_are_those_of_the_fit(data, split, fitted):
    seen, _ = split
    moments = Moments.of(unit(data.X[seen]), data.y[seen])
    covariance = WithinClassCovariance.of(moments)
    W = covariance.whitening(0.4)
    assert fitted.space_.spread == pytest.approx(covariance.spread(W, 0.4))
    np.testing.assert_allclose(fitted.space_.counts, 12)


def test_another_table_keeps_what_samples_said_of_classes_that_stay(data, split):
    seen, unseen = split
    X, y = data.X[unseen], data.y[unseen]
    clf = PrototypeRegression(data.signatures, **FIXED).fit(data.X[seen], data.y[seen])
    first, second, *_ = np.unique(y).tolist()
    clf.partial_fit(X[y == first][:2], [first] * 2).partial_fit(X[y == second][:3], [second] * 3)
    clf.partial_fit(X[:1], ["stranger"])
    table = clf.signatures_.drop([first])
    twin = clf.with_signatures(table)
    assert twin.evidence_.names.tolist() == sorted([second, "stranger"])
    assert twin.undescribed_.tolist() == ["stranger"]
    # As if the class that is gone had never been taught.
    alone = PrototypeRegression(data.signatures, **FIXED).fit(data.X[seen], data.y[seen])
    alone.partial_fit(X[y == second][:3], [second] * 3).partial_fit(X[:1], ["stranger"])
    names = [*table]
    np.testing.assert_allclose(
        twin.recognizer(names).scores(X), alone.recognizer(names).scores(X), rtol=1e-10
    )
    # A description of its own makes it one of the others.
    rows = table.drop(["stranger"]).append({"stranger": data.signatures[first]})
    assert not len(clf.with_signatures(rows).undescribed_)
    assert len(clf.undescribed_) == 1


def test_evidence_fits_only_with_names_in_order_and_weights_that_are_none_below_zero():
    names, weights, sums = np.array(["ant", "bee", "cow"]), np.ones(3), np.ones((3, 2))
    assert Evidence(names, weights, sums, np.ones(3)).fits(2)
    assert not Evidence(names, weights, sums, np.ones(3)).fits(3)
    assert not Evidence(names[::-1], weights, sums, np.ones(3)).fits(2)
    assert not Evidence(names[[0, 0, 1]], weights, sums, np.ones(3)).fits(2)
    assert not Evidence(names, np.array([1.0, -1.0, 1.0]), sums, np.ones(3)).fits(2)
    assert not Evidence(names, weights, np.full((3, 2), np.nan), np.ones(3)).fits(2)
