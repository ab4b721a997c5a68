"""Prototype regression against a literal transcription that forms every matrix."""

import numpy as np
import pytest

from zslearn.core.gathered import gather_rows
from zslearn.core.moments import Moments
from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import parametrize_with_zero_shot_checks
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import PrototypeRegression, SAEClassifier

FIXED = {"power": 0.5, "shrinkage": 0.4, "bandwidth": 1.5, "ridge": 0.2}


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        16, 5, n_per_class=12, n_features=24, n_dimensions=8, noise=2.0, random_state=3
    )


@pytest.fixture(scope="module")
def rows(data):
    split = data.split("standard")
    return data.rows(split.seen), data.rows(split.unseen), list(split.unseen)


def unit(M):
    return M / np.linalg.norm(M, axis=1, keepdims=True)


def literal_scores(X, y, X_new, S_seen, S_new, *, power, shrinkage, bandwidth, ridge):
    """Negative half squared distances to the predicted prototypes, written out."""
    transform = lambda M: unit(np.sign(M) * np.abs(M) ** power)  # noqa: E731
    X, X_new = transform(X), transform(X_new)
    classes = np.unique(y)
    means = np.array([X[y == c].mean(axis=0) for c in classes])
    centered = X - means[np.searchsorted(classes, y)]
    covariance = centered.T @ centered / len(X)
    shrunk = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / len(
        covariance
    ) * np.eye(len(covariance))
    center = means.mean(axis=0)
    S_seen, S_new = unit(S_seen), unit(S_new)
    squared = lambda A, B: ((A[:, None] - B) ** 2).sum(axis=2)  # noqa: E731
    between = squared(S_seen, S_seen)
    median = np.median(between[~np.eye(len(S_seen), dtype=bool)])
    K = np.exp(-between / (bandwidth * median))
    k = np.exp(-squared(S_new, S_seen) / (bandwidth * median))
    prototypes = center + k @ np.linalg.solve(K + ridge * np.eye(len(K)), means - center)
    inverse = np.linalg.inv(shrunk)
    differences = X_new[:, None] - prototypes
    return -0.5 * np.einsum("ncd,de,nce->nc", differences, inverse, differences)


def test_scores_are_distances_to_predicted_prototypes_up_to_a_constant(data, rows):
    seen, unseen, names = rows
    clf = PrototypeRegression(data.signatures, **FIXED).fit(data.X[seen], data.y[seen])
    expected = literal_scores(
        data.X[seen], data.y[seen], data.X[unseen],
        data.signatures.rows(clf.seen_classes_), data.signatures.rows(names), **FIXED,
    )  # fmt: skip
    found = clf.decision_function(data.X[unseen], names)
    np.testing.assert_allclose(
        found - found[:, :1], expected - expected[:, :1], rtol=1e-8, atol=1e-8
    )


def test_fewer_samples_than_features_give_the_same_distances(data, rows):
    seen, unseen, names = rows
    few = seen[::9]
    assert len(few) < data.X.shape[1]
    clf = PrototypeRegression(data.signatures, **FIXED).fit(data.X[few], data.y[few])
    expected = literal_scores(
        data.X[few], data.y[few], data.X[unseen],
        data.signatures.rows(clf.seen_classes_), data.signatures.rows(names), **FIXED,
    )  # fmt: skip
    found = clf.decision_function(data.X[unseen], names)
    np.testing.assert_allclose(
        found - found[:, :1], expected - expected[:, :1], rtol=1e-7, atol=1e-7
    )


def test_the_setting_is_the_best_of_an_explicit_search_over_folds_of_classes(data, rows):
    seen, _, _ = rows
    X, y = data.X[seen], data.y[seen]
    clf = PrototypeRegression(data.signatures, power=1.0, shrinkage=0.5, n_repeats=1).fit(X, y)
    folds = list(ClassKFold(5, shuffle=True, random_state=0).split(X, y))
    found = clf.cv_results_
    for fixed, score in list(zip(found["params"], found["mean_test_score"], strict=True))[::7]:
        accuracies = []
        for train, held_out in folds:
            one = PrototypeRegression(data.signatures, **fixed).fit(X[train], y[train])
            # The kernel's scale is that of all seen classes, in every fold.
            one.kernel_scales_ = clf.kernel_scales_
            index = np.searchsorted(one.seen_classes_, y[train])
            one._solve(gather_rows(one._normalized_features(X[train]), index))
            accuracies.append(one.score(X[held_out], y[held_out], np.unique(y[held_out])))
        assert np.mean(accuracies) == pytest.approx(score)
    best = found["params"][int(found["mean_test_score"].argmax())]
    assert clf.best_params_ == {name: best[name] for name in ("bandwidth", "ridge")}
    frozen = clf.frozen()
    assert {name: frozen.get_params()[name] for name in best} == best


def test_moments_give_the_model_of_the_samples(data, rows):
    seen, unseen, names = rows
    X, y = data.X[seen], data.y[seen]
    clf = PrototypeRegression(data.signatures, **FIXED).fit(X, y)
    moments = Moments.of(unit(np.sign(X) * np.sqrt(np.abs(X))), y)
    other = PrototypeRegression(data.signatures, **FIXED).learn(moments)
    np.testing.assert_allclose(
        other.decision_function(data.X[unseen], names),
        clf.decision_function(data.X[unseen], names),
        rtol=1e-9,
    )


def test_explanations_sum_to_the_score(data, rows):
    seen, unseen, names = rows
    clf = PrototypeRegression(data.signatures, **FIXED).fit(data.X[seen], data.y[seen])
    x = data.X[unseen][0]
    score = clf.decision_function(x[None], [names[2]])[0, 0]
    for told, dimensions in (
        (clf.explain(x, names[2]), data.signatures.dimensions),
        (clf.explain_by_class(x, names[2]), tuple(clf.seen_classes_)),
    ):
        assert told.dimensions == tuple(dimensions)
        assert told.score == pytest.approx(score)
        assert told.offset + told.contributions.sum() == pytest.approx(score)


def test_an_explanation_finds_the_dimension_that_decides():
    """Features follow one dimension out of six, so that dimension speaks for the right class."""
    rng = np.random.default_rng(0)
    S = np.column_stack([rng.random((30, 5)), np.repeat([0.0, 1.0], 15)])
    table = {f"c{i:02d}": s for i, s in enumerate(S)}
    y = np.repeat(list(table), 20)
    X = np.repeat(S[:, 5:], 20, axis=0) * [2.0, -1.0, 1.0] + 0.1 * rng.standard_normal((600, 3))
    unseen = np.isin(y, ["c00", "c29"])
    clf = PrototypeRegression(table, **FIXED | {"bandwidth": 4.0}).fit(X[~unseen] + 1, y[~unseen])
    told = clf.explain(X[y == "c29"][0] + 1, "c29")
    assert told.contributions.argmax() == 5
    assert told.contributions[5] > 0.5 * np.abs(told.contributions).sum()
    assert told.deviations[5] > 0
    absent = clf.explain(X[y == "c00"][0] + 1, "c00")
    assert absent.contributions.argmax() == 5
    assert absent.deviations[5] < 0


def test_curved_relations_between_signatures_and_features_are_learnt():
    """Class means that bend with the signature defeat every linear map but not the kernel."""
    rng = np.random.default_rng(0)
    angles = np.sort(rng.uniform(0, np.pi, 40))
    S = np.column_stack([np.cos(angles), np.sin(angles)])
    names = np.array([f"c{i:02d}" for i in range(40)])
    bend = np.column_stack([np.cos(6 * angles), np.sin(6 * angles), np.cos(3 * angles)])
    means = bend @ rng.standard_normal((3, 12))
    y = np.repeat(np.arange(40), 15)
    X = means[y] + 0.15 * rng.standard_normal((600, 12))
    unseen = np.isin(y, np.arange(3, 40, 6))
    table = dict(zip(names, S, strict=True))
    fitted = [
        method(table)
        .fit(X[~unseen], names[y[~unseen]])
        .score(X[unseen], names[y[unseen]], "unseen")
        for method in (PrototypeRegression, SAEClassifier)
    ]
    assert fitted[0] > 0.85 > fitted[1] + 0.2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"power": 0}, "power must be 'cv' or a positive number; got 0"),
        ({"shrinkage": 1.5}, "shrinkage must be 'cv' or a number from 0 to 1; got 1.5"),
        ({"ridge": -1.0}, "ridge must be 'cv' or a positive number; got -1.0"),
        ({"bandwidth": "wide"}, "bandwidth must be 'cv' or a positive number; got 'wide'"),
        ({"ridge": True}, "ridge must be 'cv' or a positive number; got True"),
        ({"cv": 1}, "cv must be a whole number of at least 2; got 1"),
        ({"n_repeats": 0}, "n_repeats must be a whole number of at least 1; got 0"),
        ({"n_repeats": 1.5}, "n_repeats must be a whole number of at least 1; got 1.5"),
    ],
)
def test_impossible_parameters_are_refused(data, rows, parameters, message):
    seen, _, _ = rows
    with pytest.raises(InvalidInputError, match=message):
        PrototypeRegression(data.signatures, **parameters).fit(data.X[seen], data.y[seen])


def test_moments_need_every_parameter_given(data, rows):
    seen, _, _ = rows
    moments = Moments.of(data.X[seen], data.y[seen])
    with pytest.raises(InvalidInputError, match="need numbers for power"):
        PrototypeRegression(data.signatures).learn(moments)


@parametrize_with_zero_shot_checks([PrototypeRegression()])
def test_it_is_a_zero_shot_classifier(case, check):
    check(case)
