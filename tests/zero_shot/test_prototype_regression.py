"""Prototype regression against a literal transcription that forms every matrix."""

import numpy as np
import pytest

from zslearn.core.learner import gather_rows
from zslearn.core.moments import Moments
from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import parametrize_with_zero_shot_checks
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import seen_unseen_curve
from zslearn.model_selection import ClassKFold, stratified_holdout
from zslearn.zero_shot import PrototypeRegression, SAEClassifier
from zslearn.zero_shot.prototypes.prototype_settings import FoldJudge, KernelSettings

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


def literal_kernel(S, S_seen, bandwidth, n_kernels):
    """Mean of Gaussian kernels on unit-length signatures and on their signed roots."""
    parts = []
    for transform in (lambda M: M, lambda M: np.sign(M) * np.sqrt(np.abs(M)))[:n_kernels]:
        A, B = unit(transform(unit(S))), unit(transform(unit(S_seen)))
        squared = lambda P, Q: ((P[:, None] - Q) ** 2).sum(axis=2)  # noqa: E731
        median = np.median(squared(B, B)[~np.eye(len(B), dtype=bool)])
        parts.append(np.exp(-squared(A, B) / (bandwidth * median)))
    return np.mean(parts, axis=0)


def literal_scores(X, y, X_new, S_seen, S_new, *, power, shrinkage, bandwidth, ridge, n_kernels=1):
    """Negative half squared distances to the mean of predicted prototypes, written out."""
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
    settings = np.broadcast(bandwidth, ridge, n_kernels)
    predicted = []
    for sigma, gamma, kernels in settings:
        K, k = (literal_kernel(S, S_seen, sigma, kernels) for S in (S_seen, S_new))
        predicted.append(k @ np.linalg.solve(K + gamma * np.eye(len(K)), means - center))
    prototypes = center + np.mean(predicted, axis=0)
    inverse = np.linalg.inv(shrunk)
    differences = X_new[:, None] - prototypes
    return -0.5 * np.einsum("ncd,de,nce->nc", differences, inverse, differences)


@pytest.mark.parametrize(
    "settings",
    [
        FIXED,
        FIXED | {"n_kernels": 2},
        FIXED | {"n_kernels": [1, 2, 2], "bandwidth": [1.5, 1.5, 4.0], "ridge": [0.2, 1.0, 0.01]},
    ],
    ids=["one kernel", "two kernels", "mean of three"],
)
def test_scores_are_distances_to_predicted_prototypes_up_to_a_constant(data, rows, settings):
    seen, unseen, names = rows
    clf = PrototypeRegression(data.signatures, **settings).fit(data.X[seen], data.y[seen])
    expected = literal_scores(
        data.X[seen], data.y[seen], data.X[unseen],
        data.signatures.rows(clf.seen_classes_), data.signatures.rows(names), **settings,
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


def refitted(clf, fixed, X, y):
    """The model of one setting on part of the data, at the kernel's scale of all seen classes."""
    one = PrototypeRegression(clf.signatures, **fixed).fit(X, y)
    one.kernel_scales_ = clf.kernel_scales_
    index = np.searchsorted(one.seen_classes_, y)
    kernels, settings = one._signature_kernels(), KernelSettings.of([fixed])
    judge = FoldJudge(kernels, one.seen_signatures_, settings)
    one._solve(gather_rows(one._normalized_features(X), index), judge, [])
    return one


def test_the_settings_are_the_best_of_an_explicit_search_over_folds_of_classes(data, rows):
    seen, _, _ = rows
    X, y = data.X[seen], data.y[seen]
    clf = PrototypeRegression(data.signatures, power=1.0, shrinkage=0.5, n_repeats=1).fit(X, y)
    folds = list(ClassKFold(5, shuffle=True, random_state=0).split(X, y))
    found = clf.cv_results_
    assert len(found["params"]) == 2 * 5 * 7
    for fixed, score in list(zip(found["params"], found["mean_test_score"], strict=True))[::11]:
        accuracies = [
            refitted(clf, fixed, X[train], y[train]).score(
                X[held_out], y[held_out], np.unique(y[held_out])
            )
            for train, held_out in folds
        ]
        assert np.mean(accuracies) == pytest.approx(score)
    best = np.argsort(found["rank_test_score"], kind="stable")[:20]
    folds = np.array([found[f"split{i}_test_score"] for i in range(5)])
    error = np.sqrt(folds[:, best[0]].var(ddof=1) / 5)
    best = best[folds[:, best].mean(axis=0) >= folds[:, best[0]].mean() - 2 * error]
    assert 1 < len(best) <= 20
    for name in ("n_kernels", "bandwidth", "ridge"):
        assert clf.best_params_[name] == [found["params"][i][name] for i in best]
    alone = clf.set_params(n_average=1).fit(X, y)
    assert alone.best_params_ == {
        name: found["params"][best[0]][name] for name in ("n_kernels", "bandwidth", "ridge")
    }


def test_the_generalized_setting_judges_by_the_harmonic_mean_of_held_out_classes_and_samples(
    data, rows
):
    X, y = data.X[rows[0]], data.y[rows[0]]
    clf = PrototypeRegression(
        data.signatures, power=1.0, shrinkage=0.5, n_repeats=1, setting="generalized"
    ).fit(X, y)
    _, spared = stratified_holdout(y, share=0.2, random_state=0)
    found, classes = clf.cv_results_, np.unique(y)
    for i in range(0, len(found["params"]), 17):
        means = []
        for train, held_out in ClassKFold(5, shuffle=True, random_state=0).split(X, y):
            kept = np.setdiff1d(train, spared)
            test = np.concatenate([held_out, np.intersect1d(train, spared)])
            model = refitted(clf, found["params"][i], X[kept], y[kept])
            scores = model.decision_function(X[test], classes)
            curve = seen_unseen_curve(y[test], scores, candidates=classes, seen=model.seen_classes_)
            means.append(curve.oracle.harmonic_mean)
        assert np.mean(means) == pytest.approx(found["mean_test_score"][i])


def test_a_class_without_samples_to_spare_is_judged_by_held_out_classes(data, rows):
    seen = rows[0][np.unique(data.y[rows[0]], return_index=True)[1]]
    X, y = data.X[seen], data.y[seen]
    models = [
        PrototypeRegression(data.signatures, shrinkage=1.0, setting=setting).fit(X, y)
        for setting in ("generalized", "conventional")
    ]
    np.testing.assert_array_equal(*(m.cv_results_["mean_test_score"] for m in models))


def test_power_and_shrinkage_are_the_best_spaces_of_the_first_deal(data, rows):
    X, y = data.X[rows[0]], data.y[rows[0]]
    clf = PrototypeRegression(data.signatures, n_repeats=2).fit(X, y)
    spaces = {}
    for power in (0.5, 1.0):
        for shrinkage in (0.9, 0.7, 0.5, 0.3, 0.1, 1.0):
            one = PrototypeRegression(
                data.signatures, power=power, shrinkage=shrinkage, n_repeats=1
            ).fit(X, y)
            best = np.sort(one.cv_results_["mean_test_score"])[-20:]
            spaces[power, shrinkage] = best.mean()
    power = max((0.5, 1.0), key=lambda p: max(spaces[p, 0.7], spaces[p, 1.0]))
    assert clf.power_ == power
    at_power = {shrinkage: score for (p, shrinkage), score in spaces.items() if p == power}
    assert at_power[clf.shrinkage_] == pytest.approx(max(at_power.values()))


def test_a_frozen_copy_is_the_same_model_and_chooses_nothing(data, rows):
    X, y = data.X[rows[0]], data.y[rows[0]]
    clf = PrototypeRegression(data.signatures, n_repeats=1).fit(X, y)
    assert len(clf.ridge_) > 1
    again = clf.frozen().fit(X, y)
    assert again.cv_results_ is None
    assert again.best_params_ == {}
    names = rows[2]
    np.testing.assert_allclose(
        again.decision_function(X, names), clf.decision_function(X, names), rtol=1e-12
    )


def test_no_more_than_a_third_of_the_settings_are_averaged(data, rows):
    X, y = data.X[rows[0]], data.y[rows[0]]
    clf = PrototypeRegression(
        data.signatures, power=1.0, shrinkage=1.0, bandwidth=2.0, n_kernels=1, n_repeats=1
    ).fit(X, y)
    assert len(clf.cv_results_["params"]) == 7
    assert 1 <= len(clf.ridge_) <= 3


def test_lists_of_settings_must_agree(data, rows):
    seen, _, _ = rows
    for wrong in ({"bandwidth": [1.0, 2.0]}, {"bandwidth": [1.0, 2.0], "ridge": [1.0, 2.0, 3.0]}):
        with pytest.raises(InvalidInputError, match="must have the same length"):
            PrototypeRegression(data.signatures, **wrong).fit(data.X[seen], data.y[seen])


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


def test_parts_of_an_averaged_score_sum_to_its_difference_from_the_mean_signature(data, rows):
    """The score of any point in the space of signatures and roots, by explicit kernels."""
    seen, unseen, names = rows
    clf = PrototypeRegression(
        data.signatures,
        **FIXED | {"n_kernels": [1, 2, 2], "bandwidth": [1.5, 1.5, 4.0], "ridge": [0.2, 1.0, 0.1]},
    ).fit(data.X[seen], data.y[seen])
    roots = lambda M: np.sign(M) * np.sqrt(np.abs(M))  # noqa: E731
    S = clf.seen_signatures_
    spaces, scales = (unit(S), unit(roots(S))), clf.kernel_scales_[:, 0]
    z = unit(np.sign(data.X[unseen][:1]) * np.abs(data.X[unseen][:1]) ** 0.5)
    answers = (z @ clf.dual_coef_.T)[0] - clf.dual_shift_

    def score(points):
        mixture = 0
        for (n, width), R in zip(clf.kernels_, clf.regression_, strict=True):
            parts = [
                np.exp(-((U - point) ** 2).sum(axis=1) / (scale * width))
                for U, point, scale in zip(spaces, points, scales, strict=True)
            ]
            mixture = mixture + np.mean(parts[: int(n)], axis=0) @ R
        return mixture @ answers - 0.5 * mixture @ clf.dual_gram_ @ mixture

    told = clf.explain(data.X[unseen][0], names[1])
    s = unit(data.signatures.rows([names[1]]))
    assert told.score == pytest.approx(score((s[0], unit(roots(s))[0])))
    assert told.offset == pytest.approx(score([U.mean(axis=0) for U in spaces]), rel=1e-6)


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
        ({"ridge": -1.0}, "ridge must be 'cv', a positive number or a list .* got -1.0"),
        (
            {"bandwidth": "wide"},
            "bandwidth must be 'cv', a positive number or a list .* got 'wide'",
        ),
        ({"ridge": True}, "ridge must be 'cv', a positive number or a list .* got True"),
        ({"n_kernels": 3}, "n_kernels must be 'cv', a whole number from 1 to 2 .* got 3"),
        ({"n_average": 0}, "n_average must be a whole number of at least 1; got 0"),
        ({"setting": "open"}, "setting must be 'conventional' or 'generalized'; got 'open'"),
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
